/* SPDX-License-Identifier: Apache-2.0 */
/* The locks of one session: the upcalls that the session makes to them. */
#include "lock/locks.h"

#include <assert.h>
#include <stdlib.h>

#include "base/error.h"
#include "lock/claim.h"
#include "lock/heartbeat.h"
#include "lock/leftover.h"
#include "lock/line.h"

static void on_suspended(struct zkr_session *s)
{
    zkr__session_assert_locked(s);
    zkr__lines_forget_locked(s);
    zkr__heartbeat_suspend_locked(s);
}

static void on_flushed(struct zkr_session *s)
{
    zkr__session_assert_locked(s);
    if (s->over != 0)
        zkr__leftovers_end_locked(s);
    zkr__lines_flushed_locked(s);
    zkr__claims_flushed_locked(s);
}

static void on_freed(struct zkr_session *s)
{
    struct zkr__locks *locks = zkr__locks_of(s);

    assert(zkr__list_empty(&locks->claims));
    free(locks->beacon);
    free(locks);
}

static const struct zkr__session_upcalls upcalls = {
    .suspended = on_suspended,
    .resumed = zkr__heartbeat_resume_locked,
    .lost = zkr__claims_expired_locked,
    .failed = zkr__claims_fail_locked,
    .flushed = on_flushed,
    .freed = on_freed,
};

static struct zkr__locks *new_locks(struct zkr_session *s)
{
    struct zkr__locks *locks = calloc(1, sizeof(*locks));

    if (locks == NULL)
        return NULL;
    if (s->opts.lease_beacon != NULL &&
        (locks->beacon = zkr__session_full_path(s, s->opts.lease_beacon)) ==
            NULL) {
        free(locks);
        return NULL;
    }
    locks->look.rarely = ZKR__BEACON_RARELY;
    locks->observer = (struct zkr__session_observer){ &upcalls, s };
    zkr__owner_start(locks->start);
    zkr__list_init(&locks->claims);
    zkr__list_init(&locks->each_line);
    zkr__list_init(&locks->chains);
    zkr__list_init(&locks->leased);
    zkr__list_init(&locks->doubted);
    zkr__list_init(&locks->leftovers);
    for (int i = 0; i < ZKR__BEATS; i++) {
        zkr__op_init(&locks->beats[i].op, s, NULL);
        locks->beats[i].op.class = ZKR__OP_CHECKS;
    }
    return locks;
}

int zkr__locks_open(struct zkr_session *s)
{
    int rc = ZKR_OK;

    zkr__session_lock(s);
    if (s->observer == NULL) {
        struct zkr__locks *locks = new_locks(s);

        if (locks != NULL)
            s->observer = &locks->observer;
        else
            rc = ZKR_ENOMEM;
    }
    zkr__session_unlock(s);
    return rc;
}
