/* SPDX-License-Identifier: Apache-2.0 */
/* A lock: its path, its options, and the ways to acquire it. */
#pragma once

#include <stdatomic.h>
#include <stddef.h>

#include <zkrecipes/lockable.h>

#include "lock/recipe.h"
#include "lock/record.h"
#include "protocol/owner.h"
#include "session/locked.h"
#include "session/session.h"

struct zkr__lock { /* set once, but for ref, record, lists and counters */
    struct zkr__ref ref;
    struct zkr_session *session;
    char *path; /* as given */
    char *dir;  /* with the chroot */
    char *label;
    struct zkr__owner owner; /* what our records say of all its nodes */
    struct zkr__record *_Atomic record; /* that is shared, or NULL */
    const char *noun;
    enum zkr__layout layout;
    enum zkr_create_mode parents;
    bool fail_on_session_loss;
    bool reentrant;
    uint32_t limit; /* of permits (way_of_permits.c); under the session lock */
    struct zkr__cohort *cohort; /* cohort.h; NULL: no node stays */
    struct zkr__line *line;     /* line.h; until the user frees the lock and its
                                 * claims have ended */
    struct zkr__list claims;    /* under the session lock, as the next one */
    struct zkr__list holds;     /* holds.h */
    struct zkr_counters counters; /* count.h; under the session lock */
};

/* Checks that it is the path of a lock. Errors: ZKR_EINVAL, ZKR_EPATH,
 * ZKR_ETOOLONG. */
int zkr__lock_check_path(const struct zkr_session *s, const char *noun,
                         const char *path);

/* `recipe` is any of those by which it is acquired. `child` is NULL, or that
 * child of the path in which the contenders are, of a recipe that has several
 * queues. */
int zkr__lock_new(struct zkr_session *s, const char *noun, const char *path,
                  const char *child, const struct zkr_lockable_opts *opts,
                  const struct zkr__recipe *recipe,
                  struct zkr__lock **ret_lock);

/* From now on the nodes of this lock have that data, and not our record; before
 * the first claim. Not where a record names a thread or a claim. ZKR_OK or
 * ZKR_ENOMEM. */
int zkr__lock_set_data(struct zkr__lock *lock, const void *data, size_t size);

/* Gives up every waiting claim, with ZKR_ECANCELED. */
void zkr__lock_cancel_locked(struct zkr__lock *lock) ZKR__LOCKED;

/* Cancels so, and drops the caller's reference. `lock` may be NULL. */
void zkr__lock_free(struct zkr__lock *lock);

void zkr__lock_ref(struct zkr__lock *lock);
void zkr__lock_unref(struct zkr__lock *lock);
