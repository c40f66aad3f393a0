/* SPDX-License-Identifier: Apache-2.0 */
/* The move: gives a handle other servers, on the handle's own io thread.
 *
 * zoo_set_servers() is safe nowhere else. Before 3.9.4 the io thread reads the
 * list of names in a line of its log without a lock (ZOOKEEPER-4699). In all
 * releases it reads the addresses without one when an attempt has failed, and
 * the call closes the socket under it. The io thread comes by here when it logs
 * that an attempt has failed: it holds no lock of the client then.
 *
 * A handle that is connected is left alone. The call would close its connection
 * without an event, and without an end to the requests under way. So the list
 * is taken when an attempt to connect has failed: at once where servers refuse,
 * and after two thirds of the session timeout where one is silent.
 *
 * The log callback tells neither the handle nor the thread. But threads inherit
 * their name, so the client's threads are made under a name of their own: by
 * that name a line is known to be of a handle. */
#pragma once

#include <zookeeper/zookeeper.h>

#include "base/list.h"

#define ZKR__THREAD_NAME_MAX 16

/* The part of a handle; all members are under the latch (zk_latch.h) once it is
 * named. */
struct zkr__move {
    char name[ZKR__THREAD_NAME_MAX]; /* of the client's threads; set once */
    zhandle_t *zh;
    char *servers;         /* the list that waits; NULL: none */
    struct zkr__list link; /* in the list of all */
};

/* Before and after the handle is made: its threads are named in between. */
void zkr__move_name_threads(struct zkr__move *move,
                            char before[ZKR__THREAD_NAME_MAX]);
void zkr__move_restore_name(const char before[ZKR__THREAD_NAME_MAX]);

/* Lets the io thread take that list, in place of one that still waits. Errors:
 * ZKR_ENOMEM. */
int zkr__move_to(struct zkr__move *move, zhandle_t *zh, const char *servers);

/* When the handle has been closed. */
void zkr__move_forget(struct zkr__move *move);

/* Returns that of the handle whose thread this is; NULL on other threads. */
struct zkr__move *zkr__move_of_thread(void);

/* Receives each line that the client logs, on any thread, last of all: the
 * text is not valid afterwards. */
void zkr__move_on_log(const char *line);
