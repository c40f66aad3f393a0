/* SPDX-License-Identifier: Apache-2.0 */
/* The contract when connections break, servers are silent, and requests and
 * replies are lost or late. */
#include "stage.h"

SUBJECT("connections")

TEST_ALL(a_disconnect_costs_neither_the_lock_nor_the_place)
{
    struct contender *holder = one_of(ours);
    struct contender *waiting[] = { one_of(ours), one_of(theirs) };
    struct recorder *r = hold_listening(holder);
    int64_t token = zkr_grant_token(holder->grant);

    let_wait(waiting[0]);
    let_wait(waiting[1]);
    char *place = nth_child(dir, nodes(1, 1) - 1);
    proxy_reset_counts(proxy);
    proxy_cut(proxy);
    wait_grant_state(holder->grant, ZKR_GRANT_SUSPENDED);
    proxy_heal(proxy);
    wait_grant_state(holder->grant, ZKR_GRANT_HELD);
    assert_true(zkr_grant_token(holder->grant) == token);
    assert_int_equal(recorded(r, 0), ZKR_GRANT_SUSPENDED);
    assert_int_equal(recorded(r, 1), ZKR_GRANT_HELD);
    assert_true(proxy_requests(proxy, ZOO_MULTI_OP) >= 1); /* a write */
    keeps_place(place, nodes(1, 1) - 1);
    assert_int_equal(count_children(dir), nodes(1, 2));
    ok(zkr_grant_listen(holder->grant, NULL, NULL));
    take_turns(holder, waiting, 2);
}

/* At last it waits again: the client sets its watches anew, and the server
 * reports the events that it missed. */
TEST_ALL(a_wait_leaves_nothing_and_misses_no_wake_up_cut_off_or_not)
{
    struct contender *holder = one_that_holds(theirs);
    struct contender *c = one_of(ours);

    gives_up_in_time(c);
    assert_has(c->detail, path);
    wait_children(dir, 1);
    let_wait(c);
    disconnect(proxy, ours);
    gives_up(c);
    gives_up_in_time(c);
    assert_has(c->detail, "connection");
    assert_int_equal(try_for(c, 0),
                     has(CAMPAIGNS) ? ZOPERATIONTIMEOUT : ZCONNECTIONLOSS);
    proxy_heal(proxy);
    wait_children(dir, 1);
    assert_int_equal(zkr_grant_check(holder->grant), ZKR_OK);
    let_wait(c);
    disconnect(proxy, ours);
    give_back(holder);
    proxy_heal(proxy);
    takes_its_turn(c);
}

/* CURATOR-678: it forgets a node when the delete fails, and waits for that. */
TEST_OF(a_release_while_cut_off_is_made_up_for, .not_for = STAYS)
{
    struct contender *c = one_that_holds(ours);

    disconnect(proxy, ours);
    struct stopwatch *w = stopwatch_start();
    assert_int_equal(release_by(c), ZKR_EPENDING);
    assert_true(stopwatch_says(w, REPLY_MS, REPLY_MS + 2000));
    assert_int_equal(release_by(c), ZKR_ENOTHELD);
    contender_forget(c);
    contender_acquire(c, SOON_MS); /* begins before it is connected again */
    proxy_heal(proxy);
    succeeds(c);
    assert_int_equal(zkr_grant_check(c->grant), ZKR_OK);
    wait_children(dir, 1);
    give_back(c);
    assert_int_equal(count_children(dir), 0);
}

static void heal_both(void)
{
    proxy_heal(proxy);
    proxy_heal(their_proxy);
}

/* Curator testWaitingProcessKilledServer, and the official WriteLockTest. A
 * start costs as much as all else, and disconnects repeat. */
TEST_OF(a_server_restart_costs_neither_the_lock_nor_the_place, .once = true)
{
    struct contender *holder = one_that_holds(ours);
    struct contender *waiting[] = { one_of(theirs), one_of(ours) };

    let_wait(waiting[0]);
    let_wait(waiting[1]);
    server_kill9(the_server);
    wait_grant_state(holder->grant, ZKR_GRANT_SUSPENDED);
    /* As restart_server() says of the admin, which may connect slowly. */
    proxy_cut(proxy);
    proxy_cut(their_proxy);
    restart_server_for(heal_both);
    wait_grant_state(holder->grant, ZKR_GRANT_HELD);
    assert_true(contender_is_busy(waiting[0]));
    assert_true(contender_is_busy(waiting[1]));
    take_turns(holder, waiting, 2);
}

/* -- requests and replies ------------------------------------------------- */

TEST_OF(a_lost_create_reply_keeps_the_place_in_the_queue, .for_those = QUEUES,
        .not_for = STAYS)
{
    struct contender *holder = one_that_holds(theirs);
    struct contender *waiting[] = { one_of(ours), one_of(theirs) };

    /* That of its node; a turn has one before. */
    proxy_rule(proxy, ZOO_CREATE2_OP, has(TURNS) ? 2 : 1, PROXY_DROP_REPLY);
    acquire_until_rule(waiting[0]);
    wait_waiting(1);
    let_wait(waiting[1]);
    assert_int_equal(count_children(dir), nodes(1, 2));
    take_turns(holder, waiting, 2);
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
