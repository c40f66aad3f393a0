/* SPDX-License-Identifier: Apache-2.0 */
/* The contract for releases: each gives back the lock it holds, no other. */
#include "stage.h"

SUBJECT("releases")

TEST_OF(freeing_the_lock_object_releases_what_is_held,
        .for_those = KEEPS_GRANTS)
{
    struct contender *c = one_that_holds(ours);

    free_lock(c->lock);
    c->grant = NULL;
    wait_children(dir, 0);
}

TEST_OF(a_grant_outlives_the_lock_object_and_a_free_releases_it,
        .not_for = KEEPS_GRANTS)
{
    struct contender *c = one_that_holds(ours);

    contender_forget(c);
    if (!has(SHARES)) /* else its node stays */
        wait_children(dir, 0);
    hold(c);
    free_lock(c->lock);
    c->lock = NULL;
    assert_int_equal(zkr_grant_check(c->grant), ZKR_OK);
    assert_int_equal(count_children(dir), 1);
    give_back(c);
    assert_int_equal(count_children(dir), 0);
}

TEST_ALL(any_thread_releases_and_a_second_release_harms_nobody)
{
    struct contender *c = one_that_holds(ours);
    struct contender *helper = has(THREAD_OWNED) ? c : one_of(theirs);
    struct contender *next = one_of(ours);

    contender_release(helper, c->grant);
    assert_true(has_released(helper));
    if (!has(SHARES)) /* else its node stays */
        wait_children(dir, 0);
    assert_int_equal(release_by(c), ZKR_ENOTHELD);
    hold(next);
    assert_int_equal(release_by(c), ZKR_ENOTHELD);
    if (!has(KEEPS_GRANTS)) {
        assert_int_equal(zkr_grant_check(c->grant), ZKR_ENOTHELD);
        assert_int_equal(zkr_grant_release_async(c->grant, NULL, NULL),
                         has(THREAD_OWNED) ? ZKR_ENOTOWNER : ZKR_ENOTHELD);
    }
    assert_int_equal(zkr_grant_check(next->grant), ZKR_OK);
    assert_int_equal(count_children(dir), 1);
    give_back(next);
}

TEST_OF(its_owner_waits_for_itself_like_for_anybody, .not_for = REENTRANT)
{
    struct contender *c = one_that_holds(ours);

    zkr_grant *first = c->grant;
    assert_int_equal(try_for(c, 0), ZKR_EBUSY);
    assert_int_equal(try_for(c, GIVE_UP_MS), ZKR_ETIMEDOUT);
    assert_ptr_equal(c->grant, first);
    assert_int_equal(zkr_grant_check(first), ZKR_OK);
    give_back(c);
}

TEST_OF(it_is_held_until_its_owner_has_released_it_as_often,
        .for_those = REENTRANT | THREAD_OWNED)
{
    enum { DEPTH = 3 };
    struct contender *c = one_that_holds(ours);
    struct contender *same = contender_of(c->lock);
    struct contender *waiter = one_that_waits(theirs);

    proxy_reset_counts(proxy);
    contender_release(same, c->grant);
    assert_int_equal(contender_rc(same), ZKR_ENOTOWNER);
    assert_int_equal(proxy_requests(proxy, ZOO_DELETE_OP), 0);
    assert_int_equal(zkr_grant_check(c->grant), ZKR_OK);
    assert_int_equal(zkr_grant_depth(c->grant), 1);
    for (uint32_t i = 2; i <= DEPTH; i++) {
        assert_int_equal(try_for(c, 0), ZKR_OK);
        assert_int_equal(zkr_grant_depth(c->grant), i);
    }
    assert_int_equal(proxy_requests(proxy, ZOO_CREATE2_OP), 0);
    assert_int_equal(proxy_requests(proxy, ZOO_GETCHILDREN2_OP), 0);
    for (uint32_t i = DEPTH; i > 1; i--) {
        zkr_grant *g = c->grant;

        assert_int_equal(try_for(same, 0), ZKR_EBUSY);
        give_back(c); /* one handle of several */
        c->grant = g;
        assert_int_equal(zkr_grant_depth(g), i - 1);
        assert_int_equal(zkr_grant_check(g), ZKR_OK);
        assert_true(contender_is_busy(waiter));
    }
    assert_int_equal(proxy_requests(proxy, ZOO_DELETE_OP), 0);
    give_back(c);
    takes_its_turn(waiter);
}

/* Somebody else deletes its node, and the delete comes too late. */
TEST_OF(a_release_of_a_node_that_has_gone_is_one, .not_for = SHARES)
{
    struct contender *c = one_that_holds(ours);

    settle(ours);
    proxy_rule(proxy, ZOO_DELETE_OP, 1, PROXY_HOLD_REQUEST);
    contender_release(c, c->grant);
    assert_true(proxy_wait_rule(proxy, SOON_MS));
    delete_nth_child(dir, 0);
    proxy_release(proxy);
    assert_true(has_released(c));
    contender_forget(c);
    works(c);
}

/* The servers refused the delete once, and the node kept others out until the
 * session ended, its own claims, too. */
TEST_OF(a_refused_release_is_made_again, .not_for = SHARES, .once = true)
{
    struct contender *c = one_that_holds(ours);
    struct contender *waiter = one_of(theirs);

    for (unsigned i = 1; i <= 3; i++) {
        settle(ours);
        if (i == 3)
            let_wait(waiter);
        proxy_rule_error(proxy, ZOO_DELETE_OP, 1, ZNOAUTH);
        assert_int_equal(release_by(c), ZKR_ZNOAUTH);
        contender_forget(c);
        assert_int_equal(session_stats(ours).refusals, i);
        if (i < 3 && has(FAIR)) /* our next claim makes it first */
            assert_int_equal(try_for(c, 0), ZKR_OK);
        else if (i < 3) /* that reads first whose node it is */
            hold(c);
    }
    takes_its_turn(waiter); /* nobody else does */
    wait_children(dir, 0);
}
