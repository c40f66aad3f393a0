/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that a timeout means the same in every function that waits for the
 * servers, while they are silent: 0 waits for reply_timeout_ms, more than 0 for
 * so long, less than 0 without limit. tests/api/tables.sh checks that no
 * function is missing; test_fence.c has that of a fence, which needs no server,
 * and integration/test_barrier.c that of leaving a double barrier. */
#include "unit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include <zkrecipes/zkrecipes.h>

#include "base/clock.h"
#include "client.h"
#include "opened.h"

enum {
    SHORT_MS = 30,
    LONG_MS = 1000000, /* longer than the test may take */
};

static struct {
    zkr_session *session;
    zkr_mutex *mutex;
    zkr_unfair_mutex *unfair;
    zkr_reentrant_mutex *reentrant;
    zkr_rwlock *rwlock;
    zkr_leader *leader;
    zkr_semaphore *semaphore;
    zkr_multi_lock *multi_lock;
    zkr_grant *grant; /* of another lock object */
    zkr_counter *counter;
    zkr_barrier *barrier;
} it;

static int setup(uint32_t reply_timeout_ms)
{
    struct zkr_session_opts opts = ZKR_SESSION_OPTS_INIT;
    zkr_mutex *other;

    client_reset();
    opts.reply_timeout_ms = reply_timeout_ms;
    ok(zkr_session_open("127.0.0.1:2181", &opts, &it.session));
    other = new_mutex(it.session);
    ok(zkr_mutex_acquire(other, -1, &it.grant));
    zkr_mutex_free(other);
    it.mutex = new_mutex(it.session);
    ok(zkr_unfair_mutex_new(it.session, "/lock", NULL, &it.unfair));
    ok(zkr_reentrant_mutex_new(it.session, "/lock", NULL, &it.reentrant));
    ok(zkr_rwlock_new(it.session, "/lock", NULL, &it.rwlock));
    ok(zkr_counter_new(it.session, "/counter", NULL, &it.counter));
    ok(zkr_leader_new(it.session, "/lock", NULL, NULL, NULL, &it.leader));
    ok(zkr_semaphore_new(it.session, "/lock", 2, NULL, &it.semaphore));
    ok(zkr_barrier_new(it.session, "/barrier", NULL, &it.barrier));
    ok(zkr_multi_lock_new(it.session, NULL, &it.multi_lock));
    ok(zkr_multi_lock_add(it.multi_lock, it.mutex, NULL));
    client_stops_at(CLIENT_AT_ONCE);
    client_await_stop();
    return 0;
}

static int setup_short(void)
{
    return setup(SHORT_MS);
}

static int setup_long(void)
{
    return setup(LONG_MS);
}

/* Everything that waits ends with the session. */
static void close_all(void)
{
    client_goes_on();
    (void)zkr_session_close(it.session);
}

static void free_all(void)
{
    zkr_grant_free(it.grant);
    zkr_multi_lock_free(it.multi_lock);
    zkr_mutex_free(it.mutex);
    zkr_unfair_mutex_free(it.unfair);
    zkr_reentrant_mutex_free(it.reentrant);
    zkr_rwlock_free(it.rwlock);
    zkr_counter_free(it.counter);
    zkr_leader_free(it.leader);
    zkr_semaphore_free(it.semaphore);
    zkr_barrier_free(it.barrier);
}

static int teardown(void)
{
    close_all();
    free_all();
    return 0;
}

FIXTURE(setup_short, teardown)

#define ACQUIRE(name, lock)                                                    \
    static int call_##name(int64_t timeout_ms)                                 \
    {                                                                          \
        zkr_grant *g;                                                          \
        int rc = name(lock, timeout_ms, &g);                                   \
                                                                               \
        zkr_grant_free(g);                                                     \
        return rc;                                                             \
    }

static int any_acquire(zkr_lockable *lock, int64_t timeout_ms, zkr_grant **ret)
{
    return zkr_lockable_acquire(lock, NULL, timeout_ms, ret);
}

static int any_acquire_all(zkr_lockable *lock, int64_t timeout_ms,
                           zkr_grant **ret)
{
    return zkr_lockable_acquire_all(lock, NULL, timeout_ms, ret);
}

