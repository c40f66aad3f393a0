/* SPDX-License-Identifier: Apache-2.0 */
/* Curator's own lock tests, one by one, unless another file has them;
 * docs/tests.md says which. */
#include "rw_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -- InterProcessMutex: ours is the reentrant mutex ----------------------- */

static zkr_reentrant_mutex *new_reentrant(zkr_session *session)
{
    zkr_reentrant_mutex *m = NULL;

    ok(zkr_reentrant_mutex_new(session, path, NULL, &m));
    return m;
}

/* A thread that acquires, reports it, and releases on command. */
struct client {
    zkr_reentrant_mutex *mutex;
    pthread_t thread;
    atomic_bool holds;
    atomic_bool may_release;
    int acquired;
    int released;
};

static bool is_set(void *flag)
{
    return atomic_load((atomic_bool *)flag);
}

static void *client_main(void *arg)
{
    struct client *c = arg;

    c->acquired = zkr_reentrant_mutex_acquire(c->mutex, SOON_MS);
    if (c->acquired != ZKR_OK)
        return NULL;
    atomic_store(&c->holds, true);
    (void)wait_until(is_set, &c->may_release, SOON_MS);
    atomic_store(&c->holds, false);
    c->released = zkr_reentrant_mutex_release(c->mutex);
    return NULL;
}

static void client_start(struct client *c, zkr_reentrant_mutex *m)
{
    *c = (struct client){ .mutex = m };
    assert_int_equal(pthread_create(&c->thread, NULL, client_main, c), 0);
}

static void client_end(struct client *c)
{
    atomic_store(&c->may_release, true);
    assert_int_equal(pthread_join(c->thread, NULL), 0);
    assert_int_equal(c->acquired, ZKR_OK);
}

FIXTURE(rw_setup, rw_teardown)

/* TestInterProcessMutexBase.testWaitingProcessKilledServer */
TEST(a_server_that_restarts_hands_the_lock_on)
{
    zkr_reentrant_mutex *mutexes[] = { new_reentrant(s), new_reentrant(s) };
    struct client second;
    int rc;

    ok(zkr_reentrant_mutex_acquire(mutexes[0], SOON_MS));
    client_start(&second, mutexes[1]);
    wait_children(dir, 2);
    server_kill9(the_server);
    wait_session_state(s, ZKR_SESSION_SUSPENDED);
    restart_server();
    assert_false(atomic_load(&second.holds));
    rc = zkr_reentrant_mutex_release(mutexes[0]);
    assert_true(rc == ZKR_OK || rc == ZKR_ELOST || rc == ZKR_EPENDING);
    assert_true(wait_until(is_set, &second.holds, SOON_MS));
    client_end(&second);
    assert_int_equal(second.released, ZKR_OK);
    zkr_reentrant_mutex_free(mutexes[0]);
    zkr_reentrant_mutex_free(mutexes[1]);
}

/* TestInterProcessMutexBase.testKilledSession: the holder sleeps on. */
TEST(a_session_that_is_killed_hands_the_lock_on)
{
    zkr_reentrant_mutex *mutexes[] = { new_reentrant(s), new_reentrant(s) };
    struct client second;

    ok(zkr_reentrant_mutex_acquire(mutexes[0], SOON_MS));
    client_start(&second, mutexes[1]);
    wait_children(dir, 2);
    expire(s);
    assert_true(wait_until(is_set, &second.holds, SOON_MS));
    assert_int_equal(zkr_session_epoch(s), 2);
    assert_int_equal(zkr_grant_check(zkr_reentrant_mutex_grant(mutexes[0])),
                     ZKR_ELOST);
    client_end(&second);
    assert_int_equal(second.released, ZKR_OK);
    assert_int_equal(zkr_reentrant_mutex_release(mutexes[0]), ZKR_ELOST);
    zkr_reentrant_mutex_free(mutexes[0]);
    zkr_reentrant_mutex_free(mutexes[1]);
}

/* TestInterProcessMutexBase.testLocker, testWithNamespace */
TEST(it_is_held_in_a_namespace_and_not_afterwards)
{
    char full[128];
    AUTO(session) spaced = NULL;
    AUTO(reentrant_mutex) m = NULL;

    spaced = open_session_with(OPTS(session, .chroot = "/tests"));
    m = new_reentrant(spaced);
    (void)snprintf(full, sizeof(full), "/tests%s", path);
    ok(zkr_reentrant_mutex_acquire(m, 10000));
    assert_int_equal(zkr_reentrant_mutex_depth(m), 1);
    assert_int_equal(count_children(full), 1);
    ok(zkr_reentrant_mutex_release(m));
    assert_int_equal(zkr_reentrant_mutex_depth(m), 0);
    assert_int_equal(count_children(full), 0);
}

