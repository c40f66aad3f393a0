/* SPDX-License-Identifier: Apache-2.0 */
/* A mutex that knows whether the calling thread holds it, that a thread gets
 * soon however often others take it, and its condition variable.
 *
 * A thread that has just released a mutex mostly gets it again before another
 * one has woken up. That is quick, but thousands of answers or timers in a row
 * would keep all others out. So it is allowed for a moment only. */
#include "base/mtx.h"

#include <assert.h>
#include <errno.h>

#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/thread.h"

/* It takes some time to wake up a thread. */
#define PASS_US 500

/* The numbers of the kernel: musl comes without <linux/futex.h>. */
#define FUTEX_WAKE_PRIVATE        (1 | 128)
#define FUTEX_WAIT_BITSET_PRIVATE (9 | 128)
#define FUTEX_BITSET_MATCH_ANY    (-1)

/* A thread that waits for a condition variable, on its stack. */
struct zkr__sleeper {
    struct zkr__sleeper *next;
    struct zkr__mtx *mtx; /* guards all but is_awake */
    bool is_called;       /* the list is `called`, not the variable's */
    atomic_uint is_awake; /* a futex: 0, then 1 */
};

/* Returns false when the instant has passed. A futex, unlike a condition
 * variable of pthreads, brings no thread back to a mutex past those that wait
 * for it, and may be on a stack that is left as soon as its thread is awake.
 * The kernel takes two longs, whatever a time_t is. */
static bool sleep_until(struct zkr__sleeper *me, int64_t deadline)
{
    struct timespec ts = zkr__clock_timespec(deadline);
    long until[] = { (long)ts.tv_sec, ts.tv_nsec };

    while (atomic_load(&me->is_awake) == 0) {
        if (syscall(SYS_futex, &me->is_awake, FUTEX_WAIT_BITSET_PRIVATE, 0,
                    deadline == ZKR__NEVER ? NULL : until, NULL,
                    FUTEX_BITSET_MATCH_ANY) != 0 &&
            errno == ETIMEDOUT)
            return false;
    }
    return true;
}

static void rouse(struct zkr__sleeper *sleeper)
{
    atomic_store(&sleeper->is_awake, 1);
    (void)syscall(SYS_futex, &sleeper->is_awake, FUTEX_WAKE_PRIVATE, 1);
}

int zkr__mtx_init(struct zkr__mtx *mtx)
{
    int rc = pthread_mutex_init(&mtx->m, NULL);

    atomic_init(&mtx->waiting, 0);
    atomic_init(&mtx->since, 0);
    mtx->held = false;
    mtx->called = NULL;
    mtx->put_off = NULL;
    return rc == 0 ? pthread_mutex_init(&mtx->queue, NULL) : rc;
}

void zkr__mtx_done(struct zkr__mtx *mtx)
{
    (void)pthread_mutex_destroy(&mtx->queue);
    (void)pthread_mutex_destroy(&mtx->m);
}

static bool must_wait(const struct zkr__mtx *mtx)
{
    return atomic_load(&mtx->waiting) > 0 &&
           zkr__clock_now() - atomic_load(&mtx->since) > PASS_US * ZKR__US;
}

/* The first of the queue waits for m, the others for the first. */
static void wait_for(struct zkr__mtx *mtx)
{
    if (atomic_fetch_add(&mtx->waiting, 1) == 0)
        atomic_store(&mtx->since, zkr__clock_now());
    (void)pthread_mutex_lock(&mtx->queue);
    (void)pthread_mutex_lock(&mtx->m);
    (void)pthread_mutex_unlock(&mtx->queue);
    atomic_store(&mtx->since, zkr__clock_now());
    (void)atomic_fetch_sub(&mtx->waiting, 1);
}

static void take(struct zkr__mtx *mtx, int cancel)
{
    if (must_wait(mtx) || pthread_mutex_trylock(&mtx->m) != 0)
        wait_for(mtx);
    mtx->owner = pthread_self();
    mtx->cancel = cancel;
    mtx->held = true;
}

/* Those that were woken find the mutex free. */
static void give(struct zkr__mtx *mtx)
{
    struct zkr__sleeper *called = mtx->called;

    mtx->called = NULL;
    mtx->held = false;
    (void)pthread_mutex_unlock(&mtx->m);
    while (called != NULL) {
        struct zkr__sleeper *sleeper = called;

        called = sleeper->next;
        rouse(sleeper);
    }
}

/* A thread that is cancelled while it has the lock would never unlock it. */
void zkr__mtx_lock(struct zkr__mtx *mtx)
{
    take(mtx, zkr__thread_cancel_disable());
}

void zkr__mtx_unlock(struct zkr__mtx *mtx)
{
    int cancel = mtx->cancel;

    assert(zkr__mtx_mine(mtx));
    (void)zkr__mtx_catch_up(mtx);
    give(mtx);
    zkr__thread_cancel_restore(cancel);
}

bool zkr__mtx_mine(const struct zkr__mtx *mtx)
{
    return mtx->held && pthread_equal(mtx->owner, pthread_self());
}

static void leave(struct zkr__cond *cond, const struct zkr__sleeper *me)
{
    struct zkr__sleeper **link = &cond->first;

    while (*link != me)
        link = &(*link)->next;
    *link = me->next;
}

bool zkr__cond_wait(struct zkr__cond *cond, struct zkr__mtx *mtx,
                    int64_t deadline)
{
    struct zkr__sleeper me = { .next = cond->first, .mtx = mtx };
    int cancel = mtx->cancel;

    if (zkr__mtx_catch_up(mtx))
        return true;
    cond->first = &me;
    give(mtx);
    bool in_time = sleep_until(&me, deadline);
    take(mtx, cancel);
    if (!me.is_called)
        leave(cond, &me);
    else if (!in_time)
        (void)sleep_until(&me, ZKR__NEVER); /* a thread is about to rouse it */
    return in_time;
}

void zkr__cond_wake(struct zkr__cond *cond)
{
    struct zkr__sleeper *sleeper;

    while ((sleeper = cond->first) != NULL) {
        cond->first = sleeper->next;
        sleeper->next = sleeper->mtx->called;
        sleeper->mtx->called = sleeper;
        sleeper->is_called = true;
    }
}
