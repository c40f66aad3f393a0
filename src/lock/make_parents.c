/* SPDX-License-Identifier: Apache-2.0 */
/* Creates the missing parents of a node for a caller who waits. */
#include <string.h>

#include "base/error.h"
#include "lock/parents.h"
#include "session/call.h"
#include "session/session.h"

struct making {
    struct zkr__call call; /* its path is that of the node */
    struct zkr__parents parents;
    char parent[ZKR_PATH_MAX + 1]; /* which `parents` cuts */
};

static const struct zkr__call_type making_type = {
    .noun = "create the parents of",
    .size = sizeof(struct making),
};

static void on_made(struct zkr__parents *parents, int rc);

static void begin_locked(struct zkr__call *call) ZKR__LOCKED
{
    struct making *m = ZKR__CONTAINER(call, struct making, call);
    size_t len = (size_t)(strrchr(call->full_path, '/') - call->full_path);

    zkr__session_assert_locked(call->session);
    memcpy(m->parent, call->full_path, len);
    m->parent[len] = '\0';
    (void)atomic_fetch_add(&call->refs, 1);
    zkr__parents_start_locked(&m->parents, m->parent, ZKR__ZK_CONTAINER,
                              on_made);
}

/* When the caller has left, what was begun goes on until the session ends. */
static void on_made(struct zkr__parents *parents, int rc)
{
    struct making *m = ZKR__CONTAINER(parents, struct making, parents);
    struct zkr__call *call = &m->call;

    zkr__session_assert_locked(call->session);
    if (rc == ZKR_ZSESSIONEXPIRED && zkr__call_is_awaited(call))
        begin_locked(call);
    else
        zkr__call_end_locked(call, rc, "one of them cannot be made");
    zkr__call_unref(call);
}

int zkr__parents_make(struct zkr_session *s, const char *path, int64_t deadline)
{
    struct making *m;
    int rc;

    if (strrchr(path, '/') == path)
        return zkr__fail(ZKR_ENOCHROOT, "create '%.300s': no chroot '%s'", path,
                         zkr__session_root(s));
    m = zkr__call_new(&making_type, s, path, 0);
    if (m == NULL)
        return ZKR_ENOMEM;
    m->call.deadline = deadline;
    zkr__parents_init(&m->parents, s);
    rc = zkr__call_run(&m->call, begin_locked);
    zkr__call_unref(&m->call);
    return rc == ZKR_ZOPERATIONTIMEOUT
               ? zkr__fail(ZKR_EUNREACHABLE,
                           "create the parents of '%.300s': no answer before "
                           "the deadline",
                           path)
               : rc;
}
