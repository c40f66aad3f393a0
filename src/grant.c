/* What a holder has: the state of its lock, told truthfully. */
#include "grant.h"

#include <assert.h>
#include <string.h>

#include "claim.h"
#include "error.h"
#include "keeper.h"
#include "log.h"

/* Locks held for shorter than this are not watched: that would cost a request
 * for nothing. */
#define LOOK_AFTER_MS 50

/* What Curator writes into a lock node to ask for the lock. */
#define REVOKE_MESSAGE "__REVOKE__"

#define TO(state)        ZKR__BIT(ZKR_GRANT_##state)
#define ROW(state, next) [ZKR_GRANT_##state] = { #state, next }

/* clang-format off */
static const struct zkr__sm_state table[] = {
    [0] = { "NOT YET", TO(HELD) },
    ROW(HELD,      TO(SUSPENDED) | TO(UNSURE) | TO(LOST) | TO(RELEASED)),
    ROW(SUSPENDED, TO(HELD) | TO(UNSURE) | TO(LOST) | TO(RELEASED)),
    ROW(UNSURE,    TO(HELD) | TO(LOST) | TO(RELEASED)),
    ROW(LOST,      0),
    ROW(RELEASED,  0),
};
/* clang-format on */

static struct zkr__claim *claim_of(struct zkr_grant *g)
{
    return ZKR__CONTAINER(g, struct zkr__claim, grant);
}

static bool is_ours(const struct zkr_grant *g)
{
    return g->sm.state == ZKR_GRANT_HELD ||
           g->sm.state == ZKR_GRANT_SUSPENDED ||
           g->sm.state == ZKR_GRANT_UNSURE;
}

/* -- events --------------------------------------------------------------- */

static void post_locked(struct zkr_grant *g)
{
    if (!g->notice.due)
        zkr__claim_ref(claim_of(g)); /* until it has run */
    zkr__dispatch_post_locked(claim_of(g)->session, &g->notice);
}

static void tell_locked(struct zkr_grant *g, enum zkr_grant_event_kind kind)
{
    if (g->fn == NULL)
        return;
    zkr__ring_push(&g->events, (struct zkr__event){ .kind = (int)kind,
                                                    .state = g->sm.state });
    post_locked(g);
}

static void run_listener(struct zkr__notice *notice)
{
    struct zkr_grant *g = ZKR__CONTAINER(notice, struct zkr_grant, notice);
    struct zkr_session *s = claim_of(g)->session;
    struct zkr_grant_event event;
    struct zkr__event e;
    zkr_grant_fn fn;
    void *user;
    bool any;

    zkr__mtx_lock(&s->lock);
    fn = g->fn;
    user = g->user;
    any = zkr__ring_pop(&g->events, &e);
    if (g->events.count > 0)
        post_locked(g);
    zkr__mtx_unlock(&s->lock);
    if (fn != NULL && any) {
        event.kind = (enum zkr_grant_event_kind)e.kind;
        event.state = (enum zkr_grant_state)e.state;
        fn(g, &event, user);
    }
    zkr__claim_unref(claim_of(g));
}

static void move_locked(struct zkr_grant *g, enum zkr_grant_state state,
                        const char *why)
{
    zkr__sm_move(&g->sm, (int)state, why);
    tell_locked(g, ZKR_GRANT_STATE_CHANGED);
}

/* -- watching our own node ------------------------------------------------ */

static void look_locked(struct zkr_grant *g, enum zkr__zk_type type);

static void on_own_node_changed(void *owner)
{
    struct zkr_grant *g = owner;

    g->watch = NULL;
    look_locked(g, ZKR__ZK_GET);
}

static void looked_locked(struct zkr_grant *g, enum zkr__zk_type type,
                          const struct zkr__zk_reply *reply)
{
    struct zkr__watch *w = g->watch;

    if (reply->rc == ZKR_OK) {
        if (!is_ours(g)) {
            zkr__watch_forget_locked(w); /* the delete makes it fire */
            g->watch = NULL;
        } else if (reply->data_len == strlen(REVOKE_MESSAGE) &&
                   memcmp(reply->data, REVOKE_MESSAGE, reply->data_len) == 0) {
            tell_locked(g, ZKR_GRANT_REVOKE_REQUESTED);
        }
        return;
    }
    g->watch = NULL;
    zkr__watch_not_set_locked(w, type, reply->rc);
    if (!is_ours(g))
        return;
    if (reply->rc == ZKR__ZNONODE)
        zkr__claim_lost_locked(claim_of(g), "our node was deleted");
    else if (reply->rc == ZKR__ZNOAUTH && type == ZKR__ZK_GET)
        look_locked(g, ZKR__ZK_EXISTS);
    else
        zkr__log(ZKR_LOG_WARNING, "cannot watch our own node %s: %s",
                 claim_of(g)->node, zkr_strerror(reply->rc));
}

static void on_looked(struct zkr__op *op, const struct zkr__zk_reply *reply)
{
    struct zkr_grant *g = ZKR__CONTAINER(op, struct zkr_grant, look);

    looked_locked(g, op->request.type, reply);
    zkr__claim_unref(claim_of(g));
}