ACQUIRE(any_acquire, it.mutex)
ACQUIRE(any_acquire_all, it.multi_lock)
#define call_zkr_lockable_acquire     call_any_acquire
#define call_zkr_lockable_acquire_all call_any_acquire_all

ACQUIRE(zkr_mutex_acquire, it.mutex)
ACQUIRE(zkr_unfair_mutex_acquire, it.unfair)
ACQUIRE(zkr_multi_lock_acquire, it.multi_lock)
ACQUIRE(zkr_semaphore_acquire, it.semaphore)
ACQUIRE(zkr_rwlock_acquire_read, it.rwlock)
ACQUIRE(zkr_rwlock_acquire_write, it.rwlock)

static int call_zkr_semaphore_acquire_many(int64_t timeout_ms)
{
    zkr_grant *two[2];
    int rc = zkr_semaphore_acquire_many(it.semaphore, 2, timeout_ms, two);

    zkr_grants_free(two, 2);
    return rc;
}

static int call_zkr_leader_wait(int64_t timeout_ms)
{
    int rc = zkr_leader_campaign(it.leader);

    return rc == ZKR_OK ? zkr_leader_wait(it.leader, timeout_ms) : rc;
}

static int call_zkr_participants_list(int64_t timeout_ms)
{
    struct zkr_participants_opts opts = ZKR_PARTICIPANTS_OPTS_INIT;
    struct zkr_participants *list;
    int rc;

    opts.timeout_ms = timeout_ms;
    rc = zkr_participants_list(it.session, "/lock", &opts, &list);
    zkr_participants_free(list);
    return rc;
}

static int call_zkr_counter_get(int64_t timeout_ms)
{
    int64_t value;

    return zkr_counter_get(it.counter, timeout_ms, &value, NULL);
}

static int call_zkr_counter_compare_and_set(int64_t timeout_ms)
{
    int64_t found;

    return zkr_counter_compare_and_set(it.counter, 0, 1, timeout_ms, &found);
}

static int call_zkr_double_barrier_enter(int64_t timeout_ms)
{
    zkr_double_barrier *member;
    int rc = zkr_double_barrier_new(it.session, "/double", 2, NULL, &member);

    if (rc == ZKR_OK)
        rc = zkr_double_barrier_enter(member, timeout_ms);
    zkr_double_barrier_free(member);
    return rc;
}

static int call_zkr_txn_commit(int64_t timeout_ms)
{
    zkr_txn *txn;
    int rc = zkr_txn_new(it.session, NULL, &txn);

    if (rc == ZKR_OK)
        rc = zkr_txn_delete(txn, "/a", 0);
    if (rc == ZKR_OK)
        rc = zkr_txn_commit(txn, timeout_ms);
    zkr_txn_free(txn);
    return rc;
}

#define CALL(name, ...)                                                        \
    static int call_##name(int64_t timeout_ms)                                 \
    {                                                                          \
        return name(__VA_ARGS__);                                              \
    }

CALL(zkr_reentrant_mutex_acquire, it.reentrant, timeout_ms)
CALL(zkr_grant_verify, it.grant, timeout_ms)
CALL(zkr_grant_guarded_set, it.grant, "/a", "", 0, 0, timeout_ms, NULL)
CALL(zkr_grant_guarded_create, it.grant, "/a", "", 0, timeout_ms)
CALL(zkr_grant_guarded_delete, it.grant, "/a", 0, timeout_ms)
CALL(zkr_session_get, it.session, "/a", timeout_ms, NULL)
CALL(zkr_session_exists, it.session, "/a", timeout_ms, NULL)
CALL(zkr_session_children, it.session, "/a", timeout_ms, NULL)
CALL(zkr_session_sync, it.session, timeout_ms)
CALL(zkr_session_create, it.session, "/a", "", 0, NULL, timeout_ms, NULL)
CALL(zkr_session_set, it.session, "/a", "", 0, 0, timeout_ms, NULL)
CALL(zkr_session_delete, it.session, "/a", 0, timeout_ms)
CALL(zkr_barrier_set, it.barrier, timeout_ms)
CALL(zkr_barrier_remove, it.barrier, timeout_ms)
CALL(zkr_barrier_wait, it.barrier, timeout_ms)
CALL(zkr_counter_add, it.counter, 1, timeout_ms, NULL)
CALL(zkr_counter_set, it.counter, 1, ZKR_ANY_VERSION, timeout_ms)
CALL(zkr_participants_break, it.session, zkr_grant_node(it.grant), 1,
     timeout_ms)

