/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the downgrade with no writer in between: as it should go, and with
 * each of its requests lost, late, or overtaken by an operator. */
#include "rw_fixture.h"

static struct waiter reader, writer, late, w; /* of the test that runs */

static zkr_grant *downgrade(zkr_rwlock *l, zkr_grant *writing)
{
    zkr_grant *reading = GRANT(rwlock_downgrade, l, writing);

    assert_int_equal(zkr_grant_check(reading), ZKR_OK);
    assert_int_equal(zkr_grant_state(writing), ZKR_GRANT_RELEASED);
    return reading;
}

/* A downgrade on a thread of its own: any thread may, without REENTRANT. */
struct change {
    zkr_rwlock *lock;
    zkr_grant *writing;
    int rc;
    zkr_grant *reading;
};

static int by_downgrading(zkr_lockable *arg, int64_t timeout_ms,
                          zkr_grant **ret_grant)
{
    struct change *c = (void *)arg;

    return zkr_rwlock_downgrade(c->lock, c->writing, ret_grant);
}

/* By `w`; returns when the proxy has held up the first such operation. */
static void downgrade_until(int32_t op, struct change *c)
{
    proxy_rule(proxy, op, 1, PROXY_HOLD_REQUEST);
    waiter_start_by(&w, by_downgrading, c, 0);
    assert_true(proxy_wait_rule(proxy, SOON_MS));
}

/* -- as it should go ------------------------------------------------------ */

FIXTURE(rw_setup, rw_teardown)

static int acquire_of(zkr_rwlock *l, uint64_t owner, enum zkr_mode mode,
                      zkr_grant **ret_grant)
{
    return zkr_lockable_acquire(l, OPTS(acquire, .mode = mode, .owner = owner),
                                0, ret_grant);
}

TEST(an_owner_with_a_number_reads_beside_its_write_and_downgrades_anywhere)
{
    struct change c = { .lock = nested };
    zkr_grant *writing = NULL, *reading = NULL;

    ok(acquire_of(lock, 7, ZKR_EXCLUSIVE, &writing));
    ok(acquire_of(lock, 7, ZKR_SHARED, &reading));
    assert_true(zkr_grant_token(reading) == zkr_grant_token(writing));
    assert_int_equal(acquire_of(lock, 8, ZKR_SHARED, &nil), ZKR_EBUSY);
    assert_int_equal(acquire_of(lock, 0, ZKR_SHARED, &nil), ZKR_EBUSY);
    release(writing);
    tells(acquire_of(lock, 7, ZKR_EXCLUSIVE, &nil), ZKR_EDEADLK,
          "owner 7 has the");
    assert_int_equal(acquire_of(lock, 8, ZKR_EXCLUSIVE, &nil), ZKR_EBUSY);
    release(reading);
    ok(acquire_of(nested, 7, ZKR_EXCLUSIVE, &c.writing));
    waiter_start_by(&w, by_downgrading, &c, 0);
    ok(waiter_join(&w));
    zkr_grant_free(c.writing);
    struct zkr_acquire_opts *opts =
        OPTS(acquire, .mode = ZKR_SHARED, .owner = 7);
    zkr_grant *found = GRANT(lockable_grant, nested, opts);
    assert_ptr_equal(found, w.grant);
    opts->owner = 8;
    assert_int_equal(zkr_lockable_grant(nested, opts, &found), ZKR_ENOTOWNER);
    opts->mode = ZKR_EXCLUSIVE; /* in which nobody has it */
    assert_int_equal(zkr_lockable_grant(nested, opts, &found), ZKR_ENOTHELD);
    assert_int_equal(acquire_of(nested, 7, ZKR_EXCLUSIVE, &found), ZKR_EDEADLK);
    release(w.grant);
}

/* Curator testDowngrading, testContendingDowngrading: up to its version 5.4.0
 * the writer gets in as soon as the write is released. A disconnect costs
 * neither of both. */
