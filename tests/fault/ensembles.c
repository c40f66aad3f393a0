/* SPDX-License-Identifier: Apache-2.0 */
/* Tests with three servers that elect a leader.
 *
 * They are killed and started again, one after the other, while locks are held
 * and waited for: none is lost, and no claim loses its place. ZKR_RESTARTS is
 * the number of rounds, of three restarts each.
 *
 * And there is one at a time: the wrong one, an old one, the last one. */
#include "holder.h"

enum {
    PARTIES = 4, /* and locks: each holds one and waits for the next */
    TIMEOUT_MS = 10000,
    SMOKE = 1,
};

static struct ensemble *ensemble;

static void await_leader(void)
{
    assert_true(
        COMES((sleep_ms(50), ensemble_leader(ensemble) >= 0), HEALTHY_MS));
}

/* -- parties -------------------------------------------------------------- */

struct party {
    zkr_session *session;
    zkr_listener *listener;
    zkr_mutex *mutexes[PARTIES];
    int lock; /* the one that it holds */
    zkr_grant *_Atomic grant;
    struct recorder *turn; /* its turn at the lock after that one */
    atomic_long suspended_ms;
    atomic_long longest_ms;
};

static struct party parties[PARTIES];
static char paths[PARTIES][64];
static atomic_int losses;
static atomic_long answers;
static atomic_long doubts; /* answers that were not yes */

static void on_session(zkr_session *s, const struct zkr_session_event *e,
                       void *party)
{
    struct party *p = party;
    long now = (long)now_ms();

    if (e->state == ZKR_SESSION_SUSPENDED)
        atomic_store(&p->suspended_ms, now);
    losses += e->state == ZKR_SESSION_LOST;
    if (e->state == ZKR_SESSION_RECONNECTED &&
        now - atomic_load(&p->suspended_ms) > atomic_load(&p->longest_ms))
        atomic_store(&p->longest_ms, now - atomic_load(&p->suspended_ms));
}

static void on_grant(zkr_grant *g, const struct zkr_grant_event *e, void *user)
{
    losses += e->state == ZKR_GRANT_LOST;
}

static void take(struct party *p, int lock, zkr_grant *g)
{
    ok(zkr_grant_listen(g, on_grant, NULL));
    p->lock = lock;
    atomic_store(&p->grant, g);
}

static void ask_all(void)
{
    for (int i = 0; i < PARTIES; i++) {
        answers++;
        doubts += zkr_grant_check(parties[i].grant) != ZKR_OK;
    }
}

/* Everybody gives back what it has, and is granted what it waits for. */
static void pass_on(void)
{
    for (struct party *p = parties; p < parties + PARTIES; p++) {
        int next = (p->lock + 1) % PARTIES;

        p->turn = recorder_new();
        ok(zkr_mutex_acquire_async(p->mutexes[next], -1, record_acquire,
                                   p->turn, NULL));
        wait_children(paths[next], 2);
    }
    asking_start(ask_all);
    for (int i = 0; i < SERVERS; i++) {
        server_kill9(ensemble_server(ensemble, i));
        ok(server_restart(ensemble_server(ensemble, i)));
        await_leader();
        for (int k = 0; k < PARTIES; k++)
            assert_true(COMES(is_connected(parties[k].session), HEALTHY_MS));
    }
    asking_stop();
    /* The node is the same, and its session alive. */
    for (struct party *p = parties; p < parties + PARTIES; p++) {
        wait_verified(p->grant);
        assert_int_equal(stat_of(zkr_grant_node(p->grant)).czxid,
                         zkr_grant_token(p->grant));
        assert_int_equal(recorder_count(p->turn), 0);
        assert_int_equal(count_children(paths[p->lock]), 2);
    }
    for (int i = 0; i < PARTIES; i++) {
        AUTO(grant) g = atomic_exchange(&parties[i].grant, NULL);

        ok(zkr_grant_listen(g, NULL, NULL));
        ok(zkr_grant_release_async(g, NULL, NULL));
    }
    for (struct party *p = parties; p < parties + PARTIES; p++) {
        assert_int_equal(recorded(p->turn, 0), ZKR_OK);
        take(p, (p->lock + 1) % PARTIES, recorded_grant(p->turn, 0));
        recorder_free(p->turn);
    }
}

