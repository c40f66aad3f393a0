/* SPDX-License-Identifier: Apache-2.0 */
/* The barrier: one node, and all wait until it has gone. */
#include <zkrecipes/barrier.h>

#include "base/opts.h"
#include "node.h"
#include "request/condition.h"
#include "session/session.h"

static const char noun[] = "barrier";

static const struct zkr__condition is_gone = { noun, "it is set",
                                               ZKR_WATCH_EXISTS,
                                               zkr__condition_absent, NULL };

struct zkr_barrier {
    struct zkr__site at;
};

int zkr_barrier_new(zkr_session *session, const char *path,
                    const struct zkr_barrier_opts *opts,
                    zkr_barrier **ret_barrier)
{
    void *made;
    int rc = ZKR__OUTPUT(ret_barrier);

    if (rc == ZKR_OK)
        rc = zkr__site_new(sizeof(**ret_barrier), noun, session, path, opts,
                           &made);
    if (rc == ZKR_OK)
        *ret_barrier = made;
    return rc;
}

void zkr_barrier_free(zkr_barrier *b)
{
    if (b != NULL && zkr__site_check(b, noun) == ZKR_OK)
        zkr__site_free(&b->at);
}

const char *zkr_barrier_path(const zkr_barrier *b)
{
    return b == NULL ? NULL : b->at.path;
}

int zkr_barrier_set(zkr_barrier *b, int64_t timeout_ms)
{
    int rc = zkr__site_check(b, noun);

    if (rc == ZKR_OK)
        rc = zkr__node_put(&b->at, b->at.path, ZKR_CREATE_PERSISTENT,
                           zkr__session_deadline(b->at.session, timeout_ms));
    return rc == ZKR_ZNODEEXISTS ? ZKR_OK : rc;
}

int zkr_barrier_remove(zkr_barrier *b, int64_t timeout_ms)
{
    int rc = zkr__site_check(b, noun);

    if (rc == ZKR_OK)
        rc = zkr__node_remove(&b->at, b->at.path,
                              zkr__session_deadline(b->at.session, timeout_ms));
    return rc;
}

int zkr_barrier_wait(zkr_barrier *b, int64_t timeout_ms)
{
    int rc = zkr__site_check(b, noun);

    if (rc != ZKR_OK)
        return rc;
    struct zkr__time_limit until = zkr__time_limit(b->at.session, timeout_ms);
    return zkr__condition_await(&is_gone, b->at.session, b->at.path, NULL,
                                &until);
}