TEST(a_read_under_a_write_keeps_writers_out)
{
    static const int64_t timeouts[] = { 0, SOON_MS, -1 };

    for (size_t i = 0; i < 3; i++) {
        zkr_grant *writing = write_lock(lock);

        queue_up(&writer, by_writing, rival);
        zkr_grant *reading = GRANT(rwlock_acquire_read, lock, timeouts[i]);
        assert_int_equal(count_children(dir), 3);
        assert_ptr_not_equal(reading, writing);
        proxy_cut(proxy);
        wait_grant_state(writing, ZKR_GRANT_SUSPENDED);
        wait_grant_state(reading, ZKR_GRANT_SUSPENDED);
        proxy_heal(proxy);
        wait_grant_state(reading, ZKR_GRANT_HELD);
        wait_grant_state(writing, ZKR_GRANT_HELD);
        assert_int_equal(zkr_grant_check(writing), ZKR_OK);
        release(writing);
        assert_int_equal(count_children(dir), 2);
        still_waits(&writer);
        assert_int_equal(zkr_grant_check(reading), ZKR_OK);
        release(hand_on(reading, &writer));
    }
}

TEST(a_read_under_a_write_waits_for_the_servers_as_a_try_does)
{
    AUTO(session)
    hasty = THROUGH(.reply_timeout_ms = 200,
                    .chroot = root[0] == '\0' ? NULL : root);
    AUTO(rwlock) l = new_rwlock(hasty, 0);
    AUTO(grant) writing = write_lock(l);
    proxy_freeze(proxy);
    gives(ZKR_ZOPERATIONTIMEOUT, zkr_rwlock_acquire_read(l, -1, &nil));
    proxy_heal(proxy);
    assert_int_equal(lock_stats(l).timeouts, 1);
}

TEST(a_read_at_the_place_of_the_write_may_be_released_first)
{
    zkr_grant *writing = write_lock(lock);
    zkr_grant *reading = read_lock(lock);
    zkr_grant *also = read_lock(lock);
    struct Stat stat = stat_of(node_of(reading));

    assert_has(zkr_grant_node(reading),
               textf("-__READ__%010lld", (long long)sequence_of(writing)));
    assert_true(stat.ephemeralOwner == zkr_session_id(s));
    assert_int_not_equal(stat.dataLength, 0); /* the owner record */
    assert_ptr_not_equal(reading, also);
    queue_up(&reader, by_reading, rival);
    queue_up(&writer, by_writing, rival);
    release(reading);
    still_waits(&reader);
    release(also);
    still_waits(&reader);
    assert_int_equal(zkr_grant_check(writing), ZKR_OK);
    release(hand_on(writing, &reader));
    release(granted(&writer));
}

TEST(after_a_downgrade_readers_get_in_and_writers_do_not)
{
    static const uint32_t flags[] = { 0, ZKR_REENTRANT, ZKR_KAZOO_LAYOUT };

    for (size_t i = 0; i < 3; i++) {
        AUTO(rwlock) l = new_rwlock(s, flags[i]);
        AUTO(grant) writing = write_lock(l);

        queue_up(&reader, by_reading, rival);
        queue_up(&writer, by_writing, rival);
        queue_up(&late, by_reading, visitor);
        zkr_grant *reading = downgrade(l, writing);
        /* The writer that waits has its token already: ours is below it. */
        int64_t first = zkr_grant_token(writing);
        assert_true(zkr_grant_token(reading) == first);
        tells(zkr_grant_check(writing), ZKR_ENOTHELD, "write lock '");
        assert_int_equal(zkr_grant_release(writing), ZKR_ENOTHELD);
        (void)granted(&reader);
        still_waits(&writer);
        release(reader.grant);
        still_waits(&writer);
        still_waits(&late);
        int64_t second = zkr_grant_token(hand_on(reading, &writer));
        assert_true(second > first);
        release(writer.grant);
        assert_true(zkr_grant_token(granted(&late)) > second);
        release(late.grant);
    }
}

