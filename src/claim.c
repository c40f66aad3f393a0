/* One attempt to get a lock, from acquire to release: the state machine. */
#include "claim.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "keeper.h"
#include "log.h"
#include "path.h"
#include "retry.h"

/* How often to list when the node before us cannot be read. */
#define RELIST_MS 1000

#define TO(state)        ZKR__BIT(ZKR__CLAIM_##state)
#define ROW(state, next) [ZKR__CLAIM_##state] = { #state, next }

/* clang-format off */
static const struct zkr__sm_state table[] = {
    ROW(IDLE,      TO(PROBING) | TO(ENROLLING)),
    ROW(PROBING,   TO(ENROLLING) | TO(IDLE)),
    ROW(ENROLLING, TO(ENROLLING) | TO(LOOKING) | TO(SURVEYING) | TO(LEAVING) |
                   TO(IDLE)),
    ROW(LOOKING,   TO(LOOKING) | TO(ENROLLING) | TO(SURVEYING) | TO(LEAVING) |
                   TO(IDLE)),
    ROW(SURVEYING, TO(WAITING) | TO(HELD) | TO(ENROLLING) | TO(LEAVING) |
                   TO(IDLE)),
    ROW(WAITING,   TO(SURVEYING) | TO(ENROLLING) | TO(LEAVING) | TO(IDLE)),
    ROW(HELD,      TO(LEAVING) | TO(LOST)),
    ROW(LEAVING,   TO(IDLE)),
    ROW(LOST,      0),
};
/* clang-format on */

static void enroll_locked(struct zkr__claim *c, const char *why);
static void enter_locked(struct zkr__claim *c, const char *why);
static void look_locked(struct zkr__claim *c);
static void list_locked(struct zkr__claim *c, const char *why);
static void survey_locked(struct zkr__claim *c,
                          const struct zkr__zk_reply *reply);
static void leave_locked(struct zkr__claim *c, const char *why);
static void stop_watching_locked(struct zkr__claim *c);

/* -- the object ----------------------------------------------------------- */

static int allocate(struct zkr__claim *c)
{
    c->path_size = strlen(c->lock->dir) + 1 + ZKR__NAME_MAX + ZKR__SEQ_DIGITS;
    c->request_path = calloc(1, c->path_size);
    c->node = calloc(1, c->path_size);
    c->sweep_node = calloc(1, c->path_size);
    if (c->request_path == NULL || c->node == NULL || c->sweep_node == NULL)
        return zkr__fail(ZKR_ENOMEM, "%s '%s': out of memory", c->recipe->noun,
                         c->lock->path);
    return zkr__owner_write(c->data, c->lock->label, &c->data_len);
}

static void run_outcome(struct zkr__notice *notice)
{
    struct zkr__claim *c = ZKR__CONTAINER(notice, struct zkr__claim, notice);
    zkr_grant *grant = c->outcome == ZKR_OK ? &c->grant : NULL;

    if (grant != NULL)
        zkr__claim_ref(c); /* the user's */
    zkr__error_set_detail(c->detail);
    c->fn(c->outcome, grant, c->user);
    zkr__claim_unref(c);
}

int zkr__claim_new(struct zkr__lock *lock, const struct zkr__recipe *recipe,
                   int64_t timeout_ms, struct zkr__claim **ret_claim)
{
    struct zkr_session *s = lock->session;
    struct zkr__claim *c = calloc(1, sizeof(*c));
    int rc;

    if (c == NULL)
        return zkr__fail(ZKR_ENOMEM, "%s '%s': out of memory", recipe->noun,
                         lock->path);
    zkr__lock_ref(lock);
    atomic_init(&c->refs, 1);
    c->lock = lock;
    c->session = s;
    c->recipe = recipe;
    c->is_try = timeout_ms == 0;
    c->deadline = zkr__clock_deadline(
        c->is_try ? (int64_t)s->opts.reply_timeout_ms : timeout_ms);
    c->sm = (struct zkr__sm){ ZKR__CLAIM_IDLE, table, "claim" };
    c->request.claim = c;
    zkr__list_init(&c->link);
    zkr__op_init(&c->create, s);
    zkr__op_init(&c->list, s);
    zkr__op_init(&c->get, s);
    zkr__parents_init(&c->parents, s);
    zkr__search_init(&c->search, s);
    zkr__sweep_init(&c->sweep, s);
    zkr__notice_init(&c->notice, run_outcome);
    zkr__grant_init(&c->grant, s);
    (void)zkr__cond_init(&c->changed);
    rc = allocate(c);
    if (rc != ZKR_OK) {
        zkr__claim_unref(c);
        return rc;
    }
    *ret_claim = c;
    return ZKR_OK;
}

