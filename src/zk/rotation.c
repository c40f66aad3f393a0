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

struct addrinfo *zkr__resolve(const char *server)
{
    const struct addrinfo hints = { .ai_socktype = SOCK_STREAM,
                                    .ai_flags = AI_NUMERICSERV };
    struct addrinfo *info = NULL;
    char host[SERVER_MAX];
    char *colon;

    (void)snprintf(host, sizeof(host), "%s", server);
    colon = strrchr(host, ':');
    if (colon == NULL)
        return NULL;
    *colon = '\0';
    return getaddrinfo(host, colon + 1, &hints, &info) == 0 ? info : NULL;
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

static void add_server(struct fronts *fronts, const char *name, size_t len)
{
    struct addrinfo *info;
    char server[SERVER_MAX];

    (void)snprintf(server, sizeof(server), "%.*s", (int)len, name);
    info = zkr__resolve(server);
    if (info == NULL || info->ai_next == NULL)
        add(fronts, name, NULL);
    else
        for (struct addrinfo *i = info; i != NULL; i = i->ai_next)
            add(fronts, name, i);
    if (info != NULL)
        freeaddrinfo(info);
}

static void find_fronts(struct fronts *fronts, const char *servers)
{
    fronts->count = 0;
    while (*servers != '\0') {
        size_t len = strcspn(servers, ",");

        add_server(fronts, servers, len);
        servers += len + (servers[len] == ',');
    }
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
    find_fronts(fronts, servers);
    *ret_count = fronts->count;
    list = list_from(fronts, number % fronts->count, servers);
    free(fronts);
    return list;
}