TEST(it_costs_a_flight_and_a_request)
{
    AUTO(grant) writing = write_lock(lock);
    zkr_grant *reading = NULL;

    for (int attempt = 0;; attempt++) { /* the session may beat in between */
        proxy_set_latency(proxy, 0);
        be_quiet(writing);
        proxy_set_latency(proxy, 10);
        ok(zkr_rwlock_acquire_read(lock, -1, &reading));
        assert_int_equal(proxy_requests(proxy, ZOO_CREATE2_OP), 1);
        if (count_requests() == 2 && proxy_flights(proxy) == 1)
            break;
        assert_true(attempt < 10);
        release(reading);
    }
    release(reading);
    proxy_reset_counts(proxy);
    reading = downgrade(lock, writing);
    assert_int_equal(proxy_requests(proxy, ZOO_CREATE2_OP), 1);
    assert_int_equal(proxy_requests(proxy, ZOO_DELETE_OP), 1);
    /* When the read lock is held for 50 ms, its node is watched, too. */
    assert_in_range(count_requests(), 3, 4);
    release(reading);
}

/* -- reentrant ------------------------------------------------------------ */

TEST(a_reentrant_write_loses_one_count_and_its_reader_gains_one)
{
    zkr_grant *writing = write_lock(nested);

    assert_ptr_equal(write_lock(nested), writing);
    queue_up(&reader, by_reading, rival);
    queue_up(&writer, by_writing, rival);
    zkr_grant *reading = GRANT(rwlock_downgrade, nested, writing);
    zkr_grant_free(writing);
    assert_int_equal(zkr_grant_depth(writing), 1);
    assert_int_equal(zkr_grant_depth(reading), 1);
    assert_int_equal(zkr_grant_check(writing), ZKR_OK);
    still_waits(&reader);
    ok(zkr_rwlock_downgrade(nested, writing, &reading));
    zkr_grant_free(writing);
    assert_int_equal(zkr_grant_depth(reading), 2);
    release(granted(&reader));
    release(reading);
    still_waits(&writer);
    release(hand_on(reading, &writer));

    writing = write_lock(nested);
    AUTO(held) reader_before = read_lock(nested);
    be_quiet(writing);
    zkr_grant *again = GRANT(rwlock_downgrade, nested, writing);
    zkr_grant_free(writing);
    assert_ptr_equal(again, reader_before);
    assert_int_equal(zkr_grant_depth(again), 2);
    assert_int_equal(proxy_requests(proxy, ZOO_CREATE2_OP), 0);
    assert_int_equal(proxy_requests(proxy, ZOO_DELETE_OP), 1);
    release(again);
    is_refused(by_writing);
}

static void downgrade_inside(zkr_session *session,
                             const struct zkr_session_event *e, void *arg)
{
    struct change *c = arg;

    c->rc = zkr_rwlock_downgrade(c->lock, c->writing, &c->reading);
}

/* The read grant is only counted there. But the write grant could not be given
 * back, and no error would be reported. */
TEST(a_callback_does_not_downgrade)
{
    struct change c = { .rc = 0 };

    AUTO(session) looping = OPEN(.flags = ZKR_SESSION_OWN_LOOP,
                                 .chroot = root[0] == '\0' ? NULL : root);
    AUTO(rwlock) l = c.lock = new_rwlock(looping, ZKR_REENTRANT);
    c.writing = write_lock(c.lock);
    zkr_grant *reading = read_lock(c.lock);
    zkr_listener *listener =
        MADE(listener, session_listen, looping, downgrade_inside, &c);
    ok(zkr_session_dispatch(looping));
    assert_int_equal(c.rc, ZKR_EDEADLK);
    assert_null(c.reading);
    assert_int_equal(zkr_grant_depth(reading), 1);
    assert_int_equal(zkr_grant_check(c.writing), ZKR_OK);
    zkr_listener_free(listener);
    release(reading);
    release(c.writing);
}

/* The read grant belongs to the thread that has downgraded, and an upgrade is
 * refused to that thread. */
