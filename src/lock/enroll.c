/* ENROLLING: puts a node of ours into the queue, in one flight. */
#include "lock/claim_steps.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "session/timer_thread.h"

static void enroll_locked(struct zkr__claim *c, const char *why) ZKR__LOCKED;

/* A try writes nothing when the lock is taken. */
static void on_probe(struct zkr__op *op, const struct zkr__zk_reply *reply)
{
    struct zkr__claim *c = ZKR__CONTAINER(op, struct zkr__claim, list.op);
    struct zkr__queue queue = { 0 };
    int rc = reply->rc;

    zkr__session_assert_locked(c->session);
    if (zkr__claim_in_state(c, ZKR__CLAIM_PROBING) && !zkr__claim_is_over(c)) {
        if (rc == ZKR_OK)
            rc = zkr__queue_parse(&queue, reply->names, reply->name_count,
                                  c->recipe->markers, NULL);
        if (rc == ZKR_OK && c->recipe->waits_for(&queue.nearest) != ZKR__NOBODY)
            zkr__claim_give_up_locked(c, ZKR_EBUSY, "is held");
        else if (rc == ZKR_OK || rc == ZKR__ZNONODE)
            zkr__claim_enter_locked(c, "free");
        else
            zkr__claim_give_up_locked(c, rc, "cannot list the contenders");
        zkr__queue_done(&queue);
    }
    zkr__claim_unref(c);
}

static void probe_locked(struct zkr__claim *c) ZKR__LOCKED
{
    zkr__sm_move(&c->sm, ZKR__CLAIM_PROBING, "try");
    zkr__claim_ask_locked(c, &c->list.op, ZKR__ZK_CHILDREN, c->lock->dir,
                          ZKR__RETRY_POLICY, on_probe);
}

static void name_node(struct zkr__claim *c)
{
    struct zkr__lock *lock = c->lock;
    char uuid[ZKR__UUID_LEN + 1];
    int64_t seq;
    size_t len;

    zkr__random_uuid(uuid);
    zkr__node_name_build(c->node.name, lock->layout, uuid,
                         c->recipe->marker[lock->layout]);
    len = strlen(c->node.name);
    c->node.complete = c->beside != NULL;
    if (c->node.complete &&
        zkr__node_name_parse(c->beside->node.path, c->recipe->markers, &seq) !=
            ZKR__FOREIGN)
        (void)snprintf(c->node.name + len, sizeof(c->node.name) - len,
                       "%010" PRId64, seq);
    (void)snprintf(c->node.request_path, c->node.path_size, "%s/%s", lock->dir,
                   c->node.name);
}

/* Enters the queue at its tail under a new name, so that no node of another
 * epoch can be taken for ours. When a node of this epoch may still turn up, the
 * claim keeps the name, by which it finds and deletes the node in the end. */
void zkr__claim_enter_locked(struct zkr__claim *c, const char *why)
{
    if (zkr__claim_in_state(c, ZKR__CLAIM_IDLE) && c->intent == ZKR__TRY) {
        probe_locked(c);
        return;
    }
    if (c->node.thorough && c->epoch == c->session->epoch) {
        enroll_locked(c, why);
        return;
    }
    name_node(c);
    c->epoch = c->session->epoch;
    c->node.thorough = false;
    enroll_locked(c, why);
}

static void enrolled_locked(struct zkr__claim *c,
                            const struct zkr__zk_reply *list) ZKR__LOCKED
{
    switch (zkr__claim_judge_create_locked(c)) {
    case ZKR__CREATE_SEEN_TO:
        break;
    case ZKR__CREATE_UNKNOWN:
        zkr__claim_recover_locked(c, "outcome of create unknown");
        break;
    case ZKR__CREATE_EXISTS:
        zkr__claim_recover_locked(c, "an earlier create was carried out late");
        break;
    case ZKR__CREATED:
        if (list->rc != ZKR_OK) {
            zkr__claim_list_locked(c, "created");
            break;
        }
        zkr__sm_move(&c->sm, ZKR__CLAIM_SURVEYING, "created and listed");
        zkr__claim_survey_locked(c, list);
        break;
    }
}

static void on_enroll_list(struct zkr__op *op,
                           const struct zkr__zk_reply *reply);

/* Two requests, one flight. The list is answered after the create, on the same
 * connection, so it shows the queue with us in it; on_enroll_list() decides. */
static void enroll_locked(struct zkr__claim *c, const char *why) ZKR__LOCKED
{
    c->list.refused = false;
    zkr__claim_create_locked(c, why);
    zkr__claim_ask_locked(c, &c->list.op, ZKR__ZK_CHILDREN, c->lock->dir,
                          ZKR__RETRY_NEVER, on_enroll_list);
}

/* A list that the client refuses ends before a create that is in flight; then
 * the create goes on. */
static void on_enroll_list(struct zkr__op *op,
                           const struct zkr__zk_reply *reply)
{
    struct zkr__claim *c = ZKR__CONTAINER(op, struct zkr__claim, list.op);

    zkr__session_assert_locked(c->session);
    c->list.refused = c->own.op.where != ZKR__OP_IDLE;
    if (!c->list.refused)
        enrolled_locked(c, reply);
    zkr__claim_unref(c);
}

void zkr__claim_enrolled_locked(struct zkr__claim *c)
{
    if (c->list.refused)
        enrolled_locked(c, &(struct zkr__zk_reply){ .rc = ZKR__ZSYSTEMERROR });
}

/* While ENROLLING, requests that have been sent must be answered first. */
void zkr__claim_stop_enrolling_locked(struct zkr__claim *c)
{
    zkr__timer_thread_disarm_locked(c->session, &c->create.pause);
    if (zkr__claim_take_back_locked(c, &c->own.op))
        (void)zkr__claim_take_back_locked(c, &c->list.op);
    if (c->own.op.where == ZKR__OP_IDLE && c->list.op.where == ZKR__OP_IDLE)
        zkr__claim_withdraw_locked(c);
}
