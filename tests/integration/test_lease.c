/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the lease on a real server: how long a grant is reported as held. */
#include <signal.h>
#include <sys/wait.h>

#include "session/session.h"
#include "spawn.h"
#include "usual.h" /* has names that headers above have, too */

/* Long enough for the steps of a lease to be told apart. */
#define LEASE_MS 6000

static int setup(void)
{
    (void)usual_setup_two_with(OPTS(session, .session_timeout_ms = LEASE_MS));
    release(acquire(m)); /* the directory exists from here on */
    return 0;
}

FIXTURE(setup, usual_teardown)

TEST(a_held_lock_is_proven_again_and_again)
{
    AUTO(grant) g = acquire(m);
    int64_t first = zkr_grant_valid_until(g);
    int64_t start = boot_ms();

    assert_true(first > boot_ms() && first < boot_ms() + LEASE_MS);
    AWAIT(proxy_requests(proxy, ZOO_MULTI_OP) >= 4);
    assert_true(boot_ms() - start >= LEASE_MS * 4 / 5); /* 0.3 T apart */
    ok(zkr_grant_check(g));
    assert_true(
        COMES(zkr_grant_valid_until(g) > first + LEASE_MS / 12, LEASE_MS / 2));
    ok(zkr_grant_release(g));
    assert_int_equal(zkr_grant_valid_until(g), 0);
}

/* The keepalive of an empty session takes the place of the client's pings. */
TEST(a_session_that_holds_nothing_writes_nothing)
{
    zkr_grant *g = acquire(rival);
    struct waiter w = WAITER(queue, m);

    sleep_ms(LEASE_MS * 5 / 4); /* it has written nothing for T, and waits */
    proxy_reset_counts(proxy);
    sleep_ms(LEASE_MS / 2); /* for something not to happen */
    assert_int_equal(proxy_requests(proxy, ZOO_MULTI_OP), 0);
    assert_in_range(proxy_requests(proxy, ZOO_SYNC_OP), 1, 3);
    assert_int_equal(proxy_requests(proxy, ZOO_PING_OP), 0);
    AUTO(held) next = hand_to(g, &w);
    assert_true(zkr_grant_valid_until(next) > boot_ms() + LEASE_MS / 4);
}

/* The connection stands: no event, only the clock says that all is not well. */
TEST(a_silent_server_ends_the_lease_before_the_session)
{
    AUTO(recorder) r = recorder_new();
    static const int states[] = { ZKR_GRANT_SUSPENDED, ZKR_GRANT_UNSURE,
                                  ZKR_GRANT_HELD };
    AUTO(held) g = acquire(m);

    ok(zkr_grant_listen(g, record_grant, r));
    AWAIT(proxy_requests(proxy, ZOO_MULTI_OP) >= 2);
    proxy_freeze(proxy);
    int64_t until = zkr_grant_valid_until(g);
    assert_true(recorder_wait(r, 1, SOON_MS));
    assert_true(zkr_grant_is_held(g));
    ok(zkr_grant_check(g)); /* SUSPENDED: the lease still runs */
    assert_true(zkr_grant_valid_until(g) <= until + LEASE_MS / 3);
    until = zkr_grant_valid_until(g);
    assert_true(recorder_wait(r, 2, SOON_MS));
    assert_true(boot_ms() >= until);
    assert_false(zkr_grant_is_held(g));
    assert_int_equal(zkr_grant_check(g), ZKR_EUNSURE);
    assert_int_equal(zkr_grant_valid_until(g), 0);
    assert_int_equal(count_children(path), 1); /* the session lives */
    proxy_heal(proxy);
    wait_grant_state(g, ZKR_GRANT_HELD);
    ok(zkr_grant_check(g));
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(recorded(r, i), (int)states[i]);
    assert_int_equal(recorder_count(r), 3);
}