void zkr__claim_ref(struct zkr__claim *c)
{
    (void)atomic_fetch_add(&c->refs, 1);
}

void zkr__claim_unref(struct zkr__claim *c)
{
    if (atomic_fetch_sub(&c->refs, 1) != 1)
        return;
    zkr__parents_done(&c->parents);
    (void)pthread_cond_destroy(&c->changed);
    zkr__lock_unref(c->lock);
    free(c->request_path);
    free(c->node);
    free(c->sweep_node);
    free(c);
}

/* A request under way keeps the claim alive. */
static void
ask_locked(struct zkr__claim *c, struct zkr__op *op, enum zkr__zk_type type,
           const char *path, enum zkr__op_retry retry,
           void (*done)(struct zkr__op *, const struct zkr__zk_reply *))
{
    zkr__claim_ref(c);
    zkr__op_start_locked(op, type, path, retry, done);
}

static bool take_back_locked(struct zkr__claim *c, struct zkr__op *op)
{
    if (!zkr__op_cancel_locked(op))
        return false;
    zkr__claim_unref(c);
    return true;
}

static bool in_state(const struct zkr__claim *c, enum zkr__claim_state state)
{
    return c->sm.state == (int)state;
}

/* After the session has ended, answers mean nothing: the keeper closes the
 * handle and then calls zkr__claim_epoch_over_locked(). */
static bool is_over(const struct zkr__claim *c)
{
    return c->epoch != c->session->epoch || c->session->over != 0;
}

static void decide_locked(struct zkr__claim *c, int rc)
{
    assert(!c->decided);
    c->decided = true;
    c->outcome = rc;
    zkr__keeper_disarm_locked(c->session, &c->timeout);
    if (c->fn != NULL) {
        zkr__claim_ref(c);
        zkr__dispatch_post_locked(c->session, &c->notice);
    }
    (void)pthread_cond_broadcast(&c->changed);
}

/* The end of every claim that does not stay with its holder. */
static void end_locked(struct zkr__claim *c, enum zkr__claim_state state,
                       const char *why)
{
    zkr__sm_move(&c->sm, state, why);
    zkr__keeper_disarm_locked(c->session, &c->pause);
    zkr__keeper_disarm_locked(c->session, &c->relist);
    if (zkr__list_empty(&c->link))
        return;
    zkr__list_remove(&c->link);
    (void)pthread_cond_broadcast(&c->changed);
    zkr__claim_unref(c);
}

/* -- acquire -------------------------------------------------------------- */

static void on_probe(struct zkr__op *op, const struct zkr__zk_reply *reply);

static void on_timeout(struct zkr__timer *timer)
{
    struct zkr__claim *c = ZKR__CONTAINER(timer, struct zkr__claim, timeout);

    zkr__claim_time_out_locked(c);
}

void zkr__claim_start_locked(struct zkr__claim *c)
{
    struct zkr_session *s = c->session;

    zkr__claim_ref(c); /* the session's, until end_locked() */
    zkr__list_append(&s->claims, &c->link);
    c->started = zkr__clock_now();
    c->epoch = s->epoch;
    if (c->fn != NULL && c->deadline != ZKR__NEVER)
        zkr__keeper_arm_locked(s, &c->timeout, c->deadline, on_timeout);
    if (!c->is_try) {
        enter_locked(c, "acquire");
        return;
    }
    zkr__sm_move(&c->sm, ZKR__CLAIM_PROBING, "try");
    ask_locked(c, &c->list, ZKR__ZK_CHILDREN, c->lock->dir, ZKR__RETRY_POLICY,
               on_probe);
}