static void look_locked(struct zkr_grant *g, enum zkr__zk_type type)
{
    struct zkr__claim *c = claim_of(g);

    if (!is_ours(g) || g->watch != NULL)
        return;
    g->watch =
        zkr__watch_new_locked(c->session, c->node, g, on_own_node_changed);
    if (g->watch == NULL) {
        zkr__log(ZKR_LOG_WARNING, "cannot watch our own node %s: no memory",
                 c->node);
        return;
    }
    g->look.request.watch = g->watch;
    zkr__claim_ref(c);
    zkr__op_start_locked(&g->look, type, c->node, ZKR__RETRY_ALWAYS, on_looked);
}

static void on_look_later(struct zkr__timer *timer)
{
    look_locked(ZKR__CONTAINER(timer, struct zkr_grant, look_later),
                ZKR__ZK_GET);
}

static void stop_looking_locked(struct zkr_grant *g)
{
    struct zkr__claim *c = claim_of(g);

    zkr__keeper_disarm_locked(c->session, &g->look_later);
    if (zkr__op_cancel_locked(&g->check))
        zkr__claim_unref(c);
    if (g->watch == NULL)
        return;
    if (zkr__op_cancel_locked(&g->look)) {
        zkr__claim_unref(c);
        zkr__watch_not_sent_locked(g->watch);
    } else if (g->look.where == ZKR__OP_IDLE) {
        zkr__watch_forget_locked(g->watch);
    } else {
        return; /* on_looked() */
    }
    g->watch = NULL;
}

/* -- states --------------------------------------------------------------- */

static void run_released(struct zkr__notice *notice)
{
    struct zkr_grant *g =
        ZKR__CONTAINER(notice, struct zkr_grant, release_notice);

    g->release_fn(g->released, g->release_user);
    zkr__claim_unref(claim_of(g));
}

void zkr__grant_init(struct zkr_grant *g, struct zkr_session *s)
{
    g->sm = (struct zkr__sm){ 0, table, "grant" };
    zkr__op_init(&g->look, s);
    zkr__op_init(&g->check, s);
    zkr__notice_init(&g->notice, run_listener);
    zkr__notice_init(&g->release_notice, run_released);
}

void zkr__grant_begin_locked(struct zkr_grant *g)
{
    struct zkr_session *s = claim_of(g)->session;

    move_locked(g, ZKR_GRANT_HELD, "granted");
    zkr__keeper_arm_locked(s, &g->look_later,
                           zkr__clock_deadline(LOOK_AFTER_MS), on_look_later);
}

void zkr__grant_end_locked(struct zkr_grant *g, enum zkr_grant_state state)
{
    move_locked(g, state, "end");
    stop_looking_locked(g);
}

void zkr__grant_left_locked(struct zkr_grant *g, int rc)
{
    g->left = true;
    g->released = rc;
    if (g->release_fn != NULL) {
        zkr__claim_ref(claim_of(g));
        zkr__dispatch_post_locked(claim_of(g)->session, &g->release_notice);
    }
}

void zkr__grant_suspend_locked(struct zkr_grant *g)
{
    if (g->sm.state == ZKR_GRANT_HELD)
        move_locked(g, ZKR_GRANT_SUSPENDED, "connection lost");
}

/* A committed write found our node: nobody else was granted in between. */
static void on_checked(struct zkr__op *op, const struct zkr__zk_reply *reply)
{
    struct zkr_grant *g = ZKR__CONTAINER(op, struct zkr_grant, check);

    if (g->sm.state == ZKR_GRANT_SUSPENDED) {
        if (reply->rc == ZKR_OK)
            move_locked(g, ZKR_GRANT_HELD, "confirmed by a committed write");
        else if (reply->rc == ZKR__ZNONODE)
            zkr__claim_lost_locked(claim_of(g), "our node was deleted");
        else
            zkr__log(ZKR_LOG_WARNING, "cannot confirm that we hold %s: %s",
                     claim_of(g)->node, zkr_strerror(reply->rc));
    }
    zkr__claim_unref(claim_of(g));
}

void zkr__grant_resume_locked(struct zkr_grant *g)
{
    if (g->sm.state != ZKR_GRANT_SUSPENDED || g->check.where != ZKR__OP_IDLE)
        return;
    zkr__claim_ref(claim_of(g));
    zkr__op_start_locked(&g->check, ZKR__ZK_CHECK, claim_of(g)->node,
                         ZKR__RETRY_ALWAYS, on_checked);
}

/* -- the public face ------------------------------------------------------ */

static int enter(struct zkr_grant *g)
{
    int rc;

    if (g == NULL)
        return zkr__fail(ZKR_EINVAL, "grant is NULL");
    rc = zkr__session_check(claim_of(g)->session, "grant");
    if (rc == ZKR_OK)
        zkr__mtx_lock(&claim_of(g)->session->lock);
    return rc;
}

