/* SPDX-License-Identifier: Apache-2.0 */
/* The proxy: it starts and stops, and the network breaks and heals. */
#include "proxy_private.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/eventfd.h>

#include "wait.h"

static int parse_servers(struct proxy *p, const char *hosts)
{
    do {
        struct sockaddr_in *a = &p->servers[p->server_count];
        char host[64];
        unsigned port;
        int length;

        if (p->server_count++ == SERVERS_MAX ||
            sscanf(hosts, "%63[0-9.]:%6u%n", host, &port, &length) != 2 ||
            port == 0 || port > UINT16_MAX ||
            inet_pton(AF_INET, host, &a->sin_addr) != 1)
            return -EINVAL;
        a->sin_family = AF_INET;
        a->sin_port = htons((uint16_t)port);
        hosts += length;
    } while (*hosts++ == ',');
    return hosts[-1] == '\0' ? 0 : -EINVAL;
}

static void free_proxy(struct proxy *p)
{
    proxy_close_fd(&p->listener, false);
    proxy_close_fd(&p->wake, false);
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

int proxy_start(const char *server_hosts, struct proxy **ret_proxy)
{
    struct proxy *p = calloc(1, sizeof(*p));
    sigset_t all;
    sigset_t old;

    if (p == NULL)
        return -ENOMEM;
    p->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    p->listener = net_listen(p->hosts);
    pthread_mutex_init(&p->lock, NULL);
    wait_init(&p->changed);
    int rc = p->wake < 0 || p->listener < 0 ||
                     fcntl(p->listener, F_SETFL, O_NONBLOCK) != 0
                 ? -errno
                 : parse_servers(p, server_hosts);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    if (rc == 0)
        rc = -pthread_create(&p->thread, NULL, proxy_run, p);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (rc == 0)
        *ret_proxy = p;
    else
        free_proxy(p);
    return rc;
}

void proxy_stop(struct proxy *p)
{
    if (p == NULL)
        return;
    pthread_mutex_lock(&p->lock);
    p->stopping = true;
    pthread_mutex_unlock(&p->lock);
    eventfd_write(p->wake, 1);
    pthread_join(p->thread, NULL);
    free_proxy(p);
}

const char *proxy_hosts(const struct proxy *p)
{
    return p->hosts;
}

/* The network */

/* Wait until the thread has seen what was changed under the lock. */
static void tell_thread(struct proxy *p)
{
    unsigned long ticket = ++p->asked;

    eventfd_write(p->wake, 1);
    while (p->seen < ticket)
        pthread_cond_wait(&p->changed, &p->lock);
}

static void set_mode(struct proxy *p, enum mode mode)
{
    pthread_mutex_lock(&p->lock);
    p->mode = mode;
    tell_thread(p);
    pthread_mutex_unlock(&p->lock);
}

void proxy_cut(struct proxy *p)
{
    set_mode(p, MODE_CUT);
}

void proxy_freeze(struct proxy *p)
{
    set_mode(p, MODE_FROZEN);
}

void proxy_heal(struct proxy *p)
{
    set_mode(p, MODE_OPEN);
}

void proxy_release(struct proxy *p)
{
    pthread_mutex_lock(&p->lock);
    for (int i = 0; i < p->conn_count; i++) {
        p->conns[i]->up.held = false;
        p->conns[i]->down.held = false;
    }
    tell_thread(p);
    pthread_mutex_unlock(&p->lock);
}

void proxy_set_latency(struct proxy *p, int latency_ms)
{
    pthread_mutex_lock(&p->lock);
    p->latency_ms = latency_ms;
    tell_thread(p);
    pthread_mutex_unlock(&p->lock);
}

void proxy_set_jitter(struct proxy *p, int percent)
{
    pthread_mutex_lock(&p->lock);
    p->jitter = percent;
    pthread_mutex_unlock(&p->lock);
}

void proxy_let_all_pass(struct proxy *p)
{
    proxy_forget_rules(p);
    proxy_heal(p);
    proxy_release(p);
}
