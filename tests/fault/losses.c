/* SPDX-License-Identifier: Apache-2.0 */
/* Tests with losses.
 *
 * Answers to creates and deletes are lost: no node is left, and a claim never
 * has two. ZKR_REPLIES is the number of creates, and of deletes.
 *
 * Sessions are ended by the server while they hold or wait: the holder is told,
 * the next claim is granted, and a waiter queues again under the same deadline.
 * ZKR_EXPIRED is the number of holders, and of waiters. */
#include "usual.h"

#include "cluster.h"
#include "oracle.h"

enum { SMOKE_REPLIES = 40, SMOKE_EXPIRED = 24, MARGIN_MS = 700 };

static struct oracle *oracle;
static int given_up;
static int64_t last_token;

static int setup(void)
{
    (void)usual_setup_two();
    oracle = oracle_new(path);
    given_up = 0;
    last_token = 0;
    return 0;
}

static int teardown(void)
{
    oracle_free(oracle);
    return usual_teardown();
}

FIXTURE(setup, teardown)

static zkr_grant *granted(zkr_grant *g)
{
    oracle_granted(oracle, g);
    ok(zkr_grant_check(g));
    assert_true(zkr_grant_token(g) > last_token);
    last_token = zkr_grant_token(g);
    return g;
}

static struct verdict judge(const char *what, int count)
{
    struct verdict v = oracle_judge(oracle);

    printf("%d %s: %zu grants, %d given up, %zu nodes in the log; without an "
           "owner for %lld ms at most\n",
           count, what, v.grants, given_up, v.nodes, (long long)v.longest);
    return v;
}

static void swallow(int32_t type)
{
    proxy_rule(proxy, type, 1, PROXY_DROP_REPLY);
}

static void await_swallowed(void)
{
    if (!proxy_wait_rule(proxy, SOON_MS))
        fail_msg("nothing was swallowed");
}

/* -- creates -------------------------------------------------------------- */

static void nobody_else_is_there(void)
{
    swallow(ZOO_CREATE2_OP);
    zkr_grant *g = granted(acquire(m));
    assert_true(proxy_rule_done(proxy));
    assert_int_equal(count_children(path), 1);
    release(g);
    assert_int_equal(count_children(path), 0);
}

static void somebody_holds_it(void)
{
    AUTO(recorder) r = recorder_new();
    zkr_grant *g = granted(acquire(rival));

    swallow(ZOO_CREATE2_OP);
    ok(zkr_mutex_acquire_async(m, SOON_MS, record_acquire, r, NULL));
    await_swallowed();
    assert_int_equal(count_children(path), 2);
    release(g);
    zkr_grant *next = recorded_grant(r, 0);
    assert_int_equal(count_children(path), 1);
    release(granted(next));
}

static void the_search_is_lost_too(void)
{
    swallow(ZOO_CREATE2_OP);
    swallow(ZOO_SYNC_OP);
    proxy_rule(proxy, ZOO_GETCHILDREN2_OP, 2, PROXY_DROP_REPLY);
    zkr_grant *g = granted(acquire(m));
    assert_int_equal(count_children(path), 1);
    release(g);
    proxy_forget_rules(proxy);
}

/* The node is there, but no client knows its name, and the caller has left. */
static void the_caller_has_left(void)
{
    struct waiter w;

    swallow(ZOO_CREATE2_OP);
    waiter_start(&w, m, 100);
    await_swallowed();
    proxy_cut(proxy);
    if (waiter_join(&w) == ZKR_OK) { /* granted before the cut */
        proxy_heal(proxy);
        release(granted(w.grant));
        return;
    }
    assert_int_equal(w.rc, ZKR_ETIMEDOUT);
    given_up++;
    assert_int_equal(count_children(path), 1);
    proxy_heal(proxy);
    wait_children(path, 0);
}

static void the_claim_is_cancelled(void)
{
    AUTO(recorder) r = recorder_new();

    swallow(ZOO_CREATE2_OP);
    AUTO(request) request =
        MADE(request, mutex_acquire_async, m, SOON_MS, record_acquire, r);
    await_swallowed();
    ok(zkr_request_cancel(request));
    if (recorded(r, 0) == ZKR_OK) {
        release(granted(recorded_grant(r, 0)));
    } else {
        assert_int_equal(recorded(r, 0), ZKR_ECANCELED);
        given_up++;
    }
    wait_children(path, 0);
}

/* -- deletes -------------------------------------------------------------- */

/* The lock passes on to the next contender, whatever the answer to the delete
 * was. */
static void passes_on(void)
{
    zkr_grant *g = granted(acquire(rival));

    assert_int_equal(count_children(path), 1);
    release(g);
}

static void the_release_waits(void)
{
    zkr_grant *g = granted(acquire(m));

    swallow(ZOO_DELETE_OP);
    release(g);
    assert_true(proxy_rule_done(proxy));
    assert_int_equal(count_children(path), 0);
    passes_on();
}

static void the_release_is_not_waited_for(void)
{
    AUTO(recorder) r = recorder_new();
    zkr_grant *g = granted(acquire(m));

    swallow(ZOO_DELETE_OP);
    ok(zkr_grant_release_async(g, record_release, r));
    zkr_grant_free(g);
    passes_on();
    assert_int_equal(recorded(r, 0), ZKR_OK);
    assert_true(proxy_rule_done(proxy));
}

static void the_grant_is_freed(void)
{
    zkr_grant *g = granted(acquire(m));

    swallow(ZOO_DELETE_OP);
    zkr_grant_free(g);
    passes_on();
    await_swallowed();
}

static void it_is_acquired_again_at_once(void)
{
    zkr_grant *g = granted(acquire(m));

    swallow(ZOO_DELETE_OP);
    ok(zkr_grant_release_async(g, NULL, NULL));
    zkr_grant_free(g);
    release(granted(acquire(m)));
    assert_true(proxy_rule_done(proxy));
}

