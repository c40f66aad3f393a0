/* ENROLLING: putting a node of ours into the queue, in one flight. */
#include "lock/claim_steps.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "session/retry.h"
#include "session/timer_thread.h"

static void enroll_locked(struct zkr__claim *c, const char *why);

/* Nothing is written for a lock that is taken. */
static void on_probe(struct zkr__op *op, const struct zkr__zk_reply *reply)
{
    struct zkr__claim *c = ZKR__CONTAINER(op, struct zkr__claim, list);
    struct zkr__queue queue = { 0 };
    int rc = reply->rc;

    if (zkr__claim_in_state(c, ZKR__CLAIM_PROBING) && !zkr__claim_is_over(c)) {
        if (rc == ZKR_OK)
            rc = zkr__queue_parse(&queue, reply->names, reply->name_count,
                                  &c->recipe->markers, NULL);
        if (rc == ZKR_OK && c->recipe->waits_for(&queue) != ZKR__NOBODY)
            zkr__claim_give_up_locked(c, ZKR_EBUSY, "is held");
        else if (rc == ZKR_OK || rc == ZKR__ZNONODE)
            zkr__claim_enter_locked(c, "free");
        else
            zkr__claim_give_up_locked(c, rc, "cannot list the contenders");
        zkr__queue_done(&queue);
    }
    zkr__claim_unref(c);
}

static void probe_locked(struct zkr__claim *c)
{
    zkr__sm_move(&c->sm, ZKR__CLAIM_PROBING, "try");
    zkr__claim_ask_locked(c, &c->list, ZKR__ZK_CHILDREN, c->lock->dir,
                          ZKR__RETRY_POLICY, on_probe);
}

static void name_node(struct zkr__claim *c)
{
    struct zkr__lock *lock = c->lock;
    char uuid[ZKR__UUID_LEN + 1];
    int64_t seq;
    size_t len;

    zkr__random_uuid(uuid);
    zkr__node_name_build(c->name, lock->layout, uuid,
                         c->recipe->marker[lock->layout]);
    len = strlen(c->name);
    c->complete = c->beside != NULL;
    if (c->complete &&
        zkr__node_name_parse(c->beside->node, &c->recipe->markers, &seq) !=
            ZKR__FOREIGN)
        (void)snprintf(c->name + len, sizeof(c->name) - len, "%010" PRId64,
                       seq);
    (void)snprintf(c->request_path, c->path_size, "%s/%s", lock->dir, c->name);
}

/* Enter the queue at its tail, as somebody new: no node of another epoch can be
 * taken for ours. Unless a node of this epoch may still turn up: then under the
 * same name, by which we find and delete it in the end. */
void zkr__claim_enter_locked(struct zkr__claim *c, const char *why)
{
    if (zkr__claim_in_state(c, ZKR__CLAIM_IDLE) && c->is_try &&
        c->beside == NULL) {
        probe_locked(c);
        return;
    }
    if (c->thorough && c->epoch == c->session->epoch) {
        enroll_locked(c, why);
        return;
    }
    name_node(c);
    c->epoch = c->session->epoch;
    c->thorough = false;
    enroll_locked(c, why);
}

static void on_create(struct zkr__op *op, const struct zkr__zk_reply *reply);
static void on_enroll_list(struct zkr__op *op,
                           const struct zkr__zk_reply *reply);

/* Two requests, one flight. The list is answered after the create, on the same
 * connection, so it shows the queue with us in it; on_enroll_list() decides. */
static void enroll_locked(struct zkr__claim *c, const char *why)
{
    zkr__sm_move(&c->sm, ZKR__CLAIM_ENROLLING, why);
    c->node[0] = '\0';
    c->list_refused = false;
    c->create.request.mode =
        c->complete ? ZKR__ZK_EPHEMERAL : ZKR__ZK_EPHEMERAL_SEQUENTIAL;
    c->create.request.data = c->data;
    c->create.request.data_len = c->data_len;
    c->create.request.acl = &c->session->acl;
    zkr__claim_ask_locked(c, &c->create, ZKR__ZK_CREATE, c->request_path,
                          ZKR__RETRY_NEVER, on_create);
    zkr__claim_ask_locked(c, &c->list, ZKR__ZK_CHILDREN, c->lock->dir,
                          ZKR__RETRY_NEVER, on_enroll_list);
}

static void on_pause_over(struct zkr__timer *timer)
{
    struct zkr__claim *c = ZKR__CONTAINER(timer, struct zkr__claim, pause);

    if (!zkr__claim_is_over(c))
        c->recipe->way->enter(c, "next attempt");
}

