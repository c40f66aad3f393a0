/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the read/write lock across clients: who excludes whom, with one
 * holder and one contender of each pair of clients on one path; the downgrade;
 * and the bugs of other clients that docs/interop.md warns of. */
#include "clients.h"

static const struct {
    const char *name;
    const struct client *a;
    const struct client *b;
} sharing[] = {
    { "c_and_curator_share", &c, &curator },
    { "c_and_kazoo_subclass_share", &c, &kazoo_subclass },
    { "curator_and_kazoo_subclass_share", &curator, &kazoo_subclass },
    { "c_and_kazoo_with_patterns_share", &c, &kazoo_patterns },
    { "c_in_kazoo_layout_and_kazoo_as_it_is_share", &c_for_kazoo,
      &kazoo_as_is },
    { "c_in_either_layout_shares_with_the_other", &c, &c_for_kazoo },
};

TEST_ROWS(share, sharing, pair)
{
    const struct client *a = pair->a;
    const struct client *b = pair->b;

    both_exclude("rw", &a->writer, &b->writer);
    both_exclude("rw", &a->writer, &b->reader);
    both_exclude("rw", &a->reader, &b->writer);
    lets_in("rw", &a->reader, &b->reader);
    lets_in("rw", &b->reader, &a->reader);
}

TEST(kazoo_with_patterns_waits_for_curator_only)
{
    excludes("rw", &curator.writer, &kazoo_patterns.writer);
    excludes("rw", &curator.writer, &kazoo_patterns.reader);
    excludes("rw", &curator.reader, &kazoo_patterns.writer);
    lets_in("rw", &kazoo_patterns.writer, &curator.writer);
    lets_in("rw", &kazoo_patterns.writer, &curator.reader);
    lets_in("rw", &kazoo_patterns.reader, &curator.writer);
}

TEST(kazoo_as_it_is_does_not_wait_for_curator_layout)
{
    excludes("rw", &kazoo_as_is.writer, &c.writer);
    lets_in("rw", &c.writer, &kazoo_as_is.writer);
    lets_in("rw", &c.writer, &kazoo_as_is.reader);
}

TEST(kazoo_as_it_is_and_curator_ignore_each_other)
{
    lets_in("rw", &curator.writer, &kazoo_as_is.writer);
    lets_in("rw", &kazoo_as_is.writer, &curator.writer);
    lets_in("rw", &kazoo_as_is.writer, &curator.reader);
}

TEST(curator_does_not_see_c_in_kazoo_layout)
{
    excludes("rw", &curator.writer, &c_for_kazoo.writer);
    lets_in("rw", &c_for_kazoo.writer, &curator.writer);
    lets_in("rw", &c_for_kazoo.reader, &curator.writer);
}

/* One path, one recipe. */
TEST(a_mutex_and_a_write_lock_do_not_exclude)
{
    struct worker *holder;
    struct worker *other;

    const char *path =
        pair_on_new_path("rw", &curator.writer, &c.writer, &holder, &other);
    worker_do(other, "lock", "lock mutex curator %s", path);
    worker_acquire(holder, "write");
    worker_do(other, "held ", "acquire write 0");
    worker_do(other, "released", "release write");
    worker_do(holder, "released", "release write");
}

/* A writer of each client waits behind the downgrade until the read grant is
 * released too. */
static void downgrade_before(const struct side *writer)
{
    struct worker *holder;
    struct worker *waiter;
    const char *path =
        pair_on_new_path("rw", &c.writer, writer, &holder, &waiter);

    worker_acquire(holder, "write");
    acquire_behind(waiter, "write", path, holder->node);
    worker_tell(holder, "downgrade");
    worker_expect_held(holder);
    wait_watching(waiter, path, holder->node);
    assert_null(worker_hear(waiter, 0));
    worker_do(holder, "released", "release read");
    worker_expect_held(waiter);
    worker_do(waiter, "released", "release write");
}

TEST(curator_writer_waits_for_the_end_of_our_downgrade)
{
    downgrade_before(&curator.writer);
}

TEST(kazoo_writer_waits_for_the_end_of_our_downgrade)
{
    downgrade_before(&kazoo_subclass.writer);
}

/* A reader that comes while the downgraded grant is held, is let in. */
TEST(curator_reader_shares_with_our_downgrade)
{
    struct worker *holder;
    struct worker *reader;

    (void)pair_on_new_path("rw", &c.writer, &curator.reader, &holder, &reader);
    worker_acquire(holder, "write");
    worker_do(holder, "held ", "downgrade");
    worker_acquire(reader, "read");
    worker_do(reader, "released", "release read");
    worker_do(holder, "released", "release read");
}

