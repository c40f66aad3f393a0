/* SPDX-License-Identifier: Apache-2.0 */
/* The ensemble: three replicas of one log, a leader, and its sessions. */

#include "oracle.h"

OF_SCHEDULE struct ensemble ensemble;
struct txn ensemble_log[LOG_MAX];

void ensemble_observe(void)
{
    ensemble.places = PLACES;
    ensemble.replicas[OBSERVER].role = LOOKING;
    members_elect();
}

int64_t ensemble_grants(int replica, int64_t timeout)
{
    const struct replica *r = &ensemble.replicas[replica];

    if (r->least != 0 && timeout < r->least)
        return r->least;
    return r->most != 0 && timeout > r->most ? r->most : timeout;
}

bool ensemble_serves(int replica)
{
    enum role role = ensemble.replicas[replica].role;

    return role == LEADING || role == FOLLOWING || role == OBSERVING;
}

bool ensemble_pinged(int64_t since)
{
    return ensemble.late_at < since &&
           sim_now - ensemble.pinged <= ensemble.gap;
}

bool ensemble_deserted(int64_t since)
{
    for (int r = 0; r < REPLICAS; r++) {
        if (r != ensemble.leader && ensemble.replicas[r].role == LEADING)
            return true;
    }
    return ensemble.deserted >= since;
}

void replica_apply(int number, int64_t version)
{
    struct replica *r = &ensemble.replicas[number];

    while (r->applied < version) {
        r->applied++;
        server_applied(number, r->applied, &ensemble_log[r->applied]);
    }
}

/* The leader's connection to it stands. */
static bool is_attached(int replica)
{
    const struct replica *r = &ensemble.replicas[replica];

    return r->role == FOLLOWING ||
           (r->role == OBSERVING && r->leader == ensemble.leader);
}

void leader_send(int kind, int64_t number, void *body)
{
    for (int f = 0; f < (kind == PROPOSAL ? REPLICAS : PLACES); f++) {
        if (f != ensemble.leader && is_attached(f))
            pipe_send(pipe_of(ensemble.leader, f), kind, number, body);
    }
}

static void answer(int from, int kind, struct request *r)
{
    if (r->replica == from)
        server_agreed(r);
    else
        pipe_send(pipe_of(from, r->replica), kind, 0, r);
}

static void answer_syncs(void)
{
    struct sync *s = ensemble.syncs;

    for (; s != NULL && s->version <= ensemble.committed; s = s->next) {
        int replica = s->request->replica;

        ensemble.syncs = s->next;
        if (replica == ensemble.leader || is_attached(replica))
            answer(ensemble.leader, SYNCED, s->request);
    }
}

/* A transaction that a follower has is one that a majority has. */
void leader_commit(void)
{
    int64_t agreed = ensemble.committed;

    for (int f = 0; f < REPLICAS; f++) {
        const struct replica *r = &ensemble.replicas[f];

        if (f != ensemble.leader && r->role == FOLLOWING && r->acked > agreed)
            agreed = r->acked;
    }
    while (ensemble.committed < agreed) {
        txn_committed(++ensemble.committed);
        leader_send(COMMIT, ensemble.committed, NULL);
        replica_apply(ensemble.leader, ensemble.committed);
    }
    answer_syncs();
}

static void revalidate_at_leader(struct request *r)
{
    struct session *s = &ensemble.sessions[r->session];

    r->rc = s->opened != 0 && !s->closing ? ZKR_OK : ZKR_ZSESSIONEXPIRED;
    if (r->rc == ZKR_OK) {
        s->owner = r->replica;
        s->timeout = r->conn->timeout;
        session_touch(r->session);
    }
    answer(ensemble.leader, REVALIDATED, r);
}

/* A sync of a client of the leader waits for what its own session has asked
 * before, and for nothing else. */
static void at_leader(struct request *r)
{
    if (r->type == REQUEST_REVALIDATE) {
        revalidate_at_leader(r);
    } else if (r->type != ZKR__ZK_SYNC) {
        leader_prepare(r);
    } else if (r->replica == ensemble.leader) {
        server_agreed(r);
    } else {
        APPEND(ensemble.syncs,
               ARENA_NEW(struct sync, NULL, r, ensemble.log_len), next);
        answer_syncs();
    }
}

/* A leader that the others have left does not know it yet: it answers requests
 * that need no majority. */
static void at_deserted_leader(int number, struct request *r)
{
    struct replica *me = &ensemble.replicas[number];
    const struct session *s =
        r->session < 0 ? NULL : &ensemble.sessions[r->session];

    if (r->type == REQUEST_REVALIDATE) {
        bool known = s->opened != 0 && s->opened <= me->applied &&
                     (s->closed == 0 || s->closed > me->applied);

        r->rc = known ? ZKR_OK : ZKR_ZSESSIONEXPIRED;
        answer(number, REVALIDATED, r);
    } else if (r->type == ZKR__ZK_SYNC) {
        if (r->replica == number || (!me->proposes && me->late == 0))
            answer(number, SYNCED, r);
        else if (!me->proposes)
            APPEND(ensemble.late_syncs,
                   ARENA_NEW(struct sync, NULL, r, me->late), next);
    } else {
        me->proposes = true;
    }
}

