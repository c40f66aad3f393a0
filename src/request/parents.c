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

/* `parent` is the path above that of the node, and is cut where we are. */
static int make(struct zkr_session *s, char *parent, enum zkr_create_mode mode,
                int64_t deadline)
{
    struct zkr_create_opts opts = ZKR_CREATE_OPTS_INIT;
    const size_t len = strlen(parent);
    size_t cut = len;
    int rc;

    opts.mode = mode;
    for (;;) {
        parent[cut] = '\0';
        rc = zkr__session_ask(s, ZKR__CREATE(parent, "", 0), &opts, deadline,
                              NULL);
        if (rc == ZKR_ZUNIMPLEMENTED && opts.mode == ZKR_CREATE_CONTAINER) {
            opts.mode = ZKR_CREATE_PERSISTENT;
        } else if (rc == ZKR_ZNONODE) {
            cut = (size_t)(strrchr(parent, '/') - parent);
            if (cut == 0)
                return rc;
        } else if ((rc == ZKR_OK || rc == ZKR_ZNODEEXISTS) && cut < len) {
            parent[cut] = '/';
            cut += strlen(parent + cut);
        } else if (rc != ZKR_EUNKNOWN) { /* it may be made twice */
            return rc == ZKR_ZNODEEXISTS ? ZKR_OK : rc;
        }
    }
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