/* Nothing is written for a lock that is taken. */
static void on_probe(struct zkr__op *op, const struct zkr__zk_reply *reply)
{
    struct zkr__claim *c = ZKR__CONTAINER(op, struct zkr__claim, list);
    struct zkr__queue queue = { 0 };
    int rc = reply->rc;

    if (in_state(c, ZKR__CLAIM_PROBING) && !is_over(c)) {
        if (rc == ZKR_OK)
            rc = zkr__queue_parse(&queue, reply->names, reply->name_count,
                                  &c->recipe->markers, NULL);
        if (rc == ZKR_OK && c->recipe->waits_for(&queue) != ZKR__NOBODY)
            zkr__claim_give_up_locked(c, ZKR_EBUSY, "is held");
        else if (rc == ZKR_OK || rc == ZKR__ZNONODE)
            enter_locked(c, "free");
        else
            zkr__claim_give_up_locked(c, rc, "cannot list the contenders");
        zkr__queue_done(&queue);
    }
    zkr__claim_unref(c);
}

/* Enter the queue at its tail, as somebody new: no node of another epoch, and
 * no late create, can be taken for ours. */
static void enter_locked(struct zkr__claim *c, const char *why)
{
    struct zkr__lock *lock = c->lock;

    zkr__random_uuid(c->uuid);
    zkr__node_name_build(c->name, lock->layout, c->uuid,
                         c->recipe->marker[lock->layout]);
    (void)snprintf(c->request_path, c->path_size, "%s/%s", lock->dir, c->name);
    c->epoch = c->session->epoch;
    c->thorough = false;
    enroll_locked(c, why);
}

/* -- ENROLLING ------------------------------------------------------------ */

static void on_create(struct zkr__op *op, const struct zkr__zk_reply *reply);
static void on_enroll_list(struct zkr__op *op,
                           const struct zkr__zk_reply *reply);

/* Two requests, one flight. The list is answered after the create, on the same
 * connection, so it shows the queue with us in it; on_enroll_list() decides. */
static void enroll_locked(struct zkr__claim *c, const char *why)
{
    zkr__sm_move(&c->sm, ZKR__CLAIM_ENROLLING, why);
    c->node[0] = '\0';
    c->create.request.mode = ZKR__ZK_EPHEMERAL_SEQUENTIAL;
    c->create.request.data = c->data;
    c->create.request.data_len = c->data_len;
    c->create.request.acl = &c->session->acl;
    ask_locked(c, &c->create, ZKR__ZK_CREATE, c->request_path, ZKR__RETRY_NEVER,
               on_create);
    ask_locked(c, &c->list, ZKR__ZK_CHILDREN, c->lock->dir, ZKR__RETRY_NEVER,
               on_enroll_list);
}

/* Take the node as ours, if it is what we asked for. */
static int adopt(struct zkr__claim *c, const char *path,
                 const struct zkr__zk_reply *reply)
{
    size_t len = strlen(c->request_path);

    if (path == NULL || strncmp(path, c->request_path, len) != 0 ||
        path[len] == '\0' || strlen(path + len) > ZKR__SEQ_DIGITS ||
        strspn(path + len, "-0123456789") != strlen(path + len))
        return ZKR_EPROTO;
    if (reply->owner != c->session->id || reply->czxid <= 0)
        return ZKR_EPROTO;
    if (path != c->node)
        (void)strcpy(c->node, path);
    c->token = reply->czxid;
    return ZKR_OK;
}

static void on_create(struct zkr__op *op, const struct zkr__zk_reply *reply)
{
    struct zkr__claim *c = ZKR__CONTAINER(op, struct zkr__claim, create);

    c->create_rc = reply->rc;
    if (reply->rc == ZKR_OK)
        c->create_rc = adopt(c, reply->path, reply);
    if (c->create_rc == ZKR_EPROTO ||
        zkr__error_outcome(c->create_rc) == ZKR__UNKNOWN)
        c->thorough = true;
    zkr__claim_unref(c);
}

/* Given up while the create was on its way. */
static void withdraw_locked(struct zkr__claim *c)
{
    if (c->node[0] != '\0' || c->thorough)
        leave_locked(c, "given up");
    else
        end_locked(c, ZKR__CLAIM_IDLE, "given up");
}

static void on_pause_over(struct zkr__timer *timer)
{
    struct zkr__claim *c = ZKR__CONTAINER(timer, struct zkr__claim, pause);

    if (!is_over(c))
        enroll_locked(c, "next attempt");
}

/* Our node certainly does not exist, and another attempt may help. */
static void pause_locked(struct zkr__claim *c)
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
    zkr__keeper_arm_locked(c->session, &c->pause, now + delay_ms * ZKR__MS,
                           on_pause_over);
}

