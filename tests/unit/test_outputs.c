/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that every output is empty after an error, of every function that has
 * one, when nothing that it needs is given, when the servers refuse, and when
 * the session is over. tests/api/tables.sh checks that none is missing, but
 * zkr_fence_new(), which fails for lack of memory only, and the counters, which
 * are no such output: test_opts.c. */
#include "unit.h"

#include <stdbool.h>
#include <string.h>
#include <time.h>

#include <zkrecipes/zkrecipes.h>

#include "client.h"
#include "opened.h"

/* What the calls are given; a call that would succeed gets a NULL, too. */
struct given {
    zkr_session *session;
    zkr_mutex *mutex;
    zkr_unfair_mutex *unfair;
    zkr_rwlock *rwlock;
    zkr_leader *leader; /* does not campaign */
    zkr_semaphore *semaphore;
    zkr_multi_lock *multi_lock;
    zkr_grant *grant;
    zkr_counter *counter;
    const char *path;
};

static struct given given;

/* A size that no version has: else nothing fails. */
static const struct zkr_multi_lock_opts short_multi_lock_opts = { .size = 1 };

#define CALL(name, ...)                                                        \
    static int call_##name(void *out)                                          \
    {                                                                          \
        return name(__VA_ARGS__, out);                                         \
    }

CALL(zkr_session_open, given.path, NULL) /* not hosts */
CALL(zkr_session_open_async, given.path, NULL, NULL, NULL)
CALL(zkr_session_listen, given.session, NULL, NULL)
CALL(zkr_session_fd, given.session)
CALL(zkr_session_watch, given.session, given.path, ZKR_WATCH_DATA, NULL, NULL)
CALL(zkr_session_get, given.session, given.path, 0)
CALL(zkr_session_exists, given.session, given.path, 0)
CALL(zkr_session_children, given.session, given.path, 0)
CALL(zkr_session_create, given.session, given.path, NULL, 0, NULL, 0)
CALL(zkr_session_set, given.session, given.path, NULL, 0, ZKR_ANY_VERSION, 0)
CALL(zkr_txn_new, NULL)
CALL(zkr_hosts_parse, given.path)
CALL(zkr_leader_new, given.session, "", NULL, NULL, NULL)
CALL(zkr_leader_grant, given.leader)
CALL(zkr_mutex_new, given.session, "", NULL)
CALL(zkr_mutex_acquire, given.mutex, 0)
CALL(zkr_mutex_acquire_async, given.mutex, 0, NULL, NULL)
CALL(zkr_unfair_mutex_new, given.session, "", NULL)
CALL(zkr_unfair_mutex_acquire, given.unfair, 0)
CALL(zkr_unfair_mutex_acquire_async, given.unfair, 0, NULL, NULL)
CALL(zkr_reentrant_mutex_new, given.session, "", NULL)
CALL(zkr_rwlock_new, given.session, "", NULL)
CALL(zkr_rwlock_acquire_read, given.rwlock, 0)
CALL(zkr_rwlock_acquire_write, given.rwlock, 0)
CALL(zkr_rwlock_acquire_read_async, given.rwlock, 0, NULL, NULL)
CALL(zkr_rwlock_acquire_write_async, given.rwlock, 0, NULL, NULL)
CALL(zkr_multi_lock_new, given.session, &short_multi_lock_opts)
CALL(zkr_multi_lock_acquire, given.multi_lock, 0)
CALL(zkr_multi_lock_acquire_async, given.multi_lock, 0, NULL, NULL)
CALL(zkr_semaphore_new, given.session, "", 1, NULL)
CALL(zkr_semaphore_acquire, given.semaphore, 0)
CALL(zkr_semaphore_acquire_many, given.semaphore, 1, 0)
CALL(zkr_semaphore_acquire_async, given.semaphore, 0, NULL, NULL)
CALL(zkr_semaphore_acquire_many_async, given.semaphore, 1, 0, NULL, NULL)
CALL(zkr_rwlock_downgrade, given.rwlock, given.grant)
CALL(zkr_grant_guarded_set, given.grant, given.path, NULL, 0, 0, 0)
CALL(zkr_barrier_new, given.session, "")
CALL(zkr_double_barrier_new, given.session, "", 2)
CALL(zkr_counter_new, given.session, "", NULL)
CALL(zkr_counter_get, given.counter, 0, &(int64_t){ 0 })
CALL(zkr_counter_add, given.counter, 1, 0)
CALL(zkr_counter_compare_and_set, given.counter, 0, 1, 0)
CALL(zkr_participants_list, given.session, given.path, NULL)
CALL(zkr_participants_arrange, NULL, 1)
CALL(zkr_locks_find, given.session, given.path, NULL)
CALL(zkr_fence_open, "/no/such/directory/fence")
CALL(zkr_fence_highest, NULL)

#define POINTER sizeof(void *), 0
#define ROW(name, ...)                                                         \
    {                                                                          \
#name, call_##name, __VA_ARGS__                                        \
    }

