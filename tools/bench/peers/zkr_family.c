/* SPDX-License-Identifier: Apache-2.0 */
/* Cycles of the recipes that are no locks, by threads with a session each. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pthread.h>

#include "crowd.h"
#include "peer.h"
#include "zkr_benches.h"
#include "zkr_locks.h"

enum { PATH_MAX_HERE = 160 };

struct member {
    zkr_session *session;
    void *handle;
    zkr_grant **grants; /* of a semaphore */
    long round;         /* of a barrier */
};

static struct member *members;
static long member_count;
static uint32_t permits;
static pthread_barrier_t all_inside;

static const char *shared_path(void)
{
    return path_of("family", 0);
}

/* Each round has a path of its own. */
static const char *round_path(char path[PATH_MAX_HERE], long number, long round)
{
    (void)snprintf(path, PATH_MAX_HERE, "%s-%ld", path_of("round", number),
                   round);
    return path;
}

/* A semaphore: permits= of limit=. */

static void open_semaphore(struct member *m)
{
    zkr_semaphore *semaphore;

    m->grants = calloc(permits, sizeof(zkr_grant *));
    if (m->grants == NULL)
        peer_error("out of memory");
    check("new", zkr_semaphore_new(m->session, shared_path(),
                                   (uint32_t)peer_number("limit", 1), NULL,
                                   &semaphore));
    m->handle = semaphore;
}

static void cycle_semaphore(struct member *m)
{
    check("acquire",
          zkr_semaphore_acquire_many(m->handle, permits, -1, m->grants));
    check("release", zkr_grants_release(m->grants, permits));
    zkr_grants_free(m->grants, permits);
}

static void close_semaphore(struct member *m)
{
    zkr_semaphore_free(m->handle);
    free(m->grants);
}

/* A counter, to which 1 is added. */

static void open_counter(struct member *m)
{
    zkr_counter *counter;

    check("new", zkr_counter_new(m->session, shared_path(), NULL, &counter));
    m->handle = counter;
}

static void cycle_counter(struct member *m)
{
    check("add", zkr_counter_add(m->handle, 1, -1, NULL));
}

static void close_counter(struct member *m)
{
    zkr_counter_free(m->handle);
}

/* An election: a campaign, until the leader has left. */

static void open_leader(struct member *m)
{
    zkr_leader *leader;

    check("new",
          zkr_leader_new(m->session, shared_path(), NULL, NULL, NULL, &leader));
    m->handle = leader;
}

static void cycle_leader(struct member *m)
{
    check("campaign", zkr_leader_campaign(m->handle));
    check("wait", zkr_leader_wait(m->handle, -1));
    crowd_granted();
    crowd_releasing();
    check("leave", zkr_leader_leave(m->handle));
}

static void close_leader(struct member *m)
{
    zkr_leader_free(m->handle);
}

/* Two members that let each other pass: each sets its barrier of the next round
 * before it removes that of this one, and waits for the other's removal. */

static zkr_barrier *barrier_of(struct member *m, long number, long round)
{
    char path[PATH_MAX_HERE];
    zkr_barrier *barrier;

    check("new", zkr_barrier_new(m->session, round_path(path, number, round),
                                 NULL, &barrier));
    return barrier;
}

static void with_barrier(struct member *m, long number, long round,
                         int (*act)(zkr_barrier *, int64_t))
{
    zkr_barrier *barrier = barrier_of(m, number, round);

    check("barrier", act(barrier, -1));
    zkr_barrier_free(barrier);
}

static void open_barrier(struct member *m)
{
    with_barrier(m, m - members, 0, zkr_barrier_set);
}

static void cycle_barrier(struct member *m)
{
    long number = m - members;

    with_barrier(m, number, m->round + 1, zkr_barrier_set);
    with_barrier(m, number, m->round, zkr_barrier_remove);
    with_barrier(m, 1 - number, m->round++, zkr_barrier_wait);
}

/* All enter a double barrier, and leave it when the last one is inside: a
 * member of Curator's that sees "ready" too late, because others have left and
 * deleted it, stays, and the others wait for it. */
static void cycle_double_barrier(struct member *m)
{
    char path[PATH_MAX_HERE];
    zkr_double_barrier *barrier;

    check("new",
          zkr_double_barrier_new(m->session, round_path(path, 0, m->round++),
                                 (uint32_t)member_count, NULL, &barrier));
    check("enter", zkr_double_barrier_enter(barrier, -1));
    (void)pthread_barrier_wait(&all_inside);
    check("leave", zkr_double_barrier_leave(barrier, -1));
    zkr_double_barrier_free(barrier);
}

static void nothing(struct member *m)
{
    (void)m;
}

static const struct recipe {
    const char *name;
    void (*open)(struct member *m);
    void (*cycle)(struct member *m);
    void (*close)(struct member *m);
} recipes[] = {
    { "semaphore", open_semaphore, cycle_semaphore, close_semaphore },
    { "counter", open_counter, cycle_counter, close_counter },
    { "leader", open_leader, cycle_leader, close_leader },
    { "barrier", open_barrier, cycle_barrier, nothing },
    { "double-barrier", nothing, cycle_double_barrier, nothing },
};
static const struct recipe *recipe;

static void cycle(int number)
{
    recipe->cycle(&members[number]);
}

/* At a barrier n is a multiple of the number of members. */
void family_run(long n)
{
    crowd_run(n);
}

void family_prepare(void)
{
    const char *name = peer_option("recipe", "counter");

    for (size_t i = 0; i < sizeof(recipes) / sizeof(recipes[0]); i++) {
        if (strcmp(recipes[i].name, name) == 0)
            recipe = &recipes[i];
    }
    member_count = peer_number("sessions", 1);
    permits = (uint32_t)peer_number("permits", 1);
    members = calloc((size_t)member_count, sizeof(*members));
    if (recipe == NULL || members == NULL)
        peer_error("no recipe %s, or no memory", name);
    (void)pthread_barrier_init(&all_inside, NULL, (unsigned)member_count);
    for (long i = 0; i < member_count; i++) {
        members[i].session = open_session();
        recipe->open(&members[i]);
    }
    crowd_start((int)member_count, cycle);
    crowd_run(peer_number("warmup", 4 * member_count));
}

void family_finish(void)
{
    crowd_stop();
    for (long i = 0; i < member_count; i++) {
        recipe->close(&members[i]);
        (void)zkr_session_close(members[i].session);
    }
    free(members);
}
