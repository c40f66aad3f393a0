/* SPDX-License-Identifier: Apache-2.0 */
/* The fair mutex: each contender waits for the one right before it. And the
 * reentrant one, which is the same on the servers. */
#include "recipes.h"

#include <zkrecipes/mutex.h>
#include <zkrecipes/reentrant_mutex.h>

#include "lock/holds.h"
#include "lock/lockable.h"

#define FLAGS                                                                  \
    (ZKR_FAIL_ON_SESSION_LOSS | ZKR_PERSISTENT_PARENTS | ZKR_KAZOO_LAYOUT)

_Static_assert(ZKR_REENTRANT_DEPTH_MAX == ZKR__DEPTH_MAX, "as documented");

const struct zkr__recipe zkr__mutex_recipe = {
    .noun = "mutex",
    .way = &zkr__in_a_queue,
    .marker = { [ZKR__LAYOUT_CURATOR] = ZKR__CURATOR_LOCK,
                [ZKR__LAYOUT_KAZOO] = ZKR__KAZOO_LOCK },
    .markers = ZKR__MUTEX_MARKERS,
    .flags = FLAGS,
    .waits_for = zkr__nearest_any,
    .can_stay = true,
};

static const struct zkr__lockable_type mutex = {
    .noun = "mutex",
    .modes = { &zkr__mutex_recipe },
};

static const struct zkr__lockable_type reentrant_mutex = {
    .noun = "reentrant mutex",
    .modes = { &zkr__mutex_recipe },
    .keeps_grants = true,
};

int zkr_mutex_new(zkr_session *session, const char *path,
                  const struct zkr_lockable_opts *opts, zkr_mutex **ret_mutex)
{
    return zkr__lockable_new(session, path, opts, &mutex, ret_mutex);
}

int zkr_reentrant_mutex_new(zkr_session *session, const char *path,
                            const struct zkr_lockable_opts *opts,
                            zkr_reentrant_mutex **ret_mutex)
{
    return zkr__lockable_new(session, path, opts, &reentrant_mutex, ret_mutex);
}
