/* SPDX-License-Identifier: Apache-2.0 */
/* Stories: schedules that are written, not drawn. Each repeats a bug as it once
 * happened, in virtual time, on a simulated ensemble without other faults. */
#include "story.h"

/* It is the turn of the waiter, whose lease does not run: it has heard nothing
 * for longer than a timeout. The write that is to prove the lease is under
 * way. */
static void come_to_prove(void)
{
    /* the servers hear that it lives */
    play("waiter starts, sleep 3T, waiter hears nothing for 6T/5");
    fiber_sleep(world.timeout * 6 / 5 - MS);
    ask(&users[WAITER]);
    (void)await_state(ZKR__CLAIM_PROVING);
}

static void start_at(int replica)
{
    start(&users[WAITER]);
    connect_waiter_to(replica, world.timeout / 10);
}

static void acquire_at_a_follower(void)
{
    start_at((ensemble.leader + 1) % REPLICAS);
    acquires(&users[WAITER]);
}

STEP(waiter_waits, void,
     WRONG_IF(users[WAITER].told, "it is told %d", users[WAITER].rc))

static void waiter_is_told(int rc)
{
    WRONG_IF(users[WAITER].rc != rc, "it is told %s",
             zkr_strerror(users[WAITER].rc));
}

static void is_told_so(void)
{
    waiter_is_told(story.told);
}

STEP(operator_deletes_the_node, void,
     operator_deletes(path_of(users[WAITER].session, 0)))

static void has_a_node(void)
{
    struct user *u = &users[WAITER];

    waiter_is_told(ZKR_OK);
    const struct node *n =
        tree_find(zkr_grant_node(u->grant), ensemble.committed);
    WRONG_IF(n == NULL || n->czxid != zkr_grant_token(u->grant),
             "it is granted %s, which has gone", zkr_grant_node(u->grant));
}

static void is_sure(zkr_grant *grant)
{
    WRONG_IF(zkr_grant_state(grant) != ZKR_GRANT_HELD ||
                 zkr_grant_check(grant) != ZKR_OK,
             "at the instant %lld it is in doubt", (long long)story.instant);
}

static void stays_sure(zkr_grant *grant, int64_t duration)
{
    for (int64_t end = sim_now + duration; sim_now < end;
         fiber_sleep(world.timeout / 1000))
        is_sure(grant);
}

STEP(waiter_stays_sure, int64_t duration,
     stays_sure(users[WAITER].grant, duration))

static void never_in_doubt(zkr_grant *grant,
                           const struct zkr_grant_event *event, void *user)
{
    WRONG_IF(event->state != ZKR_GRANT_RELEASED, "at the instant %lld it is %s",
             (long long)story.instant, zkr_grant_state_name(event->state));
}

const struct step steps[] = {
    { "come to prove", .alone = come_to_prove },
    { "waiter takes at a follower", .alone = acquire_at_a_follower },
    { "waiter waits", .alone = waiter_waits },
    { "waiter is sure for #", .lasts = waiter_stays_sure },
    { "delete its node", .alone = operator_deletes_the_node },
    COMMON_STEPS,
};

/* -- proving -------------------------------------------------------------- */

/* Patience was over, so the end of the connection was as good as an answer. The
 * waiter will ask again, or has already, when it is not heard. */
TOLD(an_answer_that_never_came_grants_nothing,
     "come to prove, waiter hears nothing for 3T/10, sleep T/3, "
     "waiter is not heard for T/2, delete its node, sleep 2T/5, "
     "waiter loses its connection",
     .granted = has_a_node)

/* The answer had waited in the socket while the session, and with it the node,
 * ended. */
STORY(an_answer_from_before_a_pause_grants_nothing, has_a_node)
{
    come_to_prove();
    process_stop(WAITER, 2 * world.timeout);
}

/* Regression: ZKR_ENOMEM of the client was taken for a refusal by servers with
 * an ACL that forbids the proof, and the lock was granted without one. It has
 * found the node when that goes. */
TOLD(a_client_without_memory_says_nothing_of_the_node,
     "come to prove, waiter hears nothing for 3T/10, refuse 10000 checks, "
     "sleep T/10, delete its node, sleep T, waiter waits, refuse 0 checks",
     .granted = has_a_node)

STEP(has_a_proof, void, is_sure(users[WAITER].grant))

/* It has waited for one long before, with the node that is deleted. */
TOLD(each_wait_for_a_proof_has_its_own_time,
     "come to prove, waiter is not heard for T/10, delete its node, "
     "holder takes, sleep 2T, waiter waits, waiter hears nothing for 6T/5, "
     "sleep T/2, holder gives",
     .granted = has_a_proof)

/* All nodes of an unfair mutex have one name. */
TOLD(the_node_of_another_proves_nothing,
     "holder starts, come to prove, waiter is cut off for T/4, "
     "delete its node, holder takes, sleep 2T, waiter waits, holder gives",
     .granted = has_a_node, .unfair = true)

