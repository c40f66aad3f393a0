/* SPDX-License-Identifier: Apache-2.0 */
/* The proxy: a connection is two sockets, and bytes that wait between them. */
#include "proxy_private.h"

#include <errno.h>
#include <stdlib.h>

#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

void proxy_close_fd(int *fd, bool reset)
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
    proxy_close_fd(&c->client, true);
    c->up.eof = true;
    c->down.held = false;
    bytes_clear(&c->up.in);
    bytes_clear(&c->down.out);
}

void conn_drop_server(struct conn *c)
{
    proxy_close_fd(&c->server, false);
    c->down.eof = true;
    c->up.held = false;
    bytes_clear(&c->up.out);
}

static void free_flow(struct flow *f)
{
    free(f->in.data);
    free(f->out.data);
}

void conn_free(struct conn *c, bool reset)
{
    struct request *r;

    proxy_close_fd(&c->client, reset);
    proxy_close_fd(&c->server, reset);
    while ((r = c->first) != NULL) {
        c->first = r->next;
        free(r);
    }
    free_flow(&c->up);
    free_flow(&c->down);
    free(c);
}

static void set_nodelay(int fd)
{
    const int on = 1;

    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

/* A socket that is connected, connecting, or will say why not when read. */
static int connect_server(struct proxy *p)
{
    const struct sockaddr_in *a = &p->servers[p->next_server];
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    p->next_server = (p->next_server + 1) % p->server_count;
    if (fd < 0)
        return -1;
    set_nodelay(fd);
    (void)!connect(fd, (const struct sockaddr *)a, sizeof(*a));
    return fd;
}

void conn_add(struct proxy *p, int client)
{
    struct conn *c = proxy_must(calloc(1, sizeof(*c)));

    set_nodelay(client);
    c->client = client;
    c->server = connect_server(p);
    c->down.eof = c->server < 0;
    c->tail = &c->first;
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

void conn_read_client(struct conn *c)
{
    if (c->client >= 0 && !c->up.eof && !fill(c->client, &c->up.in))
        c->up.eof = true;
}

void conn_read_server(struct conn *c)
{
    if (c->server >= 0 && !fill(c->server, &c->down.in))
        conn_drop_server(c);
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

size_t flow_sendable(const struct flow *f)
{
    return f->held ? f->held_at : f->out.size;
}

static void write_server(struct conn *c)
{
    struct flow *up = &c->up;
    size_t sent = drain(c->server, &up->out, flow_sendable(up));

    if (up->held)
        up->held_at = up->out.size == 0 ? 0 : up->held_at - sent;
    if (up->eof && !up->held && up->out.size == 0 && !up->shut) {
        shutdown(c->server, SHUT_WR);
        up->shut = true;
    }
}

static void write_client(struct conn *c)
{
    struct flow *down = &c->down;
    struct frame f;

    drain(c->client, &down->out, down->out.size);
    if (down->eof && !down->held && down->out.size == 0 && !down->shut &&
        frame_first(&down->in, REPLY_HEADER, &f) <= 0) {
        shutdown(c->client, SHUT_WR);
        down->shut = true;
    }
}

void conn_step(struct proxy *p, struct conn *c)
{
    conn_take_requests(p, c);
    conn_take_replies(p, c);
    write_server(c);
    write_client(c);
}

bool conn_is_over(const struct conn *c)
{
    return c->server < 0 && (c->client < 0 || (c->down.shut && c->up.eof));
}
