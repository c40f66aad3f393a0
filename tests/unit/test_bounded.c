/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that the work under the lock of a session is bounded: nothing looks at
 * all watches or claims for one of them, and nobody keeps the lock for long. */
#include "unit.h"

#include "base/clock.h"
#include "base/mtx.h"
#include "client.h"
#include "lock/claim.h"
#include "lock/heartbeat.h"
#include "lock/locks.h"
#include "session/timer_thread.h"
#include "session/watch.h"

FIXTURE(client_reset, NULL)

enum { MANY = 8, FAR = MANY / 2, TIMERS = 100, PASSES = 1000, WAITS = 1000 };

/* -- the timers' thread --------------------------------------------------- */

static _Thread_local int runs; /* since this thread has released a lock */
static atomic_int most_runs;
static atomic_int timers_left;

WRAP(void, zkr__mtx_unlock, (struct zkr__mtx * mtx))
{
    runs = 0;
    __real_zkr__mtx_unlock(mtx);
}

static void on_due(struct zkr__timer *timer)
{
    if (++runs > atomic_load(&most_runs))
        atomic_store(&most_runs, runs);
    (void)atomic_fetch_sub(&timers_left, 1);
}

/* With thousands of timers due at once, all others waited for the last one. */
TEST(one_timer_runs_at_a_time)
{
    AUTO(session) s = open_session(0);
    static struct zkr__timer timers[TIMERS];

    atomic_store(&timers_left, TIMERS);
    zkr__session_lock(s);
    for (int i = 0; i < TIMERS; i++)
        zkr__timer_thread_arm_locked(s, &timers[i], 0, on_due);
    zkr__session_unlock(s);
    AWAIT(atomic_load(&timers_left) <= 0);
    assert_int_equal(atomic_load(&most_runs), 1);
}

/* -- the mutex ------------------------------------------------------------ */

static struct zkr__mtx mtx;
static bool had_it; /* under mtx */
static atomic_bool clock_runs;

/* Time passes with each look at the clock, and not otherwise. */
WRAP(int64_t, zkr__clock_now, (void))
{
    static atomic_int looks;

    return atomic_load(&clock_runs)
               ? 100 * ZKR__US * atomic_fetch_add(&looks, 1)
               : __real_zkr__clock_now();
}

static void *take_once(void *unused)
{
    zkr__mtx_lock(&mtx);
    had_it = true;
    zkr__mtx_unlock(&mtx);
    return NULL;
}

/* A thread that took the mutex again and again mostly kept others out. */
TEST(who_waits_is_passed_for_a_moment)
{
    int passes = 0;

    atomic_store(&clock_runs, true);
    ok(zkr__mtx_init(&mtx));
    zkr__mtx_lock(&mtx);
    pthread_t thread = thread_start(take_once, NULL);
    while (pthread_mutex_trylock(&mtx.queue) == 0) { /* nobody waits yet */
        (void)pthread_mutex_unlock(&mtx.queue);
        pass_a_moment();
    }
    for (; !had_it && passes < PASSES; passes++) {
        zkr__mtx_unlock(&mtx);
        zkr__mtx_lock(&mtx);
    }
    zkr__mtx_unlock(&mtx);
    thread_join(thread);
    assert_in_range(passes, 1, 20);
    zkr__mtx_done(&mtx);
    atomic_store(&clock_runs, false);
}

static void *wake(void *cond)
{
    zkr__mtx_lock(&mtx);
    zkr__cond_wake(cond);
    zkr__mtx_unlock(&mtx);
    return NULL;
}

static atomic_int waiting;

static void *wait_once(void *cond)
{
    zkr__mtx_lock(&mtx);
    (void)atomic_fetch_add(&waiting, 1);
    (void)zkr__cond_wait(cond, &mtx, ZKR__NEVER);
    zkr__mtx_unlock(&mtx);
    return NULL;
}

TEST(all_who_wait_are_woken)
{
    struct zkr__cond cond = { NULL };

    ok(zkr__mtx_init(&mtx));
    pthread_t one = thread_start(wait_once, &cond);
    pthread_t other = thread_start(wait_once, &cond);
    AWAIT(atomic_load(&waiting) == 2);
    (void)wake(&cond);
    thread_join(one);
    thread_join(other);
    zkr__mtx_done(&mtx);
}

/* The memory of a wait goes with it: whoever wakes it late has ended before. */
TEST(a_wait_may_end_as_it_is_woken)
{
    struct zkr__cond cond = { NULL };
    int woken = 0;

    ok(zkr__mtx_init(&mtx));
    for (int i = 0; i < WAITS; i++) {
        zkr__mtx_lock(&mtx);
        pthread_t thread = thread_start(wake, &cond);
        woken += zkr__cond_wait(&cond, &mtx, zkr__clock_now() + i * ZKR__US);
        assert_null(cond.first);
        zkr__mtx_unlock(&mtx);
        thread_join(thread);
    }
    assert_in_range(woken, 1, WAITS);
    zkr__mtx_done(&mtx);
}

/* -- walks ---------------------------------------------------------------- */

static void on_fired(void *owner, bool deleted)
{
}

/* Whoever walks over all watches ends at the one without a next. */
TEST(a_removal_looks_at_no_other_watch)
{
    AUTO(session) s = open_session(0);
    struct zkr__watch *w[MANY];

    zkr__session_lock(s);
    for (int i = 0; i < MANY; i++) {
        w[i] = zkr__watch_new_locked(s, textf("/%d", i), false, s, on_fired);
        assert_non_null(w[i]);
    }
    struct zkr__list *next = w[FAR]->link.next;
    w[FAR]->link.next = NULL;
    zkr__watch_remove_locked(w[0]);
    w[FAR]->link.next = next;
    zkr__session_unlock(s);
}

/* The same of claims, which wait for a connection. */
TEST(a_cancel_looks_at_no_claim_of_other_locks)
{
    AUTO(session) s = open_session(0);
    zkr_mutex *m[MANY];

    client_says(ZKR__ZK_DISCONNECTED);
    client_await_rest();
    for (int i = 0; i < MANY; i++) {
        m[i] = new_mutex(s);
        ok(zkr_mutex_acquire_async(m[i], -1, NULL, NULL, NULL));
    }
    zkr__session_lock(s);
    struct zkr__list *far = zkr__locks_of(s)->claims.next;
    for (int i = 0; i < FAR; i++)
        far = far->next;
    struct zkr__list *next = far->next;
    far->next = NULL;
    zkr__session_unlock(s);
    ok(zkr_lockable_cancel(m[0]));
    zkr__session_lock(s);
    far->next = next;
    zkr__session_unlock(s);
    for (int i = 0; i < MANY; i++)
        zkr_mutex_free(m[i]);
}

/* The same of those that hold something, when one of them is proven. */
TEST(a_proof_looks_at_no_grant_that_is_held)
{
    OPEN_GRANT(s, m, g, 0);

    zkr__session_lock(s);
    struct zkr__list *first = zkr__locks_of(s)->leased.next;
    struct zkr__list *next = first->next;
    first->next = NULL;
    zkr__heartbeat_good_locked(s);
    first->next = next;
    zkr__session_unlock(s);
}
