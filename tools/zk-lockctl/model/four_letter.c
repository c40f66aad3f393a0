/* SPDX-License-Identifier: Apache-2.0 */
/* Asks one server one four letter word, over a connection of its own. */
#include "model/four_letter.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/now.h"

enum { ANSWER_MAX = 64 << 20 };

static bool wait_for(int fd, short events, int64_t deadline)
{
    struct pollfd p = { .fd = fd, .events = events };
    int64_t left;
    int n;

    do {
        left = deadline - clock_now_ms();
        n = left <= 0 ? 0 : poll(&p, 1, (int)left);
    } while (n < 0 && errno == EINTR);
    return n == 1;
}

static int connect_one(const struct addrinfo *a, int64_t deadline)
{
    int fd =
        socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int error = 0;
    socklen_t size = sizeof(error);

    if (fd < 0)
        return -1;
    if (connect(fd, a->ai_addr, a->ai_addrlen) == 0)
        return fd;
    if (errno == EINPROGRESS && wait_for(fd, POLLOUT, deadline) &&
        getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0)
        return fd;
    (void)close(fd);
    return -1;
}

static int connect_to(const char *host, const char *port, int64_t deadline)
{
    struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
    struct addrinfo *all = NULL;
    int fd = -1;

    if (getaddrinfo(host, port, &hints, &all) != 0)
        return -1;
    for (const struct addrinfo *i = all; i != NULL && fd < 0; i = i->ai_next)
        fd = connect_one(i, deadline);
    freeaddrinfo(all);
    return fd;
}

static void write_peer(int fd, char peer[PEER_MAX])
{
    struct sockaddr_storage address = { .ss_family = AF_UNSPEC };
    socklen_t size = sizeof(address);
    char host[48];
    char port[8];

    if (getpeername(fd, (struct sockaddr *)&address, &size) == 0 &&
        getnameinfo((struct sockaddr *)&address, size, host, sizeof(host), port,
                    sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV) == 0)
        (void)snprintf(peer, PEER_MAX, "%s %s", host, port);
}

/* Reads until the server hangs up. Returns false when it does not, or sends too
 * much. */
static bool receive(int fd, int64_t deadline, char **ret_text, size_t *ret_size)
{
    size_t size = 0;
    size_t room = 1 << 16;
    char *text = malloc(room);

    while (text != NULL && size < ANSWER_MAX) {
        char *grown;
        ssize_t n;

        if (!wait_for(fd, POLLIN, deadline))
            break;
        n = recv(fd, text + size, room - size, 0);
        if (n == 0) {
            *ret_text = text;
            *ret_size = size;
            return true;
        }
        if (n < 0)
            break;
        size += (size_t)n;
        if (size < room)
            continue;
        room *= 2;
        grown = realloc(text, room);
        if (grown == NULL)
            break;
        text = grown;
    }
    free(text);
    return false;
}

bool four_letter_ask(const char *host, const char *port, const char *word,
                     int64_t deadline, struct four_letter *ret)
{
    int fd = connect_to(host, port, deadline);
    bool done;

    *ret = (struct four_letter){ .text = NULL };
    done = fd >= 0 && send(fd, word, 4, MSG_NOSIGNAL) == 4 &&
           receive(fd, deadline, &ret->text, &ret->size);
    if (fd >= 0) {
        write_peer(fd, ret->peer);
        (void)close(fd);
    }
    if (done && memmem(ret->text, ret->size < 256 ? ret->size : 256,
                       "not in the whitelist", 20) != NULL) {
        free(ret->text);
        ret->text = NULL;
        ret->is_refused = true;
    }
    return done;
}
