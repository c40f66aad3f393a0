/* SPDX-License-Identifier: Apache-2.0 */
/* TCP with deadlines. */
#include "wire.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

void wire_init(struct wire *wire, const char *host, int port)
{
    wire->port = port;
    wire->fd = -1;
    (void)snprintf(wire->host, sizeof(wire->host), "%s", host);
}

void wire_drop(struct wire *wire)
{
    if (wire->fd >= 0)
        (void)close(wire->fd);
    wire->fd = -1;
}

static bool ready(struct wire *wire, short events, int64_t deadline_ms)
{
    struct pollfd p = { .fd = wire->fd, .events = events };
    int64_t left = deadline_ms - now_ms();

    if (left > 3600000)
        left = 3600000;
    return left > 0 && poll(&p, 1, (int)left) > 0;
}

static bool give_up(struct wire *wire, const char *what)
{
    (void)rival_fail("%s:%d: %s: %s", wire->host, wire->port, what,
                     strerror(errno));
    wire_drop(wire);
    return false;
}

bool wire_connect(struct wire *wire, int64_t deadline_ms)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_port = htons((uint16_t)wire->port) };
    const int on = 1;
    int error = 0;
    socklen_t len = sizeof(error);

    if (wire->fd >= 0)
        return true;
    wire->used = wire->next = 0;
    wire->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (wire->fd < 0 || inet_pton(AF_INET, wire->host, &address.sin_addr) != 1)
        return give_up(wire, "socket");
    (void)setsockopt(wire->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    if (connect(wire->fd, (struct sockaddr *)&address, sizeof(address)) == 0)
        return true;
    if (errno != EINPROGRESS || !ready(wire, POLLOUT, deadline_ms) ||
        getsockopt(wire->fd, SOL_SOCKET, SO_ERROR, &error, &len) != 0 ||
        error != 0)
        return give_up(wire, "connect");
    return true;
}

bool wire_send(struct wire *wire, const char *data, size_t len,
               int64_t deadline_ms)
{
    if (!wire_connect(wire, deadline_ms))
        return false;
    while (len > 0) {
        ssize_t n = send(wire->fd, data, len, MSG_NOSIGNAL);

        if (n < 0 && errno == EAGAIN && ready(wire, POLLOUT, deadline_ms))
            continue;
        if (n < 0)
            return give_up(wire, "send");
        data += n;
        len -= (size_t)n;
    }
    return true;
}

/* Read more of what is there. */
static bool fill(struct wire *wire, int64_t deadline_ms)
{
    if (wire->fd < 0)
        return false;
    memmove(wire->buffer, wire->buffer + wire->next, wire->used - wire->next);
    wire->used -= wire->next;
    wire->next = 0;
    if (wire->used == sizeof(wire->buffer))
        return give_up(wire, "a long answer");
    errno = ETIMEDOUT;
    if (!ready(wire, POLLIN, deadline_ms))
        return give_up(wire, "no answer");
    ssize_t n = recv(wire->fd, wire->buffer + wire->used,
                     sizeof(wire->buffer) - wire->used, 0);
    if (n <= 0)
        return give_up(wire, "receive");
    wire->used += (size_t)n;
    return true;
}

const char *wire_line(struct wire *wire, int64_t deadline_ms)
{
    char *line, *end;

    do {
        line = wire->buffer + wire->next;
        end = memchr(line, '\n', wire->used - wire->next);
    } while (end == NULL && fill(wire, deadline_ms));
    if (end == NULL)
        return NULL;
    wire->next += (size_t)(end - line) + 1;
    *end = '\0';
    if (end > line && end[-1] == '\r')
        end[-1] = '\0';
    return line;
}

bool wire_bytes(struct wire *wire, char *data, size_t len, int64_t deadline_ms)
{
    while (wire->used - wire->next < len) {
        if (!fill(wire, deadline_ms))
            return false;
    }
    memcpy(data, wire->buffer + wire->next, len);
    wire->next += len;
    return true;
}
