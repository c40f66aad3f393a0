/* SURVEYING: lists the queue, and finds the contender that we wait for. */
#include "lock/claim_steps.h"

#include "base/error.h"
#include "base/log.h"
#include "base/path.h"
#include "lock/downgrade.h"
#include "lock/heartbeat.h"
#include "session/timer_thread.h"

static void on_list(struct zkr__op *op, const struct zkr__zk_reply *reply)
{
    struct zkr__claim *c = ZKR__CONTAINER(op, struct zkr__claim, list.op);

    zkr__session_assert_locked(c->session);
    if (zkr__claim_in_state(c, ZKR__CLAIM_SURVEYING) &&
        !zkr__claim_is_over(c)) {
        if (reply->rc == ZKR_OK)
            zkr__claim_survey_locked(c, reply);
        else if (reply->rc == ZKR__ZNONODE)
            zkr__claim_enter_locked(c, "directory gone");
        else
            zkr__claim_give_up_locked(c, reply->rc,
                                      "cannot list the contenders");
    }
    zkr__claim_unref(c);
}

static void on_confirmed(struct zkr__claim *c, int rc)
{
    (void)c; /* the lease has been told */
    (void)rc;
}

/* A claim that has waited for long has sent no write for long, and so would be
 * granted the lock without a lease. So it sends a write with the list, which is
 * answered before the list. */
static void confirm_locked(struct zkr__claim *c) ZKR__LOCKED
{
    if (!zkr__confirm_is_under_way(&c->prove.confirm) &&
        zkr__heartbeat_wants_write(c->session))
        zkr__confirm_start_locked(&c->prove.confirm, ZKR__RETRY_NEVER,
                                  on_confirmed);
}

void zkr__claim_list_locked(struct zkr__claim *c, const char *why)
{
    zkr__sm_move(&c->sm, ZKR__CLAIM_SURVEYING, why);
    zkr__timer_thread_disarm_locked(c->session, &c->wait.relist);
    zkr__ghosts_rest_locked(c);
    confirm_locked(c);
    zkr__claim_ask_locked(c, &c->list.op, ZKR__ZK_CHILDREN, c->lock->dir,
                          ZKR__RETRY_POLICY, on_list);
}

/* The counter of the server sticks at 2^31-1 or goes negative: from there on,
 * sequence numbers say nothing about the order, for any client. */
static bool is_exhausted(const struct zkr__claim *c)
{
    int64_t seq = -1;

    (void)zkr__node_name_parse(c->node.path, c->recipe->markers, &seq);
    if (seq >= ZKR__SEQ_WARN && seq < ZKR__SEQ_MAX)
        zkr__log(ZKR_LOG_WARNING,
                 "%s '%s': sequence number %lld of at most %lld; let the "
                 "directory be removed when it is empty",
                 c->recipe->noun, c->lock->path, (long long)seq,
                 (long long)ZKR__SEQ_MAX);
    return seq < 0 || seq >= ZKR__SEQ_MAX;
}

static void conflict_locked(struct zkr__claim *c, const char *name) ZKR__LOCKED
{
    if (zkr__claim_asked_for(c, name)) /* ... and created later than we knew */
        zkr__claim_recover_locked(c, "we would wait for ourselves");
    else if (c->intent != ZKR__WAIT)
        zkr__claim_give_up_locked(c, ZKR_EBUSY, "is held by '%s'", name);
    else
        zkr__claim_wait_for_locked(c, name);
    if (zkr__claim_in_state(c, ZKR__CLAIM_WAITING) &&
        !zkr__ghosts_suspect_locked(c, name))
        zkr__claim_give_up_locked(c, ZKR_ENOMEM, "out of memory");
}

void zkr__claim_survey_locked(struct zkr__claim *c,
                              const struct zkr__zk_reply *reply)
{
    struct zkr__queue queue;
    bool ghosts;
    size_t i;

    if (zkr__queue_parse(&queue, reply->names, reply->name_count,
                         c->recipe->markers,
                         zkr__path_name(c->node.path)) != ZKR_OK) {
        zkr__claim_give_up_locked(c, ZKR_ENOMEM, "out of memory");
        return;
    }
    ghosts = zkr__ghosts_leave_out_locked(c, &queue);
    if (!queue.listed)
        zkr__claim_enter_locked(c, "our node was deleted");
    else if (zkr__downgrade_came_late(c, &queue))
        zkr__downgrade_fail_locked(c);
    else if (is_exhausted(c))
        zkr__claim_give_up_locked(c, ZKR_EEXHAUSTED,
                                  "node '%s' has no usable sequence number",
                                  c->node.path);
    else if ((i = c->recipe->waits_for(&queue.nearest)) != ZKR__NOBODY)
        conflict_locked(c, queue.ahead[i].name);
    else if (ghosts)
        zkr__claim_prove_locked(c, "first, but for ghosts");
    else
        zkr__claim_turn_locked(c, "first");
    zkr__queue_done(&queue);
}