static void on_parents(struct zkr__parents *parents, int rc)
{
    struct zkr__claim *c = ZKR__CONTAINER(parents, struct zkr__claim, parents);

    if (!is_over(c)) {
        if (c->decided)
            withdraw_locked(c);
        else if (rc == ZKR_OK)
            enroll_locked(c, "parents made");
        else
            zkr__claim_give_up_locked(c, rc, "cannot create '%s'",
                                      parents->path);
    }
    zkr__claim_unref(c);
}

static void make_parents_locked(struct zkr__claim *c)
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
        look_locked(c);
        return;
    case ZKR__NOT_DONE:
        pause_locked(c);
        return;
    case ZKR__OVER: /* is_over() */
        return;
    case ZKR__DONE:
        break;
    }
    if (c->create_rc == ZKR__ZNONODE) {
        make_parents_locked(c);
    } else if (c->create_rc != ZKR_OK) {
        zkr__claim_give_up_locked(c, c->create_rc, "cannot create our node");
    } else if (list->rc == ZKR_OK) {
        zkr__sm_move(&c->sm, ZKR__CLAIM_SURVEYING, "created and listed");
        survey_locked(c, list);
    } else {
        list_locked(c, "created");
    }
}

static void on_enroll_list(struct zkr__op *op,
                           const struct zkr__zk_reply *reply)
{
    struct zkr__claim *c = ZKR__CONTAINER(op, struct zkr__claim, list);

    if (!is_over(c)) {
        if (c->decided)
            withdraw_locked(c);
        else
            enrolled_locked(c, reply);
    }
    zkr__claim_unref(c);
}

/* -- LOOKING -------------------------------------------------------------- */

static void on_look(struct zkr__op *op, const struct zkr__zk_reply *reply)
{
    struct zkr__claim *c = ZKR__CONTAINER(op, struct zkr__claim, create);

    if (in_state(c, ZKR__CLAIM_LOOKING) && !is_over(c)) {
        if (reply->rc == ZKR__ZNONODE)
            look_locked(c);
        else if (reply->rc != ZKR_OK)
            zkr__claim_give_up_locked(c, reply->rc, "cannot look at our node");
        else if (adopt(c, c->node, reply) == ZKR_OK)
            list_locked(c, "found, and ours");
        else
            enter_locked(c, "found, but of another session");
    }
    zkr__claim_unref(c);
}

static void on_searched(struct zkr__search *search, int rc)
{
    struct zkr__claim *c = ZKR__CONTAINER(search, struct zkr__claim, search);

    if (in_state(c, ZKR__CLAIM_LOOKING) && !is_over(c)) {
        if (rc != ZKR_OK) {
            zkr__claim_give_up_locked(c, rc, "cannot search our node");
        } else if (search->found[0] == '\0') {
            pause_locked(c);
        } else {
            (void)snprintf(c->node, c->path_size, "%s/%s", c->lock->dir,
                           search->found);
            ask_locked(c, &c->create, ZKR__ZK_EXISTS, c->node,
                       ZKR__RETRY_POLICY, on_look);
        }
    }
    zkr__claim_unref(c);
}

/* The answer to the create did not come. It may have been carried out, now or a
 * little later; a second node would make us wait for ourselves. */
static void look_locked(struct zkr__claim *c)
{
    zkr__sm_move(&c->sm, ZKR__CLAIM_LOOKING, "outcome of create unknown");
    c->node[0] = '\0';
    c->search.dir = c->lock->dir;
    c->search.tag = c->name;
    c->search.tag_len = zkr__node_name_tag_len(c->lock->layout);
    c->search.markers = &c->recipe->markers;
    zkr__claim_ref(c);
    zkr__search_start_locked(&c->search, ZKR__RETRY_POLICY, on_searched);
}

/* -- SURVEYING ------------------------------------------------------------ */

static void wait_for_locked(struct zkr__claim *c, const char *name);

static void on_list(struct zkr__op *op, const struct zkr__zk_reply *reply)
{
    struct zkr__claim *c = ZKR__CONTAINER(op, struct zkr__claim, list);

    if (in_state(c, ZKR__CLAIM_SURVEYING) && !is_over(c)) {
        if (reply->rc == ZKR_OK)
            survey_locked(c, reply);
        else if (reply->rc == ZKR__ZNONODE)
            enter_locked(c, "directory gone");
        else
            zkr__claim_give_up_locked(c, reply->rc,
                                      "cannot list the contenders");
    }
    zkr__claim_unref(c);
}