static const struct row {
    const char *name;
    int (*call)(void *out);
    size_t size;
    unsigned char empty; /* each byte of an output that is empty */
} rows[] = {
    ROW(zkr_session_open, POINTER),
    ROW(zkr_session_open_async, POINTER),
    ROW(zkr_session_listen, POINTER),
    ROW(zkr_session_fd, sizeof(int), 0xff),
    ROW(zkr_session_watch, POINTER),
    ROW(zkr_session_get, POINTER),
    ROW(zkr_session_exists, POINTER),
    ROW(zkr_session_children, POINTER),
    ROW(zkr_session_create, POINTER),
    ROW(zkr_session_set, POINTER),
    ROW(zkr_txn_new, POINTER),
    ROW(zkr_hosts_parse, POINTER),
    ROW(zkr_leader_new, POINTER),
    ROW(zkr_leader_grant, POINTER),
    ROW(zkr_mutex_new, POINTER),
    ROW(zkr_mutex_acquire, POINTER),
    ROW(zkr_mutex_acquire_async, POINTER),
    ROW(zkr_unfair_mutex_new, POINTER),
    ROW(zkr_unfair_mutex_acquire, POINTER),
    ROW(zkr_unfair_mutex_acquire_async, POINTER),
    ROW(zkr_reentrant_mutex_new, POINTER),
    ROW(zkr_rwlock_new, POINTER),
    ROW(zkr_rwlock_acquire_read, POINTER),
    ROW(zkr_rwlock_acquire_write, POINTER),
    ROW(zkr_rwlock_acquire_read_async, POINTER),
    ROW(zkr_rwlock_acquire_write_async, POINTER),
    ROW(zkr_multi_lock_new, POINTER),
    ROW(zkr_multi_lock_acquire, POINTER),
    ROW(zkr_multi_lock_acquire_async, POINTER),
    ROW(zkr_semaphore_new, POINTER),
    ROW(zkr_semaphore_acquire, POINTER),
    ROW(zkr_semaphore_acquire_many, POINTER),
    ROW(zkr_semaphore_acquire_async, POINTER),
    ROW(zkr_semaphore_acquire_many_async, POINTER),
    ROW(zkr_rwlock_downgrade, POINTER),
    ROW(zkr_grant_guarded_set, sizeof(struct zkr_stat), 0),
    ROW(zkr_barrier_new, POINTER),
    ROW(zkr_double_barrier_new, POINTER),
    ROW(zkr_counter_new, POINTER),
    ROW(zkr_counter_get, sizeof(int32_t), 0),
    ROW(zkr_counter_add, sizeof(int64_t), 0),
    ROW(zkr_counter_compare_and_set, sizeof(int64_t), 0),
    ROW(zkr_participants_list, POINTER),
    ROW(zkr_participants_arrange, POINTER),
    ROW(zkr_locks_find, POINTER),
    ROW(zkr_fence_open, POINTER),
    ROW(zkr_fence_highest, sizeof(int64_t), 0),
};

static bool is_all(const unsigned char *bytes, size_t size, unsigned char value)
{
    for (size_t i = 0; i < size; i++) {
        if (bytes[i] != value)
            return false;
    }
    return true;
}

static void expect_errors(void)
{
    for (size_t i = 0; i < COUNT(rows); i++) {
        unsigned char out[256];

        memset(out, 0x5a, sizeof(out));
        if (rows[i].call(out) == ZKR_OK)
            fail_msg("%s succeeds", rows[i].name);
        if (!is_all(out, rows[i].size, rows[i].empty))
            fail_msg("%s leaves something in its output", rows[i].name);
        if (!is_all(out + rows[i].size, sizeof(out) - rows[i].size, 0x5a))
            fail_msg("%s writes beyond its output", rows[i].name);
        assert_int_not_equal(rows[i].call(NULL), ZKR_OK);
    }
}

static int setup(void)
{
    client_reset();
    given = (struct given){ .path = "/lock" };
    given.session = open_session(0);
    given.mutex = new_mutex(given.session);
    assert_int_equal(
        zkr_unfair_mutex_new(given.session, "/lock", NULL, &given.unfair),
        ZKR_OK);
    assert_int_equal(
        zkr_rwlock_new(given.session, "/lock", NULL, &given.rwlock), ZKR_OK);
    assert_int_equal(
        zkr_counter_new(given.session, "/lock", NULL, &given.counter), ZKR_OK);
    assert_int_equal(
        zkr_leader_new(given.session, "/lock", NULL, NULL, NULL, &given.leader),
        ZKR_OK);
    assert_int_equal(
        zkr_semaphore_new(given.session, "/lock", 1, NULL, &given.semaphore),
        ZKR_OK);
    assert_int_equal(zkr_multi_lock_new(given.session, NULL, &given.multi_lock),
                     ZKR_OK);
    assert_int_equal(zkr_multi_lock_add_mutex(given.multi_lock, given.mutex),
                     ZKR_OK);
    assert_int_equal(zkr_mutex_acquire(given.mutex, -1, &given.grant), ZKR_OK);
    return 0;
}

static void answer_all(int rc)
{
    for (int type = 0; type < ZKR__ZK_TYPES; type++)
        client_answers((enum zkr__zk_type)type, rc);
}

static int teardown(void)
{
    answer_all(ZKR_OK);
    zkr_grant_free(given.grant);
    zkr_multi_lock_free(given.multi_lock);
    zkr_leader_free(given.leader);
    zkr_rwlock_free(given.rwlock);
    zkr_semaphore_free(given.semaphore);
    zkr_unfair_mutex_free(given.unfair);
    zkr_mutex_free(given.mutex);
    zkr_counter_free(given.counter);
    (void)zkr_session_close(given.session);
    return 0;
}

FIXTURE(setup, teardown)

TEST(outputs_are_empty_when_nothing_is_given)
{
    const struct given all = given;

    memset(&given, 0, sizeof(given));
    expect_errors();
    given = all;
}

TEST(outputs_are_empty_when_the_servers_refuse)
{
    answer_all(ZKR_ZNOAUTH);
    expect_errors();
}

TEST(outputs_are_empty_when_the_session_is_over)
{
    client_says(ZKR__ZK_AUTH_FAILED);
    while (zkr_session_state(given.session) != ZKR_SESSION_AUTH_FAILED)
        (void)nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
    expect_errors();
}