/* The answer to its create is lost, while its first lease runs: after a long
 * silence, or when that lease is good. The next server has the node, and keeps
 * it for a little while. A server that is behind has shown it. */
STORY_AT_EACH(a_node_that_was_found_is_looked_for_once_more, 0, 2, 1,
              has_a_node, .unfair = true, .anew = true)
{
    int leader = ensemble.leader;
    int next = (leader + 1) % REPLICAS;

    play("waiter starts, sleep T/10");
    WRONG_IF(replica_of_waiter() != leader,
             "it is connected to another than the leader");
    if (story.instant == 0)
        server_cut(WAITER, leader, WAY_DOWN, world.timeout);
    ask(&users[WAITER]);
    fiber_sleep(2 * MS / 5); /* it is asked for, and not yet made */
    if (story.instant != 0)
        server_reset_connections(WAITER);
    FIBER_WHILE(zkr_session_state(users[WAITER].session) !=
                    ZKR_SESSION_RECONNECTED,
                MS / 10);
    server_cut(WAITER, next, WAY_UP, 20 * MS); /* where it reads it */
    ensemble_stall(leader, next, 40 * MS);
    operator_deletes(UNFAIR_PATH);
}

/* -- searching ------------------------------------------------------------ */

static void has_no_memory(void)
{
    WRONG_IF(refused[ZKR__ZK_CHECK].count != 0, "no search has begun");
    waiter_is_told(ZKR_ENOMEM);
}

/* Regression: the search went on without the write that it must begin with, so
 * the list of a server that is behind did not have the node. Nothing is heard
 * for longer than a client waits; there are the first try and the retry. */
TOLD(a_write_that_was_not_sent_begins_no_search,
     "waiter starts, sleep T, waiter hears nothing for 3T/4, waiter asks, "
     "refuse 2 checks",
     .granted = has_no_memory,
     .retry = { .kind = ZKR_RETRY_FIXED, .base_ms = 20, .max_retries = 1 })

/* Its second create is another request than the first, long after that. */
STORY(each_create_is_tried_as_often_as_its_policy_says, has_a_node,
      .retry = { ZKR_RETRY_FIXED, .base_ms = 20, .max_retries = 1,
                 .max_elapsed_ms = 20000 })
{
    play("holder takes, waiter starts, sleep T");
    for (int i = 0; i < 2; i++) {
        play("waiter is not heard for 20ms");
        if (i == 0)
            ask(&users[WAITER]);
        else
            operator_deletes(path_of(users[WAITER].session, 0));
        await_asked(ZKR__ZK_CREATE);
        play("waiter loses its connection, sleep 8T, waiter waits");
    }
    give_back(&users[HOLDER]);
}

static size_t nodes(void)
{
    return tree_count_children(tree_find(WORLD_PATH, ensemble.committed),
                               ensemble.committed);
}

/* Its create is on the way to the new leader; the old one, which does not know
 * of it, knows the session still: it answers a sync, and shows the past. Seen
 * once in 20,000 schedules with such leaders, and not in 50,000 of others. The
 * writes of a lease would end the syncs there. */
STORY(a_deserted_leader_ends_no_search, is_told_so, .told = ZKR_ECANCELED,
      .no_lease = true)
{
    int old = ensemble.leader;
    int next;

    play("waiter starts, sleep 4T");
    ensemble_isolate(old, 10 * MS, 2 * world.timeout);
    FIBER_WHILE((next = ensemble.leader) == old || next == NO_REPLICA, MS);
    int follower = REPLICAS - old - next;
    connect_waiter_to(follower, 20 * MS);
    ensemble_stall(follower, next, world.timeout / 2);
    server_cut(WAITER, next, WAY_UP | WAY_DOWN, world.timeout / 2);
    ask(&users[WAITER]);
    fiber_sleep(10 * MS);
    (void)zkr_lockable_cancel(users[WAITER].mutex);
    connect_waiter_to(old, 20 * MS);
    fiber_sleep(50 * MS);
    /* its session has not moved, for the leader */
    connect_waiter_to(follower, 20 * MS);
    fiber_sleep(2 * world.timeout);
    WRONG_IF(nodes() != 0, "its node is left");
}

struct twins {
    const char *own;
    char *other; /* a node ahead of it, of its name: no server makes such one */
};

/* The waiter sees both: on a new connection it knows nothing, and lists. */
static struct twins show_a_twin(void)
{
    play("holder asks, waiter starts, sleep T, waiter asks");
    (void)await_state(ZKR__CLAIM_WAITING);
    struct twins twins = { .own = path_of(users[WAITER].session, 0) };
    size_t len = strlen(twins.own);
    twins.other = arena_copy(twins.own, len);
    memset(twins.other + len - ZKR__SEQ_DIGITS + 1, '0', ZKR__SEQ_DIGITS - 1);
    make(twins.other);
    /* it watches the holder when it loses its connection */
    play("sleep T/10, waiter loses its connection, sleep T/10");
    (void)replica_of_waiter();
    give_back(&users[HOLDER]);
    return twins;
}

