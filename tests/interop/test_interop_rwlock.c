/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the read/write lock across clients: who excludes whom, with one
 * holder and one contender of each pair of clients on one path; the downgrade;
 * and the bugs of other clients that docs/interop.md warns of. */
#include "pair.h"

static const struct {
    const char *name;
    const struct client *a;
    const struct client *b;
    bool a_waits;
    bool b_waits;
} rows[] = {
    { "c_and_curator_share", &c, &curator, true, true },
    { "c_and_kazoo_subclass_share", &c, &kazoo_subclass, true, true },
    { "curator_and_kazoo_subclass_share", &curator, &kazoo_subclass, true,
      true },
    { "c_and_kazoo_with_patterns_share", &c, &kazoo_patterns, true, true },
    { "kazoo_with_patterns_waits_for_curator_only", &curator, &kazoo_patterns,
      false, true },
    { "kazoo_as_it_is_does_not_wait_for_curator_layout", &c, &kazoo_as_is, true,
      false },
    { "kazoo_as_it_is_and_curator_ignore_each_other", &curator, &kazoo_as_is,
      false, false },
    { "c_in_kazoo_layout_and_kazoo_as_it_is_share", &c_for_kazoo, &kazoo_as_is,
      true, true },
    { "c_in_either_layout_shares_with_the_other", &c, &c_for_kazoo, true,
      true },
    { "curator_does_not_see_c_in_kazoo_layout", &curator, &c_for_kazoo, false,
      true },
};

/* Readers never wait for each other. */
TEST_ROWS(share, rows, row)
{
    const struct side *a[] = { &row->a->writer, &row->a->reader };
    const struct side *b[] = { &row->b->writer, &row->b->reader };

    for (int i = 0; i < 4; i++)
        check_pair(&(struct pair){ .recipe = "rw",
                                   .a = a[i / 2],
                                   .b = b[i % 2],
                                   .a_waits = row->a_waits && i < 3,
                                   .b_waits = row->b_waits && i < 3 });
}

/* One path, one recipe. */
TEST(a_mutex_and_a_write_lock_do_not_exclude)
{
    struct duo d = duo_on_new_path("rw", &curator.writer, &c.writer);

    worker_do(d.other, "lock", "lock mutex curator %s", d.path);
    worker_acquire(d.holder, "write");
    worker_do(d.other, "held ", "acquire write 0");
    worker_do(d.other, "released", "release write");
    worker_do(d.holder, "released", "release write");
}

/* A writer of each client waits behind the downgrade until the read grant is
 * released too. */
static void downgrade_before(const struct side *writer)
{
    struct duo d = duo_on_new_path("rw", &c.writer, writer);

    worker_acquire(d.holder, "write");
    acquire_behind(d.other, "write", d.path, d.holder->node);
    worker_tell(d.holder, "downgrade");
    worker_expect_held(d.holder);
    wait_watching(d.other, d.path, d.holder->node);
    assert_null(worker_hear(d.other, 0));
    worker_do(d.holder, "released", "release read");
    worker_expect_held(d.other);
    worker_do(d.other, "released", "release write");
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
    struct duo d = duo_on_new_path("rw", &c.writer, &curator.reader);

    worker_acquire(d.holder, "write");
    worker_do(d.holder, "held ", "downgrade");
    worker_acquire(d.other, "read");
    worker_do(d.other, "released", "release read");
    worker_do(d.holder, "released", "release read");
}

/* A writer of Curator, of a version since 5.5 or before, takes the read lock as
 * well, gives the write lock back, and goes on as a reader; a writer of ours
 * waits. */
static struct duo downgrade_curator(bool since)
{
    struct duo d = duo_on_new_path("rw", &curator.writer, &c.writer);

    if (worker_is_since(d.holder, 5, 5) != since)
        skip();
    worker_acquire(d.holder, "write");
    acquire_behind(d.other, "write", d.path, d.holder->node);
    worker_do(d.holder, "held ", "acquire read %d", SOON_MS);
    worker_do(d.holder, "released", "release write");
    return d;
}

/* CURATOR-621: Curator puts the reader behind the waiting writer, and lets that
 * writer in, of whichever client it is. */
TEST(downgrade_of_old_curator_lets_a_writer_of_ours_in)
{
    struct duo d = downgrade_curator(false);

    worker_expect_held(d.other);
    assert_int_equal(count_children(d.path), 2);
    worker_do(d.other, "released", "release write");
    worker_do(d.holder, "released", "release read");
}

TEST(our_writer_waits_for_the_end_of_a_downgrade_of_curator)
{
    struct duo d = downgrade_curator(true);
    AUTO(text) reader = nth_child(d.path, 0);

    wait_watching(d.other, d.path, reader);
    assert_null(worker_hear(d.other, 0));
    worker_do(d.holder, "released", "release read");
    worker_expect_held(d.other);
    worker_do(d.other, "released", "release write");
}

/* A reader of kazoo between two writers of ours: `holder`, `other`, and one
 * behind it. */
struct row {
    struct duo d;
    struct worker *behind;
    char behinds_node[128];
};

static struct row stand_in_a_row(const struct side *writer,
                                 const struct side *reader)
{
    struct row r = { duo_on_new_path("rw", writer, reader),
                     worker_of(KIND_C, 1), "" };
    AUTO(text) node = NULL;

    worker_do(r.behind, "lock", "lock rw %s %s", writer->layout, r.d.path);
    worker_acquire(r.d.holder, "write");
    acquire_behind(r.d.other, "read", r.d.path, r.d.holder->node);
    node = nth_child(r.d.path, 1);
    acquire_behind(r.behind, "write", r.d.path, node);
    free(node);
    node = nth_child(r.d.path, 2);
    (void)snprintf(r.behinds_node, sizeof(r.behinds_node), "%s", node);
    worker_do(r.d.holder, "released", "release write");
    return r;
}

static void reader_goes_before_the_writer_behind_it(const struct row *r)
{
    worker_expect_held(r->d.other);
    assert_null(worker_hear(r->behind, 0));
    worker_do(r->d.other, "released", "release read");
    worker_expect_held(r->behind);
    worker_do(r->behind, "released", "release write");
}

/* kazoo #649: a reader that is woken while a writer waits behind it, waits for
 * that writer, which waits for it. Ours gives up in the end, and frees both. */
TEST(old_kazoo_reader_waits_for_the_writer_behind_it)
{
    if (worker_is_since(worker_of(KIND_KAZOO, 0), 2, 9))
        skip();
    struct row r = stand_in_a_row(&c_for_kazoo.writer, &kazoo_as_is.reader);
    wait_watching(r.d.other, r.d.path, r.behinds_node);
    assert_null(worker_hear(r.d.other, 0));
    worker_kill(r.behind);
    worker_expire(r.behind);
    worker_expect_held(r.d.other);
    worker_do(r.d.other, "released", "release read");
}

TEST(kazoo_reader_does_not_wait_for_it)
{
    if (!worker_is_since(worker_of(KIND_KAZOO, 0), 2, 9))
        skip();
    struct row r = stand_in_a_row(&c_for_kazoo.writer, &kazoo_as_is.reader);
    reader_goes_before_the_writer_behind_it(&r);
}

/* With the read lock of examples/interop. */
TEST(kazoo_subclass_reader_does_not_wait_for_it)
{
    struct row r = stand_in_a_row(&c.writer, &kazoo_subclass.reader);

    reader_goes_before_the_writer_behind_it(&r);
}
