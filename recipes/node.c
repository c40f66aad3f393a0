/* SPDX-License-Identifier: Apache-2.0 */
/* A node of a recipe, made and deleted by a caller who waits. */
#include "node.h"

#include "base/clock.h"
#include "base/error.h"
#include "lock/parents.h"

int zkr__node_create(zkr_session *s, const char *path, const void *data,
                     size_t len, const struct zkr_create_opts *opts,
                     int64_t deadline)
{
    int rc = ZKR_OK;

    do {
        if (rc == ZKR_ZNONODE)
            rc = zkr__parents_make(s, path, zkr__clock_left_ms(deadline));
        if (rc == ZKR_OK)
            rc = zkr_session_create(s, path, data, len, opts,
                                    zkr__clock_left_ms(deadline), NULL);
    } while (rc == ZKR_ZNONODE && zkr__clock_now() < deadline);
    return rc;
}

/* Of a request that asks again, after one whose outcome is unknown: that of
 * both together. What was not answered now may still come from then. */
static int settle(const char *path, int rc)
{
    if (rc == ZKR_OK || rc == ZKR_ZNODEEXISTS || rc == ZKR_ZNONODE ||
        rc == ZKR_EUNKNOWN)
        return rc;
    return zkr__fail(ZKR_EUNKNOWN, "'%.300s': unknown, and then %s", path,
                     zkr_strerror(rc));
}

/* An answer says that no earlier request of the session comes after it. */
static bool is_to_be_asked_again(int rc, int64_t deadline)
{
    return rc == ZKR_EUNKNOWN && zkr__clock_now() < deadline;
}

int zkr__node_put(zkr_session *s, const char *path, enum zkr_create_mode mode,
                  int64_t deadline)
{
    struct zkr_create_opts opts = ZKR_CREATE_OPTS_INIT;
    int rc;

    opts.mode = mode;
    rc = zkr__node_create(s, path, "", 0, &opts, deadline);
    while (is_to_be_asked_again(rc, deadline))
        rc = settle(path, zkr__node_create(s, path, "", 0, &opts, deadline));
    return rc;
}

int zkr__node_remove(zkr_session *s, const char *path, int64_t deadline)
{
    int rc = zkr_session_delete(s, path, ZKR_ANY_VERSION,
                                zkr__clock_left_ms(deadline));

    while (is_to_be_asked_again(rc, deadline))
        rc = settle(path, zkr_session_delete(s, path, ZKR_ANY_VERSION,
                                             zkr__clock_left_ms(deadline)));
    return rc == ZKR_ZNONODE ? ZKR_OK : rc;
}
