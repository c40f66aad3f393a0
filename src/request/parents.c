/* SPDX-License-Identifier: Apache-2.0 */
/* Creates the missing parents of a lock, from the deepest that exists. */
#include "request/parents.h"

#include <string.h>

#include "base/error.h"
#include "request/request.h"
#include "session/session.h"

/* It begins with the deepest because creating a node that exists needs the
 * permission to create in its parent, which we may lack in parents that others
 * made. */

void zkr__parents_init(struct zkr__parents *parents, struct zkr_session *s,
                       struct zkr__ref *owner)
{
    *parents = (struct zkr__parents){ .path = NULL };
    zkr__op_init(&parents->op, s, owner);
}

static void on_created(struct zkr__op *op, const struct zkr__zk_reply *reply);

static void create_locked(struct zkr__parents *p) ZKR__LOCKED
{
    p->path[p->cut] = '\0';
    p->op.request.mode = p->mode;
    p->op.request.data = "";
    zkr__op_start_locked(&p->op, ZKR__ZK_CREATE, p->path, ZKR__RETRY_POLICY,
                         on_created);
}

static void up_locked(struct zkr__parents *p) ZKR__LOCKED
{
    while (p->cut > 0 && p->path[p->cut] != '/')
        p->cut--;
    if (p->cut <= p->chroot_len)
        p->done(p, p->chroot_len > 0 ? ZKR_ENOCHROOT : ZKR_ZNONODE);
    else
        create_locked(p);
}

static void down_locked(struct zkr__parents *p) ZKR__LOCKED
{
    if (p->cut == p->len) {
        p->done(p, ZKR_OK);
        return;
    }
    p->path[p->cut] = '/';
    p->cut += strlen(p->path + p->cut);
    create_locked(p);
}

static void on_created(struct zkr__op *op, const struct zkr__zk_reply *reply)
{
    struct zkr__parents *p = ZKR__CONTAINER(op, struct zkr__parents, op);

    zkr__session_assert_locked(op->session);
    switch (reply->rc) {
    case ZKR_OK:
    case ZKR_ZNODEEXISTS:
        down_locked(p);
        break;
    case ZKR_ZNONODE:
        p->cut--;
        up_locked(p);
        break;
    case ZKR_ZUNIMPLEMENTED: /* where containers are disabled */
        if (p->mode == ZKR_CREATE_CONTAINER) {
            p->mode = ZKR_CREATE_PERSISTENT;
            create_locked(p);
            break;
        }
        p->done(p, reply->rc);
        break;
    default:
        p->done(p, reply->rc);
    }
}

void zkr__parents_start_locked(struct zkr__parents *parents, char *path,
                               enum zkr_create_mode mode,
                               void (*done)(struct zkr__parents *, int rc))
{
    parents->path = path;
    parents->len = parents->cut = strlen(path);
    parents->chroot_len = strlen(parents->op.session->hosts.chroot);
    parents->mode = mode;
    parents->done = done;
    create_locked(parents);
}

/* -- for a caller who waits ------------------------------------------------ */

struct making {
    struct zkr__request request; /* its path is that of the node */
    struct zkr__parents parents;
    enum zkr_create_mode mode;
    char parent[ZKR_PATH_MAX + 1]; /* which `parents` cuts */
};

static const struct zkr__request_kind making_kind = {
    .noun = "create the parents of",
    .size = sizeof(struct making),
};

static void make_locked(struct zkr__request *r);

/* When the caller has left, what was begun goes on until the session ends. */
static void on_made(struct zkr__parents *parents, int rc)
{
    struct making *m = ZKR__CONTAINER(parents, struct making, parents);

    zkr__session_assert_locked(m->request.session);
    if (rc == ZKR_ZSESSIONEXPIRED && !m->request.ended)
        make_locked(&m->request);
    else
        zkr__request_end_locked(&m->request, rc, "one of them cannot be made");
}

static void make_locked(struct zkr__request *r)
{
    struct making *m = ZKR__CONTAINER(r, struct making, request);
    size_t len = (size_t)(strrchr(r->full_path, '/') - r->full_path);

    zkr__session_assert_locked(r->session);
    memcpy(m->parent, r->full_path, len);
    m->parent[len] = '\0';
    zkr__parents_start_locked(&m->parents, m->parent, m->mode, on_made);
}

int zkr__parents_make(struct zkr_session *s, const char *path,
                      enum zkr_create_mode mode, int64_t deadline)
{
    struct making *m;
    int rc;

    if (strrchr(path, '/') == path)
        return zkr__fail(ZKR_ENOCHROOT, "create '%.300s': no chroot '%s'", path,
                         zkr__session_root(s));
    m = zkr__request_new(&making_kind, s, path, deadline, ZKR_EUNREACHABLE);
    if (m == NULL)
        return ZKR_ENOMEM;
    m->mode = mode;
    zkr__parents_init(&m->parents, s, &m->request.ref);
    rc = zkr__request_run(&m->request, make_locked);
    zkr__request_unref(&m->request);
    return rc;
}
