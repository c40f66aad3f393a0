/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of lock directories as containers: the server removes them when they
 * are empty, at any moment, also between our list and our create. */
#include "fixture.h"

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

int main(void)
{
    return run_with_server(&quick_containers, test_run_all);
}
