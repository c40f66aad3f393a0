/* SPDX-License-Identifier: Apache-2.0 */
/* Creates the missing parents of a lock, from the deepest that exists. */
#pragma once

#include "session/locked.h"
#include "session/op.h"

struct zkr__parents {
    struct zkr__op op;
    char *path; /* cut where we are */
    size_t len; /* of the whole */
    size_t cut; /* of the part that is being created */
    size_t chroot_len;
    enum zkr_create_mode mode;
    /* Under the lock. On error `path` is the node that could not be made. */
    void (*done)(struct zkr__parents *parents, int rc);
};

void zkr__parents_init(struct zkr__parents *parents, struct zkr_session *s,
                       struct zkr__ref *owner);

/* Create `path` and what is missing above it, but not the chroot. The others
 * who do the same at the same time do not matter. `path` is written to. */
void zkr__parents_start_locked(struct zkr__parents *parents, char *path,
                               enum zkr_create_mode mode,
                               void (*done)(struct zkr__parents *,
                                            int rc)) ZKR__LOCKED;

/* The same for a caller who waits: creates what is missing above `path`, which
 * is without the chroot. Errors are those of zkr_session_create(), and
 * ZKR_ENOCHROOT. */
int zkr__parents_make(struct zkr_session *s, const char *path,
                      enum zkr_create_mode mode, int64_t deadline);
