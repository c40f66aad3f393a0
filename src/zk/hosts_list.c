/* SPDX-License-Identifier: Apache-2.0 */
/* A list of servers for programs: each server apart. */
#include <stdlib.h>
#include <string.h>

#include <zkrecipes/session.h>

#include "base/error.h"
#include "base/list.h"
#include "base/opts.h"
#include "zk/hosts.h"

struct hosts_list {
    struct zkr_hosts public;
    struct zkr__hosts parts; /* the strings, cut in place */
    struct zkr_server servers[];
};

static size_t count_servers(const char *text)
{
    size_t count = 1;

    for (; *text != '\0'; text++)
        count += *text == ',';
    return count;
}

/* Both lists have the same servers, as people and as the client want them. */
static void cut(struct hosts_list *list)
{
    char *names = list->parts.servers;
    char *plain = list->parts.plain;

    for (size_t i = 0; i < list->public.count; i++) {
        struct zkr_server *server = &list->servers[i];
        char *colon;

        server->name = strsep(&names, ",");
        server->host = strsep(&plain, ",");
        colon = strrchr(server->host, ':');
        *colon = '\0';
        server->port = colon + 1;
    }
}

int zkr_hosts_parse(const char *text, struct zkr_hosts **ret_hosts)
{
    struct zkr__hosts parts;
    struct hosts_list *list;
    size_t count;
    int rc = ZKR__OUTPUT(ret_hosts);

    if (rc == ZKR_OK)
        rc = zkr__hosts_parse(&parts, text, NULL);
    if (rc != ZKR_OK)
        return rc;
    count = count_servers(parts.servers);
    list = calloc(1, sizeof(*list) + count * sizeof(list->servers[0]));
    if (list == NULL) {
        zkr__hosts_done(&parts);
        return zkr__no_memory("hosts", text);
    }
    list->parts = parts;
    list->public = (struct zkr_hosts){ list->servers, count, parts.chroot };
    cut(list);
    *ret_hosts = &list->public;
    return ZKR_OK;
}

void zkr_hosts_free(struct zkr_hosts *hosts)
{
    struct hosts_list *list;

    if (hosts == NULL)
        return;
    list = ZKR__CONTAINER(hosts, struct hosts_list, public);
    zkr__hosts_done(&list->parts);
    free(list);
}
