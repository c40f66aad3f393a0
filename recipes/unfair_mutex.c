/* SPDX-License-Identifier: Apache-2.0 */
/* The unfair mutex: one node, and the client that creates it holds the lock.
 *
 * The name says nothing about the owner. A node is ours if our session made it
 * and its data has the number of our claim. After an unknown outcome it is also
 * ours if somebody else has replaced its data, and no claim of the session
 * knows the node. */
#include <zkrecipes/unfair_mutex.h>

#include <string.h>

#include "base/error.h"
#include "base/output.h"
#include "links.h"
#include "lock/claim_steps.h"
#include "lock/rival.h"
#include "mutex_recipe.h"
#include "unfair_recipe.h"

struct zkr_unfair_mutex {
    struct zkr__lock lock;
};

static void exists_locked(struct zkr__claim *c) ZKR__LOCKED
{
    if (c->intent != ZKR__WAIT && !c->node.thorough)
        zkr__claim_give_up_locked(c, ZKR_EBUSY, "is held by '%s'",
                                  c->node.request_path);
    else
        zkr__claim_wait_for_locked(c, ZKR__UNFAIR_NAME);
}

static void created_locked(struct zkr__claim *c) ZKR__LOCKED
{
    zkr__session_assert_locked(c->session);
    switch (zkr__claim_judge_create_locked(c)) {
    case ZKR__CREATE_SEEN_TO:
        break;
    case ZKR__CREATED:
        zkr__claim_turn_locked(c, "created");
        break;
    case ZKR__CREATE_EXISTS:
        exists_locked(c);
        break;
    case ZKR__CREATE_UNKNOWN:
        zkr__claim_wait_for_locked(c, ZKR__UNFAIR_NAME);
        break;
    }
}

static void take_locked(struct zkr__claim *c, const char *why) ZKR__LOCKED
{
    zkr__session_assert_locked(c->session);
    c->node.thorough = c->node.thorough && c->epoch == c->session->epoch;
    c->epoch = c->session->epoch;
    c->node.complete = true;
    (void)strcpy(c->node.name, ZKR__UNFAIR_NAME);
    zkr__claim_create_locked(c, why);
}

static void busy_locked(struct zkr__claim *c) ZKR__LOCKED
{
    char text[ZKR__RIVAL_MAX];

    zkr__rival_describe(c->wait.rival, text);
    zkr__claim_give_up_locked(c, ZKR_EBUSY, "is held by '%s'%s",
                              c->node.request_path, text);
}

static void met_locked(struct zkr__claim *c,
                       const struct zkr__zk_reply *reply) ZKR__LOCKED
{
    zkr__session_assert_locked(c->session);
    if (zkr__by_data_is_ours_locked(c, reply) &&
        zkr__claim_adopt(c, c->node.request_path, reply) == ZKR_OK) {
        zkr__claim_stop_watching_locked(c);
        zkr__claim_prove_locked(c, "found, and ours");
    } else if (c->intent != ZKR__WAIT) {
        busy_locked(c);
    }
}

#define TO(state)        ZKR__BIT(ZKR__CLAIM_##state)
#define ROW(state, next) [ZKR__CLAIM_##state] = { #state, next }

/* clang-format off */
static const struct zkr__sm_state moves[ZKR__CLAIM_STATES] = {
    ROW(IDLE,       TO(ENROLLING)),
    ROW(PROBING,    0),
    ROW(ENROLLING,  TO(ENROLLING) | TO(WAITING) | TO(PROVING) | TO(HELD) |
                    TO(LEAVING) | TO(IDLE)),
    ROW(RECOVERING, 0),
    ROW(SURVEYING,  0),
    ROW(WAITING,    TO(ENROLLING) | TO(PROVING) | TO(LEAVING) | TO(IDLE)),
    ROW(PROVING,    TO(HELD) | TO(ENROLLING) | TO(LEAVING) | TO(IDLE)),
    ROW(HELD,       TO(LEAVING) | TO(LOST)),
    ROW(LEAVING,    TO(IDLE)),
    ROW(LOST,       0),
};
/* clang-format on */

const struct zkr__way zkr__by_creating_it = {
    .moves = moves,
    .identity = &zkr__by_data,
    .enter = take_locked,
    .created = created_locked,
    .withdraw = zkr__claim_withdraw_locked,
    .leave = zkr__claim_leave_locked,
    .go_on = take_locked,
    .met = met_locked,
};

static const struct zkr__recipe recipe = {
    .noun = "unfair mutex",
    .way = &zkr__by_creating_it,
};

static struct zkr__lock *lock_of(zkr_unfair_mutex *mutex)
{
    return mutex == NULL ? NULL : &mutex->lock;
}

struct zkr__link zkr__unfair_mutex_link(zkr_unfair_mutex *mutex)
{
    return (struct zkr__link){ lock_of(mutex), &recipe, 0 };
}

enum zkr_error zkr_unfair_mutex_new(zkr_session *session, const char *path,
                                    const struct zkr_mutex_opts *opts,
                                    zkr_unfair_mutex **ret_mutex)
{
    const uint32_t flags =
        ZKR__MUTEX_FLAGS &
        ~(uint32_t)(ZKR_MUTEX_KAZOO_LAYOUT | ZKR__LOCK_CAN_STAY);
    struct zkr__lock *lock;
    int rc = ZKR__OUTPUT(ret_mutex);

    if (rc == ZKR_OK)
        rc = zkr__lock_new(session, recipe.noun, path, opts, flags, 0, &lock);
    if (rc == ZKR_OK)
        *ret_mutex = ZKR__CONTAINER(lock, zkr_unfair_mutex, lock);
    return rc;
}

void zkr_unfair_mutex_free(zkr_unfair_mutex *mutex)
{
    zkr__lock_free(lock_of(mutex));
}

enum zkr_error zkr_unfair_mutex_acquire(zkr_unfair_mutex *mutex,
                                        int64_t timeout_ms,
                                        zkr_grant **ret_grant)
{
    return zkr__lock_acquire(lock_of(mutex), &recipe, timeout_ms, ret_grant);
}

enum zkr_error zkr_unfair_mutex_acquire_async(zkr_unfair_mutex *mutex,
                                              int64_t timeout_ms,
                                              zkr_acquire_fn fn, void *user,
                                              zkr_request **ret_request)
{
    return zkr__lock_acquire_async(lock_of(mutex), &recipe, timeout_ms, fn,
                                   user, ret_request);
}

enum zkr_error zkr_unfair_mutex_cancel(zkr_unfair_mutex *mutex)
{
    return zkr__lock_cancel(lock_of(mutex), recipe.noun);
}

enum zkr_error zkr_unfair_mutex_stats(zkr_unfair_mutex *mutex,
                                      struct zkr_counters *ret_counters)
{
    return zkr__lock_stats(lock_of(mutex), recipe.noun, ret_counters);
}

const char *zkr_unfair_mutex_path(const zkr_unfair_mutex *mutex)
{
    return mutex == NULL ? NULL : mutex->lock.path;
}
