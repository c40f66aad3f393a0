/* SPDX-License-Identifier: Apache-2.0 */
/* A mutex that knows whether the calling thread holds it, that a thread gets
 * soon however often others take it, and its condition variable. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* -- for clang, so that -Wthread-safety proves that locks are held ----------
 */

#if defined(__clang__)
#define ZKR__CLANG(attribute) __attribute__((attribute))
#else
#define ZKR__CLANG(attribute)
#endif

/* A type whose objects are locks. */
#define ZKR__CAPABILITY(name) ZKR__CLANG(capability(name))

/* The function takes the lock, lets go of it, needs it, or has made sure at run
 * time that it is held. */
#define ZKR__ACQUIRES(lock) ZKR__CLANG(acquire_capability(lock))
#define ZKR__RELEASES(lock) ZKR__CLANG(release_capability(lock))
#define ZKR__REQUIRES(lock) ZKR__CLANG(requires_capability(lock))
#define ZKR__ASSERTS(lock)  ZKR__CLANG(assert_capability(lock))

/* The function implements a lock with calls that clang does not know, so clang
 * does not look into it. */
#define ZKR__NO_ANALYSIS ZKR__CLANG(no_thread_safety_analysis)

/* -- the mutex ------------------------------------------------------------- */

struct ZKR__CAPABILITY("mutex") zkr__mtx {
    pthread_mutex_t m;
    pthread_mutex_t queue; /* the first that waits for m has it */
    atomic_uint waiting;
    _Atomic int64_t since; /* when the first of them came, or one got m */
    bool held;             /* under m, as the next members */
    pthread_t owner;
    int cancel; /* whether the thread may be cancelled otherwise */
    struct zkr__sleeper *called; /* threads to wake when it is released */
    /* The function that is put off until the mutex is released: it runs once,
     * on the thread that has the mutex, and may put off another. NULL: none. */
    void (*put_off)(struct zkr__mtx *mtx);
};

int zkr__mtx_init(struct zkr__mtx *mtx);
void zkr__mtx_done(struct zkr__mtx *mtx);
void zkr__mtx_lock(struct zkr__mtx *mtx) ZKR__ACQUIRES(mtx) ZKR__NO_ANALYSIS;
void zkr__mtx_unlock(struct zkr__mtx *mtx) ZKR__RELEASES(mtx) ZKR__NO_ANALYSIS;

/* Called before the mutex is released. Returns whether anything was put off. */
static inline bool zkr__mtx_catch_up(struct zkr__mtx *mtx)
{
    void (*put_off)(struct zkr__mtx *);
    bool any = false;

    while ((put_off = mtx->put_off) != NULL) {
        mtx->put_off = NULL;
        put_off(mtx);
        any = true;
    }
    return any;
}

/* Tells whether the calling thread holds the mutex. For assertions only:
 * without the mutex it reads members that another thread may be writing. */
bool zkr__mtx_mine(const struct zkr__mtx *mtx);

/* A condition variable, under the mutex that its threads wait with. Of zeros it
 * is ready to be used, and nothing has to be done when it goes. */
struct zkr__cond {
    struct zkr__sleeper *first; /* threads that wait */
};

/* Waits until it is woken, or until the instant on CLOCK_MONOTONIC. Returns
 * false when the instant has passed. It may return early: always, when
 * something was put off, because that may be what the caller waits for. */
bool zkr__cond_wait(struct zkr__cond *cond, struct zkr__mtx *mtx,
                    int64_t deadline);

/* Wakes all that wait, when the mutex is released. */
void zkr__cond_wake(struct zkr__cond *cond);