TEST(any_thread_downgrades_a_plain_lock_and_its_owner_a_reentrant_one)
{
    struct change c = { .lock = nested, .writing = write_lock(nested) };

    waiter_start_by(&w, by_downgrading, &c, 0);
    assert_int_equal(waiter_join(&w), ZKR_ENOTOWNER);
    assert_null(w.grant);
    assert_int_equal(zkr_grant_check(c.writing), ZKR_OK);
    assert_int_equal(count_children(dir), 1);
    release(c.writing);
    c = (struct change){ .lock = lock, .writing = write_lock(lock) };
    waiter_start_by(&w, by_downgrading, &c, 0);
    AUTO(held) reading = waiter_grant(&w);
    zkr_grant_free(c.writing);
    gives(ZKR_ETIMEDOUT, zkr_rwlock_acquire_write(lock, GIVE_UP_MS, &nil));
}

TEST(a_grant_of_no_thread_is_downgraded_by_any)
{
    AUTO(recorder) r = recorder_new();
    static const uint32_t flags[] = { 0, ZKR_REENTRANT };

    for (size_t i = 0; i < 2; i++) {
        AUTO(rwlock) l = new_rwlock(s, flags[i]);

        ok(zkr_rwlock_acquire_write_async(l, -1, record_acquire, r, NULL));
        AUTO(held) reading = downgrade(l, recorded_grant(r, i));
        zkr_grant_free(recorded_grant(r, i));
        assert_int_equal(zkr_rwlock_acquire_write(l, -1, &nil), ZKR_EDEADLK);
    }
}

/* -- what cannot be downgraded -------------------------------------------- */

TEST(only_a_write_grant_of_this_lock_is_downgraded)
{
    AUTO(rwlock) twin = new_rwlock(s, 0);
    AUTO(mutex) m = new_mutex(s, new_path());
    AUTO(grant) writing = write_lock(lock);
    zkr_grant *reading = read_lock(lock);
    zkr_grant *foreign = acquire(m);

    assert_int_equal(zkr_rwlock_downgrade(lock, NULL, &nil), ZKR_EINVAL);
    assert_int_equal(zkr_rwlock_downgrade(lock, writing, NULL), ZKR_EINVAL);
    assert_int_equal(zkr_rwlock_downgrade(NULL, writing, &nil), ZKR_EINVAL);
    assert_int_equal(zkr_rwlock_downgrade(lock, reading, &nil), ZKR_EINVAL);
    assert_int_equal(zkr_rwlock_downgrade(twin, writing, &nil), ZKR_EINVAL);
    assert_int_equal(zkr_rwlock_downgrade(lock, foreign, &nil), ZKR_EINVAL);
    assert_null(nil);
    assert_int_equal(zkr_grant_check(writing), ZKR_OK);
    assert_int_equal(zkr_grant_check(reading), ZKR_OK);
    assert_int_equal(zkr_grant_check(foreign), ZKR_OK);
    disconnect(proxy, s); /* it does not wait for a connection */
    gives(ZKR_ZCONNECTIONLOSS, zkr_rwlock_downgrade(lock, writing, &nil));
    connect_again(proxy, s);
    assert_int_equal(count_children(dir), 2);
    release(foreign);
    release(reading);
    ok(zkr_grant_release(writing));
    assert_int_equal(zkr_rwlock_downgrade(lock, writing, &nil), ZKR_ENOTHELD);
    assert_null(nil);
    assert_int_equal(count_children(dir), 0);
}

