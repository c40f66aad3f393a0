/* SPDX-License-Identifier: Apache-2.0 */
/* Members: which replica leads and which follow, elections, and the faults that
 * cause them. */

#include "oracle.h"

static bool reach(int a, int b)
{
    return pipe_of(a, b)->stalls == 0 && pipe_of(b, a)->stalls == 0 &&
           ensemble.replicas[a].role != DOWN &&
           ensemble.replicas[b].role != DOWN;
}

static void on_look(void *arg, uint64_t tag);

static void look_soon(int64_t delay)
{
    events_at(sim_now + delay, on_look, NULL, 0);
}

static void clear_links(int number)
{
    for (int other = 0; other < PLACES; other++) {
        pipe_of(number, other)->first = NULL;
        pipe_of(other, number)->first = NULL;
    }
}

/* The replica serves nobody any more, and messages to and from it are lost. */
static void lose_leader(int number, enum role role)
{
    struct replica *r = &ensemble.replicas[number];
    const struct replica *o = &ensemble.replicas[OBSERVER];

    if (o->role == OBSERVING && o->leader == number)
        lose_leader(OBSERVER, LOOKING);
    world_trace("replica %d: %s", number, role == DOWN ? "down" : "looking");
    if (r->role == LEADING && number != ensemble.leader)
        ensemble.deserted = sim_now;
    r->role = role;
    memset(r->touched, 0, sizeof(r->touched));
    r->proposes = false;
    r->late = 0;
    clear_links(number);
    server_drop_all(number);
    look_soon((1 + choose(200)) * MS);
}

static void on_ping(void *arg, uint64_t joins)
{
    struct replica *r = arg;

    if (r->role != LEADING || r->joins != joins ||
        r != &ensemble.replicas[ensemble.leader])
        return;
    if (r->paused == 0) {
        if (sim_now - ensemble.pinged > ensemble.gap)
            ensemble.late_at = sim_now;
        ensemble.pinged = sim_now;
        leader_send(PING, 0, NULL);
    }
    events_at(sim_now + ensemble.tick / 2, on_ping, arg, joins);
}

static void follow(int number)
{
    struct replica *r = &ensemble.replicas[number];

    world_trace("replica %d: follows %d", number, ensemble.leader);
    clear_links(number);
    r->role = number == OBSERVER ? OBSERVING : FOLLOWING;
    r->leader = ensemble.leader;
    r->joins++;
    r->logged = ensemble.log_len;
    r->acked = ensemble.log_len;
    memset(r->touched, 0, sizeof(r->touched));
    replica_apply(number, ensemble.committed);
    leader_commit();
}

static void on_late_ack(void *arg, uint64_t joins)
{
    struct replica *r = arg;

    if (r->role == LEADING && r->joins == joins && r->late != 0)
        deserted_commit((int)(r - ensemble.replicas));
}

/* Its proposals keep waiting for a majority; or the next leader, which has
 * them, had sent it so, and the message is still on its way. */
static void desert(struct replica *old, int64_t len)
{
    if (old->role != LEADING)
        return;
    old->proposes = old->logged > old->applied;
    if (old->applied == len || !old->proposes || choose(2) == 0)
        return;
    old->proposes = old->logged > len;
    old->late = old->logged > len ? len : old->logged;
    events_at(sim_now + (1 + choose(4000)) * MS, on_late_ack, old, old->joins);
}

/* A replica that was absent has a log of an older epoch, which loses every
 * election to logs of this one: its transactions beyond this leader's log never
 * count. */
static void lead(int number)
{
    struct replica *r = &ensemble.replicas[number];

    world_trace("replica %d: leads, with %lld of %lld", number,
                (long long)r->logged, (long long)ensemble.log_len);
    WRONG_IF(r->logged < ensemble.committed,
             "a leader without all that is committed");
    if (ensemble.leader != NO_REPLICA)
        desert(&ensemble.replicas[ensemble.leader], r->logged);
    ensemble.leader = number;
    ensemble.epoch++;
    ensemble.counter = 0;
    ensemble.syncs = NULL;
    ensemble.late_syncs = NULL;
    ensemble.log_len = r->logged;
    for (int i = 0; i < REPLICAS; i++) {
        if (ensemble.replicas[i].logged > ensemble.log_len)
            ensemble.replicas[i].logged = ensemble.log_len;
    }
    tree_truncate(ensemble.log_len);
    r->role = LEADING;
    r->proposes = false;
    r->joins++;
    ensemble.pinged = sim_now;
    while (ensemble.committed < ensemble.log_len)
        txn_committed(++ensemble.committed);
    tree_truncate(ensemble.log_len); /* nothing is only proposed */
    replica_apply(number, ensemble.committed);
    sessions_begin();
    events_at(sim_now + ensemble.tick / 2, on_ping, r, r->joins);
}

