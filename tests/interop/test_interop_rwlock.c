/* Who excludes whom: the read/write lock, one holder and one contender of each
 * pair of clients on one path; the downgrade; the bugs of the others that
 * docs/interop.md warns of. */
#include "fixture.h"

#include <stdlib.h>

#include "pair.h"
#include "worker.h"

/* A client as writer and as reader. */
struct client {
    struct side writer;
    struct side reader;
};

#define CLIENT(kind, layout)                                                   \
    {                                                                          \
        { kind, layout, "write" },                                             \
        {                                                                      \
            kind, layout, "read"                                               \
        }                                                                      \
    }

static const struct client c = CLIENT(KIND_C, "curator");
static const struct client curator = CLIENT(KIND_CURATOR, "curator");
static const struct client kazoo_subclass = CLIENT(KIND_KAZOO, "curator");
static const struct client kazoo_patterns = CLIENT(KIND_KAZOO, "patterns");
static const struct client c_for_kazoo = CLIENT(KIND_C, "kazoo");
static const struct client kazoo_as_is = CLIENT(KIND_KAZOO, "kazoo");

static void share(const struct client *a, const struct client *b)
{
    both_exclude("rw", &a->writer, &b->writer);
    both_exclude("rw", &a->writer, &b->reader);
    both_exclude("rw", &a->reader, &b->writer);
    lets_in("rw", &a->reader, &b->reader);
    lets_in("rw", &b->reader, &a->reader);
}

static void c_and_curator_share(void **state)
{
    (void)state;
    share(&c, &curator);
}

static void c_and_kazoo_subclass_share(void **state)
{
    (void)state;
    share(&c, &kazoo_subclass);
}

static void curator_and_kazoo_subclass_share(void **state)
{
    (void)state;
    share(&curator, &kazoo_subclass);
}

static void c_and_kazoo_with_patterns_share(void **state)
{
    (void)state;
    share(&c, &kazoo_patterns);
}

static void c_in_kazoo_layout_and_kazoo_as_it_is_share(void **state)
{
    (void)state;
    share(&c_for_kazoo, &kazoo_as_is);
}

static void kazoo_with_patterns_waits_for_curator_only(void **state)
{
    (void)state;
    excludes("rw", &curator.writer, &kazoo_patterns.writer);
    excludes("rw", &curator.writer, &kazoo_patterns.reader);
    excludes("rw", &curator.reader, &kazoo_patterns.writer);
    lets_in("rw", &kazoo_patterns.writer, &curator.writer);
    lets_in("rw", &kazoo_patterns.writer, &curator.reader);
    lets_in("rw", &kazoo_patterns.reader, &curator.writer);
}

static void kazoo_as_it_is_does_not_wait_for_curator_layout(void **state)
{
    (void)state;
    excludes("rw", &kazoo_as_is.writer, &c.writer);
    lets_in("rw", &c.writer, &kazoo_as_is.writer);
    lets_in("rw", &c.writer, &kazoo_as_is.reader);
}

static void kazoo_as_it_is_and_curator_ignore_each_other(void **state)
{
    (void)state;
    lets_in("rw", &curator.writer, &kazoo_as_is.writer);
    lets_in("rw", &kazoo_as_is.writer, &curator.writer);
    lets_in("rw", &kazoo_as_is.writer, &curator.reader);
}

static void c_in_either_layout_shares_with_the_other(void **state)
{
    (void)state;
    share(&c, &c_for_kazoo);
}

static void curator_does_not_see_c_in_kazoo_layout(void **state)
{
    (void)state;
    excludes("rw", &curator.writer, &c_for_kazoo.writer);
    lets_in("rw", &c_for_kazoo.writer, &curator.writer);
    lets_in("rw", &c_for_kazoo.reader, &curator.writer);
}

