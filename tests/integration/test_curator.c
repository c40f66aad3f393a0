/* SPDX-License-Identifier: Apache-2.0 */
/* Curator's own lock tests, one by one, unless another file has them;
 * docs/tests.md says which. */
#include "rw_fixture.h"

/* -- InterProcessMutex: ours is the reentrant mutex ----------------------- */

FIXTURE(rw_setup, rw_teardown)

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
    AUTO(recorder) r = recorder_new();
    AUTO(mutex) mine = new_mutex(s, path);
    AUTO(mutex) theirs = new_mutex(other, path);
    AUTO(grant) g = acquire(mine);

    ok(zkr_grant_listen(g, give_back, r));
    AUTO(participants) list = list_of(other, path, NULL);
    assert_int_equal(list->count, 1);
    ok(zkr_participants_revoke(other,
                               textf("%s/%s", path, list->items[0].name)));
    AUTO(held) second = acquire(theirs);
    assert_int_equal(recorded(r, 0), ZKR_GRANT_REVOKE_REQUESTED);
    ok(recorded(r, 1));
    ok(zkr_grant_listen(g, NULL, NULL));
    assert_int_equal(zkr_grant_state(g), ZKR_GRANT_RELEASED);
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
    AUTO(participants) list = list_of(other, path, NULL);
    assert_int_equal(list->count, READERS + WRITERS);
    for (size_t i = 0; i < list->count; i++) {
        const struct zkr_participant *p = &list->items[i];

        assert_int_equal(p->kind, i < READERS ? ZKR_PARTICIPANT_SHARED
                                              : ZKR_PARTICIPANT_EXCLUSIVE);
        assert_int_equal(p->holds, i < READERS);
        if (i >= READERS)
            assert_int_equal(p->waits_for, i - 1);
    }
    for (size_t i = 0; i < READERS; i++) {
        assert_int_equal(recorder_count(writing), 0);
        release(recorded_grant(reading, i));
    }
    for (size_t i = 0; i < WRITERS; i++)
        release(recorded_grant(writing, i));
    assert_int_equal(count_children(dir), 0);
}

/* TestInterProcessReadWriteLock.testSetNodeData: the caller may change its text
 * afterwards. */
TEST(the_label_in_the_node_is_a_copy)
{
    char label[] = "one";

    AUTO(rwlock) labelled =
        NEW(rwlock, s, path, OPTS(lockable, .label = label));
    (void)strcpy(label, "two");
    for (size_t i = 0; i < 2; i++) {
        AUTO(held) g = NULL;
        char data[1024];

        ok(modes[i](labelled, SOON_MS, &g));
        ok(admin_get(admin, node_of(g), data, sizeof(data)));
        assert_has(data, "\"label\":\"one\"");
    }
}

/* -- ACLs ----------------------------------------------------------------- */

/* TestLockACLs.testLockACLs, testACLsCreatingParents. There a provider gives
 * each path its own ACL; here one ACL is for all that a session creates. */
TEST(all_that_a_session_creates_has_its_acl)
{
    char acl[128];

    assert_int_equal(admin_create(admin, "/tests/acl", NULL), ZOK);
    AUTO(session) guarded =
        OPEN(.chroot = "/tests/acl", .acl = "ip:127.0.0.1:cdrwa");
    AUTO(rwlock) l = NEW(rwlock, guarded, "/a/lock", NULL);
    AUTO(held) g = write_lock(l);
    const char *const made[] = { "/a", "/a/lock", zkr_grant_node(g) };
    for (size_t i = 0; i < COUNT(made); i++) {
        const char *node = textf("/tests/acl%s", made[i]);

        ok(admin_get_acl(admin, node, acl, sizeof(acl)));
        assert_string_equal(acl, "ip:127.0.0.1:31");
    }
    /* The ACL of existing nodes does not change. */
    assert_int_equal(admin_get_acl(admin, "/tests/acl", acl, sizeof(acl)), ZOK);
    assert_string_equal(acl, "world:anyone:31");
}

/* -- what Curator has no test for ----------------------------------------- */

/* CURATOR-678: its delete fails, and the next acquire waits for that node. */
TEST(released_without_a_connection_it_is_acquired_again)
{
    AUTO(recorder) r = recorder_new();

    for (size_t i = 0; i < 2; i++) {
        zkr_grant *g = NULL;

        ok(modes[i](lock, SOON_MS, &g));
        disconnect(proxy, s);
        ok(zkr_grant_release_async(g, record_release, r));
        zkr_grant_free(g);
        struct waiter again = WAITER(start_by, by_writing, lock, SOON_MS);
        proxy_heal(proxy);
        ok(recorded(r, i));
        release(granted(&again));
        assert_int_equal(count_children(dir), 0);
    }
}

/* CURATOR-604: a waiter was granted with the node of its old session, which the
 * server deleted later. */
TEST(a_grant_has_a_node_of_its_present_session)
{
    for (size_t i = 0; i < 2; i++) {
        zkr_grant *first = write_lock(rival);
        struct waiter w = WAITER(queue_by, modes[i], lock, dir);

        disconnect(proxy, s);
        expire(s);
        release(first);
        proxy_heal(proxy);
        (void)granted(&w);
        assert_int_equal(zkr_session_epoch(s), i + 2);
        assert_true(stat_of(node_of(w.grant)).ephemeralOwner ==
                    zkr_session_id(s));
        assert_int_equal(count_children(dir), 1);
        is_refused(by_writing);
        release(w.grant);
    }
}