static int set_up_parties(void)
{
    for (int i = 0; i < PARTIES; i++)
        PRINT(paths[i], "%s", new_path());
    for (int i = 0; i < PARTIES; i++) {
        struct party *p = &parties[i];

        p->session = open_to(ensemble_hosts(ensemble),
                             OPTS(session, .session_timeout_ms = TIMEOUT_MS));
        p->listener = MADE(listener, session_listen, p->session, on_session, p);
        for (int k = 0; k < PARTIES; k++)
            p->mutexes[k] = new_mutex(p->session, paths[k]);
        take(p, i, acquire(p->mutexes[i]));
    }
    return 0;
}

static int tear_down_parties(void)
{
    for (struct party *p = parties; p < parties + PARTIES; p++) {
        zkr_grant_free(p->grant);
        for (int i = 0; i < PARTIES; i++)
            zkr_mutex_free(p->mutexes[i]);
        zkr_listener_free(p->listener);
        (void)zkr_session_close(p->session);
    }
    return 0;
}

TEST_WITH(rolling_restarts_cost_no_lock, set_up_parties, tear_down_parties)
{
    int rounds = number_from("ZKR_RESTARTS", SMOKE);
    long longest_ms = 0;

    for (int i = 0; i < rounds; i++)
        pass_on();
    for (int i = 0; i < PARTIES; i++) {
        if (parties[i].longest_ms > longest_ms)
            longest_ms = parties[i].longest_ms;
    }
    printf("%d restarts, %d locks: %d lost; cut off for %ld ms at most; of %ld "
           "checks %ld not OK\n",
           rounds * SERVERS, PARTIES * rounds, losses, longest_ms, answers,
           doubts);
    assert_true(longest_ms > 0); /* else nothing was restarted */
    assert_int_equal(losses, 0);
    /* the lease is older than the cut, and is renewed after it */
    if (longest_ms < TIMEOUT_MS / 4)
        assert_int_equal(doubts, 0);
}

/* -- a write that comes late, through the server of before ---------------- */

/* A session's way to one server. */
struct connection {
    const struct server *server;
    int64_t session_id;
    struct proxy *proxy;
    struct proxy *before; /* this one can hang up while `proxy` holds */
};

static bool is_there(const struct connection *c)
{
    AUTO(text) cons = server_4lw(c->server, "cons");

    return cons != NULL &&
           strstr(cons, textf("sid=0x%llx",
                              (unsigned long long)c->session_id)) != NULL;
}

/* If the old server accepted it, there would be a node of ours that no search
 * has found, and everybody would wait for it until the session ends. */
TEST(a_late_create_through_the_old_server_is_refused)
{
    struct connection at[2] = { { .server = ensemble_server(ensemble, 0) },
                                { .server = ensemble_server(ensemble, 1) } };
    struct connection *old = &at[0];
    struct connection *present = &at[1];
    struct recorder *r = recorder_new();
    const char *path = new_path();

    for (int i = 0; i < 2; i++) {
        ok(proxy_start(server_hosts(at[i].server), &at[i].proxy));
        ok(proxy_start(proxy_hosts(at[i].proxy), &at[i].before));
    }
    zkr_session *s = open_to(
        textf("%s,%s", proxy_hosts(old->before), proxy_hosts(present->before)),
        OPTS(session, .session_timeout_ms = SESSION_MS));
    zkr_mutex *m = new_mutex(s, path);
    release(acquire(m));
    old->session_id = present->session_id = zkr_session_id(s);
    AWAIT(is_there(old) || is_there(present));
    if (!is_there(
            old)) { /* on a busy machine it was too late for the session */
        old = &at[1];
        present = &at[0];
    }

    proxy_rule(old->proxy, ZOO_CREATE2_OP, 1, PROXY_HOLD_REQUEST);
    ok(zkr_mutex_acquire_async(m, -1, record_acquire, r, NULL));
    assert_true(proxy_wait_rule(old->proxy, SOON_MS));
    proxy_cut(old->before);
    ok(recorded(r, 0)); /* through the other server */
    assert_int_equal(zkr_session_epoch(s), 1);
    assert_true(is_there(old));
    assert_true(is_there(present));

    proxy_release(old->proxy);
    AWAIT(!is_there(old));
    sleep_ms(200); /* for something not to happen */
    assert_int_equal(count_children(path), 1);
    wait_verified(recorded_grant(r, 0));
    release(recorded_grant(r, 0));
    assert_int_equal(count_children(path), 0);
    recorder_free(r);
    zkr_mutex_free(m);
    close_session(s);
    for (int i = 0; i < 2; i++) {
        proxy_stop(at[i].before);
        proxy_stop(at[i].proxy);
    }
}

