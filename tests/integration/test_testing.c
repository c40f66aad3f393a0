/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of what programs have for their own tests: a session that ends. */
#include "usual.h"

#include <zkrecipes/testing.h>

FIXTURE(usual_setup_two, usual_teardown)

TEST(a_session_ends_each_time)
{
    for (uint64_t epoch = 2; epoch <= 4; epoch++) {
        AUTO(grant) g = acquire(m);

        ok(zkr_test_expire_session(s));
        assert_int_equal(zkr_grant_check(g), ZKR_ELOST);
        assert_true(zkr_session_epoch(s) == epoch);
    }
    assert_int_equal(count_children(path), 0);
}

TEST(a_claim_that_waits_is_granted_in_the_next_session)
{
    zkr_grant *held = acquire(rival);
    struct waiter w = WAITER(queue, m);

    ok(zkr_test_expire_session(s));
    wait_children(path, 2);
    release_to(held, &w);
}

TEST(a_session_without_a_connection_is_not_ended)
{
    disconnect(proxy, s);
    assert_int_equal(zkr_test_expire_session(s), ZKR_EUNREACHABLE);
    connect_again(proxy, s);
    assert_true(zkr_session_epoch(s) == 1);
}
