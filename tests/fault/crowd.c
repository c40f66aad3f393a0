/* SPDX-License-Identifier: Apache-2.0 */
/* A crowd: sessions that a server has, and nobody uses. */
#include "crowd.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

/* Descriptors for all else. */
#define RESERVE 200

struct crowd {
    int count;
    int fds[];
};

static bool parse(const char *host, struct sockaddr_in *ret_to)
{
    char address[INET_ADDRSTRLEN];
    int port;

    *ret_to = (struct sockaddr_in){ .sin_family = AF_INET };
    if (sscanf(host, "%15[^:]:%d", address, &port) != 2)
        return false;
    ret_to->sin_port = htons((uint16_t)port);
    return inet_pton(AF_INET, address, &ret_to->sin_addr) == 1;
}

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

/* The request for a new session, and its answer. */
static bool greet(int fd, int timeout_ms)
{
    struct timeval patience = { .tv_sec = 30 };
    uint32_t words[12] = {
        0
    }; /* length, version, zxid, timeout, id, password */
    char answer[64];

    words[0] = htonl(44);
    words[4] = htonl((uint32_t)timeout_ms);
    words[7] = htonl(16);
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    return send(fd, words, sizeof(words), MSG_NOSIGNAL) ==
               (ssize_t)sizeof(words) &&
           recv(fd, answer, sizeof(answer), 0) > 0;
}

static int join(const struct sockaddr_in *to, int timeout_ms)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return -1;
    if (connect(fd, (const struct sockaddr *)to, sizeof(*to)) == 0 &&
        greet(fd, timeout_ms))
        return fd;
    close(fd);
    return -1;
}

struct crowd *crowd_open(const char *host, int count, int timeout_ms)
{
    struct sockaddr_in to;
    struct crowd *c;

    count = as_many(count);
    c = calloc(1, sizeof(*c) + (size_t)count * sizeof(int));
    if (c == NULL || !parse(host, &to)) {
        free(c);
        return NULL;
    }
    while (c->count < count && (c->fds[c->count] = join(&to, timeout_ms)) >= 0)
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