/* Returns false if the session was over by then, as on a busy machine. */
static bool comes_back_in_time(void)
{
    AUTO(grant) g = acquire(m);
    int64_t until = zkr_grant_valid_until(g);
    uint64_t epoch = zkr_session_epoch(s);
    bool held;

    proxy_cut(proxy);
    wait_grant_state(g, ZKR_GRANT_SUSPENDED);
    assert_int_equal(zkr_grant_check(g), ZKR_OK);
    assert_int_equal(zkr_grant_valid_until(g), until);
    wait_grant_state(g, ZKR_GRANT_UNSURE);
    assert_true(boot_ms() >= until);
    assert_int_equal(zkr_grant_check(g), ZKR_EUNSURE);
    proxy_heal(proxy);
    AWAIT((held = zkr_grant_state(g) == ZKR_GRANT_HELD) ||
          zkr_grant_state(g) == ZKR_GRANT_LOST);
    assert_true(held || zkr_session_epoch(s) > epoch);
    if (held)
        ok(zkr_grant_release(g));
    return held;
}

TEST(a_lost_connection_leaves_the_lease_running)
{
    int tries = 1;

    while (!comes_back_in_time() && tries < 10)
        tries++;
    assert_true(tries < 10);
}

/* Regression: the rule for a single write did not apply once the session had a
 * proof from a time at which it held nothing, after failed claims or a wait. */
TEST(failed_claims_do_not_take_the_first_lease_away)
{
    sleep_ms(LEASE_MS / 3); /* the beat of the setup ends */
    AUTO(held) g = acquire(rival);
    for (size_t i = 0; i < 3; i++)
        gives(ZKR_ETIMEDOUT, zkr_mutex_acquire(m, LEASE_MS / 3, &nil));
    release(g);
    sleep_ms(LEASE_MS); /* what those writes have proven is over */
    g = acquire(m);
    ok(zkr_grant_check(g));
}

TEST(a_lease_after_a_wait_has_no_hole)
{
    sleep_ms(LEASE_MS / 3); /* the beat of the setup ends */
    zkr_grant *g = acquire(rival);
    struct waiter w = WAITER(start, m, -1);
    sleep_ms(LEASE_MS);
    proxy_reset_counts(proxy);
    AUTO(held) next = hand_to(g, &w);
    /* It has sent no write for long, and the grant begins with a lease. */
    assert_in_range(proxy_requests(proxy, ZOO_MULTI_OP), 1, 2);
    for (int64_t end = boot_ms() + 4 * LEASE_MS / 3; boot_ms() < end;) {
        ok(zkr_grant_check(next));
        sleep_ms(10);
    }
}

static int requests_of_a_short_hold(int64_t silence_ms)
{
    sleep_ms(silence_ms);
    proxy_reset_counts(proxy);
    AUTO(grant) g = acquire(m);
    ok(zkr_grant_check(g));
    assert_true(zkr_grant_valid_until(g) > boot_ms() + LEASE_MS / 4);
    sleep_ms(1);
    ok(zkr_grant_release(g));
    return proxy_requests(proxy, ZOO_CREATE2_OP) +
           proxy_requests(proxy, ZOO_MULTI_OP) +
           proxy_requests(proxy, ZOO_DELETE_OP);
}

/* A busy machine may be late with the keepalive; then there is one more. */
static void costs_requests(int64_t silence_ms, int requests)
{
    int count = 0;

    proxy_set_latency(proxy, 20);
    for (int i = 0; i < 4 && count != requests; i++)
        count = requests_of_a_short_hold(silence_ms);
    assert_int_equal(count, requests);
    proxy_set_latency(proxy, 0);
}

/* The first write is the k of a proof: the keepalive has sent j and m. That of
 * an idle session has reads only: the first write is m. */
TEST(after_a_silence_a_short_hold_has_a_lease_for_two_requests_or_three)
{
    costs_requests(LEASE_MS * 3 / 4, 2); /* create, delete */
    assert_in_range(proxy_flights(proxy), 2, 3);
    costs_requests(5 * LEASE_MS / 2, 3); /* create, check, delete */
}

/* Nobody waits for its proof, and the leader has nothing to do for it. */
TEST(an_idle_session_sends_reads_only)
{
    sleep_ms(5 * LEASE_MS / 4); /* it is idle from LEASE_MS on */
    proxy_reset_counts(proxy);
    sleep_ms(LEASE_MS);
    assert_int_equal(proxy_requests(proxy, ZOO_SYNC_OP), 0);
    assert_int_equal(proxy_requests(proxy, ZOO_PING_OP), 0);
    assert_in_range(proxy_requests(proxy, PROXY_ANY), 3, 5);
}

