/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of counters and barriers beside those of Curator and kazoo.
 * docs/interop.md has the table. */
#include "pair.h"

enum { ADDS = 150, ADDERS = 4 };

static const enum kind kinds[] = { KIND_C, KIND_CURATOR };

static struct worker *member(int i)
{
    return worker_of(kinds[i % 2], i / 2);
}

/* -- counters -------------------------------------------------------------- */

struct sum {
    int made;
    int unknown;
};

static void collect(struct worker *w, struct sum *sum)
{
    struct sum part = { 0, -1 };

    worker_expect(w, "added ");
    assert_int_equal(
        sscanf(w->answer, "added %d %d", &part.made, &part.unknown), 2);
    assert_int_equal(part.made + part.unknown, ADDS);
    sum->made += part.made;
    sum->unknown += part.unknown;
}

/* Both sides see the same number. */
static int number_of(const char *kind, const char *path)
{
    int numbers[2] = { -1, -2 };

    for (int i = 0; i < 2; i++) {
        struct worker *w = worker_of(kinds[i], 0);

        worker_do(w, "number ", "number %s %s", kind, path);
        assert_int_equal(sscanf(w->answer, "number %d", &numbers[i]), 1);
    }
    assert_int_equal(numbers[0], numbers[1]);
    return numbers[0];
}

static const struct {
    const char *name;
    const char *kind;
    bool with_mutex;
    bool with_kazoo; /* one worker of each kind counts, not two of two */
} counts[] = {
    { "c_and_curator_count_one_atomic_long", "long", false, false },
    { "c_and_curator_take_the_mutex_of_one_atomic_long", "long", true, false },
    { "c_and_curator_count_one_shared_count", "shared", false, false },
    { "kazoo_counts_one_shared_count_with_us", "shared", false, true },
};

/* What a worker is told as the path of the mutex. */
static const char *lock_of(const char *path, bool with_mutex)
{
    return with_mutex ? textf("%s-lock", path) : "-";
}

TEST_ROWS(all_count, counts, row)
{
    const char *path = new_path();
    int adders = row->with_kazoo ? KINDS : ADDERS;
    struct worker *workers[ADDERS];
    struct sum sum = { 0, 0 };

    if (!row->with_kazoo) /* one of the three makes the node */
        assert_int_equal(number_of(row->kind, path), 0);
    for (int i = 0; i < adders; i++) {
        workers[i] = row->with_kazoo ? worker_of(i, 0) : member(i);
        worker_tell(workers[i], "add %s %s %s %d", row->kind, path,
                    lock_of(path, row->with_mutex), ADDS);
    }
    for (int i = 0; i < adders; i++)
        collect(workers[i], &sum);
    assert_int_equal(sum.unknown, 0);
    assert_int_equal(number_of(row->kind, path), adders * ADDS);
    if (row->with_kazoo)
        worker_do(worker_of(KIND_KAZOO, 0), textf("number %d", adders * ADDS),
                  "number %s %s", row->kind, path);
}

/* A text of as many characters as our number has bytes: the last character is
 * 9, and 1 is added to it. */
TEST(a_text_of_kazoo_is_taken_for_a_number)
{
    static const struct {
        const char *kind;
        int start;
        const char *number; /* of "1239", "12345679" */
    } rows[] = {
        { "shared", 1238, "number 825373497" },
        { "long", 12345678, "number 3544952156018063161" },
    };
    struct worker *ours = worker_of(KIND_C, 0);
    struct worker *kazoo = worker_of(KIND_KAZOO, 0);

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const char *path = new_path();

        worker_do(kazoo, "added", "add text:%d %s - 1", rows[i].start, path);
        worker_do(ours, rows[i].number, "number %s %s", rows[i].kind, path);
        worker_do(ours, "added 1 0", "add %s %s - 1", rows[i].kind, path);
        worker_do(kazoo, "failed: ValueError", "number text %s", path);
    }
}

TEST(another_text_of_kazoo_is_refused)
{
    const char *path = new_path();
    struct worker *ours = worker_of(KIND_C, 0);
    struct worker *kazoo = worker_of(KIND_KAZOO, 0);

    worker_do(kazoo, "added", "add text %s - 10", path);
    worker_do(ours, "failed: ZKR_EDAMAGED", "add long %s - 1", path);
    worker_do(ours, "failed: ZKR_EDAMAGED", "add shared %s - 1", path);
    worker_do(kazoo, "number 10", "number text %s", path);
}

/* -- barriers -------------------------------------------------------------- */

