/* SPDX-License-Identifier: Apache-2.0 */
/* A mutex that knows whether the calling thread holds it, and its condition
 * variable. */
#include "base/mtx.h"

#include <assert.h>
#include <errno.h>

#include "base/clock.h"
#include "base/thread_cancel.h"

int zkr__mtx_init(struct zkr__mtx *mtx)
{
    mtx->held = false;
    mtx->put_off = NULL;
    return pthread_mutex_init(&mtx->m, NULL);
}

void zkr__mtx_done(struct zkr__mtx *mtx)
{
    (void)pthread_mutex_destroy(&mtx->m);
}

static void note_taken(struct zkr__mtx *mtx, int cancel)
{
    mtx->owner = pthread_self();
    mtx->cancel = cancel;
    mtx->held = true;
}

/* A thread that is cancelled while it has the lock would never unlock it. */
void zkr__mtx_lock(struct zkr__mtx *mtx)
{
    int cancel = zkr__thread_cancel_disable();
    int rc = pthread_mutex_lock(&mtx->m);

    assert(rc == 0);
    (void)rc;
    note_taken(mtx, cancel);
}

void zkr__mtx_unlock(struct zkr__mtx *mtx)
{
    int cancel = mtx->cancel;

    assert(zkr__mtx_mine(mtx));
    (void)zkr__mtx_catch_up(mtx);
    mtx->held = false;
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
    mtx->held = false;
    if (deadline == ZKR__NEVER) {
        (void)pthread_cond_wait(cond, &mtx->m);
    } else {
        struct timespec ts = zkr__clock_timespec(deadline);

        rc = pthread_cond_timedwait(cond, &mtx->m, &ts);
    }
    note_taken(mtx, cancel);
    return rc != ETIMEDOUT;
}