/* This holds for every age that the j of the first proof has by then. */
TEST(where_answers_are_slow_no_new_grant_is_in_doubt)
{
    proxy_set_latency(proxy, LEASE_MS / 12);
    for (int phase = 0; phase < 2; phase++) {
        sleep_ms(LEASE_MS * 3 / 4 + phase * LEASE_MS / 10);
        AUTO(held) g = acquire(m);
        for (int64_t end = boot_ms() + LEASE_MS / 2; boot_ms() < end;) {
            ok(zkr_grant_check(g));
            sleep_ms(5);
        }
    }
    /* A first write that is answered late proves nothing by itself. */
    AWAIT(LOCKED(s, zkr__lease_until(&s->lease)) / 1000000 < boot_ms());
    proxy_set_latency(proxy, LEASE_MS / 6);
    AUTO(held) g = acquire(m);
    ok(zkr_grant_check(g));
    proxy_set_latency(proxy, 0);
}

/* A session that loses each such request lives by its reconnects. */
static void lose_all(int32_t type)
{
    for (int64_t end = boot_ms() + 4 * LEASE_MS / 3; boot_ms() < end;) {
        proxy_rule(proxy, type, 1, PROXY_DROP_REQUEST);
        assert_true(proxy_wait_rule(proxy, SOON_MS));
    }
}

/* No keepalive comes through, so the first write has no round before it. */
TEST(without_a_proof_a_grant_waits_for_one)
{
    lose_all(ZOO_SYNC_OP);
    int64_t start = boot_ms();
    AUTO(held) g = acquire(m);
    ok(zkr_grant_check(g));
    assert_true(boot_ms() - start > LEASE_MS / 4); /* G at least */
}

/* Regression: each answer that proved nothing yet was followed at once by the
 * next request. Here no write comes through. */
TEST(a_lease_is_won_back_without_a_storm_of_writes)
{
    AUTO(held) g = acquire(m);

    AWAIT(proxy_requests(proxy, ZOO_MULTI_OP) >= 5);
    lose_all(ZOO_MULTI_OP);
    assert_int_equal(zkr_grant_check(g), ZKR_EUNSURE);
    proxy_reset_counts(proxy);
    wait_grant_state(g, ZKR_GRANT_HELD);
    assert_in_range(proxy_requests(proxy, ZOO_MULTI_OP), 1, 20);
}

static int by_verifying(zkr_lockable *grant, int64_t timeout_ms,
                        zkr_grant **unused)
{
    return zkr_grant_verify((void *)grant, timeout_ms);
}

/* Regression: the release cancelled the request; its caller got no answer. */
TEST(verify_asks_the_servers_and_ends_when_the_grant_does)
{
    AUTO(grant) lost = acquire(m);

    proxy_reset_counts(proxy);
    ok(zkr_grant_verify(lost, SOON_MS));
    assert_int_equal(proxy_requests(proxy, ZOO_MULTI_OP), 1);
    ok(zkr_grant_verify(lost, 0));
    proxy_set_latency(proxy, 200);
    proxy_reset_counts(proxy);
    struct waiter first = WAITER(start_by, by_verifying, lost, -1);
    AWAIT(proxy_requests(proxy, ZOO_MULTI_OP) >= 1);
    ok(zkr_grant_verify(lost, SOON_MS)); /* that question was asked before */
    assert_true(proxy_requests(proxy, ZOO_MULTI_OP) >= 2);
    assert_int_equal(waiter_join(&first), ZKR_OK);
    proxy_set_latency(proxy, 0);
    delete_nth_child(path, 0);
    assert_int_equal(zkr_grant_verify(lost, SOON_MS), ZKR_ELOST);
    AUTO(grant) g = acquire(m);
    proxy_rule(proxy, ZOO_MULTI_OP, 1, PROXY_DROP_REQUEST);
    struct waiter w = WAITER(start_by, by_verifying, g, -1);
    AWAIT(proxy_rule_done(proxy));
    disconnect(proxy, s);
    assert_int_equal(zkr_grant_release(g), ZKR_EPENDING);
    AWAIT(waiter_is_done(&w));
    assert_int_equal(waiter_join(&w), ZKR_ENOTHELD);
    proxy_heal(proxy);
}

