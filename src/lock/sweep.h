/* SPDX-License-Identifier: Apache-2.0 */
/* A sweep: deletes that must be carried out, and are repeated until they are,
 * or the session is over. */
#pragma once

#include "lock/search.h"
#include "session/locked.h"

struct zkr__sweep {
    struct zkr__search search;
    /* Fills `search` when there is one to be made; NULL: it is filled. */
    void (*seek)(struct zkr__sweep *sweep);
    enum zkr__op_retry retry; /* how to repeat the delete */
    char *node; /* the path, or ""; with room for dir and any name of ours */
    size_t node_size;
    bool may_be_more; /* there may be more nodes of ours */
    bool deleted;     /* one was there, and is deleted */
    bool refused;     /* once; that is logged */
    /* Under the session lock. ZKR_OK: all gone. Else the answer that forbids
     * it, or that the session is over. */
    void (*done)(struct zkr__sweep *sweep, int rc);
};

void zkr__sweep_init(struct zkr__sweep *sweep, struct zkr_session *s,
                     struct zkr__ref *owner);

/* Delete `node`; when it is empty, or there may be more, search for what is
 * ours and delete that. Needs no memory and knows no deadline. */
void zkr__sweep_start_locked(struct zkr__sweep *sweep,
                             void (*done)(struct zkr__sweep *,
                                          int rc)) ZKR__LOCKED;

/* Sweeps once more, after the servers have refused a delete. */
void zkr__sweep_again_locked(struct zkr__sweep *sweep) ZKR__LOCKED;