/* A claim that finds two nodes of its name does not know which is its own. */
STORY(a_claim_that_meets_its_own_name_leaves_nothing, is_told_so,
      .told = ZKR_EPROTO)
{
    (void)show_a_twin();
    fiber_sleep(world.timeout / 2);
    WRONG_IF(!users[WAITER].told, "it is told nothing");
    WRONG_IF(nodes() != 0, "%zu nodes are left", nodes());
}

/* Regression: its create had succeeded, so without another attempt the outcome
 * of the create was that of the acquire: a grant of a lock that is not held. */
STORY(a_node_that_is_not_found_any_more_is_not_granted, has_a_node,
      .retry = { .kind = ZKR_RETRY_NONE })
{
    struct twins twins = show_a_twin();

    (void)await_state(ZKR__CLAIM_RECOVERING);
    operator_deletes(twins.own);
    operator_deletes(twins.other);
}

/* -- ghosts --------------------------------------------------------------- */

/* A follower keeps the node of the holder, and shows that of the waiter for a
 * little longer than it is there. It need not follow a write: its session has
 * sent one lately. */
STORY(a_list_without_its_ghosts_grants_nothing, has_a_node, .both = true)
{
    int leader = ensemble.leader;
    int follower = (leader + 1 + story.time) % REPLICAS;

    play("holder asks, waiter starts, sleep T");
    connect_waiter_to(follower, world.timeout / 10);
    ask(&users[WAITER]);
    (void)await_state(ZKR__CLAIM_WAITING);
    haunt(follower);
    const struct zkr__claim *c = await_state(ZKR__CLAIM_SURVEYING);
    server_cut(WAITER, follower, WAY_UP, 20 * MS);
    ensemble_stall(leader, follower, 40 * MS);
    operator_deletes(c->node->path);
    play("sleep T, holder gives");
}

/* -- the first lease ------------------------------------------------------ */

/* Regression: the proof of the open was enough for a grant, and had ended, or
 * was late, before the first beat. */
STORY_AT_EACH(a_lease_lasts_until_its_first_beat, 100 * MS, 8000 * MS, 50 * MS,
              NULL, .then = "waiter is sure for T", .on_event = never_in_doubt,
              .anew = true)
{
    acquires(&users[HOLDER]);
    int64_t began = sim_now;
    ask(&users[WAITER]);
    fiber_sleep(began + story.instant - sim_now);
    give_back(&users[HOLDER]);
}

/* -- the end of a doubt --------------------------------------------------- */

static int64_t held_since;

static void on_doubt(zkr_grant *grant, const struct zkr_grant_event *event,
                     void *user)
{
    if (event->state == ZKR_GRANT_HELD)
        held_since = sim_now;
    else if (sim_now - held_since < world.timeout / 24)
        world_fail("after a stall of %lld ms it is held for %lld us",
                   (long long)(story.instant / MS),
                   (long long)((sim_now - held_since) / (MS / 1000)));
}

/* Regression: the answers that had waited for the end of the stall came first,
 * and ended the doubt for as long as their old proof lasted: an instant. */
STORY_THEN_AT_EACH(an_all_but_spent_proof_ends_no_doubt, 100 * MS, 4000 * MS,
                   10 * MS, "waiter asks", .on_event = on_doubt)
{
    held_since = sim_now - world.timeout;
    fiber_sleep(2 * world.timeout);
    cut_of(WAITER, WAY_DOWN, story.instant);
    fiber_sleep(2 * world.timeout);
    is_sure(users[WAITER].grant);
}

/* -- without memory -------------------------------------------------------- */

static void has_it_or_knows_why(void)
{
    int rc = users[WAITER].rc;

    WRONG_IF(rc != ZKR_OK && rc != ZKR_ENOMEM, "it is told %s",
             zkr_strerror(rc));
}

/* The holder's session ends, and the waiter's server keeps its node.
 * Regression: there was no memory for the name of the node before it, so the
 * claim did not ask whether the ensemble has that node. */
STORY_AT_EACH(a_waiter_without_memory_for_a_ghost_is_told, 1, 30, 1,
              has_it_or_knows_why)
{
    int64_t began = sim_now;

    play("waiter starts, holder starts, sleep T, holder takes");
    world.ghosts++;
    haunt(replica_of_waiter());
    play("sleep T/2, waiter asks");
    heap_refused = (uint32_t)story.instant;
    FIBER_WHILE(!users[WAITER].told && sim_now < began + 50 * world.timeout,
                100 * MS);
    heap_refused = 0;
    WRONG_IF(!users[WAITER].told, "without the allocation %d it waits for ever",
             (int)story.instant);
    give_back(&users[HOLDER]);
}

/* -- breaking -------------------------------------------------------------- */

static void *break_main(void *over)
{
    int64_t token = tree_find(UNFAIR_PATH, ensemble.committed)->czxid;

    expect(
        zkr_participants_break(users[HOLDER].session, UNFAIR_PATH, token, -1));
    *(bool *)over = true;
    return NULL;
}

