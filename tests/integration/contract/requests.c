/* SPDX-License-Identifier: Apache-2.0 */
/* The contract when requests and replies are lost. */
#include "stage.h"

#include <stdlib.h>
#include <zookeeper/proto.h>

/* The rules of the proxy have been applied, and there is no second node. */
static void one_node_is_made(void)
{
    struct contender *c = one_of(ours);

    hold(c);
    assert_true(proxy_rule_done(proxy));
    assert_int_equal(count_children(dir), 1);
    give_back(c);
    assert_int_equal(count_children(dir), 0);
}

/* The classic case: the node exists, and we do not know it. */
static void a_lost_create_reply_makes_no_second_node(void)
{
    make_directory();
    proxy_rule(proxy, ZOO_CREATE2_OP, create_of_the_node(), PROXY_DROP_REPLY);
    one_node_is_made();
}

static void a_lost_create_reply_keeps_the_place_in_the_queue(void)
{
    struct contender *holder = one_of(theirs);
    struct contender *c = one_of(ours);
    struct contender *last = one_of(theirs);

    hold(holder);
    proxy_rule(proxy, ZOO_CREATE2_OP, create_of_the_node(), PROXY_DROP_REPLY);
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

static void a_lost_create_request_is_sent_again(void)
{
    make_directory();
    proxy_rule(proxy, ZOO_CREATE2_OP, create_of_the_node(), PROXY_DROP_REQUEST);
    one_node_is_made();
}

/* Curator loses the node here (its two nested retry loops). */
static void a_create_lost_twice_makes_one_node(void)
{
    make_directory();
    proxy_rule(proxy, ZOO_CREATE2_OP, create_of_the_node(), PROXY_DROP_REQUEST);
    proxy_rule(proxy, ZOO_CREATE2_OP, create_of_the_node() + 1,
               PROXY_DROP_REPLY);
    one_node_is_made();
}

/* A claim is given up while nobody knows whether its node exists: the node must
 * not stay. */
static void a_wait_that_ends_before_its_create_is_known_leaves_nothing(void)
{
    struct contender *c = one_of(ours);

    make_directory();
    proxy_rule(proxy, ZOO_CREATE2_OP, create_of_the_node(), PROXY_HOLD_REPLY);
    assert_int_equal(try_for(c, GIVE_UP_MS), ZKR_ETIMEDOUT);
    assert_true(proxy_wait_rule(proxy, SOON_MS));
    assert_int_equal(count_children(dir), 1);
    proxy_cut(proxy); /* the reply is lost for good */
    proxy_heal(proxy);
    wait_children(dir, 0);
    works(c);
}

static void release_without(enum proxy_action action)
{
    struct contender *c = one_of(ours);
    struct contender *next = one_of(theirs);
    int rc;

    hold(c);
    let_wait(next);
    proxy_rule(proxy, ZOO_DELETE_OP, 1, action);
    rc = release_by(c);
    assert_true(rc == ZKR_OK || rc == ZKR_EPENDING);
    assert_true(proxy_rule_done(proxy));
    contender_forget(c);
    succeeds(next);
    wait_children(dir, 1);
    give_back(next);
}

static void a_lost_delete_reply_is_a_release(void)
{
    release_without(PROXY_DROP_REPLY);
}

static void a_lost_delete_request_is_sent_again(void)
{
    release_without(PROXY_DROP_REQUEST);
}

/* The recipe that ships with ZooKeeper takes the missing node for a failure. */
static void a_holder_that_leaves_before_it_is_watched_is_seen(void)
{
    struct contender *holder = one_of(theirs);
    struct contender *c = one_of(ours);

    hold(holder);
    proxy_rule(proxy, ZOO_GETDATA_OP, 1, PROXY_HOLD_REQUEST);
    acquire_until_rule(c);
    give_back(holder);
    assert_true(contender_is_busy(c));
    proxy_release(proxy);
    succeeds(c);
    assert_int_equal(count_children(dir), 1);
    give_back(c);
}

static void a_vanished_predecessor_costs_nobody_its_place(void)
{
    struct contender *holder = one_of(theirs);
    struct contender *middle = one_of(theirs);
    struct contender *c = one_of(ours);
    char *place;

    hold(holder);
    let_wait(middle);
    proxy_rule(proxy, ZOO_GETDATA_OP, 1, PROXY_HOLD_REQUEST);
    acquire_until_rule(c);
    place = nth_child(dir, 2);
    delete_nth_child(dir, 1);
    proxy_release(proxy);
    wait_waiting(2); /* it waits for the holder now */
    keeps_place(place, 1);
    give_back(holder);
    succeeds(c);
    wait_waiting(1); /* the one in the middle, behind us */
    give_back(c);
    takes_its_turn(middle);
}

static void a_lost_watch_reply_loses_no_wake_up(void)
{
    struct contender *holder = one_of(theirs);
    struct contender *c = one_of(ours);

    hold(holder);
    proxy_rule(proxy, ZOO_GETDATA_OP, 1, PROXY_DROP_REPLY);
    acquire_until_rule(c);
    give_back(holder);
    takes_its_turn(c);
}

static const struct statement statements[] = {
    NOT_FOR(STAYS, a_lost_create_reply_makes_no_second_node),
    FOR_BUT(QUEUES, STAYS, a_lost_create_reply_keeps_the_place_in_the_queue),
    NOT_FOR(STAYS, a_lost_create_request_is_sent_again),
    NOT_FOR(STAYS, a_create_lost_twice_makes_one_node),
    ALL(a_wait_that_ends_before_its_create_is_known_leaves_nothing),
    NOT_FOR(STAYS, a_lost_delete_reply_is_a_release),
    NOT_FOR(STAYS, a_lost_delete_request_is_sent_again),
    /* The first that waits for a lease watches its directory; test_semaphore.c
     * has the like. */
    NOT_FOR(TURNS, a_holder_that_leaves_before_it_is_watched_is_seen),
    FOR_BUT(QUEUES, TURNS, a_vanished_predecessor_costs_nobody_its_place),
    NOT_FOR(TURNS, a_lost_watch_reply_loses_no_wake_up),
};

const struct subject lost_requests = SUBJECT("requests", statements);
