/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a grant, as they call each other. */
#ifndef ZKR__GRANT_PARTS_H
#define ZKR__GRANT_PARTS_H

#include "lock/claim.h"
#include "session/locked.h"

static inline struct zkr__claim *zkr__grant_claim(const struct zkr_grant *g)
{
    return ZKR__CONTAINER(g, struct zkr__claim, grant);
}

static inline bool zkr__grant_is_ours(const struct zkr_grant *g)
{
    return g->sm.state == ZKR_GRANT_HELD ||
           g->sm.state == ZKR_GRANT_SUSPENDED ||
           g->sm.state == ZKR_GRANT_UNSURE;
}

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
void zkr__grant_watch_done(struct zkr_grant *g);
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
/* zkr_grant_release() in two steps: sends the delete, if that was the last
 * acquire of its owner; and waits for the answer, if it was. */
int zkr__grant_release_begin(struct zkr_grant *g);
int zkr__grant_release_end(struct zkr_grant *g, int64_t since);
/* zkr_grant_free(), which does not wait for a listener: a recipe that has a
 * handle and does not listen by it. */
void zkr__grant_free_locked(struct zkr_grant *g) ZKR__LOCKED;

#endif
