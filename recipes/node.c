/* SPDX-License-Identifier: Apache-2.0 */
/* A node of a recipe, made and deleted by a caller who waits. */
#include "node.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/opts.h"
#include "request/client.h"
#include "request/parents.h"

int zkr__node_parents(const struct zkr_barrier_opts *opts, const char *noun,
                      enum zkr_create_mode *ret_parents)
{
    struct zkr_barrier_opts o;
    int rc = zkr__opts_load(&o, sizeof(o), sizeof(o), opts, noun);

    if (rc == ZKR_OK &&
        ((o.flags & ~(uint32_t)ZKR_PERSISTENT_PARENTS) != 0 || o.reserved != 0))
        rc = zkr__fail(ZKR_EINVAL, "%s: unknown flags %#x", noun,
                       (unsigned)o.flags);
    *ret_parents = o.flags != 0 ? ZKR_CREATE_PERSISTENT : ZKR_CREATE_CONTAINER;
    return rc;
}

int zkr__node_create(zkr_session *s, const char *path, const void *data,
                     size_t len, const struct zkr_create_opts *opts,
                     enum zkr_create_mode parents, int64_t deadline)
{
    int rc = ZKR_OK;

    do {
        if (rc == ZKR_ZNONODE)
            rc = zkr__parents_make(s, path, parents, deadline);
        if (rc == ZKR_OK)
            rc = zkr__session_ask(s, ZKR__CREATE(path, data, len), opts,
                                  deadline, NULL);
    } while (rc == ZKR_ZNONODE && zkr__clock_now() < deadline);
    if (rc == ZKR_ZNONODE)
        return zkr__fail(ZKR_ETIMEDOUT,
                         "'%.300s': its parents were deleted again until the "
                         "deadline",
                         path);
    return rc;
}

/* Returns the outcome of both requests together: the second one was made
 * because the outcome of the first is unknown. When the servers have answered
 * the second, the first cannot be carried out any more. They carry out the
 * requests of one session in order, and a connection that the session has left
 * can add none: its own server has closed it, other servers refuse it
 * (SESSIONMOVED). The end of the session has the same effect. Anything but an
 * answer says nothing of the first request. */
static int settle(const char *path, int rc)
{
    if (rc == ZKR_OK || rc == ZKR_ZNODEEXISTS || rc == ZKR_ETIMEDOUT)
        return rc;
    return zkr__fail(ZKR_EUNKNOWN, "'%.300s': unknown, and then %s", path,
                     zkr_strerror(rc));
}

int zkr__node_put(zkr_session *s, const char *path, enum zkr_create_mode mode,
                  enum zkr_create_mode parents, int64_t deadline)
{
    struct zkr_create_opts opts = ZKR_CREATE_OPTS_INIT;
    int rc;

    opts.mode = mode;
    rc = zkr__node_create(s, path, "", 0, &opts, parents, deadline);
    while (rc == ZKR_EUNKNOWN && zkr__clock_now() < deadline) {
        rc = zkr__node_create(s, path, "", 0, &opts, parents, deadline);
        if (rc != ZKR_EUNKNOWN)
            return settle(path, rc);
    }
    return rc;
}

static int delete_node(zkr_session *s, const char *path, int64_t deadline)
{
    int rc = zkr__session_ask(s, ZKR__DELETE(path, ZKR_ANY_VERSION), NULL,
                              deadline, NULL);

    return rc == ZKR_ZNONODE ? ZKR_OK : rc;
}

int zkr__node_remove(zkr_session *s, const char *path, int64_t deadline)
{
    int rc = delete_node(s, path, deadline);

    while (rc == ZKR_EUNKNOWN && zkr__clock_now() < deadline) {
        rc = delete_node(s, path, deadline);
        if (rc != ZKR_EUNKNOWN)
            return settle(path, rc);
    }
    return rc;
}
