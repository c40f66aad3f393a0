/* SPDX-License-Identifier: Apache-2.0 */
/* The contract for waits: a wait that ends leaves nothing. */
#include "stage.h"

#include <poll.h>

SUBJECT("waits")

/* Returns the watches of all sessions on nodes of this lock:
 * "path\n\tsession\n\tsession\n..." A session watches the directory of a queue
 * that it uses again, for as long as that is there: no watch of a wait. */
static size_t count_watches(void)
{
    AUTO(text) wchp = server_4lw(the_server, "wchp");
    size_t len = strlen(path);
    size_t count = 0;
    bool here = false;
    char *rest = NULL;

    for (char *line = wchp == NULL ? NULL : strtok_r(wchp, "\n", &rest);
         line != NULL; line = strtok_r(NULL, "\n", &rest)) {
        if (line[0] == '\t')
            count += here;
        else
            here = strncmp(line, path, len) == 0 && line[len] == '/' &&
                   !(has(TURNS) && strcmp(line + len, "/locks") == 0);
    }
    return count;
}

static void wait_own_watches(size_t count)
{
    if (!COMES(count_watches() == count, SOON_MS))
        fail_msg("%zu watches, not %zu", count_watches(), count);
}

TEST_OF(many_rounds_leave_no_node_and_no_watch, .not_for = STAYS)
{
    struct contender *c = one_of(ours);

    for (int i = 0; i < 50; i++) {
        hold(c);
        assert_int_equal(count_children(dir), 1);
        give_back(c);
    }
    assert_int_equal(count_children(dir), 0);
    wait_own_watches(0);
}

/* The deletion of the holder's node would hide watches that they leave. */
TEST_ALL(many_waits_given_up_leave_no_node_and_no_watch)
{
    struct contender *holder = one_of(ours);
    struct contender *others[] = { one_of(ours), one_of(theirs) };

    (void)hold_listening(holder);
    wait_own_watches(1);
    for (int i = 0; i < 10; i++) {
        let_wait(others[i % 2]); /* watches the node of the holder */
        let_wait(others[1 - i % 2]);
        gives_up(others[1 - i % 2]);
        gives_up(others[i % 2]);
    }
    wait_children(dir, 1);
    wait_own_watches(1);
    delete_nth_child(dir, 0); /* the holder's own watch is still there */
    wait_grant_state(holder->grant, ZKR_GRANT_LOST);
    ok(zkr_grant_listen(holder->grant, NULL, NULL));
}

/* Dead waiters in the middle: the next is neither granted nor forgotten. */
TEST_ALL(a_cancelled_wait_leaves_nothing_and_breaks_no_chain)
{
    struct contender *holder = one_that_holds(theirs);
    struct contender *c = one_that_waits(ours);
    struct contender *same = contender_of(c->lock);
    struct contender *others[] = { one_of(theirs), one_of(ours) };

    let_wait(same);
    let_wait(others[0]);
    let_wait(others[1]);
    ok(recipe->cancel(c->lock));
    assert_int_equal(contender_rc(c), ZKR_ECANCELED);
    assert_int_equal(contender_rc(same), ZKR_ECANCELED);
    wait_children(dir, nodes(1, 2));
    wait_waiting(2); /* the first one for the holder now */
    assert_true(contender_is_busy(others[0]));
    assert_true(contender_is_busy(others[1]));
    assert_int_equal(zkr_grant_check(holder->grant), ZKR_OK);
    take_turns(holder, others, 2);
    ok(recipe->cancel(c->lock)); /* nobody waits */
    hold(c);
    ok(recipe->cancel(c->lock)); /* it does not wait any more */
    assert_int_equal(zkr_grant_check(c->grant), ZKR_OK);
    give_back(c);
}

/* More than an acquire that waits has. */
enum { REQUESTS_MAX = 20 };

/* Gives up at the n-th request, or when it waits, after fewer: then false. */
static bool gives_up_at(struct contender *c, int n, enum proxy_action action)
{
    bool waits = false;

    proxy_rule(proxy, PROXY_ANY, n, action);
    contender_acquire(c, -1);
    while (!waits && !proxy_rule_done(proxy)) {
        waits = count_waiting() == 1;
        (void)poll(NULL, 0, 1);
    }
    gives_up(c); /* it is told at once */
    proxy_forget_rules(proxy);
    proxy_release(proxy);
    return !waits;
}

/* Whatever it has asked, and has had no answer to. */
TEST_ALL(a_wait_given_up_at_any_request_leaves_nothing)
{
    static const enum proxy_action held[] = { PROXY_HOLD_REQUEST,
                                              PROXY_HOLD_REPLY };
    struct contender *holder = one_of(theirs);
    struct contender *c = one_of(ours);

    (void)hold_listening(holder);
    wait_own_watches(1); /* its own */
    for (size_t i = 0; i < COUNT(held); i++) {
        for (int n = 1; gives_up_at(c, n, held[i]); n++) {
            assert_true(n < REQUESTS_MAX);
            wait_children(dir, 1);
        }
        wait_children(dir, 1);
        wait_own_watches(1);
    }
    give_back(holder);
    works(c);
}

