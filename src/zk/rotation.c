/* SPDX-License-Identifier: Apache-2.0 */
/* The rotation of a list of servers: each in front once, the others behind. */
#include "zk/rotation.h"

#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define SERVER_MAX  128
#define SERVERS_MAX 64

struct fronts {
    struct {
        char address[SERVER_MAX]; /* "": the name will do */
        const char *name;         /* where it stands in the list */
    } all[SERVERS_MAX];
    size_t count;
};

static struct addrinfo *resolve(const char *server, size_t len)
{
    const struct addrinfo hints = { .ai_socktype = SOCK_STREAM,
                                    .ai_flags = AI_NUMERICSERV };
    struct addrinfo *info = NULL;
    char host[ZKR__SERVER_NAME_MAX];

    (void)snprintf(host, sizeof(host), "%.*s", (int)len, server);
    char *colon = strrchr(host, ':');
    if (colon == NULL)
        return NULL;
    const int brackets = host[0] == '['; /* which are for people */
    colon[-brackets] = '\0';
    return getaddrinfo(host + brackets, colon + 1, &hints, &info) == 0 ? info
                                                                       : NULL;
}

void zkr__servers_each(const char *servers,
                       void (*fn)(void *, const char *,
                                  const struct addrinfo *),
                       void *arg)
{
    while (*servers != '\0') {
        size_t len = strcspn(servers, ",");
        struct addrinfo *info = resolve(servers, len);

        fn(arg, servers, info);
        if (info != NULL)
            freeaddrinfo(info);
        servers += len + (servers[len] == ',');
    }
}

static void add(struct fronts *fronts, const char *name,
                const struct addrinfo *info)
{
    char host[SERVER_MAX - 8];
    char port[8];
    char *address;

    if (fronts->count == SERVERS_MAX)
        return;
    address = fronts->all[fronts->count].address;
    fronts->all[fronts->count].name = name;
    fronts->count++;
    address[0] = '\0';
    if (info != NULL &&
        getnameinfo(info->ai_addr, info->ai_addrlen, host, sizeof(host), port,
                    sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV) == 0)
        (void)snprintf(address, SERVER_MAX, "%s:%s", host, port);
}

static void add_server(void *fronts, const char *name,
                       const struct addrinfo *info)
{
    if (info == NULL || info->ai_next == NULL)
        add(fronts, name, NULL);
    else
        for (; info != NULL; info = info->ai_next)
            add(fronts, name, info);
}

static char *list_from(const struct fronts *fronts, size_t i,
                       const char *servers)
{
    const char *address = fronts->all[i].address;
    const char *name = fronts->all[i].name;
    size_t size = strlen(address) + strlen(servers) + sizeof(",,");
    char *list = malloc(size);

    if (list != NULL)
        (void)snprintf(
            list, size, "%s%s%s%s%.*s", address, address[0] == '\0' ? "" : ",",
            name, name == servers ? "" : ",",
            name == servers ? 0 : (int)(name - servers - 1), servers);
    return list;
}

char *zkr__servers_rotated(const char *servers, unsigned number,
                           size_t *ret_count)
{
    struct fronts *fronts = malloc(sizeof(*fronts));
    char *list = NULL;

    if (fronts == NULL)
        return NULL;
    fronts->count = 0;
    zkr__servers_each(servers, add_server, fronts);
    *ret_count = fronts->count;
    list = list_from(fronts, number % fronts->count, servers);
    free(fronts);
    return list;
}