/* Our node certainly does not exist, and another attempt may help. */
void zkr__claim_pause_locked(struct zkr__claim *c)
{
    int64_t now = zkr__clock_now();
    uint32_t delay_ms;

    if (!zkr__retry_next(&c->session->opts.retry, c->retries,
                         (uint64_t)((now - c->started) / ZKR__MS),
                         zkr__random(), &delay_ms)) {
        zkr__claim_give_up_locked(c, c->create_rc, "cannot create our node");
        return;
    }
    c->retries++;
    zkr__timer_thread_arm_locked(c->session, &c->pause,
                                 now + delay_ms * ZKR__MS, on_pause_over);
}

static void on_parents(struct zkr__parents *parents, int rc)
{
    struct zkr__claim *c = ZKR__CONTAINER(parents, struct zkr__claim, parents);

    if (!zkr__claim_is_over(c)) {
        if (c->decided)
            zkr__claim_withdraw_locked(c);
        else if (rc == ZKR_OK)
            c->recipe->way->enter(c, "parents made");
        else
            zkr__claim_give_up_locked(c, rc, "cannot create '%s'",
                                      parents->path);
    }
    zkr__claim_unref(c);
}

void zkr__claim_make_parents_locked(struct zkr__claim *c)
{
    zkr__claim_ref(c);
    if (zkr__parents_start_locked(&c->parents, c->lock->dir, c->lock->parents,
                                  on_parents) == ZKR_OK)
        return;
    zkr__claim_unref(c);
    zkr__claim_give_up_locked(c, ZKR_ENOMEM, "out of memory");
}

static void enrolled_locked(struct zkr__claim *c,
                            const struct zkr__zk_reply *list)
{
    switch (zkr__error_outcome(c->create_rc)) {
    case ZKR__UNKNOWN:
        zkr__claim_recover_locked(c, "outcome of create unknown");
        return;
    case ZKR__NOT_DONE:
        zkr__claim_pause_locked(c);
        return;
    case ZKR__OVER: /* zkr__claim_is_over() */
        return;
    case ZKR__DONE:
        break;
    }
    if (c->create_rc == ZKR__ZNONODE) {
        zkr__claim_make_parents_locked(c);
    } else if (c->create_rc == ZKR__ZNODEEXISTS) {
        zkr__claim_recover_locked(c, "an earlier create was carried out late");
    } else if (c->create_rc != ZKR_OK) {
        zkr__claim_give_up_locked(c, c->create_rc, "cannot create our node");
    } else if (list->rc == ZKR_OK) {
        zkr__sm_move(&c->sm, ZKR__CLAIM_SURVEYING, "created and listed");
        zkr__claim_survey_locked(c, list);
    } else {
        zkr__claim_list_locked(c, "created");
    }
}

static void answered_locked(struct zkr__claim *c,
                            const struct zkr__zk_reply *list)
{
    if (zkr__claim_is_over(c))
        return;
    if (c->decided)
        zkr__claim_withdraw_locked(c);
    else
        enrolled_locked(c, list);
}

static void on_create(struct zkr__op *op, const struct zkr__zk_reply *reply)
{
    struct zkr__claim *c = ZKR__CONTAINER(op, struct zkr__claim, create);

    c->create_rc = reply->rc;
    if (reply->rc == ZKR_OK)
        c->create_rc = zkr__claim_adopt(c, reply->path, reply);
    if (c->create_rc == ZKR_EPROTO ||
        zkr__error_outcome(c->create_rc) == ZKR__UNKNOWN)
        c->thorough = true;
    if (c->list_refused)
        answered_locked(c, &(struct zkr__zk_reply){ .rc = ZKR__ZSYSTEMERROR });
    zkr__claim_unref(c);
}

/* A list that the client refuses ends before a create that is in flight: then
 * on_create() goes on. */
static void on_enroll_list(struct zkr__op *op,
                           const struct zkr__zk_reply *reply)
{
    struct zkr__claim *c = ZKR__CONTAINER(op, struct zkr__claim, list);

    c->list_refused = c->create.where != ZKR__OP_IDLE;
    if (!c->list_refused)
        answered_locked(c, reply);
    zkr__claim_unref(c);
}

/* While ENROLLING, what has been sent must be answered first. */
void zkr__claim_stop_enrolling_locked(struct zkr__claim *c)
{
    zkr__timer_thread_disarm_locked(c->session, &c->pause);
    if (zkr__claim_take_back_locked(c, &c->create))
        (void)zkr__claim_take_back_locked(c, &c->list);
    (void)zkr__claim_take_back_locked(c, &c->parents.op);
    if (c->create.where == ZKR__OP_IDLE && c->list.where == ZKR__OP_IDLE &&
        c->parents.op.where == ZKR__OP_IDLE)
        zkr__claim_withdraw_locked(c);
}
