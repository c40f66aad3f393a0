/* SPDX-License-Identifier: Apache-2.0 */
/* A node of a recipe, made and deleted by a caller who waits. */
#include "node.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/opts.h"
#include "lock/lock.h"
#include "request/client.h"
#include "request/parents.h"

int zkr__site_new(size_t size, const char *noun, zkr_session *s,
                  const char *path, const struct zkr_barrier_opts *opts,
                  void **ret_handle)
{
    struct zkr_barrier_opts o;
    int rc = zkr__session_check(s, "session");

    if (rc == ZKR_OK)
        rc = zkr__lock_check_path(s, noun, path);
    if (rc == ZKR_OK)
        rc = zkr__opts_load(&o, sizeof(o), sizeof(o), opts, noun);
    if (rc == ZKR_OK &&
        ((o.flags & ~(uint32_t)ZKR_PERSISTENT_PARENTS) != 0 || o.reserved != 0))
        rc = zkr__fail(ZKR_EINVAL, "%s: unknown flags %#x", noun,
                       (unsigned)o.flags);
    if (rc != ZKR_OK)
        return rc;
    struct zkr__site *site = calloc(1, size);
    if (site == NULL || (site->path = strdup(path)) == NULL) {
        free(site);
        return zkr__no_memory(noun, path);
    }
    zkr__session_ref(s);
    site->session = s;
    site->parents = o.flags != 0 ? ZKR_CREATE_PERSISTENT : ZKR_CREATE_CONTAINER;
    *ret_handle = site;
    return ZKR_OK;
}

int zkr__site_check(const void *handle, const char *noun)
{
    const struct zkr__site *site = handle;

    if (site == NULL)
        return zkr__fail(ZKR_EINVAL, "%s is NULL", noun);
    return zkr__session_check(site->session, noun);
}

void zkr__site_free(struct zkr__site *site)
{
    zkr__session_unref(site->session);
    free(site->path);
    free(site);
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
        return zkr__reason_explain(
            s, zkr__fail(ZKR_ETIMEDOUT,
                         "'%.300s': its parents were deleted again until the "
                         "deadline",
                         path));
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
    if (rc == ZKR_OK || rc == ZKR_ZNODEEXISTS || rc == ZKR_ETIMEDOUT ||
        rc == ZKR_EUNKNOWN)
        return rc;
    return zkr__fail(ZKR_EUNKNOWN, "'%.300s': unknown, and then %s", path,
                     zkr_strerror(rc));
}

int zkr__node_put(const struct zkr__site *at, const char *path,
                  enum zkr_create_mode mode, int64_t deadline)
{
    struct zkr_create_opts opts = ZKR_CREATE_OPTS_INIT;
    bool unknown = false;
    int rc;

    opts.mode = mode;
    for (;;) {
        rc = zkr__node_create(at->session, path, "", 0, &opts, at->parents,
                              deadline);
        if (rc != ZKR_EUNKNOWN || zkr__clock_now() >= deadline)
            return unknown ? settle(path, rc) : rc;
        unknown = true;
    }
}

int zkr__node_remove(const struct zkr__site *at, const char *path,
                     int64_t deadline)
{
    bool unknown = false;
    int rc;

    for (;;) {
        rc = zkr__session_ask(at->session, ZKR__DELETE(path, ZKR_ANY_VERSION),
                              NULL, deadline, NULL);
        if (rc == ZKR_ZNONODE)
            rc = ZKR_OK;
        if (rc != ZKR_EUNKNOWN || zkr__clock_now() >= deadline)
            return unknown ? settle(path, rc) : rc;
        unknown = true;
    }
}