/* TestInterProcessMutexBase.test2Clients */
TEST(of_two_clients_one_holds_at_a_time)
{
    zkr_reentrant_mutex *mutexes[] = { new_reentrant(s), new_reentrant(other) };
    struct client clients[2];
    struct client *first;
    struct client *second;

    client_start(&clients[0], mutexes[0]);
    client_start(&clients[1], mutexes[1]);
    wait_children(dir, 2);
    settle(s);
    settle(other);
    assert_true(atomic_load(&clients[0].holds) !=
                atomic_load(&clients[1].holds));
    first = atomic_load(&clients[0].holds) ? &clients[0] : &clients[1];
    second = first == &clients[0] ? &clients[1] : &clients[0];
    client_end(first);
    assert_true(wait_until(is_set, &second->holds, SOON_MS));
    client_end(second);
    assert_int_equal(first->released, ZKR_OK);
    assert_int_equal(second->released, ZKR_OK);
    zkr_reentrant_mutex_free(mutexes[0]);
    zkr_reentrant_mutex_free(mutexes[1]);
}

static void give_back(zkr_grant *g, const struct zkr_grant_event *e,
                      void *recorder)
{
    recorder_add(recorder, (int)e->kind, e->state);
    if (e->kind == ZKR_GRANT_REVOKE_REQUESTED)
        recorder_add(recorder, zkr_grant_release_async(g, NULL, NULL), 0);
}

/* TestInterProcessMutex.testRevoking */
TEST(a_holder_that_is_asked_gives_the_lock_back)
{
    zkr_mutex *mutexes[] = { new_mutex(s, path), new_mutex(other, path) };
    zkr_grant *g = acquire(mutexes[0]);
    struct zkr_participants *list = NULL;
    struct recorder *r = recorder_new();
    struct waiter second;
    char node[256];
    int code = 1;

    ok(zkr_grant_listen(g, give_back, r));
    ok(zkr_participants_list(other, path, NULL, &list));
    assert_int_equal(list->count, 1);
    (void)snprintf(node, sizeof(node), "%s/%s", path, list->items[0].name);
    zkr_participants_free(list);
    ok(zkr_participants_revoke(other, node));
    waiter_start(&second, mutexes[1], 5000);
    assert_int_equal(waiter_join(&second), ZKR_OK);
    assert_true(recorder_get(r, 0, &code, NULL));
    assert_int_equal(code, ZKR_GRANT_REVOKE_REQUESTED);
    assert_true(recorder_get(r, 1, &code, NULL));
    assert_int_equal(code, ZKR_OK);
    ok(zkr_grant_listen(g, NULL, NULL));
    assert_int_equal(zkr_grant_state(g), ZKR_GRANT_RELEASED);
    zkr_grant_free(g);
    release(second.grant);
    recorder_free(r);
    zkr_mutex_free(mutexes[0]);
    zkr_mutex_free(mutexes[1]);
}

/* -- InterProcessReadWriteLock -------------------------------------------- */

/* Starts so many readers that hold, and then so many writers that wait. */
static void expect_participants(size_t readers, size_t writers)
{
    AUTO(participants) list = NULL;

    ok(zkr_participants_list(other, path, NULL, &list));
    assert_int_equal(list->count, readers + writers);
    for (size_t i = 0; i < readers; i++) {
        assert_int_equal(list->items[i].kind, ZKR_PARTICIPANT_SHARED);
        assert_true(list->items[i].holds);
    }
    for (size_t i = readers; i < readers + writers; i++) {
        assert_int_equal(list->items[i].kind, ZKR_PARTICIPANT_EXCLUSIVE);
        assert_false(list->items[i].holds);
        assert_int_equal(list->items[i].waits_for, i - 1);
    }
}

/* TestInterProcessReadWriteLock.testGetParticipantNodes */
TEST(twenty_readers_hold_and_eight_writers_queue)
{
    AUTO(recorder) reading = recorder_new();
    AUTO(recorder) writing = recorder_new();
    enum { READERS = 20, WRITERS = 8 };

    for (int i = 0; i < READERS; i++)
        ok(zkr_rwlock_acquire_read_async(i % 2 == 0 ? lock : rival, -1,
                                         record_acquire, reading, NULL));
    assert_true(recorder_wait(reading, READERS, SOON_MS));
    for (int i = 0; i < WRITERS; i++)
        ok(zkr_rwlock_acquire_write_async(i % 2 == 0 ? lock : rival, -1,
                                          record_acquire, writing, NULL));
    wait_children(dir, READERS + WRITERS);
    expect_participants(READERS, WRITERS);
    for (size_t i = 0; i < READERS; i++) {
        assert_int_equal(recorder_count(writing), 0);
        release(recorded_grant(reading, i));
    }
    for (size_t i = 0; i < WRITERS; i++) {
        assert_true(recorder_wait(writing, i + 1, SOON_MS));
        release(recorded_grant(writing, i));
    }
    assert_int_equal(count_children(dir), 0);
}