static int best_candidate(void)
{
    int best = NO_REPLICA;

    for (int a = 0; a < REPLICAS; a++) {
        int friends = 0;

        if (ensemble.replicas[a].role != LOOKING)
            continue;
        for (int b = 0; b < REPLICAS; b++)
            friends +=
                b != a && ensemble.replicas[b].role == LOOKING && reach(a, b);
        if (friends > 0 &&
            (best == NO_REPLICA ||
             ensemble.replicas[a].logged > ensemble.replicas[best].logged ||
             (ensemble.replicas[a].logged == ensemble.replicas[best].logged &&
              choose(2) == 1)))
            best = a;
    }
    return best;
}

static bool leader_is_alone(void)
{
    for (int f = 0; f < REPLICAS; f++) {
        if (ensemble.replicas[f].role == FOLLOWING)
            return false;
    }
    return true;
}

void members_elect(void)
{
    int best = NO_REPLICA;

    if (ensemble.leader == NO_REPLICA ||
        ensemble.replicas[ensemble.leader].role != LEADING || leader_is_alone())
        best = best_candidate();
    if (best != NO_REPLICA)
        lead(best);
    for (int f = 0; f < PLACES && ensemble.leader != NO_REPLICA; f++) {
        if (ensemble.replicas[f].role == LOOKING &&
            ensemble.replicas[ensemble.leader].role == LEADING &&
            reach(f, ensemble.leader))
            follow(f);
    }
}

/* Two leaders that see each other: the old one gives up. */
static void on_look(void *arg, uint64_t tag)
{
    for (int r = 0; r < REPLICAS; r++) {
        if (r != ensemble.leader && ensemble.replicas[r].role == LEADING &&
            reach(r, ensemble.leader))
            lose_leader(r, LOOKING);
    }
    members_elect();
}

/* A follower, or a leader without any, that has waited for long enough. */
static void on_silence(void *arg, uint64_t joins)
{
    struct replica *r = arg;
    int number = (int)(r - ensemble.replicas);

    if (r->joins != joins)
        return;
    if ((r->role == FOLLOWING && !reach(number, ensemble.leader)) ||
        (r->role == OBSERVING && !reach(number, r->leader)))
        lose_leader(number, LOOKING);
    else if (r->role == LEADING &&
             (number != ensemble.leader || leader_is_alone()))
        lose_leader(number, LOOKING);
}

static void notice(int number, int64_t delay)
{
    events_at(sim_now + delay, on_silence, &ensemble.replicas[number],
              ensemble.replicas[number].joins);
}

static void on_resume(void *pipe, uint64_t tag)
{
    pipe_resume(pipe);
    look_soon((1 + choose(100)) * MS);
}

static void stall(int from, int to, int64_t duration)
{
    pipe_stall(pipe_of(from, to));
    events_at(sim_now + duration, on_resume, pipe_of(from, to), 0);
}

void ensemble_stall(int from, int to, int64_t duration)
{
    world_trace("replicas %d -> %d: silent for %lld ms", from, to,
                (long long)(duration / MS));
    stall(from, to, duration);
    notice(from, ensemble.sync_limit);
    notice(to, ensemble.sync_limit);
    notice(ensemble.leader == NO_REPLICA ? 0 : ensemble.leader,
           ensemble.sync_limit + ensemble.tick);
}

void ensemble_isolate(int replica, int64_t detect, int64_t duration)
{
    world_trace("replica %d: alone for %lld ms, noticed after %lld", replica,
                (long long)(duration / MS), (long long)(detect / MS));
    for (int other = 0; other < REPLICAS; other++) {
        if (other == replica)
            continue;
        stall(replica, other, duration);
        stall(other, replica, duration);
        notice(other, detect);
    }
    notice(replica, ensemble.sync_limit);
}

static void on_restart(void *arg, uint64_t tag)
{
    struct replica *r = arg;

    if (r->role == DOWN)
        r->role = LOOKING;
    look_soon(MS);
}

void ensemble_crash(int replica, int64_t duration)
{
    bool led = replica == ensemble.leader;

    if (ensemble.replicas[replica].role == DOWN)
        return;
    lose_leader(replica, DOWN);
    for (int f = 0; f < REPLICAS && led; f++) {
        if (ensemble.replicas[f].role == FOLLOWING)
            lose_leader(f, LOOKING);
    }
    if (leader_is_alone() && ensemble.leader != NO_REPLICA)
        notice(ensemble.leader, ensemble.tick);
    events_at(sim_now + duration, on_restart, &ensemble.replicas[replica], 0);
}

static void on_continue(void *arg, uint64_t tag)
{
    struct replica *r = arg;

    r->paused--;
    server_pause((int)(r - ensemble.replicas), false);
}

void ensemble_pause(int replica, int64_t duration)
{
    world_trace("replica %d: stopped for %lld ms", replica,
                (long long)(duration / MS));
    if (replica == ensemble.leader && ensemble_serves(replica))
        sessions_close_polled();
    ensemble.replicas[replica].paused++;
    server_pause(replica, true);
    for (int other = 0; other < PLACES; other++) {
        if (other == replica)
            continue;
        stall(other, replica, duration);
        notice(other, ensemble.sync_limit);
    }
    events_at(sim_now + duration, on_continue, &ensemble.replicas[replica], 0);
}
