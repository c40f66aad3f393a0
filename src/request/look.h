/* SPDX-License-Identifier: Apache-2.0 */
/* Looking: a read that is repeated whenever its result may have changed, until
 * the owner stops it. */
#ifndef ZKR__LOOK_H
#define ZKR__LOOK_H

#include <stdbool.h>
#include <stdint.h>

#include <zkrecipes/client.h>

#include "session/locked.h"
#include "zk/zk.h"

struct zkr__look;

/* `path` is without the chroot, and copied. `seen` runs under the lock, on any
 * thread, with the result of each read: OK, ZNONODE, or another answer, after
 * which it is read again when retry.cap_ms has passed. It returns false when
 * there was no memory for the result: then it is read again as late. It must
 * not stop looking. With ZKR_WATCH_UNTIL_DELETED the look ends with ZNONODE, or
 * with NULL: then the server has told of the deletion, and nothing was read.
 * Unless `created` is NULL, the look ends when the server says that a node that
 * was missing has been created, and `created` is told: another read might miss
 * it again.
 * Returns NULL when out of memory. The owner has a reference to the session
 * until it stops. */
struct zkr__look *zkr__look_new(struct zkr_session *s, const char *path,
                                enum zkr_watch_what what, void *owner,
                                bool (*seen)(void *owner,
                                             const struct zkr__zk_reply *),
                                void (*created)(void *owner));

/* In a session that is over nothing is seen. */
void zkr__look_start_locked(struct zkr__look *look) ZKR__LOCKED;

/* The least time between an answer and the next read. */
void zkr__look_set_pause_locked(struct zkr__look *look,
                                int64_t pause_ms) ZKR__LOCKED;

/* Also when it has not started. Removes the watch from the server, and frees it
 * all; `seen` is not called again. */
void zkr__look_stop_locked(struct zkr__look *look) ZKR__LOCKED;

#endif