struct crowd {
    atomic_int readers;
    atomic_int most_readers;
    atomic_int writers;
    atomic_int wrote;
    atomic_int wrong;
};

struct member {
    struct crowd *crowd;
    zkr_session *session;
    zkr_rwlock *lock;
    unsigned seed;
    pthread_t thread;
};

static void write_once(struct member *m)
{
    struct crowd *c = m->crowd;
    zkr_grant *g;

    if (zkr_rwlock_acquire_write(m->lock, 10000, &g) != ZKR_OK) {
        c->wrong++;
        return;
    }
    c->wrong += atomic_fetch_add(&c->writers, 1) != 0;
    c->wrong += atomic_load(&c->readers) != 0;
    c->wrote++;
    sleep_ms(rand_r(&m->seed) % 3);
    atomic_fetch_sub(&c->writers, 1);
    c->wrong += zkr_grant_release(g) != ZKR_OK;
    zkr_grant_free(g);
}

static void read_once(struct member *m)
{
    struct crowd *c = m->crowd;
    zkr_grant *g;
    int readers;
    int most;

    if (zkr_rwlock_acquire_read(m->lock, 10000, &g) != ZKR_OK) {
        c->wrong++;
        return;
    }
    readers = atomic_fetch_add(&c->readers, 1) + 1;
    c->wrong += atomic_load(&c->writers) != 0;
    most = atomic_load(&c->most_readers);
    while (readers > most &&
           !atomic_compare_exchange_weak(&c->most_readers, &most, readers))
        ;
    sleep_ms(rand_r(&m->seed) % 3);
    atomic_fetch_sub(&c->readers, 1);
    c->wrong += zkr_grant_release(g) != ZKR_OK;
    zkr_grant_free(g);
}

static void *member_main(void *arg)
{
    struct member *m = arg;

    for (int i = 0; i < 100; i++) {
        if (rand_r(&m->seed) % 10 == 0)
            write_once(m);
        else
            read_once(m);
    }
    return NULL;
}

/* TestInterProcessReadWriteLock.testBasic */
TEST(eight_clients_read_together_and_write_alone)
{
    enum { N = 8 };
    struct crowd crowd = { 0 };
    struct member members[N];

    for (unsigned i = 0; i < N; i++) {
        members[i] = (struct member){ .crowd = &crowd, .seed = i + 1 };
        members[i].session = open_session();
        members[i].lock = new_rwlock(members[i].session, 0);
    }
    for (int i = 0; i < N; i++)
        assert_int_equal(
            pthread_create(&members[i].thread, NULL, member_main, &members[i]),
            0);
    for (int i = 0; i < N; i++)
        assert_int_equal(pthread_join(members[i].thread, NULL), 0);
    assert_int_equal(crowd.wrong, 0);
    assert_in_range(crowd.most_readers, 2, N);
    assert_true(crowd.wrote > 0);
    assert_int_equal(count_children(dir), 0);
    for (int i = 0; i < N; i++) {
        zkr_rwlock_free(members[i].lock);
        close_session(members[i].session);
    }
}

/* TestInterProcessReadWriteLock.testSetNodeData: the caller may change its text
 * afterwards. */
TEST(the_label_in_the_node_is_a_copy)
{
    char label[] = "one";
    AUTO(rwlock) labelled = NULL;

    ok(zkr_rwlock_new(s, path, OPTS(lockable, .label = label), &labelled));
    (void)strcpy(label, "two");
    for (size_t i = 0; i < 2; i++) {
        zkr_grant *g = NULL;
        char data[1024];

        ok(modes[i](labelled, SOON_MS, &g));
        assert_int_equal(admin_get(admin, node_of(g), data, sizeof(data)), ZOK);
        assert_non_null(strstr(data, "\"label\":\"one\""));
        release(g);
    }
}

