/* SPDX-License-Identifier: Apache-2.0 */
/* A grant: reports the true state of a held lock to its holder. */
#ifndef ZKR__GRANT_H
#define ZKR__GRANT_H

#include <zkrecipes/grant.h>

#include "base/ring.h"
#include "base/sm.h"
#include "session/dispatch.h"
#include "session/locked.h"
#include "session/op.h"

struct zkr__claim;
struct zkr__own;

struct zkr__grant_event {
    uint8_t kind;  /* enum zkr_grant_event_kind */
    uint8_t loss;  /* enum zkr_loss */
    uint8_t state; /* enum zkr_grant_state_kind */
};

struct zkr_grant { /* under the session lock; part of its claim */
    struct zkr__sm
        sm; /* enum zkr_grant_state_kind; not HELD before it is granted */
    struct zkr__own *own; /* grant_watch.c; NULL: not watched so far */
    uint64_t confirms;    /* how many confirms were answered */
    int confirmed;        /* the answer to the last one */
    enum zkr_loss loss;   /* loss.c */
    uint64_t answers;     /* of the session before the loss */

    /* Of the listener: */
    struct zkr__notice notice;
    struct zkr__ring latest;
    struct zkr__grant_event events[ZKR__RING_MAX];
    bool revoke_requested;
    zkr_grant_fn fn;
    void *user;

    int released; /* how the release ended, once the claim has left */
    bool left;
    struct zkr__notice release_notice;
    zkr_release_fn release_fn;
    void *release_user;
};

void zkr__grant_init(struct zkr_grant *g);

/* Called when the claim becomes HELD. */
void zkr__grant_begin_locked(struct zkr_grant *g) ZKR__LOCKED;

/* The claim is to be HELD no more: tell. */
void zkr__grant_end_locked(struct zkr_grant *g,
                           enum zkr_grant_state_kind state) ZKR__LOCKED;

/* Called when the claim has left: the node is gone, or `rc` says why it is
 * not. */
void zkr__grant_left_locked(struct zkr_grant *g, int rc) ZKR__LOCKED;

/* The connection was lost, or a proof is late, or the lease has run out. */
void zkr__grant_doubt_locked(struct zkr_grant *g,
                             enum zkr_grant_state_kind state,
                             const char *why) ZKR__LOCKED;

/* Called when there is a connection: asks about grants in doubt. */
void zkr__grant_resume_locked(struct zkr_grant *g) ZKR__LOCKED;

/* The answer to a write that was to find our node: ZKR_OK when it has. */
void zkr__grant_found_locked(struct zkr_grant *g, int rc) ZKR__LOCKED;

#endif