/* The leader has the delete, and does not know for a while that a majority has
 * it. The session comes to the leader then, whose answer to a sync does not
 * wait for what came through another server: a real one does so with
 * forward_learner_requests_to_commit_processor_disabled, since 3.7. Regression:
 * the node was there, as before, and the second delete met the next one of that
 * name. */
STORY(a_break_knows_of_its_own_delete, nothing)
{
    int leader = ensemble.leader;
    bool over = false;

    play("holder starts, make the unfair node");
    do {
        play("sleep 100ms, holder loses its connection, sleep 100ms");
    } while (client_replica(HOLDER) != (leader + 2) % REPLICAS);
    (void)fiber_start(HOLDER, break_main, &over);
    await_asked(ZKR__ZK_DELETE);
    ensemble_stall((leader + 1) % REPLICAS, leader, world.timeout / 2);
    ensemble_stall(leader, (leader + 2) % REPLICAS, world.timeout / 2);
    play("sleep 10ms, make the unfair node, holder loses its connection");
    FIBER_WHILE(!over, MS);
    WRONG_IF(tree_find(UNFAIR_PATH, ensemble.committed) == NULL,
             "it has deleted the next one, too");
    operator_deletes(UNFAIR_PATH);
}

/* The server of who looks on is behind. */
STORY(a_list_has_what_was_there_when_it_began, nothing)
{
    struct zkr_participants *list;

    start(&users[WAITER]);
    connect_waiter_to((ensemble.leader + 1) % REPLICAS, 100 * MS);
    ensemble_stall(ensemble.leader, replica_of_waiter(), world.timeout / 2);
    make(UNFAIR_PATH);
    expect(
        zkr_participants_list(users[WAITER].session, WORLD_PATH, NULL, &list));
    WRONG_IF(list->count == 0, "it is that of before");
    zkr_participants_free(list);
    operator_deletes(UNFAIR_PATH);
}

/* -- what may not be read ------------------------------------------------- */

/* Its data; the node itself; that of an unfair mutex. Regression: since 3.8.4
 * and 3.9.2 servers refuse EXISTS too, and the wait failed at once. */
STORY_AT_EACH(a_node_that_may_not_be_read_is_waited_for, 0, 3, 1, has_a_node)
{
    start(&users[HOLDER]);
    story.unfair = story.instant == 2;
    acls.strict = story.instant > 0;
    acquires(&users[HOLDER]);
    acls_deny(ZKR_PERMISSION_READ, 3, WAITER, world.calm);
    play("waiter asks, sleep 3T, waiter waits, holder gives");
}

/* -- two locks of one session --------------------------------------------- */

static void are(enum zkr_grant_state_kind all)
{
    const struct user *u = &users[WAITER];

    WRONG_IF(zkr_grant_state(u->grant) != all ||
                 zkr_grant_state(u->other) != all,
             "of two locks one is not %s", zkr_grant_state_name(all));
}

/* One write per beat serves all of them. */
STORY_THEN(a_doubt_is_about_all_that_is_held, "waiter asks", .both = true)
{
    play("waiter hears nothing for 6T/5, sleep 11T/10");
    are(ZKR_GRANT_UNSURE);
    fiber_sleep(world.timeout * 6 / 10);
    are(ZKR_GRANT_HELD);
}

/* The holder has no connection for a while, from each phase of the beat on.
 * When it has one again, its lease has run out, or nearly so. Regression: the
 * first proof after an outage had little of the lease left, and the next chain
 * was three beats away, too late. */
STORY_THEN_AT_EACH(after_a_doubt_the_next_proof_comes_in_time, 0, 35, 1,
                   "waiter asks", .short_ticks = true)
{
    zkr_grant *grant = users[WAITER].grant;

    fiber_sleep(world.timeout + world.timeout * story.instant / 100);
    play("waiter loses its connection, waiter hears nothing for 6T/10");
    FIBER_WHILE(zkr_grant_state(grant) == ZKR_GRANT_HELD, MS);
    FIBER_WHILE(zkr_grant_state(grant) != ZKR_GRANT_HELD, MS);
    for (int64_t end = sim_now + world.timeout; sim_now < end;
         fiber_sleep(MS)) {
        WRONG_IF(zkr_grant_state(grant) == ZKR_GRANT_UNSURE,
                 "it is in doubt again");
    }
}

/* They are written to in turn, so one that is refused does no harm. */
STORY_THEN(a_proof_refused_for_one_is_given_by_another, "waiter asks",
           .both = true)
{
    const struct user *u = &users[WAITER];
    int64_t end = sim_now + 3 * world.timeout;

    refuse(ZKR__ZK_CHECK, zkr_grant_node(story.time == 0 ? u->grant : u->other),
           INT32_MAX);
    while (sim_now < end) {
        WRONG_IF(zkr_grant_check(u->grant) != ZKR_OK ||
                     zkr_grant_check(u->other) != ZKR_OK,
                 "it is in doubt");
        fiber_sleep(10 * MS);
    }
    play("refuse 0 checks");
}

