/* SPDX-License-Identifier: Apache-2.0 */
/* The barrier: one node, and all wait until it has gone. */
#include <zkrecipes/barrier.h>

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/opts.h"
#include "lock/lock.h"
#include "node.h"
#include "request/condition.h"

static const char noun[] = "barrier";

static const struct zkr__condition is_gone = { noun, "it is set",
                                               ZKR_WATCH_EXISTS,
                                               zkr__condition_absent, NULL };

struct zkr_barrier {
    zkr_session *session;
    char *path;
    enum zkr_create_mode parents;
};

static int check(const zkr_barrier *b)
{
    if (b == NULL)
        return zkr__fail(ZKR_EINVAL, "%s is NULL", noun);
    return zkr__session_check(b->session, noun);
}

int zkr_barrier_new(zkr_session *session, const char *path,
                    const struct zkr_barrier_opts *opts,
                    zkr_barrier **ret_barrier)
{
    enum zkr_create_mode parents;
    zkr_barrier *b;
    int rc = ZKR__OUTPUT(ret_barrier);

    if (rc == ZKR_OK)
        rc = zkr__session_check(session, "session");
    if (rc == ZKR_OK)
        rc = zkr__lock_check_path(session, noun, path);
    if (rc == ZKR_OK)
        rc = zkr__node_parents(opts, noun, &parents);
    if (rc != ZKR_OK)
        return rc;
    b = calloc(1, sizeof(*b));
    if (b == NULL || (b->path = strdup(path)) == NULL) {
        free(b);
        return zkr__no_memory(noun, path);
    }
    zkr__session_ref(session);
    b->session = session;
    b->parents = parents;
    *ret_barrier = b;
    return ZKR_OK;
}

void zkr_barrier_free(zkr_barrier *b)
{
    if (b == NULL || check(b) != ZKR_OK)
        return;
    zkr__session_unref(b->session);
    free(b->path);
    free(b);
}

const char *zkr_barrier_path(const zkr_barrier *b)
{
    return b == NULL ? NULL : b->path;
}

int zkr_barrier_set(zkr_barrier *b, int64_t timeout_ms)
{
    int rc = check(b);

    if (rc == ZKR_OK)
        rc = zkr__node_put(b->session, b->path, ZKR_CREATE_PERSISTENT,
                           b->parents,
                           zkr__session_deadline(b->session, timeout_ms));
    return rc == ZKR_ZNODEEXISTS ? ZKR_OK : rc;
}

int zkr_barrier_remove(zkr_barrier *b, int64_t timeout_ms)
{
    int rc = check(b);

    if (rc == ZKR_OK)
        rc = zkr__node_remove(b->session, b->path,
                              zkr__session_deadline(b->session, timeout_ms));
    return rc;
}

int zkr_barrier_wait(zkr_barrier *b, int64_t timeout_ms)
{
    struct zkr__time_limit until;
    int rc = check(b);

    if (rc != ZKR_OK)
        return rc;
    until = zkr__time_limit(b->session, timeout_ms);
    return zkr__condition_await(&is_gone, b->session, b->path, NULL, &until);
}
