/* SPDX-License-Identifier: Apache-2.0 */
/* The unfair mutex: one node, and the client that creates it holds the lock. */
#include <zkrecipes/unfair_mutex.h>

#include "lock/lockable.h"

static const struct zkr__recipe recipe = {
    .noun = "unfair mutex",
    .way = &zkr__by_creating_it,
    .flags = ZKR_FAIL_ON_SESSION_LOSS | ZKR_PERSISTENT_PARENTS,
};

static const struct zkr__lockable_type unfair_mutex = {
    .noun = "unfair mutex",
    .modes = { &recipe },
};

int zkr_unfair_mutex_new(zkr_session *session, const char *path,
                         const struct zkr_lockable_opts *opts,
                         zkr_unfair_mutex **ret_mutex)
{
    return zkr__lockable_new(session, path, opts, &unfair_mutex, ret_mutex);
}
