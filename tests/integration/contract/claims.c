/* SPDX-License-Identifier: Apache-2.0 */
/* The contract for asynchronous claims: a claim needs no waiting thread. */
#include "stage.h"

SUBJECT("claims")

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

TEST_OF(a_claim_can_be_cancelled, .for_those = ASYNC)
{
    struct contender *holder = one_that_holds(theirs);
    void *lock = new_lock(ours);
    struct recorder *r = new_recorder();
    zkr_request *request = NULL;

    ok(recipe->acquire_async(lock, -1, record_acquire, r, &request));
    wait_waiting(1);
    ok(zkr_request_cancel(request));
    ok(zkr_request_cancel(request));
    zkr_request_free(request);
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

TEST_OF(a_claim_times_out, .for_those = ASYNC)
{
    struct contender *holder = one_that_holds(theirs);
    void *lock = new_lock(ours);
    struct recorder *waits = new_recorder();
    struct recorder *tries = new_recorder();

    ok(recipe->acquire_async(lock, 100, record_acquire, waits, NULL));
    ok(recipe->acquire_async(lock, 0, record_acquire, tries, NULL));
    assert_int_equal(recorded(tries, 0), ZKR_EBUSY);
    assert_int_equal(recorded(waits, 0), ZKR_ETIMEDOUT);
    wait_children(dir, 1);
    give_back(holder);
}
