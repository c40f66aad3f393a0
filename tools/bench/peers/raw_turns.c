/* SPDX-License-Identifier: Apache-2.0 */
/* The ZooKeeper client without any recipe: sessions that take a lock in turn,
 * as the protocol of Curator wants it: create and list; watch the node before,
 * if there is one; list again when it has gone; delete, and begin again. There
 * is no thread but the client's own, and nothing is checked that a lock needs.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "peer.h"
#include "raw.h"
#include "raw_benches.h"

enum { SESSIONS_MAX = 128, DIGITS = 10 };

static struct member {
    zhandle_t *zh;
    char node[RAW_NODE_MAX];
} members[SESSIONS_MAX];
static long member_count;
static atomic_long to_start;
static atomic_long to_end;

static void take(struct member *m);

static const char *number_of(const char *name)
{
    return name + strlen(name) - DIGITS;
}

static void on_deleted(int rc, const void *user)
{
    raw_check("delete", rc);
    if (atomic_fetch_sub(&to_start, 1) > 0)
        take((struct member *)user);
    if (atomic_fetch_sub(&to_end, 1) == 1)
        raw_answered();
}

static void list(struct member *m);

static void on_gone(zhandle_t *zh, int type, int state, const char *path,
                    void *user)
{
    (void)zh;
    (void)state;
    (void)path;
    if (type != ZOO_SESSION_EVENT)
        list(user);
}

static void on_watched(int rc, const char *value, int len,
                       const struct Stat *stat, const void *user)
{
    (void)value;
    (void)len;
    (void)stat;
    if (rc == ZNONODE)
        list((struct member *)user);
    else
        raw_check("watch", rc);
}

static const char *nearest_before(const struct String_vector *names,
                                  const char *own)
{
    const char *nearest = NULL;

    for (int32_t i = 0; i < names->count; i++) {
        const char *number = number_of(names->data[i]);

        if (strcmp(number, number_of(own)) < 0 &&
            (nearest == NULL || strcmp(number, number_of(nearest)) > 0))
            nearest = names->data[i];
    }
    return nearest;
}

static void on_list(int rc, const struct String_vector *names,
                    const struct Stat *stat, const void *user)
{
    struct member *m = (struct member *)user;
    char path[RAW_NODE_MAX * 2];

    (void)stat;
    raw_check("list", rc);
    const char *before = nearest_before(names, m->node);
    if (before == NULL) {
        raw_check("delete", zoo_adelete(m->zh, m->node, -1, on_deleted, m));
        return;
    }
    (void)snprintf(path, sizeof(path), "%s/%s", raw_dir, before);
    raw_check("watch", zoo_awget(m->zh, path, on_gone, m, on_watched, m));
}

static void list(struct member *m)
{
    raw_check("list", zoo_aget_children2(m->zh, raw_dir, 0, on_list, m));
}

static void on_created(int rc, const char *path, const struct Stat *stat,
                       const void *user)
{
    struct member *m = (struct member *)user;

    (void)stat;
    raw_check("create", rc);
    (void)snprintf(m->node, sizeof(m->node), "%s", path);
}

static void take(struct member *m)
{
    raw_create(m->zh, on_created, m);
    list(m);
}

void turns_run(long n)
{
    if (n == 0)
        return;
    to_start = n - (n < member_count ? n : member_count);
    to_end = n;
    for (long i = 0; i < member_count && i < n; i++)
        take(&members[i]);
    raw_await(1);
}

void turns_prepare(void)
{
    member_count = peer_number("sessions", 2);
    if (member_count > SESSIONS_MAX)
        peer_error("more than %d sessions", SESSIONS_MAX);
    for (long i = 0; i < member_count; i++)
        members[i].zh = raw_open();
    raw_make_dir(members[0].zh);
    turns_run(4 * member_count);
}

void turns_finish(void)
{
    for (long i = 0; i < member_count; i++)
        (void)zookeeper_close(members[i].zh);
}
