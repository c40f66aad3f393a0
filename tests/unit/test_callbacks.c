/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that every callback may be NULL: the call does what it says, and
 * nobody is told. tests/api/codes.py checks that no function is missing. */
#include "unit.h"

#include <zkrecipes/zhandle.h>

#include "client.h"

static zkr_session *s;

static int setup(void)
{
    client_reset();
    s = open_session(0);
    return 0;
}

/* All callbacks that are due are called then. */
static int teardown(void)
{
    return s == NULL ? 0 : zkr_session_close(s);
}

FIXTURE(setup, teardown)

/* A test of that function: what follows calls it, and returns its code. */
#define CALL(name)                                                             \
    static int call_##name(void);                                              \
    TEST(nobody_is_told_by_##name)                                             \
    {                                                                          \
        int rc = call_##name();                                                \
                                                                               \
        if (ZKR__CLIENT_INSIDE && rc == ZKR_ENOTSUP)                           \
            skip(); /* it takes no handle of another client */                 \
        assert_int_equal(rc, ZKR_OK);                                          \
    }                                                                          \
    static int call_##name(void)

CALL(zkr_log_set)
{
    zkr_log_set(ZKR_LOG_DEBUG, NULL, NULL);
    return ZKR_OK;
}

CALL(zkr_session_open_async)
{
    (void)zkr_session_close(s);
    int rc = zkr_session_open_async("127.0.0.1:2181", NULL, NULL, NULL, &s);

    AUTO(mutex) m = new_mutex(s);
    give_back(acquire(m));
    return rc;
}

CALL(zkr_session_listen)
{
    AUTO(listener) listener = NULL;

    return zkr_session_listen(s, NULL, NULL, &listener);
}

CALL(zkr_session_watch)
{
    AUTO(watch) watch = NULL;
    int rc =
        zkr_session_watch(s, "/lock", ZKR_WATCH_DATA, NULL, NULL, NULL, &watch);

    client_await_rest();
    return rc;
}

CALL(zkr_txn_commit_async)
{
    AUTO(txn) txn = NEW(txn, s, NULL);
    ok(zkr_txn_delete(txn, "/lock", 0));
    return zkr_txn_commit_async(txn, 0, NULL, NULL);
}

CALL(zkr_leader_new)
{
    AUTO(leader) leader = NULL;
    int rc = zkr_leader_new(s, "/lock", NULL, NULL, NULL, &leader);

    ok(zkr_leader_campaign(leader));
    ok(zkr_leader_wait(leader, -1));
    return rc;
}

CALL(zkr_multi_lock_acquire_async)
{
    AUTO(mutex) m = new_mutex(s);
    AUTO(multi_lock) l = NEW(multi_lock, s, NULL);

    ok(zkr_multi_lock_add(l, m, NULL));
    return zkr_multi_lock_acquire_async(l, -1, NULL, NULL, NULL);
}

CALL(zkr_semaphore_acquire_async)
{
    AUTO(semaphore) l = NEW(semaphore, s, "/lock", 2, NULL);
    return zkr_semaphore_acquire_async(l, -1, NULL, NULL, NULL);
}

CALL(zkr_semaphore_acquire_many_async)
{
    AUTO(semaphore) l = NEW(semaphore, s, "/lock", 2, NULL);
    return zkr_semaphore_acquire_many_async(l, 2, -1, NULL, NULL, NULL);
}

CALL(zkr_grant_listen)
{
    AUTO(mutex) m = new_mutex(s);
    AUTO(grant) g = acquire(m);

    return zkr_grant_listen(g, NULL, NULL);
}

CALL(zkr_grant_release_async)
{
    AUTO(mutex) m = new_mutex(s);
    AUTO(grant) g = acquire(m);

    return zkr_grant_release_async(g, NULL, NULL);
}

#define ACQUIRE(name, noun, ...)                                               \
    CALL(name)                                                                 \
    {                                                                          \
        AUTO(noun) l = NEW(noun, s, "/lock", NULL);                            \
        return name(l, __VA_ARGS__, NULL, NULL, NULL);                         \
    }

ACQUIRE(zkr_lockable_acquire_async, mutex, NULL, -1)
ACQUIRE(zkr_lockable_acquire_all_async, mutex, NULL, -1)
ACQUIRE(zkr_mutex_acquire_async, mutex, -1)
ACQUIRE(zkr_unfair_mutex_acquire_async, unfair_mutex, -1)
ACQUIRE(zkr_rwlock_acquire_read_async, rwlock, -1)
ACQUIRE(zkr_rwlock_acquire_write_async, rwlock, -1)

#define SESSION(name, ...)                                                     \
    CALL(name)                                                                 \
    {                                                                          \
        return name(s, __VA_ARGS__);                                           \
    }

SESSION(zkr_session_with_handle, NULL, NULL)
SESSION(zkr_session_get_async, "/lock", 0, NULL, NULL)
SESSION(zkr_session_exists_async, "/lock", 0, NULL, NULL)
SESSION(zkr_session_children_async, "/lock", 0, NULL, NULL)
SESSION(zkr_session_sync_async, 0, NULL, NULL)
SESSION(zkr_session_create_async, "/lock", NULL, 0, NULL, 0, NULL, NULL)
SESSION(zkr_session_set_async, "/lock", NULL, 0, 0, 0, NULL, NULL)
SESSION(zkr_session_delete_async, "/lock", 0, 0, NULL, NULL)

TEST(what_is_granted_to_nobody_goes_back)
{
    AUTO(mutex) m = new_mutex(s);

    ok(zkr_lockable_acquire_async(m, NULL, -1, NULL, NULL, NULL));
    AWAIT(client_requests(ZKR__ZK_DELETE) == 1);
    ok(zkr_lockable_acquire_all_async(m, NULL, -1, NULL, NULL, NULL));
    AWAIT(client_requests(ZKR__ZK_DELETE) == 2);
}