/* Regression: the write of a beat found no node, because somebody had just
 * deleted it; the next write came after more than T/2, and the other lock of
 * the session was in doubt. */
STORY_THEN(a_node_that_goes_puts_no_other_lock_in_doubt, "waiter asks",
           .both = true, .hurried = true, .anew = true, .once = true)
{
    const struct user *u = &users[WAITER];

    fiber_sleep(2 * world.timeout);
    await_asked(ZKR__ZK_SYNC);
    const struct zkr__claim *next = ZKR__CONTAINER(
        zkr__locks_of(u->session)->leased.next, struct zkr__claim, leased);
    zkr_grant *kept = &next->grant == u->grant ? u->other : u->grant;
    operator_deletes(next->node->path);
    stays_sure(kept, 2 * world.timeout);
}

/* -- a shorter timeout ---------------------------------------------------- */

/* The connection is lost, and made again to servers that grant a tick less;
 * then no message comes for as long as that. */
static void grant_less(void)
{
    zkr_grant *grant = users[WAITER].grant;
    int64_t less =
        zkr_session_timeout_ms(users[WAITER].session) * MS - world.tick;

    for (int r = 0; r < REPLICAS; r++)
        ensemble.replicas[r].most = less;
    fiber_sleep(world.timeout);
    server_reset_connections(WAITER);
    FIBER_WHILE(zkr_grant_state(grant) == ZKR_GRANT_HELD, MS / 10);
    (void)replica_of_waiter();
    cut_of(WAITER, WAY_DOWN, less * 3 / 4);
    FIBER_WHILE(zkr_grant_state(grant) != ZKR_GRANT_UNSURE, MS);
    fiber_sleep(2 * world.timeout);
}

/* Regression: its listener was told when the old lease would have ended. */
STORY(a_shorter_timeout_ends_the_lease_in_time, grant_less, .short_ticks = true,
      .anew = true)
{
    for (int r = 0; r < REPLICAS; r++)
        ensemble.replicas[r].most = 0;
    ask(&users[WAITER]);
}

/* -- a session that the leader has polled ---------------------------------- */

static const struct session *session_of_waiter(void)
{
    const struct session *s = NULL;

    for (int i = 0; i < ensemble.session_count; i++) {
        if (ensemble.sessions[i].process == WAITER)
            s = &ensemble.sessions[i];
    }
    return s;
}

static const struct session *polled;

static int64_t some_tick(void)
{
    return (sim_now / world.tick + 3) * world.tick;
}

static void runs_out_after(int64_t tick)
{
    WRONG_IF(polled->expires != tick + world.timeout,
             "the session runs out at another time");
}

static void on_answer(int error, const struct zkr_reply *reply, void *user)
{
}

static void read_until(int64_t end)
{
    for (; sim_now < end; fiber_sleep(10 * MS))
        expect(zkr_session_exists_async(users[WAITER].session, "/", 1000,
                                        on_answer, NULL));
}

/* The waiter is back when the leader has polled its session, and has not closed
 * it yet. */
static void is_back_in_time(void)
{
    WRONG_IF(!polled->polled || polled->closing, "it is not back in time");
}

static void still_held_when_it_is_closed(void)
{
    cut_of(WAITER, WAY_UP | WAY_DOWN, world.timeout);
    FIBER_WHILE(!polled->closing, MS);
    WRONG_IF(zkr_grant_check(users[WAITER].grant) == ZKR_OK,
             "it is held, and its session has been closed");
}

/* The leader does not hear of the last reads, j. The waiter is back, at any
 * server, just after the leader has polled its session, and has a round, m,
 * before it acquires, k. It may not read its node, and so is granted the lock
 * without waiting for a lease that lasts. Never seen: read in the sources of
 * the servers. */
STORY(a_polled_session_is_not_believed, still_held_when_it_is_closed,
      .short_ticks = true, .anew = true, .once = true)
{
    start_at((ensemble.leader + 1) % REPLICAS);
    fiber_sleep(2 * world.timeout);
    polled = session_of_waiter();
    /* The leader's ping comes late, so that the session runs out soon after a
     * timeout, not a tick later. */
    int64_t tick = some_tick();
    ensemble_stall(ensemble.leader, replica_of_waiter(),
                   tick - 20 * MS - sim_now);
    fiber_sleep(tick - 10 * MS - sim_now);
    expect(zkr_session_sync(users[WAITER].session, 1000));
    runs_out_after(tick);
    int64_t polls = polled->expires;
    ensemble.pass = 249 * MS;
    ensemble_stall(replica_of_waiter(), ensemble.leader,
                   polls + 5 * MS - sim_now);
    read_until(sim_now + world.timeout / 6);
    cut_of(WAITER, WAY_UP | WAY_DOWN, polls + 5 * MS - sim_now);
    fiber_sleep(polls + 10 * MS - sim_now);
    is_back_in_time();
    expect(zkr_session_sync(users[WAITER].session, 1000));
    acls_deny(ZKR_PERMISSION_READ, 3, WAITER, world.timeout);
    acquires(&users[WAITER]);
    ensemble.pass = 0;
}

