/* SPDX-License-Identifier: Apache-2.0 */
/* The contract when nodes and sessions end under their owners. */
#include "stage.h"

SUBJECT("losses")

static size_t count_lost(struct recorder *r)
{
    size_t lost = 0;

    for (size_t i = 0; i < recorder_count(r); i++)
        lost += recorded(r, i) == ZKR_GRANT_LOST;
    return lost;
}

/* Returns what its holder was told. */
static struct recorder *is_lost_to_the_next(void (*happens)(void))
{
    struct contender *c = one_of(ours);
    struct recorder *r = hold_listening(c);
    struct contender *next = one_that_waits(theirs);

    happens();
    succeeds(next);
    wait_grant_state(c->grant, ZKR_GRANT_LOST);
    AWAIT(count_lost(r) > 0); /* a little after the change of the state */
    assert_int_equal(zkr_grant_check(c->grant), ZKR_ELOST);
    assert_int_equal(release_by(c), ZKR_ELOST);
    assert_int_equal(count_lost(r), 1);
    contender_forget(c);
    assert_int_equal(zkr_grant_check(next->grant), ZKR_OK);
    give_back(next);
    works(c);
    return r;
}

static void node_is_deleted(void)
{
    delete_nth_child(dir, 0);
}

static void session_ends(void)
{
    expire(ours);
    wait_session_state(ours, ZKR_SESSION_RECONNECTED);
}

/* After an operator's delete, kazoo and Curator go on as if they held it. */
TEST_ALL(a_holder_whose_node_is_deleted_is_told)
{
    assert_int_equal(recorded(is_lost_to_the_next(node_is_deleted), 0),
                     ZKR_GRANT_LOST);
}

static void node_is_deleted_while_cut_off(void)
{
    disconnect(proxy, ours);
    delete_nth_child(dir, 0);
    wait_waiting(0); /* the next one has it */
    proxy_heal(proxy);
}

/* A reconnect proves nothing. */
TEST_ALL(a_holder_replaced_while_cut_off_is_not_held_again)
{
    struct recorder *r = is_lost_to_the_next(node_is_deleted_while_cut_off);

    assert_int_equal(recorded(r, 0), ZKR_GRANT_SUSPENDED);
    assert_int_equal(recorded(r, 1), ZKR_GRANT_LOST);
}

TEST_ALL(a_holder_whose_session_ends_is_told_and_the_next_is_granted)
{
    (void)is_lost_to_the_next(session_ends);
}

/* With TURNS it still has its turn, and makes another lease. */
TEST_OF(a_waiter_whose_node_is_deleted_queues_again, .for_those = QUEUES,
        .not_for = TURNS)
{
    struct contender *holder = one_that_holds(theirs);
    struct contender *first = one_that_waits(ours);
    struct contender *second = one_that_waits(theirs);
    struct contender *new_order[] = { second, first };

    delete_nth_child(dir, 1);
    take_turns(holder, new_order, 2); /* `first` notices at its turn */
}

TEST_ALL(a_directory_emptied_under_everybody_costs_no_progress)
{
    struct contender *holder = one_that_holds(ours);
    struct contender *c = one_that_waits(theirs);

    for (size_t i = nodes(1, 1); i > 0; i--)
        delete_nth_child(dir, i - 1);
    wait_grant_state(holder->grant, ZKR_GRANT_LOST);
    if (has(CAMPAIGNS)) { /* again at once, and maybe before the other */
        assert_int_equal(release_by(holder), ZKR_ELOST);
        contender_forget(holder);
    }
    takes_its_turn(c);
}

/* Curator says "acquired" here, while another client holds the lock. */
TEST_OF(after_a_loss_it_is_released_as_often_before_it_is_held_anew,
        .for_those = REENTRANT)
{
    struct contender *c = one_that_holds(ours);
    struct contender *same = contender_of(c->lock);

    hold(c);
    zkr_grant *g = c->grant;
    delete_nth_child(dir, 0);
    wait_grant_state(g, ZKR_GRANT_LOST);
    hold(same); /* others may */
    assert_int_equal(try_for(c, SOON_MS), ZKR_ELOST);
    assert_int_equal(zkr_grant_depth(g), 2);
    assert_int_equal(release_by(c), ZKR_ELOST);
    contender_forget(c);
    assert_int_equal(try_for(c, SOON_MS), ZKR_ELOST);
    c->grant = g;
    assert_int_equal(release_by(c), ZKR_ELOST);
    contender_forget(c);
    assert_int_equal(try_for(c, 0), ZKR_EBUSY);
    give_back(same);
    assert_int_equal(try_for(c, 0), ZKR_OK);
    give_back(c);
}

/* kazoo test_lock_reconnect; Curator testKilledSession */
TEST_ALL(a_waiter_whose_session_ends_queues_again)
{
    struct contender *holder = one_that_holds(theirs);
    struct contender *first = one_that_waits(ours);
    struct contender *second = one_that_waits(theirs);
    struct contender *new_order[] = { second, first };

    session_ends();
    wait_waiting(2);
    wait_children(dir, nodes(1, 2));
    take_turns(holder, new_order, 2);
}

TEST_OF(a_waiter_may_ask_to_fail_when_its_session_ends, .not_for = CAMPAIGNS)
{
    struct contender *holder = one_that_holds(theirs);
    struct contender *c =
        contender_of(new_lock_with(ours, ZKR_FAIL_ON_SESSION_LOSS));
    struct contender *same = contender_of(c->lock);

    let_wait(c);
    let_wait(same);
    expire(ours);
    assert_int_equal(contender_rc(c), ZKR_ELOST);
    assert_int_equal(contender_rc(same), ZKR_ELOST);
    assert_int_equal(count_children(dir), 1);
    wait_session_state(ours, ZKR_SESSION_RECONNECTED);
    give_back(holder);
    works(c);
}
