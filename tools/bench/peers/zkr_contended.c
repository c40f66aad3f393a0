/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that want one lock, each with a session of its own or all with one.
 *
 * Threads that share a session share the lock object, too. */
#include <stdlib.h>
#include <string.h>

#include "crowd.h"
#include "peer.h"
#include "zkr_benches.h"
#include "zkr_locks.h"

struct place { /* of a session */
    zkr_session *session;
    struct lock lock;
    struct lock write_lock; /* with writers= */
};

struct member {
    struct place *place;
    unsigned random;
    int64_t waited;
    int64_t longest;
};

static struct place *places;
static struct member *members;
static long place_count, member_count;
static long writers;
static bool is_tolerant;
static bool is_timed;
static bool is_shared; /* several hold it at a time */

static bool acquire(struct member *m, struct lock *lock)
{
    int64_t begin = peer_now_ns();

    if (is_tolerant) {
        if (lock_try_acquire(lock) != ZKR_OK)
            return false;
    } else {
        lock_acquire(lock);
    }
    int64_t waited = peer_now_ns() - begin;
    m->waited += waited;
    m->longest = waited > m->longest ? waited : m->longest;
    return true;
}

static void release(struct lock *lock)
{
    if (is_tolerant)
        (void)lock_try_release(lock);
    else
        lock_release(lock);
}

/* The grant is of this thread, the object may be of all. */
static void cycle(int number)
{
    struct member *m = &members[number];
    bool writes = (long)(rand_r(&m->random) % 100) < writers;
    struct lock lock = writes ? m->place->write_lock : m->place->lock;

    if (!acquire(m, &lock))
        return;
    if (!is_shared) {
        crowd_granted();
        crowd_releasing();
    }
    release(&lock);
}

static void add_longest_wait(long n)
{
    int64_t waited = 0;
    int64_t longest = 0;

    for (long i = 0; i < member_count; i++) {
        struct member *m = &members[i];

        waited += m->waited;
        longest = m->longest > longest ? m->longest : longest;
        m->waited = m->longest = 0;
    }
    if (waited > 0)
        peer_figure("longest_by_mean",
                    (double)longest * (double)n / (double)waited);
}

void contended_run(long n)
{
    if (is_timed) {
        crowd_run_for(n);
        return;
    }
    crowd_run(n);
    add_longest_wait(n);
}

static void open_place(struct place *place)
{
    const char *recipe = peer_option("recipe", "mutex");

    place->session = open_session();
    lock_new(&place->lock, place->session, recipe, path_of("lock", 0));
    if (is_shared)
        lock_new(&place->write_lock, place->session, "write",
                 path_of("lock", 0));
}

void contended_prepare(void)
{
    place_count = peer_number("sessions", 1);
    member_count = peer_number("threads", 8);
    writers = peer_number("writers", 0);
    is_tolerant = peer_number("tolerant", 0) != 0;
    is_timed = peer_number("seconds", 0) != 0;
    is_shared = strcmp(peer_option("recipe", "mutex"), "read") == 0;
    places = calloc((size_t)place_count, sizeof(*places));
    members = calloc((size_t)member_count, sizeof(*members));
    if (places == NULL || members == NULL)
        peer_error("out of memory");
    for (long i = 0; i < place_count; i++)
        open_place(&places[i]);
    for (long i = 0; i < member_count; i++) {
        members[i].place = &places[i % place_count];
        members[i].random = (unsigned)i + 1;
    }
    crowd_start((int)member_count, cycle);
    crowd_run(peer_number("warmup", 4 * member_count));
}

void contended_finish(void)
{
    crowd_stop();
    for (long i = 0; i < place_count; i++) {
        lock_free(&places[i].lock);
        if (is_shared)
            lock_free(&places[i].write_lock);
        (void)zkr_session_close(places[i].session);
    }
    free(places);
    free(members);
}