/* TestInterProcessReadWriteLock.testLockPath */
TEST(the_node_of_a_writer_goes_with_its_session)
{
    zkr_grant *writing = write_lock(lock);
    zkr_grant *reading;

    assert_int_equal(admin_exists(admin, node_of(writing), NULL), ZOK);
    expire(s);
    reading = read_lock(rival);
    assert_int_equal(admin_exists(admin, node_of(writing), NULL), ZNONODE);
    wait_grant_state(writing, ZKR_GRANT_LOST);
    zkr_grant_free(writing);
    release(reading);
}

/* -- ACLs ----------------------------------------------------------------- */

/* TestLockACLs.testLockACLs, testACLsCreatingParents. There a provider gives
 * each path its own ACL; here one ACL is for all that a session creates. */
TEST(all_that_a_session_creates_has_its_acl)
{
    static const char *const made[] = { "/tests/acl/a", "/tests/acl/a/lock" };
    AUTO(session) guarded = NULL;
    AUTO(rwlock) l = NULL;
    zkr_grant *g;
    char acl[128];

    assert_int_equal(admin_create(admin, "/tests/acl", NULL), ZOK);
    guarded = open_session_with(
        OPTS(session, .chroot = "/tests/acl", .acl = "ip:127.0.0.1:cdrwa"));
    ok(zkr_rwlock_new(guarded, "/a/lock", NULL, &l));
    g = write_lock(l);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(admin_get_acl(admin, made[i], acl, sizeof(acl)), ZOK);
        assert_string_equal(acl, "ip:127.0.0.1:31");
    }
    (void)snprintf(dir, sizeof(dir), "/tests/acl%s", zkr_grant_node(g));
    assert_int_equal(admin_get_acl(admin, dir, acl, sizeof(acl)), ZOK);
    assert_string_equal(acl, "ip:127.0.0.1:31");
    /* The ACL of existing nodes does not change. */
    assert_int_equal(admin_get_acl(admin, "/tests/acl", acl, sizeof(acl)), ZOK);
    assert_string_equal(acl, "world:anyone:31");
    release(g);
}

/* -- what Curator has no test for ----------------------------------------- */

/* CURATOR-678: its delete fails, and the next acquire waits for that node. */
TEST(released_without_a_connection_it_is_acquired_again)
{
    for (size_t i = 0; i < 2; i++) {
        zkr_grant *g = NULL;
        struct waiter again;

        ok(modes[i](lock, SOON_MS, &g));
        proxy_cut(proxy);
        wait_session_state(s, ZKR_SESSION_SUSPENDED);
        ok(zkr_grant_release_async(g, NULL, NULL));
        zkr_grant_free(g);
        waiter_start_by(&again, by_writing, lock, SOON_MS);
        proxy_heal(proxy);
        release(granted(&again));
        assert_int_equal(count_children(dir), 0);
    }
}

static int hasty_setup(void)
{
    int rc;

    reply_ms = 300;
    rc = rw_setup();
    reply_ms = 0;
    return rc;
}

TEST_WITH(a_reentrant_mutex_is_released_and_acquired_so_too, hasty_setup,
          rw_teardown)
{
    AUTO(reentrant_mutex) m = new_reentrant(s);

    ok(zkr_reentrant_mutex_acquire(m, SOON_MS));
    proxy_cut(proxy);
    wait_session_state(s, ZKR_SESSION_SUSPENDED);
    assert_int_equal(zkr_reentrant_mutex_release(m), ZKR_EPENDING);
    proxy_heal(proxy);
    ok(zkr_reentrant_mutex_acquire(m, SOON_MS)); /* its old node has gone */
    assert_int_equal(zkr_reentrant_mutex_depth(m), 1);
    assert_int_equal(count_children(dir), 1);
    ok(zkr_reentrant_mutex_release(m));
}

/* CURATOR-604: a waiter was granted with the node of its old session, which the
 * server deleted later. */
TEST(a_grant_has_a_node_of_its_present_session)
{
    for (size_t i = 0; i < 2; i++) {
        zkr_grant *first = write_lock(rival);
        struct waiter w;
        struct Stat stat;

        queue_up(&w, modes[i], lock);
        proxy_cut(proxy);
        wait_session_state(s, ZKR_SESSION_SUSPENDED);
        expire(s);
        release(first);
        proxy_heal(proxy);
        (void)granted(&w);
        assert_int_equal(zkr_session_epoch(s), i + 2);
        assert_int_equal(admin_exists(admin, node_of(w.grant), &stat), ZOK);
        assert_true(stat.ephemeralOwner == zkr_session_id(s));
        assert_int_equal(count_children(dir), 1);
        is_refused(by_writing);
        release(w.grant);
    }
}
