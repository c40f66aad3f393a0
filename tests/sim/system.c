/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks, random numbers and owner records that repeat; threads, locks and
 * condition variables, as fibers. This file takes the place of clock.c,
 * random.c, thread.c and mtx.c, and of what writes the records. */
#include <pthread.h>

#include "base/clock.h"
#include "base/mtx.h"
#include "base/random.h"
#include "base/thread.h"
#include "protocol/owner.h"
#include "world.h"

int64_t zkr__clock_now(void)
{
    return sim_now;
}

int64_t zkr__clock_boot(void)
{
    return sim_now;
}

int64_t zkr__clock_deadline(int64_t ms)
{
    if (ms < 0 || ms > (ZKR__NEVER - sim_now) / ZKR__MS)
        return ZKR__NEVER;
    return sim_now + ms * ZKR__MS;
}

int64_t zkr__clock_left_ms(int64_t deadline)
{
    if (deadline == ZKR__NEVER)
        return -1;
    return deadline <= sim_now ? 1
                               : (deadline - sim_now + ZKR__MS - 1) / ZKR__MS;
}

uint64_t zkr__random(void)
{
    return noise();
}

void zkr__random_uuid(char uuid[ZKR__UUID_LEN + 1])
{
    uint64_t n = noise();

    (void)snprintf(uuid, ZKR__UUID_LEN + 1, "%08x-0000-4000-8000-0000%08x",
                   (uint32_t)(n >> 32), (uint32_t)n);
}

WRAP(void, zkr__owner_start, (char text[ZKR__START_MAX]))
{
    text[0] = '\0';
}

WRAP(int, zkr__owner_write,
     (const struct zkr__owner *owner, char data[ZKR__OWNER_MAX + 1],
      size_t *ret_len))
{
    int len = snprintf(data, ZKR__OWNER_MAX + 1,
                       "{\"label\":\"%s\",\"claim\":\"%s\"}",
                       owner->label == NULL ? "" : owner->label,
                       owner->claim == NULL ? "" : owner->claim);

    *ret_len = (size_t)len;
    return ZKR_OK;
}

/* -- threads --------------------------------------------------------------- */

WRAP(int, pthread_join, (pthread_t thread, void **value))
{
    fiber_join((int)thread - 1);
    return 0;
}

WRAP(int, pthread_detach, (pthread_t thread))
{
    return 0;
}

/* The completion threads of the clients are no fibers. */
WRAP(pthread_t, pthread_self, (void))
{
    return (pthread_t)(fiber_self == FIBER_NOBODY ? 1000 + fiber_process()
                                                  : 1 + fiber_self);
}

int zkr__thread_start(pthread_t *thread, const char *name,
                      void *(*main)(void *), void *arg)
{
    *thread = (pthread_t)fiber_start(fiber_process(), main, arg) + 1;
    return 0;
}

uint64_t zkr__thread_number(void)
{
    return (uint64_t)__wrap_pthread_self();
}

const struct zkr__thread_id *zkr__thread_me(void)
{
    static struct zkr__thread_id me = { .name = "sim" };

    me.number = zkr__thread_number();
    me.tid = (pid_t)me.number;
    return &me;
}

int zkr__mtx_init(struct zkr__mtx *mtx)
{
    memset(mtx, 0, sizeof(*mtx));
    return 0;
}

void zkr__mtx_done(struct zkr__mtx *mtx)
{
}

static bool is_interrupted(void)
{
    return world.preempt && fiber_self != FIBER_NOBODY && one_in(16);
}

/* Another fiber runs only where this one waits, before it takes a lock and
 * after it has released it. So a lock is never taken by another fiber: its
 * holder runs until it releases it. */
void zkr__mtx_lock(struct zkr__mtx *mtx)
{
    if (is_interrupted())
        fiber_yield();
    WRONG_IF(mtx->held, "a lock is taken by whoever has it");
    mtx->owner = __wrap_pthread_self();
    mtx->held = true;
}

void zkr__mtx_unlock(struct zkr__mtx *mtx)
{
    WRONG_IF(!zkr__mtx_mine(mtx), "a lock is given back by another thread");
    (void)zkr__mtx_catch_up(mtx);
    mtx->held = false;
    if (is_interrupted())
        fiber_yield();
}

bool zkr__mtx_mine(const struct zkr__mtx *mtx)
{
    return mtx->held && mtx->owner == __wrap_pthread_self();
}

void zkr__cond_wake(struct zkr__cond *cond)
{
    fiber_wake(cond);
}

/* POSIX lets a wait end without a signal, and lets others take the lock between
 * the end of a wait and its return. */
bool zkr__cond_wait(struct zkr__cond *cond, struct zkr__mtx *mtx,
                    int64_t deadline)
{
    bool in_time = true;

    WRONG_IF(!zkr__mtx_mine(mtx), "a thread waits without the lock");
    if (zkr__mtx_catch_up(mtx))
        return true;
    mtx->held = false;
    if (is_interrupted())
        fiber_yield();
    else
        in_time = fiber_wait(cond, deadline);
    zkr__mtx_lock(mtx);
    return in_time;
}
