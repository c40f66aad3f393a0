/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the directories of locks: as containers, which the server removes
 * when they are empty, at any moment, also between our list and our create; and
 * with numbers that are used up. */
#include "fixture.h"

#include "seed.h"

enum { THREADS = 10, ROUNDS = 20 };

static atomic_int failed;

static void *use_lock(void *mutex)
{
    for (int i = 0; i < ROUNDS; i++) {
        AUTO(grant) g = NULL;

        if (zkr_mutex_acquire(mutex, SOON_MS, &g) != ZKR_OK) {
            failed++;
            continue;
        }
        sleep_ms(i % 3);
        failed += zkr_grant_release(g) != ZKR_OK;
        sleep_ms(rand() % 20); /* long enough for it to be empty at times */
    }
    return NULL;
}

/* Curator testContainerCleanup; CURATOR-180 */
TEST(directories_come_and_go_under_the_locks)
{
    AUTO(session) s = open_session();
    AUTO(mutex) m = new_mutex(s, "/containers/a/lock");
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS; i++)
        threads[i] = thread_start(use_lock, m);
    for (int i = 0; i < THREADS; i++)
        thread_join(threads[i]);
    assert_int_equal(failed, 0);
    AWAIT(admin_exists(admin, "/containers", NULL) == ZNONODE);
    release(acquire(m));
}

/* kazoo cannot cope with a directory that vanishes. */
TEST(flags_make_the_parents_of_a_lock_persistent)
{
    static const struct {
        const char *path;
        uint32_t flags;
    } locks[] = {
        { "/parents/persistent", ZKR_PERSISTENT_PARENTS },
        { "/parents/kazoo", ZKR_KAZOO_LAYOUT },
        { "/parents/container", 0 },
        { "/persistent/mutex", ZKR_PERSISTENT_PARENTS },
        { "/containers/mutex", 0 },
    };
    AUTO(session) s = open_session();

    for (size_t i = 0; i < COUNT(locks); i++) {
        const struct zkr_lockable_opts *opts =
            OPTS(lockable, .flags = locks[i].flags);
        AUTO(mutex) lock = i < 3 ? NEW(rwlock, s, locks[i].path, opts)
                                 : NEW(mutex, s, locks[i].path, opts);
        release(GRANT(lockable_acquire, lock, NULL, SOON_MS));
    }
    AWAIT(admin_exists(admin, "/parents/container", NULL) == ZNONODE);
    AWAIT(admin_exists(admin, "/containers", NULL) == ZNONODE);
    ok(admin_exists(admin, "/parents/persistent", NULL));
    ok(admin_exists(admin, "/parents/kazoo", NULL));
    ok(admin_exists(admin, "/persistent/mutex", NULL));
}

/* -- numbers that are used up ---------------------------------------------- */

/* At 2^31-1 the server's counter sticks, and clients have no order any more:
 * then nobody may be granted a lock. */
#define DIRECTORY "/tests/exhausted"
#define SEED      DIRECTORY "/seed"
#define LAST      INT32_C(2147483647)
#define EPOCH     "/tests/epoch"

static void count_warnings(enum zkr_log_level level, const char *line,
                           void *user)
{
    if (level == ZKR_LOG_WARNING && strstr(line, "sequence number") != NULL)
        recorder_add(user, 0, 0);
}

TEST(no_lock_is_granted_when_the_counter_sticks)
{
    AUTO(recorder) warnings = recorder_new();
    zkr_grant *g = NULL;
    int granted = 0, rc;

    assert_int_equal(admin_create(admin, DIRECTORY, NULL), ZOK);
    server_kill9(the_server);
    int64_t zxid = seed_next_zxid(the_server);
    assert_true(zxid > 0);
    assert_int_equal(seed_sequence(the_server, zxid, SEED, LAST - 5), 0);
    restart_server();
    assert_int_equal(admin_delete(admin, SEED), ZOK);
    AUTO(session) s = open_session();
    AUTO(mutex) m = new_mutex(s, DIRECTORY);
    zkr_log_set(ZKR_LOG_WARNING, count_warnings, warnings);
    while ((rc = zkr_mutex_acquire(m, SOON_MS, &g)) == ZKR_OK) {
        granted++;
        release(g);
        assert_in_range(granted, 1, 5);
    }
    zkr_log_set(ZKR_LOG_WARNING, NULL, NULL);
    assert_int_equal(rc, ZKR_EEXHAUSTED);
    assert_has(zkr_error_detail(), "lock-2147483647");
    assert_true(granted >= 3);
    assert_int_equal(recorder_count(warnings), granted);
    for (int i = 0; i < 3; i++)
        assert_int_equal(zkr_mutex_acquire(m, -1, &g), ZKR_EEXHAUSTED);
    wait_children(DIRECTORY, 0);

    /* The remedy is to let the directory be removed, and to start anew. */
    assert_int_equal(admin_delete(admin, DIRECTORY), ZOK);
    release(acquire(m));
}

/* The low half of a transaction's number comes to its end. */
TEST(tokens_grow_across_the_end_of_an_epoch)
{
    const int64_t last = INT64_C(0x1ffffffff);
    int64_t token = 0;

    assert_int_equal(admin_create(admin, EPOCH, NULL), ZOK);
    server_kill9(the_server);
    assert_int_equal(seed_sequence(the_server, last - 20, EPOCH "/seed", 0), 0);
    restart_server();
    AUTO(session) s = open_session();
    AUTO(mutex) m = new_mutex(s, EPOCH);
    for (int i = 0; i < 20; i++) {
        AUTO(held) g = acquire(m);

        if (i == 0)
            assert_true(zkr_grant_token(g) < last);
        assert_true(zkr_grant_token(g) > token);
        token = zkr_grant_token(g);
    }
    assert_true(token > last);
}

int main(void)
{
    return run_with_server(&quick_containers, test_run_all);
}
