/* SPDX-License-Identifier: Apache-2.0 */
/* The move: gives a handle other servers, on the handle's own io thread. */
#include "zk/zk_move.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "zk/zk_latch.h"

/* The client takes two lists for the same when the addresses are, whatever the
 * ports. So it gets this one in between, which it never connects to. */
#define NOWHERE "255.255.255.255:1"

static atomic_uint names;
static atomic_uint count; /* of those that wait; it may be read at any time */
static struct zkr__list waiting = { &waiting, &waiting };

void zkr__move_name_threads(struct zkr__move *move,
                            char before[ZKR__THREAD_NAME_MAX])
{
    zkr__list_init(&move->link);
    (void)snprintf(move->name, sizeof(move->name), "zkr-zk-%x",
                   atomic_fetch_add(&names, 1));
    if (pthread_getname_np(pthread_self(), before, ZKR__THREAD_NAME_MAX) != 0)
        before[0] = '\0';
    (void)pthread_setname_np(pthread_self(), move->name);
}

void zkr__move_restore_name(const char before[ZKR__THREAD_NAME_MAX])
{
    (void)pthread_setname_np(pthread_self(), before);
}

/* With the latch shut. */
static char *take(struct zkr__move *move)
{
    char *servers = move->servers;

    move->servers = NULL;
    if (servers != NULL) {
        zkr__list_remove(&move->link);
        (void)atomic_fetch_sub(&count, 1);
        zkr__latch_let_level_go();
    }
    return servers;
}

int zkr__move_to(struct zkr__move *move, zhandle_t *zh, const char *servers)
{
    char *copy = strdup(servers);

    if (copy == NULL)
        return ZKR_ENOMEM;
    zkr__latch_shut();
    free(take(move));
    move->zh = zh;
    move->servers = copy;
    zkr__list_append(&waiting, &move->link);
    (void)atomic_fetch_add(&count, 1);
    zkr__latch_hold_level();
    zkr__latch_open();
    return ZKR_OK;
}

void zkr__move_forget(struct zkr__move *move)
{
    zkr__latch_shut();
    free(take(move));
    zkr__latch_open();
}

static bool has_failed(const char *line)
{
    return strstr(line, " zk retcode=") != NULL ||
           strstr(line, "Delaying connection") != NULL;
}

/* Also true when the handle is of no use any more. */
static bool is_connected(zhandle_t *zh)
{
    int state = zoo_state(zh);

    return state == ZOO_CONNECTED_STATE || state == ZOO_READONLY_STATE ||
           state < 0;
}

/* With the latch shut. */
static struct zkr__move *find(const char *name)
{
    for (struct zkr__list *l = waiting.next; l != &waiting; l = l->next) {
        struct zkr__move *move = ZKR__CONTAINER(l, struct zkr__move, link);

        if (strcmp(move->name, name) == 0)
            return move;
    }
    return NULL;
}

/* The handle lives as long as its io thread. */
static void move_mine(const char *name)
{
    struct zkr__move *move;
    zhandle_t *zh = NULL;
    char *servers = NULL;

    zkr__latch_shut();
    move = find(name);
    if (move != NULL && !is_connected(move->zh)) {
        zh = move->zh;
        servers = take(move);
    }
    zkr__latch_open();
    if (servers == NULL)
        return;
    (void)zoo_set_servers(zh, NOWHERE);
    (void)zoo_set_servers(zh, servers);
    free(servers);
}

void zkr__move_on_log(const char *line)
{
    char name[ZKR__THREAD_NAME_MAX];

    if (atomic_load(&count) == 0 || !has_failed(line) ||
        pthread_getname_np(pthread_self(), name, sizeof(name)) != 0)
        return;
    move_mine(name);
}