/* One path, one recipe. */
static void a_mutex_and_a_write_lock_do_not_exclude(void **state)
{
    struct worker *holder;
    struct worker *other;
    const char *path;

    (void)state;
    path = pair_on_new_path("rw", &curator.writer, &c.writer, &holder, &other);
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

static void curator_writer_waits_for_the_end_of_our_downgrade(void **state)
{
    (void)state;
    downgrade_before(&curator.writer);
}

static void kazoo_writer_waits_for_the_end_of_our_downgrade(void **state)
{
    (void)state;
    downgrade_before(&kazoo_subclass.writer);
}

/* A reader that comes while the downgraded grant is held, is let in. */
static void curator_reader_shares_with_our_downgrade(void **state)
{
    struct worker *holder;
    struct worker *reader;

    (void)state;
    (void)pair_on_new_path("rw", &c.writer, &curator.reader, &holder, &reader);
    worker_acquire(holder, "write");
    worker_do(holder, "held ", "downgrade");
    worker_acquire(reader, "read");
    worker_do(reader, "released", "release read");
    worker_do(holder, "released", "release read");
}

/* CURATOR-621: its own downgrade, in 5.4.0, puts the reader behind the writer
 * that waits, and lets that in; whoever the writer is. */
static void downgrade_of_curator_lets_a_writer_of_ours_in(void **state)
{
    struct worker *holder;
    struct worker *waiter;
    const char *path;

    (void)state;
    path = pair_on_new_path("rw", &curator.writer, &c.writer, &holder, &waiter);
    worker_acquire(holder, "write");
    acquire_behind(waiter, "write", path, holder->node);
    worker_do(holder, "held ", "acquire read %d", SOON_MS);
    worker_do(holder, "released", "release write");
    worker_expect_held(waiter);
    assert_int_equal(count_children(path), 2);
    worker_do(waiter, "released", "release write");
    worker_do(holder, "released", "release read");
}

/* kazoo #649, fixed in 2.9: a reader that is woken while a writer waits behind
 * it, waits for that writer, which waits for it. Ours gives up in the end, and
 * frees both. */
static void kazoo_reader_waits_for_the_writer_behind_it(void **state)
{
    struct worker *first;
    struct worker *reader;
    struct worker *second = worker_of(KIND_C, 1);
    const char *path;
    char *node;

    (void)state;
    path = pair_on_new_path("rw", &c_for_kazoo.writer, &kazoo_as_is.reader,
                            &first, &reader);
    worker_do(second, "lock", "lock rw kazoo %s", path);
    worker_acquire(first, "write");
    acquire_behind(reader, "read", path, first->node);
    node = nth_child(path, 1);
    acquire_behind(second, "write", path, node);
    free(node);
    node = nth_child(path, 2);
    worker_do(first, "released", "release write");
    wait_watching(reader, path, node);
    free(node);
    assert_null(worker_hear(reader, 0));
    worker_kill(second);
    worker_expire(second);
    worker_expect_held(reader);
    worker_do(reader, "released", "release read");
}

/* The same with the read lock of examples/interop. */
static void kazoo_subclass_reader_does_not_wait_for_it(void **state)
{
    struct worker *first;
    struct worker *reader;
    struct worker *second = worker_of(KIND_C, 1);
    const char *path;
    char *node;

    (void)state;
    path = pair_on_new_path("rw", &c.writer, &kazoo_subclass.reader, &first,
                            &reader);
    worker_do(second, "lock", "lock rw curator %s", path);
    worker_acquire(first, "write");
    acquire_behind(reader, "read", path, first->node);
    node = nth_child(path, 1);
    acquire_behind(second, "write", path, node);
    free(node);
    worker_do(first, "released", "release write");
    worker_expect_held(reader);
    assert_null(worker_hear(second, 0));
    worker_do(reader, "released", "release read");
    worker_expect_held(second);
    worker_do(second, "released", "release write");
}

static int run_group(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(c_and_curator_share),
        cmocka_unit_test(c_and_kazoo_subclass_share),
        cmocka_unit_test(curator_and_kazoo_subclass_share),
        cmocka_unit_test(c_and_kazoo_with_patterns_share),
        cmocka_unit_test(c_in_kazoo_layout_and_kazoo_as_it_is_share),
        cmocka_unit_test(kazoo_with_patterns_waits_for_curator_only),
        cmocka_unit_test(kazoo_as_it_is_does_not_wait_for_curator_layout),
        cmocka_unit_test(kazoo_as_it_is_and_curator_ignore_each_other),
        cmocka_unit_test(c_in_either_layout_shares_with_the_other),
        cmocka_unit_test(curator_does_not_see_c_in_kazoo_layout),
        cmocka_unit_test(a_mutex_and_a_write_lock_do_not_exclude),
        cmocka_unit_test(curator_writer_waits_for_the_end_of_our_downgrade),
        cmocka_unit_test(kazoo_writer_waits_for_the_end_of_our_downgrade),
        cmocka_unit_test(curator_reader_shares_with_our_downgrade),
        cmocka_unit_test(downgrade_of_curator_lets_a_writer_of_ours_in),
        cmocka_unit_test(kazoo_reader_waits_for_the_writer_behind_it),
        cmocka_unit_test(kazoo_subclass_reader_does_not_wait_for_it),
    };

    return cmocka_run_group_tests_name("interop-rwlock", tests, NULL,
                                       pairs_tear_down);
}

int main(void)
{
    return workers_installed() ? run_with_server(NULL, run_group) : 77;
}
