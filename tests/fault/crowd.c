/* SPDX-License-Identifier: Apache-2.0 */
/* A crowd: sessions that a server has, and nobody uses. */
#include "crowd.h"

#include <stdlib.h>

#include <arpa/inet.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net.h"
#include "wire.h"

/* Descriptors for all else. */
#define RESERVE 200
/* For a server that many ask at once. */
#define PATIENCE_MS 30000

struct crowd {
    int count;
    int fds[];
};

static int as_many(int count)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return 0;
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_max < (rlim_t)(count + RESERVE))
        count = (int)limit.rlim_max - RESERVE;
    return count > 0 ? count : 0;
}

/* Returns a descriptor, or -1. */
static int join(const char *host, int timeout_ms)
{
    struct packet request = { .size = 0 };
    char answer[64];
    int fd = net_connect(host, PATIENCE_MS);

    put_connect(&request, timeout_ms, 0, NULL);
    if (fd >= 0 && net_send(fd, request.bytes, request.size) &&
        recv(fd, answer, sizeof(answer), 0) > 0)
        return fd;
    if (fd >= 0)
        (void)close(fd);
    return -1;
}

struct crowd *crowd_open(const char *host, int count, int timeout_ms)
{
    count = as_many(count);
    struct crowd *c = calloc(1, sizeof(*c) + (size_t)count * sizeof(int));
    if (c == NULL)
        return NULL;
    while (c->count < count && (c->fds[c->count] = join(host, timeout_ms)) >= 0)
        c->count++;
    return c;
}

int crowd_size(const struct crowd *c)
{
    return c->count;
}

void crowd_ping(const struct crowd *c)
{
    const uint32_t ping[] = { htonl(8), htonl((uint32_t)-2), htonl(11) };

    for (int i = 0; i < c->count; i++)
        (void)send(c->fds[i], ping, sizeof(ping), MSG_NOSIGNAL | MSG_DONTWAIT);
}

void crowd_close(struct crowd *c)
{
    for (int i = 0; c != NULL && i < c->count; i++)
        close(c->fds[i]);
    free(c);
}
