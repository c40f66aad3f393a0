/* SPDX-License-Identifier: Apache-2.0 */
/* Discards: ephemeral nodes of the session that nobody waits for any more, and
 * that are deleted in the background. */
#include "request/discard.h"

#include <stdlib.h>

#include "session/session.h"

struct zkr__discard {
    struct zkr__op op;
    struct zkr__ref ref;
    char *path; /* with the chroot */
};

static void free_discard(struct zkr__ref *ref)
{
    struct zkr__discard *d = ZKR__CONTAINER(ref, struct zkr__discard, ref);

    free(d->path);
    free(d);
}

struct zkr__discard *zkr__discard_new(struct zkr_session *s, const char *path)
{
    struct zkr__discard *d = calloc(1, sizeof(*d));

    if (d == NULL || (d->path = zkr__session_full_path(s, path)) == NULL) {
        free(d);
        return NULL;
    }
    zkr__ref_init(&d->ref, free_discard);
    zkr__op_init(&d->op, s, &d->ref);
    d->op.class = ZKR__OP_WRITES;
    return d;
}

void zkr__discard_free(struct zkr__discard *d)
{
    if (d != NULL)
        zkr__ref_drop(&d->ref);
}

static void on_deleted(struct zkr__op *op, const struct zkr__zk_reply *reply)
{
    (void)op;
    (void)reply;
}

void zkr__discard_run(struct zkr__discard *d)
{
    struct zkr_session *s = d->op.session;

    zkr__session_lock(s);
    if (s->over == 0)
        zkr__op_start_locked(&d->op, ZKR__ZK_DELETE, d->path, ZKR__RETRY_ALWAYS,
                             on_deleted);
    zkr__session_unlock(s);
    zkr__discard_free(d);
}