static void list_locked(struct zkr__claim *c, const char *why)
{
    zkr__sm_move(&c->sm, ZKR__CLAIM_SURVEYING, why);
    zkr__keeper_disarm_locked(c->session, &c->relist);
    ask_locked(c, &c->list, ZKR__ZK_CHILDREN, c->lock->dir, ZKR__RETRY_POLICY,
               on_list);
}

/* The counter of the server sticks at 2^31-1 or goes negative: from there on,
 * sequence numbers say nothing about the order, for any client. */
static bool is_exhausted(const struct zkr__claim *c)
{
    int64_t seq = -1;

    (void)zkr__node_name_parse(c->node, &c->recipe->markers, &seq);
    if (seq >= ZKR__SEQ_WARN && seq < ZKR__SEQ_MAX)
        zkr__log(ZKR_LOG_WARNING,
                 "%s '%s': sequence number %lld of at most %lld; let the "
                 "directory be removed when it is empty",
                 c->recipe->noun, c->lock->path, (long long)seq,
                 (long long)ZKR__SEQ_MAX);
    return seq < 0 || seq >= ZKR__SEQ_MAX;
}

/* Granted: first of those who conflict, in a list that is younger than our
 * node, which belongs to this session, whose epoch is still the same. */
static void grant_locked(struct zkr__claim *c)
{
    assert(c->epoch == c->session->epoch && !c->decided);
    zkr__sm_move(&c->sm, ZKR__CLAIM_HELD, "first");
    zkr__grant_begin_locked(&c->grant);
    decide_locked(c, ZKR_OK);
}

static void survey_locked(struct zkr__claim *c,
                          const struct zkr__zk_reply *reply)
{
    struct zkr__queue queue;
    size_t i;

    if (zkr__queue_parse(&queue, reply->names, reply->name_count,
                         &c->recipe->markers,
                         zkr__path_name(c->node)) != ZKR_OK) {
        zkr__claim_give_up_locked(c, ZKR_ENOMEM, "out of memory");
        return;
    }
    i = c->recipe->waits_for(&queue);
    if (!queue.listed)
        enter_locked(c, "our node was deleted");
    else if (is_exhausted(c))
        zkr__claim_give_up_locked(c, ZKR_EEXHAUSTED,
                                  "node '%s' has no usable sequence number",
                                  c->node);
    else if (i == ZKR__NOBODY)
        grant_locked(c);
    else if (c->is_try)
        zkr__claim_give_up_locked(c, ZKR_EBUSY, "is held by '%s'",
                                  queue.ahead[i].name);
    else
        wait_for_locked(c, queue.ahead[i].name);
    zkr__queue_done(&queue);
}

/* -- WAITING -------------------------------------------------------------- */

static void on_left_before_us(void *owner)
{
    struct zkr__claim *c = owner;

    c->watch = NULL;
    if (in_state(c, ZKR__CLAIM_WAITING) && !is_over(c))
        list_locked(c, "the node before us has changed");
}

static void on_get(struct zkr__op *op, const struct zkr__zk_reply *reply);

static void on_relist(struct zkr__timer *timer);

static void relist_later_locked(struct zkr__claim *c)
{
    zkr__keeper_arm_locked(c->session, &c->relist,
                           zkr__clock_deadline(RELIST_MS), on_relist);
}

static void on_relist(struct zkr__timer *timer)
{
    struct zkr__claim *c = ZKR__CONTAINER(timer, struct zkr__claim, relist);

    if (!in_state(c, ZKR__CLAIM_WAITING) || is_over(c))
        return;
    if (c->get.where != ZKR__OP_IDLE) {
        relist_later_locked(c);
        return;
    }
    stop_watching_locked(c);
    list_locked(c, "the node before us cannot be read");
}

/* GET and not EXISTS: that would leave a watch behind on a node that has gone.
 * Without the permission to read, EXISTS has to do; but servers since the fix
 * of CVE-2024-23944 do not tell us of a node that we may not read, so we also
 * list again from time to time. */
