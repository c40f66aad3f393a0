/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the policy: what is done to a command at which instant. */
#include "run/policy.h"
#include "unit.h"

#define LEAD POLICY_LEAD_MS

enum { GRACE = 1000, UNTIL = 100000 };

static struct policy policy;

static int setup(void)
{
    policy = (struct policy){ .grace_ms = GRACE };
    return 0;
}

FIXTURE(setup, NULL)

static struct policy_plan at(int64_t now_ms,
                             enum zkr_grant_state_kind grant_state)
{
    struct policy_view view = { .state = grant_state,
                                .valid_until_ms = UNTIL,
                                .now_ms = now_ms };

    return policy_next(&policy, &view);
}

TEST(nothing_happens_while_the_lease_is_long)
{
    struct policy_plan plan = at(UNTIL - 10000, ZKR_GRANT_HELD);

    assert_int_equal(plan.action, POLICY_NOTHING);
    assert_false(policy.terminated);
    /* Soon enough to see that it has grown. */
    assert_int_equal(plan.wake_ms, UNTIL - 10000 + (10000 - LEAD) / 2);
}

TEST(term_comes_a_grace_before_kill)
{
    int64_t due = UNTIL - LEAD - GRACE;
    struct policy_plan plan = at(due - 1, ZKR_GRANT_SUSPENDED);

    assert_int_equal(plan.action, POLICY_NOTHING);
    assert_int_equal(plan.wake_ms, due);
    assert_int_equal(at(due, ZKR_GRANT_SUSPENDED).action, POLICY_SEND_TERM);
    assert_int_equal(at(due + 1, ZKR_GRANT_SUSPENDED).action, POLICY_NOTHING);
}

/* A lease may run out without a SUSPENDED before it. */
TEST(term_comes_in_state_held_too)
{
    assert_int_equal(at(UNTIL - LEAD - GRACE, ZKR_GRANT_HELD).action,
                     POLICY_SEND_TERM);
}

TEST(kill_comes_before_the_lease_ends)
{
    assert_int_equal(at(UNTIL - LEAD - 1, ZKR_GRANT_SUSPENDED).action,
                     POLICY_SEND_TERM);
    assert_int_equal(at(UNTIL - LEAD - 1, ZKR_GRANT_SUSPENDED).wake_ms,
                     UNTIL - LEAD);
    assert_int_equal(at(UNTIL - LEAD, ZKR_GRANT_SUSPENDED).action,
                     POLICY_SEND_KILL);
}

/* After a suspend of the machine all instants have passed at once. */
TEST(after_a_long_sleep_kill_comes_without_term)
{
    assert_int_equal(at(UNTIL + 5000, ZKR_GRANT_HELD).action, POLICY_SEND_KILL);
}

TEST(a_command_without_the_lock_is_killed_at_once)
{
    struct policy_view nothing_proven = { .state = ZKR_GRANT_HELD,
                                          .valid_until_ms = 0,
                                          .now_ms = 1 };

    assert_int_equal(at(1, ZKR_GRANT_LOST).action, POLICY_SEND_KILL);
    assert_int_equal(at(1, ZKR_GRANT_UNSURE).action, POLICY_SEND_KILL);
    assert_int_equal(at(1, ZKR_GRANT_RELEASED).action, POLICY_SEND_KILL);
    assert_int_equal(policy_next(&policy, &nothing_proven).action,
                     POLICY_SEND_KILL);
}

TEST(a_lease_that_grows_withdraws_term)
{
    struct policy_view view = { .state = ZKR_GRANT_SUSPENDED,
                                .valid_until_ms = UNTIL,
                                .now_ms = UNTIL - LEAD - GRACE - 1 };

    assert_int_equal(policy_next(&policy, &view).action, POLICY_NOTHING);
    view.state = ZKR_GRANT_HELD;
    view.valid_until_ms += 5000;
    view.now_ms += 2;
    assert_int_equal(policy_next(&policy, &view).action, POLICY_NOTHING);
    assert_false(policy.terminated);
}

TEST(it_never_looks_again_too_late_nor_in_the_past)
{
    static const enum zkr_grant_state_kind states[] = { ZKR_GRANT_HELD,
                                                        ZKR_GRANT_SUSPENDED };
    uint64_t random = 42;

    for (int i = 0; i < 100000; i++) {
        int64_t now = UNTIL - (int64_t)(unit_random(&random) % 20000);

        policy.grace_ms = (int64_t)(unit_random(&random) % 3000);
        policy.terminated = unit_random(&random) % 2 == 0;
        struct policy_plan plan = at(now, states[unit_random(&random) % 2]);
        if (plan.action == POLICY_SEND_KILL) {
            assert_true(now >= UNTIL - LEAD);
            continue;
        }
        assert_true(now < UNTIL - LEAD);
        assert_true(plan.wake_ms > now && plan.wake_ms <= UNTIL - LEAD);
        if (!policy.terminated)
            assert_true(plan.wake_ms <= UNTIL - LEAD - policy.grace_ms);
    }
}

/* When a proof of the lease is due, a quarter of the session timeout is left
 * at the worst: TERM must be later than that, with room for a slow answer. */
TEST_WITH(the_grace_leaves_room_for_slow_servers, NULL, NULL)
{
    for (int64_t timeout = 1000; timeout < 120000; timeout += 500) {
        assert_true(policy_longest_grace_ms(timeout) <= timeout / 6);
        assert_true(policy_default_grace_ms(timeout) <=
                    policy_longest_grace_ms(timeout));
        assert_true(policy_longest_grace_ms(timeout) + LEAD + 50 < timeout / 3);
    }
    assert_int_equal(policy_default_grace_ms(10000), 1000);
    assert_int_equal(policy_default_grace_ms(100000), 5000);
}
