/* Asks whether all servers refuse a connection. It looks names up, too, which
 * the library does not do a second time: a name server may not answer, and the
 * calls of the library have deadlines. */
#include "common/reach.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include <sys/socket.h>
#include <unistd.h>

#include "common/clock.h"

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

/* "host:port", with brackets or without around an address of IPv6. */
static bool split(char *server, char **ret_host, char **ret_port)
{
    char *colon = strrchr(server, ':');

    if (colon == NULL)
        return false;
    *colon = '\0';
    *ret_port = colon + 1;
    *ret_host = server;
    if (server[0] == '[' && colon[-1] == ']') {
        colon[-1] = '\0';
        (*ret_host)++;
    }
    return true;
}

static bool server_refuses(char *server, int64_t deadline_ms)
{
    const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
    struct addrinfo *all = NULL;
    char *host;
    char *port;
    bool refused = true;

    if (!split(server, &host, &port) ||
        getaddrinfo(host, port, &hints, &all) != 0)
        return false;
    for (const struct addrinfo *a = all; a != NULL && refused; a = a->ai_next)
        refused = refuses(a, deadline_ms);
    freeaddrinfo(all);
    return refused;
}

bool reach_all_refuse(const char *servers, int64_t timeout_ms)
{
    int64_t deadline_ms = clock_now_ms() + timeout_ms;
    size_t left = strcspn(servers, "/");
    bool refused = left > 0;

    while (left > 0 && refused) {
        size_t len = strcspn(servers, ",/");
        char server[512];

        if (len >= sizeof(server))
            return false;
        (void)snprintf(server, sizeof(server), "%.*s", (int)len, servers);
        refused = server_refuses(server, deadline_ms);
        len += servers[len] == ',';
        servers += len;
        left -= len;
    }
    return refused;
}
