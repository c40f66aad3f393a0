/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the read/write lock across clients: who excludes whom, with one
 * holder and one contender of each pair of clients on one path; the downgrade;
 * and the bugs of other clients that docs/interop.md warns of. */
#include "pair.h"

/* clang-format off */
static const struct pair rows[] = {
    { "c_and_curator_share", "rw", &c, &curator, true, true },
    { "c_and_kazoo_subclass_share", "rw", &c, &kazoo_subclass, true, true },
    { "curator_and_kazoo_subclass_share", "rw", &curator, &kazoo_subclass, true, true },
    { "c_and_kazoo_with_patterns_share", "rw", &c, &kazoo_patterns, true, true },
    { "kazoo_with_patterns_waits_for_curator_only", "rw", &curator, &kazoo_patterns, false, true },
    { "kazoo_as_it_is_does_not_wait_for_curator_layout", "rw", &c, &kazoo_as_is, true, false },
    { "kazoo_as_it_is_and_curator_ignore_each_other", "rw", &curator, &kazoo_as_is, false, false },
    { "c_in_kazoo_layout_and_kazoo_as_it_is_share", "rw", &c_for_kazoo, &kazoo_as_is, true, true },
    { "c_in_either_layout_shares_with_the_other", "rw", &c, &c_for_kazoo, true, true },
    { "curator_does_not_see_c_in_kazoo_layout", "rw", &curator, &c_for_kazoo, false, true },
};
/* clang-format on */

/* Readers never wait for each other. */
TEST_ROWS(share, rows, row)
{
    struct pair readers = *row;

    check_pair(row, "write", "write");
    check_pair(row, "write", "read");
    check_pair(row, "read", "write");
    readers.a_waits = readers.b_waits = false;
    check_pair(&readers, "read", "read");
}

/* One path, one recipe. */
TEST(a_mutex_and_a_write_lock_do_not_exclude)
{
    cast_on_new_path("rw", &curator, &c);
    play("b lock mutex curator %s = lock, a acquire write = held, "
         "b acquire write 0 = held, b release write = released, "
         "a release write = released",
         stage);
}

/* A writer of each client waits behind the downgrade for the read grant too. */
static void downgrade_before(const struct client *writer)
{
    cast_on_new_path("rw", &c, writer);
    play("a acquire write = held, b acquire write, b watches a, "
         "a downgrade = held, b watches a, b waits 0, "
         "a release read = released, b = held, b release write = released");
}

TEST(curator_writer_waits_for_the_end_of_our_downgrade)
{
    downgrade_before(&curator);
}

TEST(kazoo_writer_waits_for_the_end_of_our_downgrade)
{
    downgrade_before(&kazoo_subclass);
}

/* A reader that comes while the downgraded grant is held, is let in. */
TEST(curator_reader_shares_with_our_downgrade)
{
    cast_on_new_path("rw", &c, &curator);
    play("a acquire write = held, a downgrade = held, b acquire read = held, "
         "b release read = released, a release read = released");
}

/* A writer of Curator, of a version since 5.5 or before, takes the read lock as
 * well, gives the write lock back, and goes on as a reader; a writer of ours
 * waits. */
static void downgrade_curator(bool since)
{
    cast_on_new_path("rw", &curator, &c);
    if (worker_is_since(cast[0], 5, 5) != since)
        skip();
    play("a acquire write = held, b acquire write, b watches a, "
         "a acquire read = held, a release write = released");
}

/* CURATOR-621: Curator puts the reader behind the waiting writer, and lets that
 * writer in, of whichever client it is. */
TEST(downgrade_of_old_curator_lets_a_writer_of_ours_in)
{
    downgrade_curator(false);
    play("b = held, 2 nodes, b release write = released, "
         "a release read = released");
}

TEST(our_writer_waits_for_the_end_of_a_downgrade_of_curator)
{
    downgrade_curator(true);
    play("b watches a, b waits 0, a release read = released, b = held, "
         "b release write = released");
}

/* A reader of kazoo, "b", between two writers of ours, "a" and "c". */
static void stand_in_a_row(const struct client *writer,
                           const struct client *reader)
{
    cast_on_new_path("rw", writer, reader);
    cast[2] = worker_of(KIND_C, 1);
    play("c lock rw %s %s = lock, a acquire write = held, b acquire read, "
         "b watches a",
         writer->layout, stage);
    AUTO(text) readers = nth_child(stage, 1);
    PRINT(cast[1]->node, "%s", readers);
    play("c acquire write, c watches b");
    AUTO(text) behind = nth_child(stage, 2);
    PRINT(cast[2]->node, "%s", behind);
    play("a release write = released");
}

#define GOES_BEFORE_THE_WRITER_BEHIND_IT                                       \
    "b = held, c waits 0, b release read = released, c = held, "               \
    "c release write = released"

/* kazoo #649: a reader that is woken while a writer waits behind it, waits for
 * that writer, which waits for it. Ours gives up in the end, and frees both. */
TEST(old_kazoo_reader_waits_for_the_writer_behind_it)
{
    if (worker_is_since(worker_of(KIND_KAZOO, 0), 2, 9))
        skip();
    stand_in_a_row(&c_for_kazoo, &kazoo_as_is);
    play("b watches c, b waits 0, c dies");
    worker_expire(cast[2]);
    play("b = held, b release read = released");
}

TEST(kazoo_reader_does_not_wait_for_it)
{
    if (!worker_is_since(worker_of(KIND_KAZOO, 0), 2, 9))
        skip();
    stand_in_a_row(&c_for_kazoo, &kazoo_as_is);
    play(GOES_BEFORE_THE_WRITER_BEHIND_IT);
}

/* With the read lock of examples/interop. */
TEST(kazoo_subclass_reader_does_not_wait_for_it)
{
    stand_in_a_row(&c, &kazoo_subclass);
    play(GOES_BEFORE_THE_WRITER_BEHIND_IT);
}
