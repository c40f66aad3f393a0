/* SPDX-License-Identifier: Apache-2.0 */
/* The proxy: one thread around poll(), which has the lock except while it
 * sleeps. */
#include "proxy_private.h"

#include <sys/eventfd.h>
#include <sys/socket.h>

#include "wait.h"

static void accept_clients(struct proxy *p)
{
    int fd;

    while ((fd = accept4(p->listener, NULL, NULL,
                         SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
        if (p->mode == MODE_CUT || p->conn_count == CONNS_MAX)
            proxy_close_fd(&fd, true);
        else
            conn_add(p, fd);
    }
}

static bool has_room(const struct flow *f)
{
    return f->in.size + f->out.size < QUEUE_MAX;
}

/* A socket of which we want nothing must not be in the list at all:
 * poll() would return for its hang-up again and again. */
static struct pollfd poll_entry(int fd, bool reading, bool writing)
{
    int events = (reading ? POLLIN : 0) | (writing ? POLLOUT : 0);

    return (struct pollfd){ .fd = events == 0 ? -1 : fd,
                            .events = (short)events };
}

static nfds_t fill_poll_list(struct proxy *p)
{
    struct pollfd *entry = p->fds + POLL_CONNS;
    bool moving = p->mode == MODE_OPEN;

    p->fds[POLL_WAKE] = poll_entry(p->wake, true, false);
    p->fds[POLL_LISTENER] = poll_entry(p->listener, true, false);
    for (int i = 0; i < p->conn_count; i++) {
        const struct conn *c = p->conns[i];

        *entry++ =
            poll_entry(c->client, moving && !c->up.eof && has_room(&c->up),
                       moving && c->down.out.size > 0);
        *entry++ = poll_entry(c->server, moving && has_room(&c->down),
                              moving && flow_sendable(&c->up) > 0);
    }
    return (nfds_t)(entry - p->fds);
}

static int poll_timeout(const struct proxy *p)
{
    int64_t first_ms = INT64_MAX;

    for (int i = 0; i < p->conn_count; i++) {
        if (p->conns[i]->wake_ms != 0 && p->conns[i]->wake_ms < first_ms)
            first_ms = p->conns[i]->wake_ms;
    }
    if (first_ms == INT64_MAX || p->mode != MODE_OPEN)
        return -1;
    int64_t left_ms = first_ms - now_ms();
    return left_ms < 0 ? 0 : (int)left_ms;
}

static void step_all(struct proxy *p)
{
    for (int i = 0; i < p->conn_count; i++) {
        const struct pollfd *ready = p->fds + POLL_CONNS + (ptrdiff_t)2 * i;

        if ((ready[0].revents & ~POLLOUT) != 0)
            conn_read_client(p->conns[i]);
        if ((ready[1].revents & ~POLLOUT) != 0)
            conn_read_server(p->conns[i]);
        conn_step(p, p->conns[i]);
    }
}

/* Free the connections that are over, or reset all. */
static void remove_conns(struct proxy *p, bool all)
{
    int kept = 0;

    for (int i = 0; i < p->conn_count; i++) {
        struct conn *c = p->conns[i];

        if (all || conn_is_over(c))
            conn_free(c, all);
        else
            p->conns[kept++] = c;
    }
    p->conn_count = kept;
}

static void sleep_unlocked(struct proxy *p)
{
    nfds_t count = fill_poll_list(p);
    int timeout_ms = poll_timeout(p);
    eventfd_t ignored;

    pthread_mutex_unlock(&p->lock);
    poll(p->fds, count, timeout_ms);
    eventfd_read(p->wake, &ignored);
    pthread_mutex_lock(&p->lock);
}

void *proxy_run(void *arg)
{
    struct proxy *p = arg;

    pthread_mutex_lock(&p->lock);
    while (!p->stopping) {
        sleep_unlocked(p);
        if (p->mode == MODE_OPEN)
            step_all(p);
        accept_clients(p);
        remove_conns(p, p->mode == MODE_CUT);
        p->seen = p->asked;
        pthread_cond_broadcast(&p->changed);
    }
    remove_conns(p, true);
    pthread_mutex_unlock(&p->lock);
    return NULL;
}
