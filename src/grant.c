/* What a holder has: the state of its lock, told truthfully. */
#include "grant_parts.h"

#include <string.h>

#include "error.h"
#include "holds.h"
#include "log.h"

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

static void post_locked(struct zkr_grant *g)
{
    if (!g->notice.due)
        zkr__claim_ref(zkr__grant_claim(g)); /* until it has run */
    zkr__dispatch_post_locked(zkr__grant_claim(g)->session, &g->notice);
}

void zkr__grant_tell_locked(struct zkr_grant *g, enum zkr_grant_event_kind kind)
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
    struct zkr_session *s = zkr__grant_claim(g)->session;
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
    zkr__claim_unref(zkr__grant_claim(g));
}

static void move_locked(struct zkr_grant *g, enum zkr_grant_state state,
                        const char *why)
{
    zkr__sm_move(&g->sm, (int)state, why);
    zkr__grant_tell_locked(g, ZKR_GRANT_STATE_CHANGED);
}

void zkr__grant_init(struct zkr_grant *g, struct zkr_session *s)
{
    g->sm = (struct zkr__sm){ 0, table, "grant" };
    zkr__op_init(&g->look, s);
    zkr__op_init(&g->check, s);
    zkr__notice_init(&g->notice, run_listener);
    zkr__release_init(g);
}

void zkr__grant_begin_locked(struct zkr_grant *g)
{
    zkr__hold_begin_locked(zkr__grant_claim(g));
    move_locked(g, ZKR_GRANT_HELD, "granted");
    zkr__own_node_watch_later_locked(g);
}

void zkr__grant_end_locked(struct zkr_grant *g, enum zkr_grant_state state)
{
    move_locked(g, state, "end");
    zkr__own_node_stop_locked(g);
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
            zkr__claim_lost_locked(zkr__grant_claim(g), "our node was deleted");
        else
            zkr__log(ZKR_LOG_WARNING, "cannot confirm that we hold %s: %s",
                     zkr__grant_claim(g)->node, zkr_strerror(reply->rc));
    }
    zkr__claim_unref(zkr__grant_claim(g));
}

void zkr__grant_resume_locked(struct zkr_grant *g)
{
    if (g->sm.state != ZKR_GRANT_SUSPENDED || g->check.where != ZKR__OP_IDLE)
        return;
    zkr__claim_ref(zkr__grant_claim(g));
    zkr__op_start_locked(&g->check, ZKR__ZK_CHECK, zkr__grant_claim(g)->node,
                         ZKR__RETRY_ALWAYS, on_checked);
}

int zkr__grant_enter(struct zkr_grant *g)
{
    int rc;

    if (g == NULL)
        return zkr__fail(ZKR_EINVAL, "grant is NULL");
    rc = zkr__session_check(zkr__grant_claim(g)->session, "grant");
    if (rc == ZKR_OK)
        zkr__mtx_lock(&zkr__grant_claim(g)->session->lock);
    return rc;
}

void zkr__grant_leave(struct zkr_grant *g)
{
    zkr__mtx_unlock(&zkr__grant_claim(g)->session->lock);
}

int zkr__grant_explain(struct zkr_grant *g, int rc)
{
    const struct zkr__claim *c = zkr__grant_claim(g);

    return zkr__fail(rc, "%s '%s', token %lld: %s", c->recipe->noun,
                     c->lock->path, (long long)c->token,
                     zkr_grant_state_name((enum zkr_grant_state)g->sm.state));
}

int zkr_grant_check(zkr_grant *g)
{
    int rc = zkr__grant_enter(g);

    if (rc != ZKR_OK)
        return rc;
    switch ((enum zkr_grant_state)g->sm.state) {
    case ZKR_GRANT_HELD:
        break;
    case ZKR_GRANT_SUSPENDED:
    case ZKR_GRANT_UNSURE:
        rc = zkr__grant_explain(g, ZKR_EUNSURE);
        break;
    case ZKR_GRANT_LOST:
        rc = zkr__grant_explain(g, ZKR_ELOST);
        break;
    case ZKR_GRANT_RELEASED:
        rc = zkr__grant_explain(g, ZKR_ENOTHELD);
        break;
    }
    zkr__grant_leave(g);
    return rc;
}

enum zkr_grant_state zkr_grant_state(zkr_grant *g)
{
    enum zkr_grant_state state;

    if (zkr__grant_enter(g) != ZKR_OK)
        return ZKR_GRANT_LOST;
    state = (enum zkr_grant_state)g->sm.state;
    zkr__grant_leave(g);
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
    return g == NULL ? 0 : zkr__grant_claim(g)->token;
}

uint32_t zkr_grant_depth(zkr_grant *g)
{
    uint32_t depth;

    if (zkr__grant_enter(g) != ZKR_OK)
        return 0;
    depth = zkr__grant_claim(g)->depth;
    zkr__grant_leave(g);
    return depth;
}

const char *zkr_grant_node(zkr_grant *g)
{
    return g == NULL ? NULL
                     : zkr__grant_claim(g)->node +
                           strlen(zkr__grant_claim(g)->session->hosts.chroot);
}

int zkr_grant_listen(zkr_grant *g, zkr_grant_fn fn, void *user)
{
    bool was_due;
    int rc = zkr__grant_enter(g);

    if (rc != ZKR_OK)
        return rc;
    was_due = zkr__dispatch_withdraw_unlocks(zkr__grant_claim(g)->session,
                                             &g->notice);
    g->events.count = 0;
    g->fn = fn;
    g->user = user;
    if (fn != NULL && g->sm.state != ZKR_GRANT_HELD)
        zkr__grant_tell_locked(g, ZKR_GRANT_STATE_CHANGED);
    if (fn != NULL && g->revoke_requested && zkr__grant_is_ours(g))
        zkr__grant_tell_locked(g, ZKR_GRANT_REVOKE_REQUESTED);
    if (fn != NULL)
        zkr__own_node_watch_locked(g, ZKR__ZK_GET);
    zkr__grant_leave(g);
    if (was_due)
        zkr__claim_unref(zkr__grant_claim(g));
    return ZKR_OK;
}
