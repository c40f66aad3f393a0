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
static struct zkr__list all = { &all, &all }; /* with the latch shut */
static _Thread_local struct zkr__move *mine;

#define NAME_PREFIX "zkr-zk-"

void zkr__move_name_threads(struct zkr__move *move,
                            char before[ZKR__THREAD_NAME_MAX])
{
    (void)snprintf(move->name, sizeof(move->name), NAME_PREFIX "%x",
                   atomic_fetch_add(&names, 1));
    zkr__latch_shut();
    zkr__list_append(&all, &move->link);
    zkr__latch_open();
    if (pthread_getname_np(pthread_self(), before, ZKR__THREAD_NAME_MAX) != 0)
        before[0] = '\0';
    (void)pthread_setname_np(pthread_self(), move->name);
}

void zkr__move_restore_name(const char before[ZKR__THREAD_NAME_MAX])
{
    (void)pthread_setname_np(pthread_self(), before);
    mine = NULL;
}

/* With the latch shut. */
static char *take(struct zkr__move *move)
{
    char *servers = move->servers;

    move->servers = NULL;
    if (servers != NULL) {
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
    (void)atomic_fetch_add(&count, 1);
    zkr__latch_hold_level();
    zkr__latch_open();
    return ZKR_OK;
}

void zkr__move_forget(struct zkr__move *move)
{
    zkr__latch_shut();
    free(take(move));
    if (move->link.next != NULL) /* it was named */
        zkr__list_remove(&move->link);
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
    for (struct zkr__list *l = all.next; l != &all; l = l->next) {
        struct zkr__move *move = ZKR__CONTAINER(l, struct zkr__move, link);

        if (strcmp(move->name, name) == 0)
            return move;
    }
    return NULL;
}

/* The handle lives as long as its threads. */
struct zkr__move *zkr__move_of_thread(void)
{
    char name[ZKR__THREAD_NAME_MAX];

    if (mine != NULL ||
        pthread_getname_np(pthread_self(), name, sizeof(name)) != 0 ||
        strncmp(name, NAME_PREFIX, strlen(NAME_PREFIX)) != 0)
        return mine;
    zkr__latch_shut();
    mine = find(name);
    zkr__latch_open();
    return mine;
}

static void move_mine(struct zkr__move *move)
{
    zhandle_t *zh = NULL;
    char *servers = NULL;

    zkr__latch_shut();
    if (move->servers != NULL && !is_connected(move->zh)) {
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
    if (atomic_load(&count) == 0 || !has_failed(line))
        return;
    struct zkr__move *move = zkr__move_of_thread();
    if (move != NULL)
        move_mine(move);
}
