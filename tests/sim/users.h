/* SPDX-License-Identifier: Apache-2.0 */
/* Users: the calls of the simulated programs, thread by thread. */
#pragma once

#include "oracle.h"
#include "scope.h"

/* The options of an acquire. */
#define TO(shared) OPTS(acquire, .mode = (shared) ? ZKR_SHARED : ZKR_EXCLUSIVE)

struct thread {
    struct process *process;
    int rounds;
    enum recipe recipe; /* world.recipe, or a mutex beside read/write locks, and
                         * of several locks */
    const char *path;
    void *lock;     /* of that recipe */
    uint32_t flags; /* with which the lock was made */
    int bursts;     /* its address wakes the thread */
    int inside;     /* callbacks that use `lock` now; likewise */
};

/* An acquire for which no thread waits in the library: the first member of what
 * the user knows of it. */
struct asked {
    bool told;
    bool seen; /* by its thread */
    zkr_request *request;
};
/* Of an array of those: waits for who is told first. Returns NULL after all. */
void *user_awaits_one(const struct thread *t, void *all, size_t size,
                      uint32_t count);

/* A callback has asked for a lock since `began`, and must not have waited.
 * `inside` is its count of such callbacks, now one less. */
void user_is_refused_inside(int rc, int64_t began, int *inside);

void user_pauses(uint32_t most);
int64_t user_timeout(void);
struct attempt *user_asks(const struct thread *t, bool shared,
                          int64_t timeout_ms);

/* locking.c: the calls of each recipe under one name. */
int user_make_lock(struct thread *t);
void user_free_lock(struct thread *t);
/* A node that stays goes back. */
void user_yields(const struct thread *t);
int user_acquire(struct thread *t, bool shared, int64_t timeout_ms,
                 zkr_grant **grant);

/* holding.c: the calls with a grant, until it is given back. `owned`: the
 * thread has acquired it itself. */
void user_holds(struct thread *t, struct attempt *a, zkr_grant *grant,
                bool owned);
void user_gives_back(struct thread *t, struct attempt *a, zkr_grant *grant);

/* several.c: two or three mutexes at once. */
void user_needs_several(struct thread *t);

/* writing.c: guarded writes, one to three. */
void user_writes(const struct process *p, const struct attempt *a,
                 zkr_grant *grant);

/* looking.c: listing participants, finding locks, asking and breaking. */
void user_looks_on(const struct process *p);