static void watch_locked(struct zkr__claim *c, enum zkr__zk_type type,
                         const char *path)
{
    c->watch = zkr__watch_new_locked(c->session, path, c, on_left_before_us);
    if (c->watch == NULL) {
        zkr__claim_give_up_locked(c, ZKR_ENOMEM, "out of memory");
        return;
    }
    c->get.request.watch = c->watch;
    ask_locked(c, &c->get, type, c->watch->path, ZKR__RETRY_POLICY, on_get);
    if (type == ZKR__ZK_EXISTS)
        relist_later_locked(c);
}

static void wait_for_locked(struct zkr__claim *c, const char *name)
{
    char *path;

    zkr__sm_move(&c->sm, ZKR__CLAIM_WAITING, name);
    if (!zkr__path_is_child_name(name)) {
        zkr__claim_give_up_locked(c, ZKR_EPROTO, "a child has a bad name");
        return;
    }
    path = zkr__path_join(c->lock->dir, name);
    if (path == NULL)
        zkr__claim_give_up_locked(c, ZKR_ENOMEM, "out of memory");
    else
        watch_locked(c, ZKR__ZK_GET, path);
    free(path);
}

static void not_watched_locked(struct zkr__claim *c, enum zkr__zk_type type,
                               int rc)
{
    struct zkr__watch *w = c->watch;

    c->watch = NULL;
    if (!in_state(c, ZKR__CLAIM_WAITING) || is_over(c))
        ;
    else if (rc == ZKR__ZNONODE)
        list_locked(c, "the node before us has gone");
    else if (rc == ZKR__ZNOAUTH && type == ZKR__ZK_GET)
        watch_locked(c, ZKR__ZK_EXISTS, w->path);
    else
        zkr__claim_give_up_locked(c, rc, "cannot watch '%s'", w->path);
    zkr__watch_not_set_locked(w, type, rc);
}

static void on_get(struct zkr__op *op, const struct zkr__zk_reply *reply)
{
    struct zkr__claim *c = ZKR__CONTAINER(op, struct zkr__claim, get);

    if (reply->rc != ZKR_OK) {
        not_watched_locked(c, op->request.type, reply->rc);
    } else if (!in_state(c, ZKR__CLAIM_WAITING)) {
        zkr__watch_remove_locked(c->watch); /* given up in the meantime */
        c->watch = NULL;
    }
    zkr__claim_unref(c);
}

static void stop_watching_locked(struct zkr__claim *c)
{
    zkr__keeper_disarm_locked(c->session, &c->relist);
    if (c->watch == NULL)
        return;
    if (take_back_locked(c, &c->get))
        zkr__watch_not_sent_locked(c->watch);
    else if (c->get.where == ZKR__OP_IDLE)
        zkr__watch_remove_locked(c->watch);
    else
        return; /* on_get() */
    c->watch = NULL;
}

/* -- giving up, and LEAVING ----------------------------------------------- */

/* While ENROLLING, what has been sent must be answered first. */
static void stop_enrolling_locked(struct zkr__claim *c)
{
    zkr__keeper_disarm_locked(c->session, &c->pause);
    if (take_back_locked(c, &c->create))
        (void)take_back_locked(c, &c->list);
    (void)take_back_locked(c, &c->parents.op);
    if (c->create.where == ZKR__OP_IDLE && c->list.where == ZKR__OP_IDLE &&
        c->parents.op.where == ZKR__OP_IDLE)
        withdraw_locked(c);
}

static void stop_locked(struct zkr__claim *c)
{
    if (is_over(c))
        return;
    switch ((enum zkr__claim_state)c->sm.state) {
    case ZKR__CLAIM_PROBING:
        (void)take_back_locked(c, &c->list);
        end_locked(c, ZKR__CLAIM_IDLE, "given up");
        break;
    case ZKR__CLAIM_ENROLLING:
        stop_enrolling_locked(c);
        break;
    case ZKR__CLAIM_LOOKING:
    case ZKR__CLAIM_SURVEYING:
    case ZKR__CLAIM_WAITING:
        leave_locked(c, "given up");
        break;
    case ZKR__CLAIM_IDLE:
    case ZKR__CLAIM_HELD:
    case ZKR__CLAIM_LEAVING:
    case ZKR__CLAIM_LOST:
        break;
    }
}

static void fail_locked(struct zkr__claim *c, int rc, const char *reason)
{
    zkr__error_format(c->detail, rc, "%s '%s': %s", c->recipe->noun,
                      c->lock->path, reason);
    decide_locked(c, rc);
}