TEST(without_a_lease_the_connection_decides)
{
    close_session(s);
    s = THROUGH(.session_timeout_ms = LEASE_MS, .flags = ZKR_SESSION_NO_LEASE);
    AUTO(mutex) mutex = new_mutex(s, path);
    AUTO(held) g = acquire(mutex);
    proxy_reset_counts(proxy);
    sleep_ms(LEASE_MS / 2); /* for something not to happen */
    assert_int_equal(proxy_requests(proxy, ZOO_MULTI_OP), 0);
    ok(zkr_grant_check(g));
    assert_int_equal(zkr_grant_valid_until(g), 0);
    proxy_cut(proxy);
    wait_grant_state(g, ZKR_GRANT_SUSPENDED);
    assert_int_equal(zkr_grant_check(g), ZKR_EUNSURE);
    assert_int_equal(zkr_grant_state(g), ZKR_GRANT_SUSPENDED); /* as before */
    proxy_heal(proxy);
    wait_grant_state(g, ZKR_GRANT_HELD);
}

/* -- a process that is stopped -------------------------------------------- */

static int say(char c)
{
    return write(STDOUT_FILENO, &c, 1) == 1 ? 0 : 1;
}

/* Holds a lock and asks all the time. After a gap, the answer: 'y' or 'n'. */
static int child_main(const char *hosts, const char *lock, uint32_t session_ms,
                      int64_t stopped_ms)
{
    zkr_session *session;
    zkr_mutex *mutex;
    zkr_grant *g;

    if (zkr_session_open(hosts, OPTS(session, .session_timeout_ms = session_ms),
                         &session) != ZKR_OK ||
        zkr_mutex_new(session, lock, NULL, &mutex) != ZKR_OK ||
        zkr_mutex_acquire(mutex, SOON_MS, &g) != ZKR_OK)
        return 1;
    int64_t last = boot_ms(); /* before it is stopped */
    if (say('h') != 0)
        return 1;
    for (;;) {
        int rc = zkr_grant_check(g);
        int64_t now = boot_ms();

        if (now - last > stopped_ms)
            _exit(say(rc == ZKR_OK ? 'y' : 'n'));
        last = now;
        sleep_ms(1);
    }
}

/* The first answer of a holder that was stopped for that long: 'y' or 'n'. */
static char answer_after(int stopped_ms, int session_ms)
{
    const char *argv[] = {
        "/proc/self/exe",        server_hosts(the_server),     path,
        textf("%d", session_ms), textf("%d", stopped_ms - 50), NULL
    };
    char answer = 0;
    int out[2];

    (void)snprintf(path, sizeof(path), "%s", new_path());
    assert_int_equal(pipe(out), 0);
    pid_t child = spawn_bound((char **)(uintptr_t)argv, STDIN_FILENO, out[1]);
    assert_true(child > 0);
    assert_int_equal(close(out[1]), 0);
    assert_int_equal(read(out[0], &answer, 1), 1);
    assert_int_equal(answer, 'h');
    assert_int_equal(kill(child, SIGSTOP), 0);
    sleep_ms(stopped_ms);
    assert_int_equal(kill(child, SIGCONT), 0);
    assert_int_equal(read(out[0], &answer, 1), 1);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(close(out[0]), 0);
    return answer;
}

/* Not even one check may say yes: the clock is read in it, before any event of
 * the client can have come. After a moment it holds still. */
TEST_WITH(a_process_that_was_stopped_does_not_believe, NULL, NULL)
{
    assert_int_equal(answer_after(2 * BRIEF_SESSION_MS, BRIEF_SESSION_MS), 'n');
    assert_int_equal(answer_after(400, SESSION_MS), 'y');
}

int main(int argc, char **argv)
{
    if (argc == 5)
        return child_main(argv[1], argv[2], (uint32_t)atoi(argv[3]),
                          atoi(argv[4]));
    return run_with_server(NULL, test_run_all);
}