/* Regression: the reader's list showed the loss, the write was still HELD. */
TEST(a_lost_write_is_not_downgraded_and_one_found_deleted_is_lost_at_once)
{
    static const uint32_t flags[] = { 0, ZKR_REENTRANT };

    for (size_t i = 0; i < 2; i++) {
        AUTO(rwlock) l = new_rwlock(s, flags[i]);
        zkr_grant *writing = write_lock(l); /* not watched yet */

        assert_int_equal(admin_delete(admin, node_of(writing)), ZOK);
        assert_int_equal(zkr_rwlock_downgrade(l, writing, &nil), ZKR_ELOST);
        assert_int_equal(zkr_grant_check(writing), ZKR_ELOST);
        assert_int_equal(zkr_rwlock_downgrade(l, writing, &nil), ZKR_ELOST);
        zkr_grant_free(writing);

        writing = write_lock(l);
        expire_and_wait(s);
        assert_int_equal(zkr_rwlock_downgrade(l, writing, &nil), ZKR_ELOST);
        assert_int_equal(zkr_grant_release(writing), ZKR_ELOST);
        zkr_grant_free(writing);
        assert_int_equal(count_children(dir), 0);
        release(read_lock(l)); /* a reader like any other now */
    }
    assert_null(nil);
}

/* -- requests lost and late ----------------------------------------------- */

static void delete_the_reader(void)
{
    wait_children(dir, 3);
    for (size_t i = 0; i < 2; i++) { /* two of the same number */
        AUTO(text) name = nth_child(dir, i);
        if (strstr(name, "__READ__") != NULL)
            ok(admin_delete(admin, textf("%s/%s", dir, name)));
    }
    assert_int_equal(count_children(dir), 2);
}

/* The delete of a release comes after the create on the same connection, so it
 * cannot spoil what the list shows. And a reader that is deleted at once is put
 * there again. */
TEST(a_downgrade_is_made_whatever_comes_between_its_requests)
{
    for (int i = 0; i < 2; i++) {
        struct change c = { .lock = lock, .writing = write_lock(lock) };

        queue_up(&writer, by_writing, rival);
        downgrade_until(i == 0 ? ZOO_CREATE2_OP : ZOO_GETCHILDREN2_OP, &c);
        if (i == 0)
            ok(zkr_grant_release_async(c.writing, NULL, NULL));
        else
            delete_the_reader();
        proxy_release(proxy);
        (void)granted(&w);
        wait_children(dir, 2);
        ok(admin_exists(admin, node_of(w.grant), NULL));
        still_waits(&writer);
        assert_int_equal(zkr_grant_check(w.grant), ZKR_OK);
        zkr_grant_free(c.writing);
        release(hand_on(w.grant, &writer));
    }
}

/* -- an operator, and sessions that end ----------------------------------- */

/* The next writer is granted as soon as the node is gone: a reader that came
 * afterwards, with the old number, must not be. */
TEST(a_write_deleted_before_the_reader_was_there_is_not_downgraded)
{
    static const int32_t held_up[] = { ZOO_CREATE2_OP, ZOO_GETCHILDREN2_OP };

    for (size_t i = 0; i < 2; i++) {
        struct change c = { .lock = lock, .writing = write_lock(lock) };

        queue_up(&writer, by_writing, rival);
        be_quiet(c.writing);
        downgrade_until(held_up[i], &c);
        assert_int_equal(admin_delete(admin, node_of(c.writing)), ZOK);
        if (held_up[i] == ZOO_CREATE2_OP) /* it holds before we are there */
            AWAIT(waiter_is_done(&writer));
        proxy_release(proxy);
        assert_int_equal(waiter_join(&w), ZKR_ELOST);
        assert_null(w.grant);
        (void)granted(&writer);
        wait_children(dir, 1);
        wait_grant_state(c.writing, ZKR_GRANT_LOST);
        zkr_grant_free(c.writing);
        release(writer.grant);
    }
}

TEST(a_directory_deleted_under_it_is_a_loss)
{
    struct change c = { .lock = lock, .writing = write_lock(lock) };

    downgrade_until(ZOO_CREATE2_OP, &c);
    assert_int_equal(admin_delete_tree(admin, dir), ZOK);
    proxy_release(proxy);
    assert_int_equal(waiter_join(&w), ZKR_ELOST);
    wait_children(dir, 0);
    wait_grant_state(c.writing, ZKR_GRANT_LOST);
    zkr_grant_free(c.writing);
    release(write_lock(lock));
}

int main(void)
{
    return run_with_server(NULL, rw_run_in_both_roots);
}
