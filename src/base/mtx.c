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

#include "base/clock.h"
#include "base/thread.h"

/* It takes some time to wake up a thread. */
#define PASS_US 500

int zkr__mtx_init(struct zkr__mtx *mtx)
{
    int rc = zkr__cond_init(&mtx->turn);

    mtx->waiting = 0;
    mtx->held = false;
    mtx->put_off = NULL;
    return rc == 0 ? pthread_mutex_init(&mtx->m, NULL) : rc;
}

void zkr__mtx_done(struct zkr__mtx *mtx)
{
    (void)pthread_cond_destroy(&mtx->turn);
    (void)pthread_mutex_destroy(&mtx->m);
}

static bool must_wait(const struct zkr__mtx *mtx)
{
    return mtx->held || (mtx->waiting > 0 &&
                         zkr__clock_now() - mtx->since > PASS_US * ZKR__US);
}

/* With m. */
static void take(struct zkr__mtx *mtx, int cancel)
{
    if (must_wait(mtx)) {
        if (mtx->waiting++ == 0)
            mtx->since = zkr__clock_now();
        do
            (void)pthread_cond_wait(&mtx->turn, &mtx->m);
        while (mtx->held);
        if (--mtx->waiting > 0)
            mtx->since = zkr__clock_now();
    }
    mtx->owner = pthread_self();
    mtx->cancel = cancel;
    mtx->held = true;
}

/* With m, also the signal: who gets the mutex next may free it. */
static void give(struct zkr__mtx *mtx)
{
    mtx->held = false;
    if (mtx->waiting > 0)
        (void)pthread_cond_signal(&mtx->turn);
}

/* A thread that is cancelled while it has the lock would never unlock it. */
void zkr__mtx_lock(struct zkr__mtx *mtx)
{
    int cancel = zkr__thread_cancel_disable();
    int rc = pthread_mutex_lock(&mtx->m);

    assert(rc == 0);
    (void)rc;
    take(mtx, cancel);
    (void)pthread_mutex_unlock(&mtx->m);
}

void zkr__mtx_unlock(struct zkr__mtx *mtx)
{
    int cancel = mtx->cancel;

    assert(zkr__mtx_mine(mtx));
    (void)zkr__mtx_catch_up(mtx);
    (void)pthread_mutex_lock(&mtx->m);
    give(mtx);
    (void)pthread_mutex_unlock(&mtx->m);
    zkr__thread_cancel_restore(cancel);
}

bool zkr__mtx_mine(const struct zkr__mtx *mtx)
{
    return mtx->held && pthread_equal(mtx->owner, pthread_self());
}

int zkr__cond_init(pthread_cond_t *cond)
{
    pthread_condattr_t attr;
    int rc = pthread_condattr_init(&attr);

    if (rc != 0)
        return rc;
    rc = pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    if (rc == 0)
        rc = pthread_cond_init(cond, &attr);
    (void)pthread_condattr_destroy(&attr);
    return rc;
}

bool zkr__cond_wait(pthread_cond_t *cond, struct zkr__mtx *mtx,
                    int64_t deadline)
{
    int cancel = mtx->cancel;
    int rc = 0;

    if (zkr__mtx_catch_up(mtx))
        return true;
    (void)pthread_mutex_lock(&mtx->m);
    give(mtx);
    if (deadline == ZKR__NEVER) {
        (void)pthread_cond_wait(cond, &mtx->m);
    } else {
        struct timespec ts = zkr__clock_timespec(deadline);

        rc = pthread_cond_timedwait(cond, &mtx->m, &ts);
    }
    take(mtx, cancel);
    (void)pthread_mutex_unlock(&mtx->m);
    return rc != ETIMEDOUT;
}
