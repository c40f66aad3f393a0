/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of counters and barriers beside those of Curator and kazoo.
 * docs/interop.md has the table. */
#include "pair.h"

enum { ADDS = 150, ADDERS = 4 };

static const enum kind kinds[] = { KIND_C, KIND_CURATOR };

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

static void both_count(const char *kind, bool with_mutex)
{
    const char *path = new_path();
    struct sum sum = { 0, 0 };
    char lock[128] = "-";

    if (with_mutex)
        (void)snprintf(lock, sizeof(lock), "%s-lock", path);
    assert_int_equal(number_of(kind, path), 0);
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < 2; k++)
            worker_tell(worker_of(kinds[i], k), "add %s %s %s %d", kind, path,
                        lock, ADDS);
    }
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < 2; k++)
            collect(worker_of(kinds[i], k), &sum);
    }
    assert_int_equal(sum.unknown, 0);
    assert_int_equal(number_of(kind, path), ADDERS * ADDS);
}

TEST(c_and_curator_count_one_atomic_long)
{
    both_count("long", false);
}

TEST(c_and_curator_take_the_mutex_of_one_atomic_long)
{
    both_count("long", true);
}

TEST(c_and_curator_count_one_shared_count)
{
    both_count("shared", false);
}

TEST(kazoo_counts_one_shared_count_with_us)
{
    const char *path = new_path();
    struct sum sum = { 0, 0 };
    char number[64];

    for (int kind = 0; kind < KINDS; kind++)
        worker_tell(worker_of(kind, 0), "add shared %s - %d", path, ADDS);
    for (int kind = 0; kind < KINDS; kind++)
        collect(worker_of(kind, 0), &sum);
    assert_int_equal(sum.unknown, 0);
    (void)snprintf(number, sizeof(number), "number %d", KINDS * ADDS);
    for (int kind = 0; kind < KINDS; kind++)
        worker_do(worker_of(kind, 0), number, "number shared %s", path);
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
    struct worker *c = worker_of(KIND_C, 0);
    struct worker *kazoo = worker_of(KIND_KAZOO, 0);

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const char *path = new_path();

        worker_do(kazoo, "added", "add text:%d %s - 1", rows[i].start, path);
        worker_do(c, rows[i].number, "number %s %s", rows[i].kind, path);
        worker_do(c, "added 1 0", "add %s %s - 1", rows[i].kind, path);
        worker_do(kazoo, "failed: ValueError", "number text %s", path);
    }
}

TEST(another_text_of_kazoo_is_refused)
{
    const char *path = new_path();
    struct worker *c = worker_of(KIND_C, 0);
    struct worker *kazoo = worker_of(KIND_KAZOO, 0);

    worker_do(kazoo, "added", "add text %s - 10", path);
    worker_do(c, "failed: ZKR_EDAMAGED", "add long %s - 1", path);
    worker_do(c, "failed: ZKR_EDAMAGED", "add shared %s - 1", path);
    worker_do(kazoo, "number 10", "number text %s", path);
}

static void disturb(struct proxy *proxy)
{
    for (int time = 0; time < 2; time++) {
        for (int nth = 10; nth <= 50; nth += 10) {
            proxy_rule(proxy, ZOO_SETDATA_OP, nth, PROXY_DROP_REPLY);
            proxy_rule(proxy, ZOO_SETDATA_OP, nth + 5, PROXY_DROP_REQUEST);
        }
        assert_true(proxy_wait_rule(proxy, SOON_MS));
        proxy_cut(proxy);
        server_kill9(the_server);
        restart_server();
        proxy_heal(proxy);
    }
}

static void under_faults(const char *kind, bool with_mutex)
{
    struct worker workers[ADDERS] = { { 0 } };
    const char *path = new_path();
    struct sum sum = { 0, 0 };
    char lock[128] = "-";
    struct proxy *proxy;

    if (with_mutex)
        (void)snprintf(lock, sizeof(lock), "%s-lock", path);
    assert_int_equal(proxy_start(server_hosts(the_server), &proxy), 0);
    for (int i = 0; i < ADDERS; i++) {
        worker_start(&workers[i], kinds[i % 2], i);
        worker_open(&workers[i], proxy_hosts(proxy), 10000);
    }
    for (int i = 0; i < ADDERS; i++)
        worker_tell(&workers[i], "add %s %s %s %d", kind, path, lock, ADDS);
    disturb(proxy);
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

/* -- barriers -------------------------------------------------------------- */

static void c_waits_at_one_barrier_with(enum kind other)
{
    const enum kind both[] = { KIND_C, other };

    for (int i = 0; i < 2; i++) {
        struct worker *setter = worker_of(both[i], 0);
        struct worker *waiters[2] = { worker_of(KIND_C, 1),
                                      worker_of(other, 1) };
        struct worker *remover = worker_of(both[1 - i], 0);
        const char *path = new_path();

        worker_do(setter, "done", "barrier set %s", path);
        worker_do(remover, "done", "barrier set %s", path);
        for (int k = 0; k < 2; k++) {
            worker_tell(waiters[k], "barrier wait %s", path);
            wait_watching(waiters[k], path, NULL);
            assert_null(worker_hear(waiters[k], 0));
        }
        worker_do(remover, "done", "barrier remove %s", path);
        for (int k = 0; k < 2; k++)
            worker_expect(waiters[k], "done");
        worker_do(setter, "done", "barrier remove %s", path);
    }
}

TEST(c_and_curator_wait_at_one_barrier)
{
    c_waits_at_one_barrier_with(KIND_CURATOR);
}

TEST(c_and_kazoo_wait_at_one_barrier)
{
    c_waits_at_one_barrier_with(KIND_KAZOO);
}

static struct worker *member(int i)
{
    return worker_of(kinds[i % 2], i / 2);
}

static void all_enter(const char *path)
{
    char ready[128];

    (void)snprintf(ready, sizeof(ready), "%s/ready", path);
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

TEST(c_and_curator_enter_and_leave_together)
{
    for (int time = 0; time < 2; time++) {
        const char *path = new_path();

        all_enter(path);
        for (int i = 0; i < 4; i++) {
            for (int k = 0; k < i; k++)
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
        for (int i = 0; i < 4; i++) {
            if (i != dead)
                worker_tell(member(i), "leave %d", SOON_MS);
        }
        for (int i = 0; i < 4; i++) {
            if (i != dead)
                assert_null(worker_hear(member(i), 50));
        }
        worker_kill(member(dead));
        for (int i = 0; i < 4; i++) {
            if (i != dead)
                worker_expect(member(i), "left");
        }
        wait_children(path, 0);
    }
}