static void its_answer_is_lost_twice(void)
{
    zkr_grant *g = granted(acquire(m));

    swallow(ZOO_DELETE_OP);
    proxy_rule(proxy, ZOO_DELETE_OP, 2, PROXY_DROP_REPLY);
    release(g);
    assert_true(proxy_rule_done(proxy));
    passes_on();
}

static void swallow_many(const char *what, void (*const kinds[])(void),
                         int kind_count)
{
    int count = number_from("ZKR_REPLIES", SMOKE_REPLIES);

    for (int i = 0; i < count; i++)
        kinds[i % kind_count]();
    sleep_ms(4000); /* a node that is there now would stay */
    assert_int_equal(count_children(path), 0);
    struct verdict v = judge(what, count);
    /* Each request was carried out, so none had to be sent again. */
    assert_int_equal(v.nodes, v.grants + (size_t)given_up);
}

TEST(swallowed_answers_to_creates_leave_nothing)
{
    static void (*const kinds[])(void) = {
        nobody_else_is_there, somebody_holds_it, the_search_is_lost_too,
        the_caller_has_left, the_claim_is_cancelled
    };

    swallow_many("answers to creates swallowed", kinds, 5);
    assert_true(given_up > 0);
}

TEST(swallowed_answers_to_deletes_leave_nothing)
{
    static void (*const kinds[])(void) = {
        the_release_waits, the_release_is_not_waited_for, the_grant_is_freed,
        it_is_acquired_again_at_once, its_answer_is_lost_twice
    };

    swallow_many("answers to deletes swallowed", kinds, 5);
}

/* -- holders whose sessions end ------------------------------------------- */

/* Returns the grant of the next, and how long it took. */
static zkr_grant *expire_holder(bool mine, zkr_grant *g, int64_t *ret_took_ms)
{
    zkr_session *who = mine ? s : theirs;
    AUTO(recorder) events = recorder_new();
    AUTO(recorder) outcome = recorder_new();
    size_t losses = 0;
    int code = 0;

    ok(zkr_grant_listen(g, record_grant, events));
    ok(zkr_mutex_acquire_async(mine ? rival : m, SOON_MS, record_acquire,
                               outcome, NULL));
    wait_children(path, 2);
    int64_t start = now_ms();
    expire(who);
    zkr_grant *next = granted(recorded_grant(outcome, 0));
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
    wait_session_state(who, ZKR_SESSION_RECONNECTED);
    return next;
}

TEST(expired_holders_are_told_and_the_next_is_granted)
{
    int count = number_from("ZKR_EXPIRED", SMOKE_EXPIRED);
    zkr_grant *g = granted(acquire(m));
    int64_t worst_ms = 0;

    for (int i = 0; i < count; i++) {
        int64_t took_ms;

        g = expire_holder(i % 2 == 0, g, &took_ms);
        if (took_ms > worst_ms)
            worst_ms = took_ms;
    }
    release(g);
    (void)judge("expired holders", count);
    printf("the next was granted after %lld ms at most\n", (long long)worst_ms);
}

/* -- waiters whose sessions end ------------------------------------------- */

/* The nodes of the next session are behind all others. */
static void queues_again_at_the_tail(void)
{
    AUTO(recorder) first = recorder_new();
    AUTO(recorder) second = recorder_new();
    AUTO(session) third = open_session();
    AUTO(mutex) thirds = new_mutex(third, path);
    zkr_grant *g = granted(acquire(rival));

    ok(zkr_mutex_acquire_async(m, SOON_MS, record_acquire, second, NULL));
    wait_children(path, 2);
    ok(zkr_mutex_acquire_async(thirds, SOON_MS, record_acquire, first, NULL));
    wait_children(path, 3);
    expire_and_wait(s);
    wait_children(path, 3);
    settle(s);
    assert_int_equal(count_children(path), 3);
    assert_int_equal(recorder_count(first) + recorder_count(second), 0);
    release(g);
    zkr_grant *next = granted(recorded_grant(first, 0));
    assert_int_equal(recorder_count(second), 0);
    release(next);
    release(granted(recorded_grant(second, 0)));
    assert_int_equal(recorder_count(first) + recorder_count(second), 2);
}

static void keeps_its_deadline(void)
{
    zkr_grant *g = granted(acquire(rival));
    struct stopwatch *watch = stopwatch_start();
    struct waiter w;

    waiter_start(&w, m, 250);
    wait_children(path, 2);
    expire_and_wait(s);
    assert_int_equal(waiter_join(&w), ZKR_ETIMEDOUT);
    assert_true(stopwatch_says(watch, 250, 250 + MARGIN_MS));
    wait_children(path, 1);
    release(g);
}

static void fails_if_it_asked_to(void)
{
    zkr_grant *g = granted(acquire(rival));
    struct waiter w;

    AUTO(mutex) strict =
        NEW(mutex, s, path, OPTS(lockable, .flags = ZKR_FAIL_ON_SESSION_LOSS));
    waiter_start(&w, strict, SOON_MS);
    wait_children(path, 2);
    expire_and_wait(s);
    assert_int_equal(waiter_join(&w), ZKR_ELOST);
    assert_int_equal(count_children(path), 1);
    release(g);
}

TEST(expired_waiters_queue_again)
{
    static void (*const kinds[])(
        void) = { queues_again_at_the_tail, queues_again_at_the_tail,
                  keeps_its_deadline, fails_if_it_asked_to };
    int count = number_from("ZKR_EXPIRED", SMOKE_EXPIRED);

    for (int i = 0; i < count; i++)
        kinds[i % 4]();
    (void)judge("expired waiters", count);
}