/* -- the last one --------------------------------------------------------- */

static bool is_read_only(const struct server *server)
{
    AUTO(text) answer = server_4lw(server, "isro");

    return answer != NULL && strncmp(answer, "ro", 2) == 0;
}

/* The new leader gives all sessions their whole time again, so the lock is
 * often still ours. A committed write says whether it is; nothing else does. */
TEST(without_a_majority_there_is_no_lease_and_maybe_a_lock_again)
{
    AUTO(session) s =
        open_to(ensemble_hosts(ensemble),
                OPTS(session, .session_timeout_ms = BRIEF_SESSION_MS));
    AUTO(mutex) m = new_mutex(s, new_path());
    AUTO(mutex) other = new_mutex(s, new_path());
    zkr_grant *g = acquire(m);
    struct Stat stat;

    admin_close(admin);
    server_kill9(ensemble_server(ensemble, 0));
    server_kill9(ensemble_server(ensemble, 1));
    int64_t start = now_ms();
    struct stopwatch *w = stopwatch_start();
    AWAIT(zkr_grant_check(g) == ZKR_EUNSURE);
    assert_true(stopwatch_says(w, 0, BRIEF_SESSION_MS));
    assert_true(COMES(is_read_only(ensemble_server(ensemble, 2)), HEALTHY_MS));
    /* The last server only serves reads, so the library must not use it. */
    wait_session_state(s, ZKR_SESSION_SUSPENDED);
    int rc = zkr_mutex_acquire(other, 0, &nil);
    assert_int_equal(zkr_session_state(s), ZKR_SESSION_SUSPENDED);
    assert_true(rc == ZCONNECTIONLOSS || rc == ZOPERATIONTIMEOUT);
    assert_int_equal(zkr_mutex_acquire(other, 300, &nil), ZKR_ETIMEDOUT);
    while (now_ms() < start + 2 * BRIEF_SESSION_MS)
        sleep_ms(10);
    assert_int_equal(zkr_grant_check(g), ZKR_EUNSURE);

    /* Neither comes up without the other. */
    ok(server_restart(ensemble_server(ensemble, 0)));
    ok(server_restart(ensemble_server(ensemble, 1)));
    await_leader();
    assert_true(COMES(zkr_grant_state(g) == ZKR_GRANT_HELD ||
                          zkr_grant_state(g) == ZKR_GRANT_LOST,
                      HEALTHY_MS));
    ok(admin_open(ensemble_hosts(ensemble), &admin));
    bool exists = admin_exists(admin, zkr_grant_node(g), &stat) == ZOK;
    printf("after %lld ms without a majority: %s\n",
           (long long)(now_ms() - start),
           zkr_grant_state_name(zkr_grant_state(g)));
    assert_int_equal(zkr_grant_state(g) == ZKR_GRANT_HELD, exists);
    if (exists) {
        assert_int_equal(stat.czxid, zkr_grant_token(g));
        wait_verified(g);
    }
    zkr_grant_free(g);
    release(acquire(m));
}

/* -- all of them ---------------------------------------------------------- */

static int setup(void)
{
    return open_admin(ensemble_hosts(ensemble));
}

int main(void)
{
    static const char *const java[] = { "-Dreadonlymode.enabled=true", NULL };
    const struct server_opts opts = { .java_opts = java };

    return run_with_ensemble(SERVERS, &opts, &ensemble, setup, NULL);
}
