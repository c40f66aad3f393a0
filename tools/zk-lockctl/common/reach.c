/* SPDX-License-Identifier: Apache-2.0 */
/* Asks whether all servers refuse a connection. It looks names up, too, which
 * the library does not do a second time: a name server may not answer, and the
 * calls of the library have deadlines. */
#include "common/reach.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>

#include <sys/socket.h>
#include <unistd.h>

#include <zkrecipes/session.h>

#include "common/now.h"

/* The error of a connection that is under way. */
static int await(int fd, int64_t deadline_ms)
{
    struct pollfd p = { .fd = fd, .events = POLLOUT };
    int64_t left_ms = deadline_ms - clock_now_ms();
    int error = ETIMEDOUT;
    socklen_t size = sizeof(error);

    if (poll(&p, 1, left_ms > 0 ? (int)left_ms : 0) == 1 &&
        getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0)
        error = errno;
    return error;
}

static bool refuses(const struct addrinfo *a, int64_t deadline_ms)
{
    int fd =
        socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int error = 0;

    if (fd < 0)
        return errno == EAFNOSUPPORT; /* nor does the client reach it */
    if (connect(fd, a->ai_addr, a->ai_addrlen) != 0)
        error = errno == EINPROGRESS ? await(fd, deadline_ms) : errno;
    (void)close(fd);
    return error == ECONNREFUSED;
}

static bool server_refuses(const struct zkr_server *server, int64_t deadline_ms)
{
    const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
    struct addrinfo *all = NULL;
    bool refused = true;

    if (getaddrinfo(server->host, server->port, &hints, &all) != 0)
        return false;
    for (const struct addrinfo *a = all; a != NULL && refused; a = a->ai_next)
        refused = refuses(a, deadline_ms);
    freeaddrinfo(all);
    return refused;
}

bool reach_all_refuse(const char *servers, int64_t timeout_ms)
{
    int64_t deadline_ms = clock_now_ms() + timeout_ms;
    struct zkr_hosts *hosts;
    bool refused = true;

    if (zkr_hosts_parse(servers, &hosts) != ZKR_OK)
        return false;
    for (size_t i = 0; i < hosts->count && refused; i++)
        refused = server_refuses(&hosts->servers[i], deadline_ms);
    zkr_hosts_free(hosts);
    return refused;
}