/* The answer to the first request is late, and the leader does not hear of the
 * waiter after that request: its session runs out at the tick to which the
 * leader's ping was held back. */
STORY(a_first_lease_begins_with_the_open, still_held_when_it_is_closed,
      .short_ticks = true, .anew = true, .once = true)
{
    int leader;

    if (ensemble.leader == 0)
        ensemble_crash(0, 10 * MS); /* the waiter comes to it first */
    FIBER_WHILE((leader = ensemble.leader) == 0 || !ensemble_serves(0), MS);
    int64_t tick = some_tick();
    fiber_sleep(tick - world.tick / 2 - 60 * MS - sim_now);
    server_cut(WAITER, 0, WAY_DOWN, world.timeout * 3 / 10);
    start(&users[WAITER]);
    fiber_sleep(5 * MS);
    ensemble_stall(leader, 0, tick - 20 * MS - sim_now);
    FIBER_WHILE(replica_of_waiter() != 0, MS);
    polled = session_of_waiter();
    runs_out_after(tick);
    acquires(&users[WAITER]);
    ensemble_stall(0, leader, 2 * world.timeout);
}

/* Syncs that a deserted leader has answered: the next leader has not heard of
 * them, and polls the session. The waiter comes to it then, with a write of its
 * own. */
STORY(syncs_of_an_earlier_connection_prove_nothing,
      still_held_when_it_is_closed, .short_ticks = true, .anew = true,
      .once = true)
{
    int old = ensemble.leader;

    start_at(old);
    fiber_sleep(2 * world.timeout);
    polled = session_of_waiter();
    ensemble.pass = 249 * MS;
    ensemble_isolate(old, 10 * MS, 2 * world.timeout);
    for (; !polled->polled; fiber_sleep(10 * MS)) /* the old leader answers */
        expect(zkr_session_sync(users[WAITER].session, 1000));
    for (; replica_of_waiter() == old; fiber_sleep(10 * MS))
        server_reset_connections(WAITER);
    is_back_in_time();
    acls_deny(ZKR_PERMISSION_READ, 3, WAITER, world.timeout);
    acquires(&users[WAITER]);
    ensemble.pass = 0;
}

/* -- a link that is slow -------------------------------------------------- */

/* Round trips of so many hundredths of T. The second time it follows at once,
 * and has its proof soon. Regression: proofs came one after the other, and too
 * seldom: with a round trip of T/10 to T/5 a lock was UNSURE for half of the
 * time, though no session was lost. */
STORY_AT_EACH(a_steady_link_keeps_the_lease, 0, 21, 1, NULL,
              .then = "waiter is sure for 4T", .on_event = never_in_doubt)
{
    int64_t round_trip = story.instant * world.timeout / 100;

    start(&users[WAITER]);
    if (story.time == 0) {
        server_far(round_trip / 2);
        fiber_sleep(2 * world.timeout);
    }
    int64_t began = sim_now;
    acquires(&users[WAITER]);
    WRONG_IF(story.time == 1 && sim_now - began > 4 * round_trip + 10 * MS,
             "round trips of %lld hundredths of T: granted after %lld ms",
             (long long)story.instant, (long long)((sim_now - began) / MS));
}

static void on_unsure(zkr_grant *grant, const struct zkr_grant_event *event,
                      void *user)
{
    WRONG_IF(event->state == ZKR_GRANT_UNSURE,
             "round trips of %lld/120 of T: it is UNSURE",
             (long long)story.instant);
}

/* It is that far for 6 T, or up to 30 percent nearer or farther. */
static void becomes_far(bool jitter)
{
    static unsigned short random[3];
    int64_t distance = story.instant * world.timeout / 240;
    int64_t percent;

    fiber_sleep(2 * world.timeout + story.time * world.timeout / 12);
    int64_t until = sim_now + 6 * world.timeout;
    while (sim_now < until) {
        percent = jitter ? 70 + nrand48(random) % 61 : 100;
        server_far(distance * percent / 100);
        fiber_sleep(world.timeout / 500);
    }
    server_far(0);
}

/* Regression: the beat became quick two timeouts after the link had turned
 * slow, and a lock was UNSURE until then. */
STORY_THEN_AT_EACH(a_link_that_turns_slow_keeps_the_lease, 0, 21, 1,
                   "waiter takes", .on_event = on_unsure)
{
    becomes_far(false);
}

STORY_THEN_AT_EACH(a_link_that_turns_unsteady_keeps_the_lease, 0, 19, 1,
                   "waiter takes", .on_event = on_unsure)
{
    becomes_far(true);
}

/* The signs after a late one are the j's of the next proofs: they are sent
 * while it is unanswered. With a beat of T/10 there are three or four. */
