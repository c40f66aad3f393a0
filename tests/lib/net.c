/* SPDX-License-Identifier: Apache-2.0 */
/* TCP to a numeric address, with SO_RCVTIMEO and SO_SNDTIMEO set. */
#include "net.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

/* Returns NULL when it is no numeric address; one of IPv6 has brackets. */
static struct addrinfo *resolve(const char *server)
{
    const struct addrinfo hints = { .ai_socktype = SOCK_STREAM,
                                    .ai_flags =
                                        AI_NUMERICHOST | AI_NUMERICSERV };
    bool bracketed = server[0] == '[';
    const char *end = strrchr(server, bracketed ? ']' : ':');
    struct addrinfo *info = NULL;
    char host[64];

    server += bracketed;
    size_t len = end == NULL ? sizeof(host) : (size_t)(end - server);
    if (len >= sizeof(host) || (bracketed && end[1] != ':'))
        return NULL;
    memcpy(host, server, len);
    host[len] = '\0';
    return getaddrinfo(host, end + 1 + bracketed, &hints, &info) == 0 ? info
                                                                      : NULL;
}

int net_connect(const char *host_port, int timeout_ms)
{
    struct timeval limit = { .tv_sec = timeout_ms / 1000,
                             .tv_usec = timeout_ms % 1000 * 1000L };
    struct addrinfo *address = resolve(host_port);

    if (address == NULL) {
        errno = EINVAL;
        return -1;
    }
    int fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
    int rc = connect(fd, address->ai_addr, address->ai_addrlen);
    int saved = errno;
    freeaddrinfo(address);
    if (rc != 0 && fd >= 0)
        close(fd);
    errno = saved;
    return rc == 0 ? fd : -1;
}

int net_listen(char host_port[static NET_ADDRESS])
{
    struct sockaddr_in a = { .sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof(a);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0 || bind(fd, (struct sockaddr *)&a, size) != 0 ||
        listen(fd, SOMAXCONN) != 0 ||
        getsockname(fd, (struct sockaddr *)&a, &size) != 0)
        return -1;
    (void)snprintf(host_port, NET_ADDRESS, "127.0.0.1:%d", ntohs(a.sin_port));
    return fd;
}

bool net_send(int fd, const void *bytes, size_t size)
{
    /* All bytes are sent in one call, because the caller may depend on a single
     * segment. */
    return send(fd, bytes, size, MSG_NOSIGNAL) == (ssize_t)size;
}

ssize_t net_receive(int fd, void *bytes, size_t size)
{
    char part[256];
    size_t kept = 0;
    ssize_t n;

    while ((n = recv(fd, part, sizeof(part), 0)) > 0) {
        size_t room = size - kept;
        size_t taken = (size_t)n < room ? (size_t)n : room;

        memcpy((char *)bytes + kept, part, taken);
        kept += taken;
    }
    return n < 0 && (errno == EAGAIN || errno == EINTR) ? -1 : (ssize_t)kept;
}