void zkr__claim_give_up_locked(struct zkr__claim *c, int rc, const char *format,
                               ...)
{
    char reason[ZKR__DETAIL_MAX / 2];
    va_list args;

    if (c->decided)
        return;
    va_start(args, format);
    (void)vsnprintf(reason, sizeof(reason), format, args);
    va_end(args);
    fail_locked(c, rc, reason);
    stop_locked(c);
}

void zkr__claims_fail_locked(struct zkr_session *s, int rc, const char *why)
{
    for (struct zkr__list *l = s->claims.next; l != &s->claims; l = l->next) {
        struct zkr__claim *c = ZKR__CONTAINER(l, struct zkr__claim, link);

        if (!c->decided)
            fail_locked(c, rc, why);
    }
}

void zkr__claim_time_out_locked(struct zkr__claim *c)
{
    struct zkr_session *s = c->session;
    int rc = c->is_try ? ZKR__ZOPERATIONTIMEOUT : ZKR_ETIMEDOUT;

    if (!zkr__session_connected(s))
        zkr__claim_give_up_locked(c, rc,
                                  "deadline passed without a connection");
    else if (in_state(c, ZKR__CLAIM_WAITING) && c->watch != NULL)
        zkr__claim_give_up_locked(c, rc, "deadline passed, waiting for '%s'",
                                  zkr__path_name(c->watch->path));
    else
        zkr__claim_give_up_locked(c, rc, "deadline passed while %s",
                                  zkr__sm_name(&c->sm));
}

/* On a session that is over the node is gone, or the server will see to it. */
static void on_swept(struct zkr__sweep *sweep, int rc)
{
    struct zkr__claim *c = ZKR__CONTAINER(sweep, struct zkr__claim, sweep);

    if (zkr__error_outcome(rc) == ZKR__OVER)
        rc = ZKR_OK;
    else if (rc == ZKR__ZCLOSING)
        rc = c->session->told_server ? ZKR_OK : ZKR_EPENDING;
    zkr__grant_left_locked(&c->grant, rc);
    end_locked(c, ZKR__CLAIM_IDLE, "left");
}

static void leave_locked(struct zkr__claim *c, const char *why)
{
    struct zkr__sweep *sweep = &c->sweep;

    zkr__keeper_disarm_locked(c->session, &c->pause);
    zkr__sm_move(&c->sm, ZKR__CLAIM_LEAVING, why);
    (void)take_back_locked(c, &c->create);
    (void)take_back_locked(c, &c->list);
    (void)take_back_locked(c, &c->search.op);
    stop_watching_locked(c);
    sweep->search.dir = c->lock->dir;
    sweep->search.tag = c->name;
    sweep->search.tag_len = zkr__node_name_tag_len(c->lock->layout);
    sweep->search.markers = &c->recipe->markers;
    sweep->node = strcpy(c->sweep_node, c->node);
    sweep->node_size = c->path_size;
    sweep->thorough = c->thorough;
    zkr__sweep_start_locked(sweep, on_swept);
}

void zkr__claim_release_locked(struct zkr__claim *c)
{
    zkr__grant_end_locked(&c->grant, ZKR_GRANT_RELEASED);
    leave_locked(c, "released");
}

/* -- the end of an epoch -------------------------------------------------- */

void zkr__claim_lost_locked(struct zkr__claim *c, const char *why)
{
    if (!in_state(c, ZKR__CLAIM_HELD))
        return;
    zkr__grant_end_locked(&c->grant, ZKR_GRANT_LOST);
    end_locked(c, ZKR__CLAIM_LOST, why);
}

void zkr__claim_epoch_over_locked(struct zkr__claim *c)
{
    struct zkr_session *s = c->session;

    zkr__keeper_disarm_locked(s, &c->pause);
    zkr__keeper_disarm_locked(s, &c->relist);
    c->watch = NULL; /* all watches of the handle are freed */
    if (!c->decided && s->over != 0)
        fail_locked(c, s->over, "the session is over");
    else if (!c->decided && (c->is_try || c->lock->fail_on_session_loss))
        fail_locked(c, ZKR_ELOST, "the session ended");

    if (!c->decided)
        enter_locked(c, "new session");
    else
        end_locked(c, ZKR__CLAIM_IDLE, "the session ended");
}
