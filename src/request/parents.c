/* SPDX-License-Identifier: Apache-2.0 */
/* Creates the missing parents of a lock, from the deepest that exists. */
#include "request/parents.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "request/client.h"
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

/* The create of the path as it is cut was answered with *rc. Tells whether
 * there is another one, and cuts the path for it; if not, *rc is the outcome.
 */
static bool has_next(struct zkr__parents *p, int *rc)
{
    if (*rc == ZKR_ZUNIMPLEMENTED && p->mode == ZKR_CREATE_CONTAINER) {
        p->mode = ZKR_CREATE_PERSISTENT; /* where containers are disabled */
        return true;
    }
    if (*rc == ZKR_ZNONODE) { /* up */
        p->cut = (size_t)(strrchr(p->path, '/') - p->path);
        if (p->cut > p->chroot_len) {
            p->path[p->cut] = '\0';
            return true;
        }
        *rc = p->chroot_len > 0 ? ZKR_ENOCHROOT : ZKR_ZNONODE;
        return false;
    }
    if (*rc != ZKR_OK && *rc != ZKR_ZNODEEXISTS)
        return false;
    *rc = ZKR_OK;
    if (p->cut == p->len)
        return false;
    p->path[p->cut] = '/'; /* down */
    p->cut += strlen(p->path + p->cut);
    return true;
}

static void on_created(struct zkr__op *op, const struct zkr__zk_reply *reply);

static void create_locked(struct zkr__parents *p) ZKR__LOCKED
{
    p->op.request.mode = p->mode;
    p->op.request.data = "";
    zkr__op_start_locked(&p->op, ZKR__ZK_CREATE, p->path, ZKR__RETRY_POLICY,
                         on_created);
}

static void on_created(struct zkr__op *op, const struct zkr__zk_reply *reply)
{
    struct zkr__parents *p = ZKR__CONTAINER(op, struct zkr__parents, op);
    int rc = reply->rc;

    zkr__session_assert_locked(op->session);
    if (has_next(p, &rc))
        create_locked(p);
    else
        p->done(p, rc);
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

/* `parent` is the path above that of the node. */
static int make(struct zkr_session *s, char *parent, enum zkr_create_mode mode,
                int64_t deadline)
{
    struct zkr__parents p = { .path = parent, .mode = mode }; /* without op */
    struct zkr_create_opts opts = ZKR_CREATE_OPTS_INIT;
    int rc;

    p.len = p.cut = strlen(parent);
    do {
        opts.mode = p.mode;
        rc = zkr__session_ask(s, ZKR__CREATE(parent, "", 0), &opts, deadline,
                              NULL);
    } while (rc == ZKR_EUNKNOWN ||
             has_next(&p, &rc)); /* it may be made twice */
    return rc;
}

int zkr__parents_make(struct zkr_session *s, const char *path,
                      enum zkr_create_mode mode, int64_t deadline)
{
    char *parent = strndup(path, (size_t)(strrchr(path, '/') - path));
    int rc = ZKR_ZNONODE;

    if (parent == NULL)
        return zkr__no_memory("create", path);
    if (parent[0] != '\0')
        rc = make(s, parent, mode, deadline);
    free(parent);
    return rc != ZKR_ZNONODE
               ? rc
               : zkr__fail(ZKR_ENOCHROOT, "create '%.300s': no chroot '%s'",
                           path, zkr__session_root(s));
}
