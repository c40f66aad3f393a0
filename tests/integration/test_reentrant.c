/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the reentrant mutex, beyond the contract: a thread owns it. */
#include <signal.h>

#include "lock/claim.h"
#include "lock/locks.h"

/* It has names that headers above have, too. Here `m` is reentrant. */
#include "usual.h"

static int setup(void)
{
    (void)usual_setup_two();
    zkr_mutex_free(m);
    m = NEW(reentrant_mutex, s, path, NULL);
    return 0;
}

FIXTURE(setup, usual_teardown)

/* Runs on a thread of its own; the result is read on the main thread. */
struct attempt {
    zkr_reentrant_mutex *mutex;
    int64_t timeout_ms;
    int acquired, released;
    uint32_t depth;
};

static void *attempt_main(void *arg)
{
    struct attempt *a = arg;

    a->acquired = zkr_reentrant_mutex_acquire(a->mutex, a->timeout_ms);
    a->depth = zkr_reentrant_mutex_depth(a->mutex);
    a->released = zkr_reentrant_mutex_release(a->mutex);
    return NULL;
}

static struct attempt attempt(zkr_reentrant_mutex *mutex, int64_t timeout_ms)
{
    struct attempt a = { .mutex = mutex, .timeout_ms = timeout_ms };

    on_thread(attempt_main, &a);
    return a;
}

/* Curator: "second instance in same thread blocks" */
TEST(another_object_in_the_same_thread_is_another_contender)
{
    AUTO(mutex) plain = new_mutex(s, path);

    AUTO(reentrant_mutex) other = NEW(reentrant_mutex, s, path, NULL);
    ok(zkr_reentrant_mutex_acquire(m, SOON_MS));
    assert_int_equal(zkr_reentrant_mutex_acquire(other, 0), ZKR_EBUSY);
    assert_int_equal(zkr_mutex_acquire(plain, 0, &nil), ZKR_EBUSY);
    ok(zkr_reentrant_mutex_release(m));
    assert_int_equal(zkr_reentrant_mutex_depth(m), 0);
    assert_null(zkr_reentrant_mutex_grant(m));
    ok(zkr_reentrant_mutex_acquire(other, 0));
    ok(zkr_reentrant_mutex_release(other));
}

static int acquire_and_end(void *mutex)
{
    return zkr_reentrant_mutex_acquire(mutex, SOON_MS);
}

/* A pthread_t is used again; the lock of its last owner is not inherited. */
TEST(a_thread_that_ends_takes_its_lock_along)
{
    struct caller c;

    call_start(&c, acquire_and_end, m);
    ok(call_join(&c));
    struct attempt a = attempt(m, 0);
    assert_int_equal(a.acquired, ZKR_EBUSY);
    assert_int_equal(a.depth, 0);
    assert_int_equal(a.released, ZKR_ENOTOWNER);
    zkr_reentrant_mutex_free(m);
    wait_children(path, 0);
    ok(zkr_reentrant_mutex_new(s, path, NULL, &m));
    a = attempt(m, SOON_MS);
    assert_int_equal(a.acquired, ZKR_OK);
    assert_int_equal(a.depth, 1);
}

static atomic_bool is_stopped;
static atomic_bool may_go_on;

static void stop_here(int signal)
{
    atomic_store(&is_stopped, true);
    while (!atomic_load(&may_go_on))
        sleep_ms(1);
}

static bool a_claim_is(int state)
{
    struct zkr__list *claims = &zkr__locks_of(s)->claims;
    bool any = false;

    zkr__session_lock(s);
    for (struct zkr__list *l = claims->next; l != claims; l = l->next)
        any |= ZKR__CONTAINER(l, struct zkr__claim, link)->sm.state == state;
    zkr__session_unlock(s);
    return any;
}

/* Regression: the waiting thread was woken, but had not returned yet, when its
 * grant was freed: it read freed memory, and then reported that it held the
 * lock. */
TEST(freeing_it_cancels_an_acquire_that_is_about_to_return)
{
    struct sigaction stop = { .sa_handler = stop_here };
    struct sigaction before;
    zkr_grant *g = acquire(rival);
    struct caller c;

    assert_int_equal(sigaction(SIGUSR1, &stop, &before), 0);
    call_start(&c, acquire_and_end, m);
    AWAIT(a_claim_is(ZKR__CLAIM_WAITING)); /* its thread has left the mutex */
    assert_int_equal(pthread_kill(c.thread, SIGUSR1), 0);
    AWAIT(atomic_load(&is_stopped));
    release(g);
    AWAIT(a_claim_is(ZKR__CLAIM_HELD));
    zkr_reentrant_mutex_free(m);
    m = NULL;
    wait_children(path, 0);
    atomic_store(&may_go_on, true);
    assert_int_equal(call_join(&c), ZKR_ECANCELED);
    (void)sigaction(SIGUSR1, &before, NULL);
}

TEST(acquired_too_often_is_an_error)
{
    for (uint32_t i = 0; i < ZKR_REENTRANT_DEPTH_MAX; i++)
        ok(zkr_reentrant_mutex_acquire(m, SOON_MS));
    assert_int_equal(zkr_reentrant_mutex_acquire(m, SOON_MS), ZKR_EOVERFLOW);
    assert_int_equal(zkr_reentrant_mutex_depth(m), ZKR_REENTRANT_DEPTH_MAX);
    for (uint32_t i = 0; i < ZKR_REENTRANT_DEPTH_MAX; i++)
        ok(zkr_reentrant_mutex_release(m));
    assert_int_equal(count_children(path), 0);
}

/* -- an owner that is no thread -------------------------------------------- */

struct task {
    struct zkr_acquire_opts opts;
    zkr_grant *grant;
};

static int acquire_as(void *arg)
{
    struct task *task = arg;

    return zkr_lockable_acquire(m, &task->opts, 0, &task->grant);
}

static int release_as(void *arg)
{
    return zkr_reentrant_mutex_release_of(m, &((struct task *)arg)->opts);
}

TEST(an_owner_with_a_number_is_at_home_on_any_thread_and_on_none)
{
    struct task task = { .opts = *OPTS(acquire, .owner = 7) };
    struct task other = { .opts = *OPTS(acquire, .owner = 8) };
    struct caller elsewhere;
    AUTO(recorder) r = recorder_new();

    ok(acquire_as(&task));
    zkr_grant *grant = task.grant;
    call_start(&elsewhere, acquire_as, &task);
    ok(call_join(&elsewhere));
    assert_ptr_equal(task.grant, grant);
    assert_int_equal(zkr_grant_depth(grant), 2);
    ok(zkr_lockable_acquire_async(m, &task.opts, 0, record_acquire, r, NULL));
    ok(recorded(r, 0));
    assert_ptr_equal(GRANT(lockable_grant, m, &task.opts), grant);
    assert_int_equal(zkr_grant_depth(grant), 3);

    assert_int_equal(acquire_as(&other), ZKR_EBUSY);
    assert_null(other.grant);
    assert_int_equal(zkr_reentrant_mutex_acquire(m, 0), ZKR_EBUSY);
    assert_int_equal(release_as(&other), ZKR_ENOTOWNER);
    assert_int_equal(zkr_reentrant_mutex_release(m), ZKR_ENOTOWNER);

    call_start(&elsewhere, release_as, &task);
    ok(call_join(&elsewhere));
    ok(release_as(&task));
    ok(release_as(&task));
    assert_int_equal(release_as(&task), ZKR_ENOTHELD);
    ok(acquire_as(&other));
    ok(release_as(&other));
}