static bool observes(int leader)
{
    const struct replica *o = &ensemble.replicas[OBSERVER];

    return o->role == OBSERVING && o->leader == leader;
}

void deserted_commit(int number)
{
    struct replica *me = &ensemble.replicas[number];
    struct pipe *down = pipe_of(number, OBSERVER);

    world_trace("replica %d: hears late of %lld", number, (long long)me->late);
    for (int64_t v = me->applied + 1; v <= me->late && observes(number); v++)
        pipe_send(down, COMMIT, v, NULL);
    replica_apply(number, me->late);
    me->late = 0;
    for (struct sync *s = ensemble.late_syncs; s != NULL; s = s->next) {
        if (observes(number))
            pipe_send(down, SYNCED, 0, s->request);
    }
    ensemble.late_syncs = NULL;
}

void ensemble_submit(int replica, struct request *r)
{
    struct replica *me = &ensemble.replicas[replica];

    r->replica = replica;
    if (r->session >= 0)
        ensemble.sessions[r->session].used = sim_now;
    if (me->role == LEADING && replica != ensemble.leader)
        at_deserted_leader(replica, r);
    else if (replica == ensemble.leader)
        at_leader(r);
    else if (me->role == OBSERVING)
        pipe_send(pipe_of(replica, me->leader), FORWARD, 0, r);
    else if (me->role == FOLLOWING)
        pipe_send(pipe_of(replica, ensemble.leader), FORWARD, 0, r);
}

void ensemble_touch(int replica, int session)
{
    if (session < 0)
        return;
    if (replica == ensemble.leader)
        session_touch(session);
    else
        ensemble.replicas[replica].touched[session] = true;
}

static void leader_on_message(int from, const struct message *m)
{
    struct replica *f = &ensemble.replicas[from];
    const bool *touched = m->body;

    switch (m->kind) {
    case FORWARD:
        at_leader(m->body);
        break;
    case ACK:
        if (m->number > f->acked)
            f->acked = m->number;
        leader_commit();
        break;
    case PONG:
        for (int i = 0; i < ensemble.session_count; i++) {
            if (touched[i])
                session_touch(i);
        }
        break;
    default:
        world_fail("a message that no follower sends");
    }
}

static void follower_on_message(int to, const struct message *m)
{
    struct replica *r = &ensemble.replicas[to];
    struct pipe *back =
        pipe_of(to, to == OBSERVER ? r->leader : ensemble.leader);

    switch (m->kind) {
    case PROPOSAL:
        r->logged = m->number;
        pipe_send(back, ACK, m->number, NULL);
        break;
    case COMMIT:
        replica_apply(to, m->number);
        break;
    case PING:
        pipe_send(back, PONG, 0,
                  memcpy(arena_new(sizeof(r->touched)), r->touched,
                         sizeof(r->touched)));
        memset(r->touched, 0, sizeof(r->touched));
        break;
    case SYNCED:
    case REVALIDATED:
        server_agreed(m->body);
        break;
    default:
        world_fail("a message that no leader sends");
    }
}

static void on_message(void *owner, const struct message *m)
{
    const struct link *link = owner;

    if (link->to == ensemble.leader)
        leader_on_message(link->from, m);
    else if (link->from == OBSERVER &&
             ensemble.replicas[link->to].role == LEADING) {
        if (m->kind == FORWARD)
            at_deserted_leader(link->to, m->body);
    } else if (link->to == OBSERVER && observes(link->from))
        follower_on_message(link->to, m);
    else if (link->from == ensemble.leader &&
             ensemble.replicas[link->to].role == FOLLOWING)
        follower_on_message(link->to, m);
}

void ensemble_reset(int64_t tick, int64_t sync_limit, int64_t gap)
{
    ensemble_log[0] = (struct txn){ .kind = TXN_ERROR };
    ensemble.places = REPLICAS;
    ensemble.tick = tick;
    ensemble.sync_limit = sync_limit;
    ensemble.gap = gap;
    ensemble.leader = NO_REPLICA;
    for (int a = 0; a < PLACES; a++) {
        ensemble.replicas[a].role = a == OBSERVER ? DOWN : LOOKING;
        for (int b = 0; b < PLACES; b++) {
            struct link *link = &ensemble.links[a][b];

            *link =
                (struct link){ a, b, { .deliver = on_message, .owner = link } };
        }
    }
    members_elect();
}