TOLD(a_late_answer_is_a_sign_before_it_comes, "waiter takes",
     .then = "sleep 2T, waiter hears nothing for 5T/12, count, sleep 5T/12, "
             "at least 12 reads")

/* The answers to reads were slow, and no write was under way then. */
STORY_THEN(slow_answers_are_remembered, "waiter takes")
{
    fiber_sleep(2 * world.timeout);
    await_asked(ZKR__ZK_CHECK);
    play("sleep T/50, waiter hears nothing for T/4");
    fiber_sleep(world.timeout / 4 + world.timeout / 50);
    play("count, sleep T/5, at least 5 checks");
}

TOLD(a_quick_link_carries_six_writes_in_a_timeout, "waiter takes",
     .then = "sleep T, count, sleep 10T, at most 60 checks")

/* -- what a quiet session sends -------------------------------------------- */

/* Syncs while it is in use, and while it waits; else reads, which cost the
 * leader nothing. */
STORY(a_quiet_session_sends_what_it_needs, nothing, .anew = true)
{
    start(&users[WAITER]);
    (void)replica_of_waiter();
    play("count, sleep 3T/4, at least 3 syncs, sleep 2T, count, sleep 4T, "
         "at most 0 syncs, at least 10 reads");
    make(WORLD_PATH "/lock-0000000000");
    play("waiter asks, sleep 2T, count, sleep 4T, waiter waits, "
         "at least 15 syncs");
    operator_deletes(WORLD_PATH "/lock-0000000000");
}

/* -- shared evidence ------------------------------------------------------- */

static void write_beacon(int64_t every, int64_t duration)
{
    for (int64_t end = sim_now + duration; sim_now < end; fiber_sleep(every))
        operate(ZKR__ZK_SET, ZKR_CREATE_PERSISTENT, WORLD_BEACON, "");
}

/* Returns how many writes of its own it has made in 4 T. */
static int own_writes(int64_t every)
{
    write_beacon(every, 2 * world.timeout);
    count_from_here();
    for (int i = 0; i < 40; i++) {
        write_beacon(every, world.timeout / 10);
        is_sure(users[WAITER].grant);
    }
    return asked(ZKR__ZK_CHECK) + asked(ZKR__ZK_SET);
}

STORY_THEN(the_writes_of_others_will_do, "waiter takes at a follower",
           .beacon = true)
{
    static const int parts[] = { 9, 60 }; /* a fleet; a hostile client */
    int writes = own_writes(world.timeout / parts[story.time]);

    WRONG_IF(writes > 1, "%d writes of its own in 4 T", writes);
}

/* There nothing is a proof but its own writes. */
STORY_THEN(on_a_leader_a_session_writes_for_itself,
           "waiter takes at a follower", .beacon = true)
{
    connect_waiter_to(ensemble.leader, world.timeout / 10);
    fiber_sleep(world.timeout);
    int writes = own_writes(world.timeout / 9);
    WRONG_IF(writes < 11, "%d writes of its own in 4 T", writes);
}

#define SURE_WITHOUT_IT                                                        \
    "count, waiter is sure for 4T, at least 6 checks, at most 14 checks"

STORY_THEN(a_beacon_that_is_deleted_costs_own_writes,
           "waiter takes at a follower", .beacon = true)
{
    (void)own_writes(world.timeout / 9);
    operator_deletes(WORLD_BEACON);
    play(SURE_WITHOUT_IT);
    make(WORLD_BEACON);
    WRONG_IF(own_writes(world.timeout / 9) > 1,
             "it is not used when it is there again");
}

STORY_THEN(a_beacon_that_is_forbidden_costs_own_writes,
           "waiter takes at a follower", .beacon = true)
{
    acls.strict = true; /* EXISTS is a read */
    (void)own_writes(world.timeout / 9);
    acls_deny(story.time == 0 ? ZKR_PERMISSION_READ : ZKR_PERMISSION_WRITE, 1,
              WAITER, 5 * world.timeout);
    play(SURE_WITHOUT_IT ", sleep 2T");
}

/* The session that writes the beacon goes away; another one writes it then. */
STORY_THEN(alone_a_session_writes_the_beacon, "waiter takes at a follower",
           .beacon = true)
{
    (void)own_writes(world.timeout / 9);
    play("waiter is sure for 2T, count, waiter is sure for 4T, "
         "at least 10 sets, at most 25 sets");
}

static void is_not_held_when_closed(void)
{
    WRONG_IF(session_of_waiter()->closed != 0 &&
                 zkr_grant_check(users[WAITER].grant) == ZKR_OK,
             "it is held, and its session has been closed");
    fiber_sleep(3 * world.timeout);
}

/* The observer stays with the old leader, which answers its syncs; the next
 * leader ends the session. Meanwhile a write from before the desertion comes
 * late. */
