/* SPDX-License-Identifier: Apache-2.0 */
/* Tests with creates and deletes whose answers are lost: no node is left, and a
 * claim never has two.
 *
 * ZKR_REPLIES is the number of creates, and of deletes. */
#include "usual.h"

#include "oracle.h"

enum { SMOKE = 40 };

static struct oracle *oracle;
static int given_up;

static int setup(void)
{
    (void)usual_setup_two();
    ok(admin_create(admin, path, NULL));
    oracle = oracle_new(path);
    given_up = 0;
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
    return g;
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
    assert_int_equal(recorded(r, 0), ZKR_OK);
    assert_int_equal(count_children(path), 1);
    release(granted(recorded_grant(r, 0)));
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

/* -- all of them ---------------------------------------------------------- */

static void swallow_many(const char *what, void (*const kinds[])(void),
                         int kind_count)
{
    int count = number_from("ZKR_REPLIES", SMOKE);

    for (int i = 0; i < count; i++)
        kinds[i % kind_count]();
    sleep_ms(4000); /* a node that is there now would stay */
    assert_int_equal(count_children(path), 0);
    struct verdict v = oracle_judge(oracle, the_server);
    assert_int_equal(v.twins, 0);
    /* Each request was carried out, so none had to be sent again. */
    assert_int_equal(v.nodes, v.grants + (size_t)given_up);
    printf("%d answers to %s swallowed: %zu grants, %d given up, %zu nodes in "
           "the log; without an owner for %lld ms at most\n",
           count, what, v.grants, given_up, v.nodes, (long long)v.longest);
}

TEST(swallowed_answers_to_creates_leave_nothing)
{
    static void (*const kinds[])(void) = {
        nobody_else_is_there, somebody_holds_it, the_search_is_lost_too,
        the_caller_has_left, the_claim_is_cancelled
    };

    swallow_many("creates", kinds, 5);
    assert_true(given_up > 0);
}

TEST(swallowed_answers_to_deletes_leave_nothing)
{
    static void (*const kinds[])(void) = {
        the_release_waits, the_release_is_not_waited_for, the_grant_is_freed,
        it_is_acquired_again_at_once, its_answer_is_lost_twice
    };

    swallow_many("deletes", kinds, 5);
}
