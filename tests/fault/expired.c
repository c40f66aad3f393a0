/* SPDX-License-Identifier: Apache-2.0 */
/* Tests with sessions that the server ends while they hold or wait: the holder
 * is told, the next claim is granted, and a waiter queues again under the same
 * deadline.
 *
 * ZKR_EXPIRED is the number of holders, and of waiters. */
#include "fixture.h"

#include "oracle.h"

enum { SMOKE = 24, MARGIN_MS = 700 };

static zkr_session *sessions[3];
static zkr_mutex *mutexes[3];
static char path[64];
static struct oracle *oracle;
static int64_t last_token;

static int setup(void)
{
    PRINT(path, "%s", new_path());
    ok(admin_create(admin, path, NULL));
    oracle = oracle_new(path);
    last_token = 0;
    for (int i = 0; i < 3; i++) {
        sessions[i] = open_session();
        mutexes[i] = new_mutex(sessions[i], path);
    }
    return 0;
}

static int teardown(void)
{
    for (int i = 0; i < 3; i++) {
        zkr_mutex_free(mutexes[i]);
        (void)zkr_session_close(sessions[i]);
    }
    oracle_free(oracle);
    return 0;
}

FIXTURE(setup, teardown)

static void is_granted(zkr_grant *g)
{
    oracle_granted(oracle, g);
    ok(zkr_grant_check(g));
    assert_true(zkr_grant_token(g) > last_token);
    last_token = zkr_grant_token(g);
}

static zkr_grant *hold(int who)
{
    zkr_grant *g = acquire(mutexes[who]);

    is_granted(g);
    return g;
}

static zkr_grant *await_grant(struct recorder *r)
{
    assert_int_equal(recorded(r, 0), ZKR_OK);
    is_granted(recorded_grant(r, 0));
    return recorded_grant(r, 0);
}

static void judge(const char *what, int count)
{
    wait_children(path, 0);
    struct verdict v = oracle_judge(oracle, the_server);
    assert_int_equal(v.twins, 0);
    printf("%d %s: %zu grants, %zu nodes in the log\n", count, what, v.grants,
           v.nodes);
}

/* -- holders -------------------------------------------------------------- */

/* Returns the grant of the next, and how long it took. */
static zkr_grant *expire_holder(int who, zkr_grant *g, int64_t *ret_took_ms)
{
    AUTO(recorder) events = recorder_new();
    AUTO(recorder) outcome = recorder_new();
    size_t losses = 0;
    int code = 0;

    ok(zkr_grant_listen(g, record_grant, events));
    ok(zkr_mutex_acquire_async(mutexes[1 - who], SOON_MS, record_acquire,
                               outcome, NULL));
    wait_children(path, 2);
    int64_t start = now_ms();
    expire(sessions[who]);
    zkr_grant *next = await_grant(outcome);
    *ret_took_ms = now_ms() - start;
    /* It is told of the loss once, and of nothing after it. */
    AWAIT(recorder_get(events, recorder_count(events) - 1, &code, NULL) &&
          code == ZKR_GRANT_LOST);
    for (size_t i = 0; recorder_get(events, i, &code, NULL); i++)
        losses += code == ZKR_GRANT_LOST;
    assert_int_equal(losses, 1);
    assert_int_equal(zkr_grant_check(g), ZKR_ELOST);
    assert_int_equal(zkr_grant_valid_until(g), 0);
    assert_int_equal(zkr_grant_release(g), ZKR_ELOST);
    zkr_grant_free(g);
    ok(zkr_grant_check(next));
    assert_int_equal(count_children(path), 1);
    wait_session_state(sessions[who], ZKR_SESSION_RECONNECTED);
    return next;
}

TEST(expired_holders_are_told_and_the_next_is_granted)
{
    int count = number_from("ZKR_EXPIRED", SMOKE);
    zkr_grant *g = hold(0);
    int64_t worst_ms = 0;

    for (int i = 0; i < count; i++) {
        int64_t took_ms;

        g = expire_holder(i % 2, g, &took_ms);
        if (took_ms > worst_ms)
            worst_ms = took_ms;
    }
    release(g);
    judge("expired holders", count);
    printf("the next was granted after %lld ms at most\n", (long long)worst_ms);
}

/* -- waiters -------------------------------------------------------------- */

/* Session 1 was expired: the nodes of its next session are behind all
 * others. */
static void queues_again_at_the_tail(void)
{
    AUTO(recorder) first = recorder_new();
    AUTO(recorder) second = recorder_new();
    zkr_grant *g = hold(0);

    ok(zkr_mutex_acquire_async(mutexes[1], SOON_MS, record_acquire, second,
                               NULL));
    wait_children(path, 2);
    ok(zkr_mutex_acquire_async(mutexes[2], SOON_MS, record_acquire, first,
                               NULL));
    wait_children(path, 3);
    expire_and_wait(sessions[1]);
    wait_children(path, 3);
    settle(sessions[1]);
    assert_int_equal(count_children(path), 3);
    assert_int_equal(recorder_count(first) + recorder_count(second), 0);
    release(g);
    zkr_grant *next = await_grant(first);
    assert_int_equal(recorder_count(second), 0);
    release(next);
    release(await_grant(second));
    assert_int_equal(recorder_count(first) + recorder_count(second), 2);
}

static void keeps_its_deadline(void)
{
    zkr_grant *g = hold(0);
    struct stopwatch *watch = stopwatch_start();
    struct waiter w;

    waiter_start(&w, mutexes[1], 250);
    wait_children(path, 2);
    expire_and_wait(sessions[1]);
    assert_int_equal(waiter_join(&w), ZKR_ETIMEDOUT);
    assert_true(stopwatch_says(watch, 250, 250 + MARGIN_MS));
    wait_children(path, 1);
    release(g);
}

static void fails_if_it_asked_to(void)
{
    zkr_grant *g = hold(0);
    struct waiter w;

    AUTO(mutex) strict = NEW(mutex, sessions[1], path,
                             OPTS(lockable, .flags = ZKR_FAIL_ON_SESSION_LOSS));
    waiter_start(&w, strict, SOON_MS);
    wait_children(path, 2);
    expire_and_wait(sessions[1]);
    assert_int_equal(waiter_join(&w), ZKR_ELOST);
    assert_int_equal(count_children(path), 1);
    release(g);
}

TEST(expired_waiters_queue_again)
{
    static void (*const kinds[])(
        void) = { queues_again_at_the_tail, queues_again_at_the_tail,
                  keeps_its_deadline, fails_if_it_asked_to };
    int count = number_from("ZKR_EXPIRED", SMOKE);

    for (int i = 0; i < count; i++)
        kinds[i % 4]();
    judge("expired waiters", count);
}
