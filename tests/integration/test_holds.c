/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of holds: which thread of this process has a lock, and how often. The
 * recipes with owners build on them. */
#include "fixture.h"

static zkr_session *s;
static zkr_rwlock *lock;
static char path[64];

static int setup_with(uint32_t flags)
{
    s = open_session();
    (void)snprintf(path, sizeof(path), "%s", new_path());
    ok(zkr_rwlock_new(s, path, OPTS(lockable, .flags = flags), &lock));
    return 0;
}

static int setup(void)
{
    return setup_with(0);
}

static int setup_reentrant(void)
{
    return setup_with(ZKR_REENTRANT);
}

static int teardown(void)
{
    zkr_rwlock_free(lock);
    (void)zkr_session_close(s);
    return 0;
}

FIXTURE(setup, teardown)

static zkr_grant *read_lock(void)
{
    return GRANT(rwlock_acquire_read, lock, SOON_MS);
}

static zkr_grant *write_lock(void)
{
    return GRANT(rwlock_acquire_write, lock, SOON_MS);
}

/* The node was deleted by an operator, and the lock is not released yet. */
static zkr_grant *lose(zkr_grant *g)
{
    delete_nth_child(path, 0);
    wait_grant_state(g, ZKR_GRANT_LOST);
    return g;
}

/* -- several grants of one thread ----------------------------------------- */

/* Regression: the search for the grants of a thread ended at one that it had
 * lost, so the writer waited for its own reader. */
TEST(a_lost_read_grant_does_not_hide_another)
{
    zkr_grant *lost = lose(read_lock());
    zkr_grant *held = read_lock();

    assert_int_equal(zkr_rwlock_acquire_write(lock, 300, &nil), ZKR_EDEADLK);
    release(held);
    zkr_grant_free(lost);
    release(write_lock());
}

/* Regression of the same kind: the reader waited for its own writer. */
TEST(a_lost_write_grant_does_not_hide_another)
{
    AUTO(grant) lost = lose(write_lock());
    zkr_grant *held = write_lock();
    zkr_grant *reader = GRANT(rwlock_acquire_read, lock, SOON_MS);

    assert_true(zkr_grant_token(reader) == zkr_grant_token(held));
    release(held);
    assert_int_equal(zkr_grant_check(reader), ZKR_OK);
    release(reader);
}

/* Each read is a grant of its own; the last one still forbids a write. */
TEST(a_read_grant_counts_until_it_is_released)
{
    zkr_grant *first = read_lock();
    zkr_grant *second = read_lock();

    release(first);
    assert_int_equal(zkr_rwlock_acquire_write(lock, 300, &nil), ZKR_EDEADLK);
    ok(zkr_grant_release_async(second, NULL, NULL));
    zkr_grant_free(second);
    release(write_lock());
}

TEST(a_lost_read_grant_forbids_nothing)
{
    AUTO(grant) lost = lose(read_lock());

    release(write_lock());
}

/* -- counted -------------------------------------------------------------- */

/* A lock that is freed without a release is released with its last handle
 * only. */
TEST_WITH(freeing_the_last_handle_releases_what_is_left, setup_reentrant,
          teardown)
{
    zkr_grant *g = write_lock();

    assert_ptr_equal(write_lock(), g);
    assert_ptr_equal(write_lock(), g);
    zkr_grant_free(g);
    assert_int_equal(zkr_grant_depth(g), 2);
    zkr_grant_free(g);
    assert_int_equal(zkr_grant_depth(g), 1);
    assert_int_equal(count_children(path), 1);
    zkr_grant_free(g);
    wait_children(path, 0);
    release(write_lock());
}

TEST_WITH(releases_first_and_frees_later_are_counted_apart, setup_reentrant,
          teardown)
{
    zkr_grant *g = write_lock();

    assert_ptr_equal(write_lock(), g);
    ok(zkr_grant_release(g));
    assert_int_equal(count_children(path), 1);
    ok(zkr_grant_release(g));
    assert_int_equal(count_children(path), 0);
    assert_int_equal(zkr_grant_release(g), ZKR_ENOTHELD);
    zkr_grant_free(g);
    assert_int_equal(zkr_grant_state(g), ZKR_GRANT_RELEASED);
    zkr_grant *next = write_lock();
    assert_ptr_not_equal(next, g); /* while the old one can still be read */
    assert_int_equal(zkr_grant_depth(next), 1);
    zkr_grant_free(g);
    assert_int_equal(zkr_grant_check(next), ZKR_OK);
    release(next);
}

TEST_WITH(freeing_a_lost_grant_as_often_ends_the_loss, setup_reentrant,
          teardown)
{
    zkr_grant *g = write_lock();

    assert_ptr_equal(write_lock(), g);
    (void)lose(g);
    zkr_grant_free(g);
    assert_int_equal(zkr_rwlock_acquire_write(lock, 0, &nil), ZKR_ELOST);
    zkr_grant_free(g);
    release(write_lock());
}

/* Both modes are counted separately, and a claim without a thread is not
 * counted. */
TEST_WITH(modes_and_claims_without_a_thread_are_apart, setup_reentrant,
          teardown)
{
    AUTO(recorder) r = recorder_new();
    zkr_grant *writer = write_lock();
    zkr_grant *reader = read_lock();

    assert_ptr_equal(write_lock(), writer);
    assert_ptr_equal(read_lock(), reader);
    assert_int_equal(zkr_grant_depth(writer), 2);
    assert_int_equal(zkr_grant_depth(reader), 2);
    ok(zkr_rwlock_acquire_write_async(lock, 0, record_acquire, r, NULL));
    assert_int_equal(recorded(r, 0), ZKR_EBUSY);
    release(writer);
    release(writer);
    assert_int_equal(zkr_grant_check(reader), ZKR_OK);
    release(reader);
    release(reader);
    assert_int_equal(count_children(path), 0);

    ok(zkr_rwlock_acquire_write_async(lock, -1, record_acquire, r, NULL));
    assert_true(recorder_wait(r, 2, SOON_MS));
    writer = recorded_grant(r, 1);
    assert_int_equal(zkr_grant_depth(writer), 1);
    assert_int_equal(zkr_rwlock_acquire_write(lock, 0, &reader), ZKR_EBUSY);
    release(writer);
}