static void leave(struct zkr_grant *g)
{
    zkr__mtx_unlock(&claim_of(g)->session->lock);
}

static int explain(struct zkr_grant *g, int rc)
{
    const struct zkr__claim *c = claim_of(g);

    return zkr__fail(rc, "%s '%s', token %lld: %s", c->recipe->noun,
                     c->lock->path, (long long)c->token,
                     zkr_grant_state_name((enum zkr_grant_state)g->sm.state));
}

int zkr_grant_check(zkr_grant *g)
{
    int rc = enter(g);

    if (rc != ZKR_OK)
        return rc;
    switch ((enum zkr_grant_state)g->sm.state) {
    case ZKR_GRANT_HELD:
        break;
    case ZKR_GRANT_SUSPENDED:
    case ZKR_GRANT_UNSURE:
        rc = explain(g, ZKR_EUNSURE);
        break;
    case ZKR_GRANT_LOST:
        rc = explain(g, ZKR_ELOST);
        break;
    case ZKR_GRANT_RELEASED:
        rc = explain(g, ZKR_ENOTHELD);
        break;
    }
    leave(g);
    return rc;
}

enum zkr_grant_state zkr_grant_state(zkr_grant *g)
{
    enum zkr_grant_state state;

    if (enter(g) != ZKR_OK)
        return ZKR_GRANT_LOST;
    state = (enum zkr_grant_state)g->sm.state;
    leave(g);
    return state;
}

const char *zkr_grant_state_name(enum zkr_grant_state state)
{
    if (state < ZKR_GRANT_HELD || state > ZKR_GRANT_RELEASED)
        return "UNKNOWN";
    return table[state].name;
}

int64_t zkr_grant_token(zkr_grant *g)
{
    return g == NULL ? 0 : claim_of(g)->token;
}

const char *zkr_grant_node(zkr_grant *g)
{
    return g == NULL
               ? NULL
               : claim_of(g)->node + strlen(claim_of(g)->session->hosts.chroot);
}

int zkr_grant_listen(zkr_grant *g, zkr_grant_fn fn, void *user)
{
    bool was_due;
    int rc = enter(g);

    if (rc != ZKR_OK)
        return rc;
    was_due = zkr__dispatch_withdraw_unlocks(claim_of(g)->session, &g->notice);
    g->events.count = 0;
    g->fn = fn;
    g->user = user;
    if (fn != NULL && g->sm.state != ZKR_GRANT_HELD)
        tell_locked(g, ZKR_GRANT_STATE_CHANGED);
    if (fn != NULL)
        look_locked(g, ZKR__ZK_GET);
    leave(g);
    if (was_due)
        zkr__claim_unref(claim_of(g));
    return ZKR_OK;
}

static int begin_release_locked(struct zkr_grant *g)
{
    if (g->sm.state == ZKR_GRANT_LOST)
        return explain(g, ZKR_ELOST);
    if (g->sm.state == ZKR_GRANT_RELEASED)
        return explain(g, ZKR_ENOTHELD);
    zkr__claim_release_locked(claim_of(g));
    return ZKR_OK;
}

static int await_release_unlocks(struct zkr_grant *g)
{
    struct zkr__claim *c = claim_of(g);
    struct zkr_session *s = c->session;
    int64_t deadline = zkr__clock_deadline(s->opts.reply_timeout_ms);

    while (!g->left && zkr__cond_wait(&c->changed, &s->lock, deadline))
        ;
    if (!g->left)
        return zkr__fail(ZKR_EPENDING, "%s '%s': no answer to the delete yet",
                         c->recipe->noun, c->lock->path);
    return g->released == ZKR_OK
               ? ZKR_OK
               : zkr__fail(g->released, "%s '%s': cannot delete '%s'",
                           c->recipe->noun, c->lock->path, c->node);
}

int zkr_grant_release(zkr_grant *g)
{
    int rc = enter(g);

    if (rc != ZKR_OK)
        return rc;
    if (zkr__dispatch_inside_locked(claim_of(g)->session))
        rc = zkr__fail(ZKR_EDEADLK, "a callback cannot wait for a release");
    else
        rc = begin_release_locked(g);
    if (rc == ZKR_OK)
        rc = await_release_unlocks(g);
    leave(g);
    return rc;
}

int zkr_grant_release_async(zkr_grant *g, zkr_release_fn fn, void *user)
{
    int rc = enter(g);

    if (rc != ZKR_OK)
        return rc;
    if (is_ours(g)) {
        g->release_fn = fn;
        g->release_user = user;
    }
    rc = begin_release_locked(g);
    leave(g);
    return rc;
}

void zkr_grant_free(zkr_grant *g)
{
    bool was_due;

    if (g == NULL || enter(g) != ZKR_OK)
        return;
    was_due = zkr__dispatch_withdraw_unlocks(claim_of(g)->session, &g->notice);
    g->fn = NULL;
    if (is_ours(g))
        zkr__claim_release_locked(claim_of(g));
    leave(g);
    if (was_due)
        zkr__claim_unref(claim_of(g));
    zkr__claim_unref(claim_of(g));
}