#define ROW(name)                                                              \
    {                                                                          \
#name, call_##name                                                     \
    }

static const struct row {
    const char *name;
    int (*call)(int64_t timeout_ms);
} rows[] = {
    ROW(zkr_mutex_acquire),
    ROW(zkr_lockable_acquire),
    ROW(zkr_lockable_acquire_all),
    ROW(zkr_unfair_mutex_acquire),
    ROW(zkr_reentrant_mutex_acquire),
    ROW(zkr_rwlock_acquire_read),
    ROW(zkr_rwlock_acquire_write),
    ROW(zkr_leader_wait),
    ROW(zkr_multi_lock_acquire),
    ROW(zkr_semaphore_acquire),
    ROW(zkr_semaphore_acquire_many),
    ROW(zkr_grant_verify),
    ROW(zkr_grant_guarded_set),
    ROW(zkr_grant_guarded_create),
    ROW(zkr_grant_guarded_delete),
    ROW(zkr_session_get),
    ROW(zkr_session_exists),
    ROW(zkr_session_children),
    ROW(zkr_session_sync),
    ROW(zkr_session_create),
    ROW(zkr_session_set),
    ROW(zkr_session_delete),
    ROW(zkr_txn_commit),
    ROW(zkr_participants_list),
    ROW(zkr_participants_break),
    ROW(zkr_barrier_set),
    ROW(zkr_barrier_remove),
    ROW(zkr_barrier_wait),
    ROW(zkr_double_barrier_enter),
    ROW(zkr_counter_get),
    ROW(zkr_counter_add),
    ROW(zkr_counter_compare_and_set),
    ROW(zkr_counter_set),
};

static void ends_after(const struct row *row, int64_t timeout_ms)
{
    int64_t began = zkr__clock_now();
    int rc = row->call(timeout_ms);
    int64_t took_ms = (zkr__clock_now() - began) / ZKR__MS;

    if (rc == ZKR_OK)
        fail_msg("%s succeeds", row->name);
    if (took_ms < SHORT_MS || took_ms >= LONG_MS)
        fail_msg("%s ends after %d ms: %s", row->name, (int)took_ms,
                 zkr_error_detail());
}

TEST(zero_is_the_reply_timeout)
{
    for (size_t i = 0; i < COUNT(rows); i++)
        ends_after(&rows[i], 0);
}

TEST_WITH(a_timeout_is_in_milliseconds, setup_long, teardown)
{
    for (size_t i = 0; i < COUNT(rows); i++)
        ends_after(&rows[i], SHORT_MS);
}

struct waiter {
    const struct row *row;
    atomic_bool ended;
    pthread_t thread;
};

static void *wait_without_limit(void *user)
{
    struct waiter *w = user;

    any_result(w->row->call(-1));
    atomic_store(&w->ended, true);
    return NULL;
}

/* Calls that begin later, and end, show that the time has come. */
TEST_WITH(less_than_zero_waits_without_limit, setup_short, NULL)
{
    struct waiter waiters[COUNT(rows)];

    for (size_t i = 0; i < COUNT(rows); i++) {
        waiters[i].row = &rows[i];
        atomic_init(&waiters[i].ended, false);
        waiters[i].thread = thread_start(wait_without_limit, &waiters[i]);
    }
    zero_is_the_reply_timeout();
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (atomic_load(&waiters[i].ended))
            fail_msg("%s ends", rows[i].name);
    }
    close_all();
    for (size_t i = 0; i < COUNT(rows); i++)
        thread_join(waiters[i].thread);
    free_all(); /* the threads have used it up to their end */
}
