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

TEST(persistent_parents_stay)
{
    AUTO(session) s = open_session();
    AUTO(mutex) other = new_mutex(s, "/containers/lock");

    AUTO(mutex) m = NEW(mutex, s, "/persistent/lock",
                        OPTS(lockable, .flags = ZKR_PERSISTENT_PARENTS));
    release(acquire(m));
    release(acquire(other));
    AWAIT(admin_exists(admin, "/containers", NULL) == ZNONODE);
    assert_int_equal(admin_exists(admin, "/persistent/lock", NULL), ZOK);
}

/* kazoo cannot cope with a directory that vanishes. */
TEST(the_flags_of_a_read_write_lock_make_them_persistent)
{
    static const struct {
        const char *path;
        uint32_t flags;
    } locks[] = {
        { "/rw/persistent", ZKR_PERSISTENT_PARENTS },
        { "/rw/kazoo", ZKR_KAZOO_LAYOUT },
        { "/rw/container", 0 },
    };
    AUTO(session) s = open_session();

    for (size_t i = 0; i < 3; i++) {
        AUTO(rwlock) lock = NEW(rwlock, s, locks[i].path,
                                OPTS(lockable, .flags = locks[i].flags));
        release(GRANT(rwlock_acquire_write, lock, SOON_MS));
    }
    AWAIT(admin_exists(admin, "/rw/container", NULL) == ZNONODE);
    assert_int_equal(admin_exists(admin, "/rw/persistent", NULL), ZOK);
    assert_int_equal(admin_exists(admin, "/rw/kazoo", NULL), ZOK);
}

int main(void)
{
    return run_with_server(&quick_containers, test_run_all);
}