static const struct {
    const char *name;
    enum kind other;
} barriers[] = {
    { "c_and_curator_wait_at_one_barrier", KIND_CURATOR },
    { "c_and_kazoo_wait_at_one_barrier", KIND_KAZOO },
};

TEST_ROWS(both_wait, barriers, row)
{
    const enum kind both[] = { KIND_C, row->other };

    for (int i = 0; i < 2; i++) {
        const char *path = new_path();

        for (int k = 0; k < 4; k++)
            cast[k] = worker_of(both[k < 2 ? (i + k) % 2 : k - 2], k / 2);
        play("a barrier set %s = done, b barrier set %s = done, "
             "c barrier wait %s, d barrier wait %s",
             path, path, path, path);
        for (int k = 2; k < 4; k++)
            wait_watching(cast[k], path, NULL);
        play("c waits 0, d waits 0, b barrier remove %s = done, c = done, "
             "d = done, a barrier remove %s = done",
             path, path);
    }
}

static void all_enter(const char *path)
{
    const char *ready = textf("%s/ready", path);

    for (int i = 0; i < 4; i++) {
        assert_int_equal(admin_exists(admin, ready, NULL), ZNONODE);
        worker_tell(member(i), "enter %s 4 %d", path, SOON_MS);
        if (i < 3)
            wait_children(path, (size_t)i + 1);
    }
    for (int i = 0; i < 4; i++)
        worker_expect(member(i), "entered");
    assert_int_equal(admin_exists(admin, ready, NULL), ZOK);
}

/* Members of Curator may leave early, when they are told late that "ready" was
 * created (GH-1290): that ours do not is asserted. */
TEST(c_and_curator_enter_and_leave_together)
{
    for (int time = 0; time < 2; time++) {
        const char *path = new_path();

        all_enter(path);
        for (int i = 0; i < 4; i++) {
            for (int k = 0; k < i; k += 2)
                assert_null(worker_hear(member(k), 0));
            worker_tell(member(i), "leave %d", SOON_MS);
        }
        for (int i = 0; i < 4; i++)
            worker_expect(member(i), "left");
        wait_children(path, 0);
    }
}

TEST(a_member_of_either_that_dies_inside_has_left)
{
    for (int dead = 0; dead < 2; dead++) {
        const char *path = new_path();

        all_enter(path);
        for (int i = 1; i < 4; i++)
            worker_tell(member((dead + i) % 4), "leave %d", SOON_MS);
        for (int i = 2 - dead; i < 4; i += 2)
            assert_null(worker_hear(member((dead + i) % 4), 50));
        worker_kill(member(dead));
        for (int i = 1; i < 4; i++)
            worker_expect(member((dead + i) % 4), "left");
        wait_children(path, 0);
    }
}

/* -- counters under faults ------------------------------------------------ */

/* The last tests: the sessions of other workers may end in them. */
static void under_faults(const char *kind, bool with_mutex)
{
    struct worker workers[ADDERS] = { { 0 } };
    const char *path = new_path();
    struct sum sum = { 0, 0 };
    struct proxy *proxy;

    assert_int_equal(proxy_start(server_hosts(the_server), &proxy), 0);
    for (int i = 0; i < ADDERS; i++) {
        worker_start(&workers[i], kinds[i % 2], i);
        worker_open(&workers[i], proxy_hosts(proxy), 10000);
    }
    for (int i = 0; i < ADDERS; i++)
        worker_tell(&workers[i], "add %s %s %s %d", kind, path,
                    lock_of(path, with_mutex), ADDS);
    for (int time = 0; time < 2; time++) {
        for (int nth = 10; nth <= 50; nth += 10) {
            proxy_rule(proxy, ZOO_SETDATA_OP, nth, PROXY_DROP_REPLY);
            proxy_rule(proxy, ZOO_SETDATA_OP, nth + 5, PROXY_DROP_REQUEST);
        }
        assert_true(proxy_wait_rule(proxy, SOON_MS));
        proxy_cut(proxy);
        restart_server();
        proxy_heal(proxy);
    }
    for (int i = 0; i < ADDERS; i++)
        collect(&workers[i], &sum);
    proxy_forget_rules(proxy);
    int number = number_of(kind, path);
    if (number < sum.made || number > sum.made + sum.unknown)
        fail_msg("%d after %d adds and %d unknown ones", number, sum.made,
                 sum.unknown);
    for (int i = 0; i < ADDERS; i++)
        worker_stop(&workers[i]);
    proxy_stop(proxy);
}

TEST(nobody_counts_an_atomic_long_twice)
{
    under_faults("long", false);
    under_faults("long", true);
}

TEST(nobody_counts_a_shared_count_twice)
{
    under_faults("shared", false);
}
