/* SPDX-License-Identifier: Apache-2.0 */
/* The contract when requests and replies are lost. */
#include "stage.h"

SUBJECT("requests")

TEST_OF(a_lost_create_reply_keeps_the_place_in_the_queue, .for_those = QUEUES,
        .not_for = STAYS)
{
    struct contender *holder = one_that_holds(theirs);
    struct contender *c = one_of(ours);
    struct contender *last = one_of(theirs);

    /* That of its node; a turn has one before. */
    proxy_rule(proxy, ZOO_CREATE2_OP, has(TURNS) ? 2 : 1, PROXY_DROP_REPLY);
    acquire_until_rule(c);
    wait_waiting(1);
    let_wait(last);
    assert_int_equal(count_children(dir), nodes(1, 2));
    give_back(holder);
    succeeds(c);
    assert_true(contender_is_busy(last));
    give_back(c);
    takes_its_turn(last);
    assert_int_equal(count_children(dir), 0);
}

/* The recipe that ships with ZooKeeper takes the missing node for a failure.
 * The first that waits for a lease watches its directory; test_semaphore.c has
 * the like. */
TEST_OF(a_holder_that_leaves_before_it_is_watched_is_seen, .not_for = TURNS)
{
    struct contender *holder = one_that_holds(theirs);
    struct contender *c = one_of(ours);

    proxy_rule(proxy, ZOO_GETDATA_OP, 1, PROXY_HOLD_REQUEST);
    acquire_until_rule(c);
    give_back(holder);
    assert_true(contender_is_busy(c));
    proxy_release(proxy);
    succeeds(c);
    assert_int_equal(count_children(dir), 1);
    give_back(c);
}

TEST_OF(a_vanished_predecessor_costs_nobody_its_place, .for_those = QUEUES,
        .not_for = TURNS)
{
    struct contender *holder = one_that_holds(theirs);
    struct contender *middle = one_that_waits(theirs);
    struct contender *c = one_of(ours);

    proxy_rule(proxy, ZOO_GETDATA_OP, 1, PROXY_HOLD_REQUEST);
    acquire_until_rule(c);
    char *place = nth_child(dir, 2);
    delete_nth_child(dir, 1);
    proxy_release(proxy);
    /* The one in the middle was told, and is behind us; else its session would
     * hand the lock on to it. */
    wait_children(dir, 3);
    wait_waiting(2);
    keeps_place(place, 1);
    give_back(holder);
    succeeds(c);
    wait_waiting(1);
    give_back(c);
    takes_its_turn(middle);
}
