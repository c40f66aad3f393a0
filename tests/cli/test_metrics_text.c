/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the metrics as text: the whole page, and labels of others. */
#include "text/lock_fields.h"
#include "unit.h"

static char *page;

static int teardown(void)
{
    free(page);
    page = NULL;
    return 0;
}

FIXTURE(NULL, teardown)

static void write_page(const struct scan *scan,
                       const struct zkr_counters *session)
{
    size_t size = 0;

    free(page);
    FILE *f = open_memstream(&page, &size);
    assert_non_null(f);
    metrics_write(f, scan, 1234, session);
    assert_int_equal(fclose(f), 0);
}

/* clang-format off */
#define UP \
    "# HELP zklock_up Whether the locks could be listed.\n" \
    "# TYPE zklock_up gauge\n"
static const char whole[] =
    UP "zklock_up 1\n"
    "# HELP zklock_scan_seconds How long listing them took.\n"
    "# TYPE zklock_scan_seconds gauge\n"
    "zklock_scan_seconds 1.234\n"
    "# HELP zklock_scan_complete 0 when a limit or an ACL has kept locks out.\n"
    "# TYPE zklock_scan_complete gauge\n"
    "zklock_scan_complete 0\n"
    "# HELP zklock_held Holders of the lock: several, if they are readers or leases.\n"
    "# TYPE zklock_held gauge\n"
    "zklock_held{lock=\"/locks/a\",kind=\"rw\"} 3\n"
    "zklock_held{lock=\"/locks/b\",kind=\"none\"} 0\n"
    "# HELP zklock_waiters Waiters for the lock.\n"
    "# TYPE zklock_waiters gauge\n"
    "zklock_waiters{lock=\"/locks/a\"} 1\n"
    "zklock_waiters{lock=\"/locks/b\"} 0\n"
    "# HELP zklock_longest_wait_seconds The longest wait of a present waiter; 0 without one.\n"
    "# TYPE zklock_longest_wait_seconds gauge\n"
    "zklock_longest_wait_seconds{lock=\"/locks/a\"} 70.000\n"
    "zklock_longest_wait_seconds{lock=\"/locks/b\"} 0.000\n"
    "# HELP zklock_hold_seconds_max Upper bound of the longest hold: the wait is included.\n"
    "# TYPE zklock_hold_seconds_max gauge\n"
    "zklock_hold_seconds_max{lock=\"/locks/a\"} 9.001\n"
    "zklock_hold_seconds_max{lock=\"/locks/b\"} 0.000\n";
/* clang-format on */

TEST(without_servers_there_is_one_sample)
{
    write_page(NULL, NULL);
    assert_string_equal(page, UP "zklock_up 0\n");
}

/* Each cause is there from the beginning, so that a growth can be seen. */
TEST(faults_of_the_connection_are_counters)
{
    struct zkr_counters session = {
        .causes = { [ZKR_CAUSE_NONE] = 9,
                    [ZKR_CAUSE_REFUSED] = 1,
                    [ZKR_CAUSE_RESTORED] = UINT64_MAX },
    };

    write_page(NULL, &session);
    assert_has(page, UP "zklock_up 0\n");
    assert_has(page, "# TYPE zklock_connection_faults_total counter\n"
                     "zklock_connection_faults_total{cause=\"REFUSED\"} 1\n"
                     "zklock_connection_faults_total{cause=\"SILENT\"} 0\n");
    assert_has(page, "{cause=\"RESTORED\"} 18446744073709551615\n");
    assert_lacks(page, "NONE");
    assert_string_equal(zkr_cause_name(ZKR_CAUSES), "UNKNOWN");
}

TEST(a_lock_is_four_samples)
{
    struct lock locks[] = { { .path = "/locks/a",
                              .holders = 3,
                              .waiters = 1,
                              .kind = ZKR__KIND_RW,
                              .longest_hold_ms = 9001,
                              .longest_wait_ms = 70000 },
                            { .path = "/locks/b", .longest_wait_ms = -1 },
                            { .path = "/locks/c", .error = ZKR_ZNOAUTH } };
    struct scan m = { .locks = locks, .count = 3, .notes.count = 1 };

    write_page(&m, NULL);
    assert_string_equal(page, whole);
}

TEST(hostile_paths_are_one_label)
{
    static const struct {
        char *path;
        const char *want;
    } cases[] = {
        { "/a\"} 1\nzklock_up 7", "/a\\\"} 1\\\\x0Azklock_up 7" },
        { "/a\\", "/a\\\\\\\\" },
        { "/a\r\x1b[2J", "/a\\\\x0D\\\\x1B[2J" },
        { "/a\xff\xe2\x80\xae", "/a\\\\xFF\\\\xE2\\\\x80\\\\xAE" },
        { "/gr\xc3\xbc\xc3\x9f {,=}", "/gr\xc3\xbc\xc3\x9f {,=}" },
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct lock lock = { .path = cases[i].path, .holders = 1 };
        struct scan m = { .locks = &lock, .count = 1 };

        write_page(&m, NULL);
        assert_has(page,
                   textf("\nzklock_waiters{lock=\"%s\"} 0\n", cases[i].want));
    }
}

/* A label must not be cut: two locks would become one. */
TEST(the_longest_path_is_whole)
{
    char path[ZKR_PATH_MAX + 1];
    struct lock lock = { .path = path };
    struct scan m = { .locks = &lock, .count = 1 };

    memset(path, '\x01', ZKR_PATH_MAX);
    path[ZKR_PATH_MAX] = '\0';
    path[ZKR_PATH_MAX - 1] = 'b';
    write_page(&m, NULL);
    assert_has(page, "\\\\x01b\"} 0\n");
}
