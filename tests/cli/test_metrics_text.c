/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the metrics as text, by a parser of their format. */
#include "text/metrics.h"
#include "texts.h"
#include "unit.h"

#include "prometheus.h"

static struct samples samples;

static void write_and_read(const struct scan *scan)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);

    assert_non_null(f);
    metrics_write(f, scan, 1234);
    assert_int_equal(fclose(f), 0);
    if (!prometheus_read(text, &samples))
        fail_msg("%s: %s", samples.error, text);
    free(text);
}

static void is(const char *name, const char *lock, double want)
{
    const struct sample *s = prometheus_find(&samples, name, lock);

    if (s == NULL)
        fail_msg("no sample %s", name);
    assert_true(s->value > want - 1e-9 && s->value < want + 1e-9);
}

TEST(without_servers_there_is_one_sample)
{
    write_and_read(NULL);
    assert_int_equal(samples.count, 1);
    is("zklock_up", NULL, 0);
}

TEST(a_lock_is_four_samples)
{
    struct lock locks[] = { { .path = "/locks/a",
                              .holders = 3,
                              .waiters = 1,
                              .kind = ZKR__KIND_RW,
                              .longest_hold_ms = 9001,
                              .longest_wait_ms = 70000 },
                            { .path = "/locks/b", .longest_wait_ms = -1 } };
    struct scan m = { .locks = locks, .count = 2 };
    const struct sample *held;

    write_and_read(&m);
    assert_int_equal(samples.count, 3 + 2 * 4);
    is("zklock_up", NULL, 1);
    is("zklock_scan_complete", NULL, 1);
    is("zklock_scan_seconds", NULL, 1.234);
    is("zklock_held", "/locks/a", 3);
    is("zklock_waiters", "/locks/a", 1);
    is("zklock_longest_wait_seconds", "/locks/a", 70);
    is("zklock_hold_seconds_max", "/locks/a", 9.001);
    is("zklock_held", "/locks/b", 0);
    is("zklock_waiters", "/locks/b", 0);
    is("zklock_longest_wait_seconds", "/locks/b", 0);
    is("zklock_hold_seconds_max", "/locks/b", 0);
    held = prometheus_find(&samples, "zklock_held", "/locks/a");
    assert_string_equal(held->labels[1].name, "kind");
    assert_string_equal(held->labels[1].value, "rw");
    held = prometheus_find(&samples, "zklock_held", "/locks/b");
    assert_string_equal(held->labels[1].value, "none");
}

TEST(an_unreadable_lock_is_left_out)
{
    struct lock lock = { .path = "/locks/a", .error = ZKR_ZNOAUTH };
    struct scan m = { .locks = &lock, .count = 1, .notes.count = 1 };

    write_and_read(&m);
    assert_int_equal(samples.count, 3);
    is("zklock_scan_complete", NULL, 0);
}

TEST(hostile_paths_are_one_label)
{
    static const struct {
        char *path;
        const char *want;
    } cases[] = {
        { "/a\"} 1\nzklock_up 7", "/a\"} 1\\x0Azklock_up 7" },
        { "/a\\", "/a\\\\" },
        { "/a\\n\\\"", "/a\\\\n\\\\\"" },
        { "/a\r\x1b[2J", "/a\\x0D\\x1B[2J" },
        { "/a\xff\xe2\x80\xae", "/a\\xFF\\xE2\\x80\\xAE" },
        { "/gr\xc3\xbc\xc3\x9f {,=}", "/gr\xc3\xbc\xc3\x9f {,=}" },
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct lock lock = { .path = cases[i].path, .holders = 1 };
        struct scan m = { .locks = &lock, .count = 1 };

        write_and_read(&m);
        assert_int_equal(samples.count, 3 + 4);
        is("zklock_held", cases[i].want, 1);
        is("zklock_up", NULL, 1);
    }
}

/* A label must not be cut: two locks would become one. */
TEST(the_longest_path_is_whole)
{
    char paths[2][ZKR_PATH_MAX + 1];
    struct lock locks[] = { { .path = paths[0] }, { .path = paths[1] } };
    struct scan m = { .locks = locks, .count = 2 };

    for (size_t i = 0; i < 2; i++) {
        memset(paths[i], '\x01', ZKR_PATH_MAX);
        paths[i][0] = '/';
        paths[i][ZKR_PATH_MAX - 1] = i == 0 ? 'a' : 'b';
        paths[i][ZKR_PATH_MAX] = '\0';
    }
    write_and_read(&m);
    assert_int_equal(samples.count, 3 + 2 * 4);
}

/* The parser itself must be able to refuse a text. */
TEST(the_parser_refuses_what_is_wrong)
{
#define HEAD "# HELP a b\n# TYPE a gauge\n"
    static const char *const wrong[] = {
        "a 1\n",
        "# TYPE a gauge\na 1\n",
        HEAD "a 1",
        HEAD "a x\n",
        HEAD "a{b=\"c} 1\n",
        HEAD "a{b=\"\\x\"} 1\n",
        HEAD "a{b=\"c\"\n",
        HEAD "a 1\na 1\n",
        HEAD HEAD,
        HEAD "1a 1\n",
        HEAD "a{b=\"\n\"} 1\n",
    };

    assert_true(prometheus_read(HEAD "a{b=\"c\\n\"} 1\na 2\n", &samples));
    for (size_t i = 0; i < COUNT(wrong); i++)
        assert_false(prometheus_read(wrong[i], &samples));
}