/* A writer of Curator takes the read lock as well, gives the write lock back,
 * and goes on as a reader; a writer of ours waits. */
static void downgrade_curator(struct worker *holder, struct worker *waiter,
                              const char *path)
{
    worker_acquire(holder, "write");
    acquire_behind(waiter, "write", path, holder->node);
    worker_do(holder, "held ", "acquire read %d", SOON_MS);
    worker_do(holder, "released", "release write");
}

/* CURATOR-621: Curator puts the reader behind the waiting writer, and lets that
 * writer in, of whichever client it is. */
TEST(downgrade_of_old_curator_lets_a_writer_of_ours_in)
{
    struct worker *holder;
    struct worker *waiter;
    const char *path =
        pair_on_new_path("rw", &curator.writer, &c.writer, &holder, &waiter);

    if (worker_is_since(holder, 5, 5))
        skip();
    downgrade_curator(holder, waiter, path);
    worker_expect_held(waiter);
    assert_int_equal(count_children(path), 2);
    worker_do(waiter, "released", "release write");
    worker_do(holder, "released", "release read");
}

TEST(our_writer_waits_for_the_end_of_a_downgrade_of_curator)
{
    struct worker *holder;
    struct worker *waiter;
    const char *path =
        pair_on_new_path("rw", &curator.writer, &c.writer, &holder, &waiter);

    if (!worker_is_since(holder, 5, 5))
        skip();
    downgrade_curator(holder, waiter, path);
    AUTO(text) reader = nth_child(path, 0);
    wait_watching(waiter, path, reader);
    assert_null(worker_hear(waiter, 0));
    worker_do(holder, "released", "release read");
    worker_expect_held(waiter);
    worker_do(waiter, "released", "release write");
}

/* A reader of kazoo between two writers of ours. */
static struct {
    struct worker *writer;
    struct worker *reader;
    struct worker *behind; /* a writer */
    const char *path;
    char behinds_node[128];
} row;

static void stand_in_a_row(const struct side *writer, const struct side *reader)
{
    AUTO(text) node = NULL;

    row.path = pair_on_new_path("rw", writer, reader, &row.writer, &row.reader);
    row.behind = worker_of(KIND_C, 1);
    worker_do(row.behind, "lock", "lock rw %s %s", writer->layout, row.path);
    worker_acquire(row.writer, "write");
    acquire_behind(row.reader, "read", row.path, row.writer->node);
    node = nth_child(row.path, 1);
    acquire_behind(row.behind, "write", row.path, node);
    free(node);
    node = nth_child(row.path, 2);
    (void)snprintf(row.behinds_node, sizeof(row.behinds_node), "%s", node);
}

static void reader_goes_before_the_writer_behind_it(void)
{
    worker_do(row.writer, "released", "release write");
    worker_expect_held(row.reader);
    assert_null(worker_hear(row.behind, 0));
    worker_do(row.reader, "released", "release read");
    worker_expect_held(row.behind);
    worker_do(row.behind, "released", "release write");
}

/* kazoo #649: a reader that is woken while a writer waits behind it, waits for
 * that writer, which waits for it. Ours gives up in the end, and frees both. */
TEST(old_kazoo_reader_waits_for_the_writer_behind_it)
{
    if (worker_is_since(worker_of(KIND_KAZOO, 0), 2, 9))
        skip();
    stand_in_a_row(&c_for_kazoo.writer, &kazoo_as_is.reader);
    worker_do(row.writer, "released", "release write");
    wait_watching(row.reader, row.path, row.behinds_node);
    assert_null(worker_hear(row.reader, 0));
    worker_kill(row.behind);
    worker_expire(row.behind);
    worker_expect_held(row.reader);
    worker_do(row.reader, "released", "release read");
}

TEST(kazoo_reader_does_not_wait_for_it)
{
    if (!worker_is_since(worker_of(KIND_KAZOO, 0), 2, 9))
        skip();
    stand_in_a_row(&c_for_kazoo.writer, &kazoo_as_is.reader);
    reader_goes_before_the_writer_behind_it();
}

/* With the read lock of examples/interop. */
TEST(kazoo_subclass_reader_does_not_wait_for_it)
{
    stand_in_a_row(&c.writer, &kazoo_subclass.reader);
    reader_goes_before_the_writer_behind_it();
}
