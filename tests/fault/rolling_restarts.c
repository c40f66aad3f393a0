/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of rolling restarts: three servers are killed and started again, one
 * after the other, while locks are held and waited for: none is lost, and no
 * claim loses its place.
 *
 * ZKR_RESTARTS is the number of rounds, of three restarts each. */
#include "holder.h"

enum {
    PARTIES = 4, /* and locks: each holds one and waits for the next */
    TIMEOUT_MS = 10000,
    SMOKE = 1,
};

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

static struct ensemble *ensemble;
static struct party parties[PARTIES];
static char paths[PARTIES][64];
static atomic_int losses;
static atomic_long answers;
static atomic_long doubts; /* answers that were not yes */
static int restarts;

/* -- parties -------------------------------------------------------------- */

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

static void queue_up(struct party *p)
{
    int next = (p->lock + 1) % PARTIES;

    p->turn = recorder_new();
    ok(zkr_mutex_acquire_async(p->mutexes[next], -1, record_acquire, p->turn,
                               NULL));
    wait_children(paths[next], 2);
}

static void ask_all(void)
{
    for (int i = 0; i < PARTIES; i++) {
        answers++;
        doubts += zkr_grant_check(parties[i].grant) != ZKR_OK;
    }
}

/* -- restarts ------------------------------------------------------------- */

static bool is_connected(const struct party *p)
{
    enum zkr_session_state_kind state = zkr_session_state(p->session);

    return state == ZKR_SESSION_CONNECTED || state == ZKR_SESSION_RECONNECTED;
}

static void restart(struct server *server)
{
    server_kill9(server);
    ok(server_restart(server));
    assert_true(
        COMES((sleep_ms(50), ensemble_leader(ensemble) >= 0), HEALTHY_MS));
    for (int i = 0; i < PARTIES; i++)
        assert_true(COMES(is_connected(&parties[i]), HEALTHY_MS));
    restarts++;
}

/* The node is the same, and its session alive. */
static void still_holds(struct party *p)
{
    zkr_grant *g = p->grant;
    struct Stat stat;

    wait_verified(g);
    ok(admin_exists(admin, zkr_grant_node(g), &stat));
    assert_int_equal(stat.czxid, zkr_grant_token(g));
    assert_int_equal(recorder_count(p->turn), 0);
    assert_int_equal(count_children(paths[p->lock]), 2);
}

/* Everybody gives back what it has, and is granted what it waits for. */
static void pass_on(void)
{
    for (int i = 0; i < PARTIES; i++)
        queue_up(&parties[i]);
    asking_start(ask_all);
    for (int i = 0; i < SERVERS; i++)
        restart(ensemble_server(ensemble, i));
    asking_stop();
    for (int i = 0; i < PARTIES; i++)
        still_holds(&parties[i]);
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

TEST(rolling_restarts_cost_no_lock)
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
           restarts, PARTIES * rounds, losses, longest_ms, answers, doubts);
    assert_true(longest_ms > 0); /* else nothing was restarted */
    assert_int_equal(losses, 0);
    /* the lease is older than the cut, and is renewed after it */
    if (longest_ms < TIMEOUT_MS / 4)
        assert_int_equal(doubts, 0);
}

/* -- all of them ---------------------------------------------------------- */

static int setup(void)
{
    if (open_admin(ensemble_hosts(ensemble)) != ZOK)
        return -1;
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

static int teardown(void)
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

int main(void)
{
    return run_with_ensemble(SERVERS, NULL, &ensemble, setup, teardown);
}
