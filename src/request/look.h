/* SPDX-License-Identifier: Apache-2.0 */
/* Looking: a read that is repeated whenever its result may have changed, until
 * the owner stops it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <zkrecipes/client.h>

#include "base/timer.h"
#include "session/locked.h"
#include "session/op.h"

/* Part of its owner, who has a reference to the session until it stops. */
struct zkr__look {
    const char *path;         /* with the chroot; lives as long as the owner */
    enum zkr_watch_what what; /* without the flag: */
    bool until_deleted;
    /* Runs under the lock, on any thread, with the result of each read: OK,
     * ZNONODE, or another answer, after which it is read again when
     * retry.cap_ms has passed. It returns false when there was no memory for
     * the result: then it is read again as late. It must not stop looking. With
     * ZKR_WATCH_UNTIL_DELETED the look ends with ZNONODE, or with NULL: then
     * the server has told of the deletion, and nothing was read. */
    bool (*seen)(struct zkr__look *look, const struct zkr__zk_reply *reply);
    /* Unless this is NULL, the look ends when the server says that a node that
     * was missing has been created, and this is told: another read might miss
     * it again. */
    void (*created)(struct zkr__look *look);

    /* under the session lock */
    bool stopped;
    bool missing;      /* in the last answer */
    int64_t pause_ms;  /* the least time between an answer and the next read */
    int64_t rested;    /* the end of the pause after the last answer */
    struct zkr__op op; /* the read */
    struct zkr__watch *watch; /* which the read sets, or has set */
    struct zkr__timer again;  /* after an error, or a pause */
};

/* Its last read keeps the owner until it is answered. */
void zkr__look_init(struct zkr__look *look, struct zkr_session *s,
                    struct zkr__ref *owner, const char *path,
                    enum zkr_watch_what what,
                    bool (*seen)(struct zkr__look *,
                                 const struct zkr__zk_reply *));

/* In a session that is over nothing is seen. */
void zkr__look_start_locked(struct zkr__look *look) ZKR__LOCKED;

/* Also when it has not started. Removes the watch from the server; `seen` is
 * not called again. */
void zkr__look_stop_locked(struct zkr__look *look) ZKR__LOCKED;