/* One without a thread, beside two others that wait. */
static void let_claim_wait(struct contender *c, struct recorder *r)
{
    if (!has(ASYNC))
        return;
    ok(recipe->acquire_async(c->lock, -1, record_acquire, r, NULL));
    wait_waiting(3);
}

TEST_ALL(freeing_the_lock_ends_the_waits_through_it)
{
    struct contender *holder = one_that_holds(ours);
    struct contender *c = one_that_waits(ours);
    struct contender *same = contender_of(c->lock);
    struct recorder *r = new_recorder();

    let_wait(same);
    let_claim_wait(c, r);
    free_lock(c->lock);
    assert_int_equal(contender_rc(c), ZKR_ECANCELED);
    assert_int_equal(contender_rc(same), ZKR_ECANCELED);
    if (has(ASYNC))
        assert_int_equal(recorded(r, 0), ZKR_ECANCELED);
    wait_children(dir, 1);
    assert_int_equal(zkr_grant_check(holder->grant), ZKR_OK);
    give_back(holder);
}

TEST_ALL(closing_the_session_ends_waits_and_grants)
{
    struct contender *holder = one_of(ours);
    struct recorder *events = hold_listening(holder);
    struct contender *c = one_that_waits(ours);
    struct contender *next = one_that_waits(theirs);
    struct recorder *r = new_recorder();

    let_claim_wait(c, r);
    int rc = zkr_session_close(ours);
    ours = NULL;
    ok(rc);
    assert_int_equal(contender_rc(c), ZKR_ECLOSED);
    assert_int_equal(recorder_count(events), 1); /* before close returns */
    assert_int_equal(recorded(events, 0), ZKR_GRANT_LOST);
    if (has(ASYNC)) {
        assert_int_equal(recorder_count(r), 1);
        assert_int_equal(recorded(r, 0), ZKR_ECLOSED);
        assert_int_equal(
            recipe->acquire_async(c->lock, -1, record_acquire, r, NULL),
            ZKR_ECLOSED);
    }
    assert_int_equal(zkr_grant_check(holder->grant), ZKR_ELOST);
    assert_int_equal(release_by(holder), ZKR_ELOST);
    assert_int_equal(try_for(c, -1), ZKR_ECLOSED);
    succeeds(next);
    assert_int_equal(count_children(dir), 1);
    give_back(next);
}

/* -- claims: waits without a thread ---------------------------------------- */

TEST_OF(claims_are_granted_one_after_the_other, .for_those = ASYNC)
{
    enum { N = 20 };
    void *lock = new_lock(ours);
    struct recorder *r = new_recorder();
    int64_t last = 0;
    uint64_t handoff = 0;

    for (int i = 0; i < N; i++)
        ok(recipe->acquire_async(lock, -1, record_acquire, r, NULL));
    for (size_t i = 0; i < N; i++) {
        AUTO(grant) g = recorded_grant(r, i);
        assert_int_equal(recorder_count(r), i + 1);
        assert_int_equal(zkr_grant_check(g), ZKR_OK);
        /* Those of one node have one token, and a count. */
        assert_true(zkr_grant_token(g) > last ||
                    (has(SHARES) && zkr_grant_token(g) == last &&
                     zkr_grant_handoff(g) == handoff + 1));
        last = zkr_grant_token(g);
        handoff = zkr_grant_handoff(g);
        ok(zkr_grant_release_async(g, NULL, NULL));
    }
    if (!has(SHARES)) /* else its node stays */
        wait_children(dir, 0);
}

TEST_OF(a_claim_times_out_or_is_cancelled, .for_those = ASYNC)
{
    struct contender *holder = one_that_holds(theirs);
    void *lock = new_lock(ours);
    struct recorder *waits = new_recorder();
    struct recorder *tries = new_recorder();
    struct recorder *r = new_recorder();
    AUTO(request) request = NULL;

    ok(recipe->acquire_async(lock, 100, record_acquire, waits, NULL));
    ok(recipe->acquire_async(lock, 0, record_acquire, tries, NULL));
    assert_int_equal(recorded(tries, 0), ZKR_EBUSY);
    assert_int_equal(recorded(waits, 0), ZKR_ETIMEDOUT);
    wait_children(dir, 1);
    ok(recipe->acquire_async(lock, -1, record_acquire, r, &request));
    wait_waiting(1);
    ok(zkr_request_cancel(request));
    ok(zkr_request_cancel(request));
    assert_int_equal(recorded(r, 0), ZKR_ECANCELED);
    wait_children(dir, 1);
    give_back(holder);
    /* A cancel ends one attempt, not the next (kazoo's poison). */
    ok(recipe->acquire_async(lock, -1, record_acquire, r, NULL));
    assert_int_equal(recorded(r, 1), ZKR_OK);
    assert_int_equal(recorder_count(r), 2);
    zkr_grant_free(recorded_grant(r, 1));
    if (!has(SHARES))
        wait_children(dir, 0);
}
