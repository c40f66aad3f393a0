/* SPDX-License-Identifier: Apache-2.0 */
/* Asks a server with a four letter word. */
#include "four_letters.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include "peer.h"

enum { ANSWER_MAX = 65536 };

static int dial(const char *hosts)
{
    struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
    struct addrinfo *found;
    char host[256];

    (void)snprintf(host, sizeof(host), "%s", hosts);
    host[strcspn(host, ",/")] = '\0';
    char *port = strrchr(host, ':');
    if (port == NULL)
        return -1;
    *port++ = '\0';
    if (getaddrinfo(host, port, &hints, &found) != 0)
        return -1;
    int fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, found->ai_addr, found->ai_addrlen) != 0) {
        (void)close(fd);
        fd = -1;
    }
    freeaddrinfo(found);
    return fd;
}

static void ask(const char *hosts, const char *word, char *answer)
{
    int fd = dial(hosts);
    size_t len = 0;
    ssize_t n = 1;

    if (fd < 0 || write(fd, word, 4) != 4)
        peer_error("%s: cannot ask %s", hosts, word);
    while (n > 0 && len + 1 < ANSWER_MAX) {
        n = read(fd, answer + len, ANSWER_MAX - 1 - len);
        len += n > 0 ? (size_t)n : 0;
    }
    (void)close(fd);
    answer[len] = '\0';
}

long ephemeral_nodes(const char *hosts)
{
    static const char name[] = "zk_ephemerals_count\t";
    static char answer[ANSWER_MAX];

    ask(hosts, "mntr", answer);
    const char *found = strstr(answer, name);
    if (found == NULL)
        peer_error("%s: no answer to mntr", hosts);
    return strtol(found + strlen(name), NULL, 10);
}