STORY_THEN(a_deserted_observer_is_not_believed, "waiter takes at a follower",
           .beacon = true, .anew = true, .once = true)
{
    int old = ensemble.leader;

    connect_waiter_to(OBSERVER, world.timeout / 10);
    (void)own_writes(world.timeout / 9);
    ensemble_isolate(old, 10 * MS, 3 * world.timeout);
    FIBER_WHILE(ensemble.leader == old, MS);
    int64_t end = sim_now + 3 * world.timeout;
    while (sim_now < end && session_of_waiter()->closed == 0) {
        operate(ZKR__ZK_SET, ZKR_CREATE_PERSISTENT, WORLD_BEACON, "");
        fiber_sleep(world.timeout / 50);
    }
    is_not_held_when_closed();
}

/* The same, and somebody restores older copies at the observer, and newer ones
 * again: the beacon moves, and nobody has written it. */
STORY_THEN(a_beacon_that_goes_back_is_not_believed,
           "waiter takes at a follower", .beacon = true, .short_ticks = true,
           .anew = true, .once = true)
{
    int old = ensemble.leader;
    struct node *beacon = tree_find(WORLD_BEACON, ensemble.committed);

    connect_waiter_to(OBSERVER, world.timeout / 10);
    (void)own_writes(world.timeout / 9);
    fiber_sleep(10 * MS);
    play("refuse 10000 checks, refuse 10000 sets");
    ensemble_isolate(old, 10 * MS, 3 * world.timeout);
    struct node_data *newest = beacon->data;
    int64_t end = sim_now + 3 * world.timeout;
    while (sim_now < end && session_of_waiter()->closed == 0) {
        beacon->data = beacon->data == newest ? newest->older : newest;
        fiber_sleep(world.timeout / 50);
    }
    beacon->data = newest;
    play("refuse 0 checks, refuse 0 sets");
    is_not_held_when_closed();
}

/* The leader hears of the waiter just before a tick, when it also writes for
 * itself, and then of nothing that the waiter does: its session runs out at the
 * tick that is returned. The leader's ping was held back for that. */
static int64_t hear_before_a_tick(void)
{
    (void)own_writes(world.timeout / 9);
    polled = session_of_waiter();
    int64_t tick = some_tick();
    write_beacon(world.timeout / 50, tick - 30 * MS - world.tick / 2 - sim_now);
    ensemble_stall(ensemble.leader, replica_of_waiter(),
                   tick - 20 * MS - sim_now);
    fiber_sleep(tick - 18 * MS - sim_now);
    expect(zkr_grant_verify(users[WAITER].grant, 1000));
    runs_out_after(tick);
    return polled->expires;
}

static void is_closed_when_it_ends(void)
{
    FIBER_WHILE(!polled->closing, MS); /* the oracle judges the lease */
    fiber_sleep(3 * world.timeout);
}

/* The leader hears of the waiter again when it has polled its session. Until it
 * closes that, rounds, a write of the waiter, and those of others succeed. The
 * waiter's lease has run out, and its server was silent for a while. */
STORY_THEN(others_do_not_keep_a_polled_session, "waiter takes at a follower",
           .beacon = true, .hurried = true, .anew = true, .once = true)
{
    int64_t polls = hear_before_a_tick();
    ensemble.pass = 249 * MS;
    ensemble_stall(replica_of_waiter(), ensemble.leader,
                   polls + 5 * MS - sim_now);
    play("refuse 10000 syncs, refuse 10000 checks, "
         "waiter is cut off for 9T/20, sleep T/2");
    read_until(polls - 100 * MS);
    play("refuse 0 syncs, refuse 0 checks");
    fiber_sleep(polls + 10 * MS - sim_now);
    is_back_in_time();
    write_beacon(MS, 230 * MS);
    is_closed_when_it_ends();
    ensemble.pass = 0;
}

/* The leader's messages are late, and from one instant on the leader does not
 * hear of the follower, which answers its ping then. Syncs from before that
 * instant, and what others have written between them, come to the waiter
 * together. So the leader had answered them before it heard of a read, though
 * the waiter had sent that a gap before the first of them. */
STORY_THEN(syncs_in_one_flight_are_no_two_rounds, "waiter takes at a follower",
           .beacon = true, .short_ticks = true, .anew = true, .once = true)
{
    int leader = ensemble.leader;
    int follower = replica_of_waiter();

    int64_t tick = hear_before_a_tick() - world.timeout;
    ensemble_stall(leader, follower, tick + 2100 * MS - sim_now);
    refuse(ZKR__ZK_SYNC, NULL, 10000);
    read_until(tick + 1450 * MS);
    refuse(ZKR__ZK_SYNC, NULL, 0); /* for one, that of the next beat */
    await_asked(ZKR__ZK_SYNC);
    refuse(ZKR__ZK_SYNC, NULL, 10000);
    write_beacon(MS, tick + 2095 * MS - sim_now);
    ensemble_stall(follower, leader, world.timeout);
    refuse(ZKR__ZK_CHECK, NULL, 10000);
    WRONG_IF(zkr_grant_check(users[WAITER].grant) != ZKR_OK,
             "it is in doubt too soon");
    is_closed_when_it_ends();
    play("refuse 0 syncs, refuse 0 checks");
}
