/* SPDX-License-Identifier: Apache-2.0 */
/* The proxy: it starts and stops, and the network breaks and heals. A
 * connection is two sockets, and bytes that wait between them.
 *
 * One thread is around poll(); it has the lock except while it sleeps. */
#include "proxy_private.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "wait.h"

void *proxy_must(void *memory)
{
    if (memory == NULL) {
        fprintf(stderr, "proxy: out of memory\n");
        abort();
    }
    return memory;
}

static unsigned char *bytes_at(const struct bytes *b)
{
    return b->data + b->begin;
}

/* Room for `size` more at the end. */
static void bytes_reserve(struct bytes *b, size_t size)
{
    if (b->begin + b->size + size <= b->capacity)
        return;
    if (b->begin > 0)
        memmove(b->data, bytes_at(b), b->size);
    b->begin = 0;
    if (b->size + size <= b->capacity)
        return;
    b->capacity = 2 * (b->size + size);
    b->data = proxy_must(realloc(b->data, b->capacity));
}

void bytes_add(struct bytes *b, const unsigned char *data, size_t size)
{
    bytes_reserve(b, size);
    memcpy(bytes_at(b) + b->size, data, size);
    b->size += size;
}

void bytes_skip(struct bytes *b, size_t size)
{
    b->size -= size;
    b->begin = b->size == 0 ? 0 : b->begin + size;
}

static void bytes_clear(struct bytes *b)
{
    bytes_skip(b, b->size);
}

int frame_first(const struct bytes *b, size_t least, struct frame *ret)
{
    if (b->size < LENGTH_SIZE)
        return 0;
    int64_t length = get_number(bytes_at(b), LENGTH_SIZE);
    if (length < (int64_t)least - LENGTH_SIZE || length > FRAME_MAX)
        return -1;
    ret->size = LENGTH_SIZE + (size_t)length;
    ret->data = bytes_at(b);
    return b->size >= ret->size;
}

/* Sockets */

static void close_fd(int *fd, bool reset)
{
    const struct linger at_once = { .l_onoff = 1, .l_linger = 0 };

    if (*fd < 0)
        return;
    if (reset)
        setsockopt(*fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    close(*fd);
    *fd = -1;
}

void conn_drop_client(struct conn *c)
{
    close_fd(&c->client, true);
    c->up.eof = true;
    c->down.held = false;
    bytes_clear(&c->up.in);
    bytes_clear(&c->down.out);
}

/* Bytes that the server sent before go on to the client. */
static void drop_server(struct conn *c)
{
    close_fd(&c->server, false);
    c->down.eof = true;
    c->up.held = false;
    bytes_clear(&c->up.out);
}

static void free_conn(struct conn *c, bool reset)
{
    close_fd(&c->client, reset);
    close_fd(&c->server, reset);
    for (struct request *r; (r = c->first) != NULL; free(r))
        c->first = r->next;
    free(c->up.in.data);
    free(c->up.out.data);
    free(c->down.in.data);
    free(c->down.out.data);
    free(c);
}

static void set_nodelay(int fd)
{
    const int on = 1;

    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

static void add_conn(struct proxy *p, int client)
{
    struct conn *c = proxy_must(calloc(1, sizeof(*c)));
    const struct sockaddr_in *server = &p->servers[p->next_server];

    p->next_server = (p->next_server + 1) % p->server_count;
    set_nodelay(client);
    c->client = client;
    /* It is connected, connecting, or will say why not when read. */
    c->server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    c->down.eof = c->server < 0;
    if (c->server >= 0) {
        set_nodelay(c->server);
        (void)!connect(c->server, (const struct sockaddr *)server,
                       sizeof(*server));
    }
    p->conns[p->conn_count++] = c;
}

/* Bytes in and out */

/* Reads once; false at the end of the stream or on error. */
static bool fill(int fd, struct bytes *in)
{
    bytes_reserve(in, READ_SIZE);
    ssize_t n = recv(fd, bytes_at(in) + in->size, READ_SIZE, 0);
    if (n > 0)
        in->size += (size_t)n;
    return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

/* Send up to `limit` bytes and return how many have gone.  An error is left
 * for the read from the same socket: there may be more to read. */
static size_t drain(int fd, struct bytes *out, size_t limit)
{
    size_t sent = 0;
    ssize_t n = 1;

    while (fd >= 0 && sent < limit && n > 0) {
        n = send(fd, bytes_at(out), limit - sent, MSG_NOSIGNAL);
        if (n > 0) {
            sent += (size_t)n;
            bytes_skip(out, (size_t)n);
        }
    }
    if (n < 0 && errno != EAGAIN && errno != EINTR)
        bytes_clear(out);
    return sent;
}

static size_t sendable(const struct flow *f)
{
    return f->held ? f->held_at : f->out.size;
}

static void step(struct proxy *p, struct conn *c)
{
    struct flow *up = &c->up;
    struct flow *down = &c->down;
    struct frame f;

    conn_take_requests(p, c);
    conn_take_replies(p, c);
    size_t sent = drain(c->server, &up->out, sendable(up));
    if (up->held)
        up->held_at = up->out.size == 0 ? 0 : up->held_at - sent;
    if (up->eof && !up->held && up->out.size == 0 && !up->shut) {
        shutdown(c->server, SHUT_WR);
        up->shut = true;
    }
    drain(c->client, &down->out, down->out.size);
    if (down->eof && !down->held && down->out.size == 0 && !down->shut &&
        frame_first(&down->in, REPLY_HEADER, &f) <= 0) {
        shutdown(c->client, SHUT_WR);
        down->shut = true;
    }
}

/* The thread */

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
                              moving && sendable(&c->up) > 0);
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
        struct conn *c = p->conns[i];

        if ((ready[0].revents & ~POLLOUT) != 0 && c->client >= 0 &&
            !c->up.eof && !fill(c->client, &c->up.in))
            c->up.eof = true;
        if ((ready[1].revents & ~POLLOUT) != 0 && c->server >= 0 &&
            !fill(c->server, &c->down.in))
            drop_server(c);
        step(p, c);
    }
}

/* Free the connections that are over, or reset all. */
static void remove_conns(struct proxy *p, bool all)
{
    int kept = 0;

    for (int i = 0; i < p->conn_count; i++) {
        struct conn *c = p->conns[i];
        bool over =
            c->server < 0 && (c->client < 0 || (c->down.shut && c->up.eof));

        if (all || over)
            free_conn(c, all);
        else
            p->conns[kept++] = c;
    }
    p->conn_count = kept;
}

static void *run(void *arg)
{
    struct proxy *p = arg;
    eventfd_t ignored;

    pthread_mutex_lock(&p->lock);
    while (!p->stopping) {
        nfds_t count = fill_poll_list(p);
        int timeout_ms = poll_timeout(p);

        pthread_mutex_unlock(&p->lock);
        poll(p->fds, count, timeout_ms);
        eventfd_read(p->wake, &ignored);
        pthread_mutex_lock(&p->lock);
        if (p->mode == MODE_OPEN)
            step_all(p);
        for (int fd; (fd = accept4(p->listener, NULL, NULL,
                                   SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0;) {
            if (p->mode == MODE_CUT || p->conn_count == CONNS_MAX)
                close_fd(&fd, true);
            else
                add_conn(p, fd);
        }
        remove_conns(p, p->mode == MODE_CUT);
        p->seen = p->asked;
        pthread_cond_broadcast(&p->changed);
    }
    remove_conns(p, true);
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

/* Start and stop */

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
    close_fd(&p->listener, false);
    close_fd(&p->wake, false);
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
        rc = -pthread_create(&p->thread, NULL, run, p);
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
