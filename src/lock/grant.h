/* SPDX-License-Identifier: Apache-2.0 */
/* A grant: reports the true state of a held lock to its holder. */
#pragma once

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
    zkr_grant_fn fn;
    void *user;
    struct zkr__ring latest;
    struct zkr__grant_event events[ZKR__RING_MAX];
    bool revoke_requested;

    bool left;
    int released; /* how the release ended, once the claim has left */
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

static inline bool zkr__grant_is_ours(const struct zkr_grant *g)
{
    return g->sm.state == ZKR_GRANT_HELD ||
           g->sm.state == ZKR_GRANT_SUSPENDED ||
           g->sm.state == ZKR_GRANT_UNSURE;
}

/* -- the parts, as they call each other -- */

/* grant.c */
void zkr__grant_tell_locked(struct zkr_grant *g,
                            enum zkr_grant_event_kind kind) ZKR__LOCKED;
/* Every public function begins with it: it refuses NULL, and a forked child. */
int zkr__grant_check_handle(const struct zkr_grant *g);
/* The lock of its session. */
void zkr__grant_lock(const struct zkr_grant *g)
    ZKR__ACQUIRES(zkr__any_session_lock);
void zkr__grant_unlock(const struct zkr_grant *g)
    ZKR__RELEASES(zkr__any_session_lock);
int zkr__grant_explain(struct zkr_grant *g, int rc) ZKR__LOCKED;
bool zkr__grant_is_held_locked(const struct zkr_grant *g) ZKR__LOCKED;

/* grant_watch.c: somebody asks for the lock. */
void zkr__grant_revoked_locked(struct zkr_grant *g) ZKR__LOCKED;
/* GET sets a watch; EXISTS has to do without read permission. */
void zkr__grant_watch_set_locked(struct zkr_grant *g,
                                 enum zkr__zk_type type) ZKR__LOCKED;
void zkr__grant_watch_set_later_locked(struct zkr_grant *g) ZKR__LOCKED;
void zkr__grant_watch_stop_locked(struct zkr_grant *g) ZKR__LOCKED;
/* All watches of the handle are freed. */
void zkr__grant_watch_flushed_locked(struct zkr_grant *g) ZKR__LOCKED;
/* Of a claim that may be granted the lock soon: starts watching, unless it does
 * already. Returns true when the answer is still to come. */
bool zkr__grant_watch_ahead_locked(struct zkr_grant *g) ZKR__LOCKED;
/* A list has shown the node, too: a watch that was there before counts. */
void zkr__grant_watch_counts_locked(struct zkr_grant *g) ZKR__LOCKED;
/* The node has been seen in this generation of the line, and no event has come.
 */
bool zkr__grant_node_is_there_locked(const struct zkr_grant *g) ZKR__LOCKED;

/* loss.c: returns what is known by now. */
enum zkr_loss zkr__loss_locked(const struct zkr_grant *g) ZKR__LOCKED;

/* release.c */
void zkr__release_init(struct zkr_grant *g);
/* zkr_grant_free(), which does not wait for a listener: a recipe that has a
 * handle and does not listen by it. */
void zkr__grant_free_locked(struct zkr_grant *g) ZKR__LOCKED;
