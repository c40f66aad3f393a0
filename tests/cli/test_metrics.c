/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of zk-lockctl metrics: real locks, and files that others read. */
#include "look.h"

#include <glob.h>
#include <sys/stat.h>

#include "prometheus.h"

static zkr_session *session;
static zkr_session *other;
static struct samples samples;

static int setup(void)
{
    session = open_session();
    other = open_session();
    return 0;
}

static int teardown(void)
{
    close_session(other);
    close_session(session);
    return 0;
}

FIXTURE(setup, teardown)

static void read_page(const char *text)
{
    if (!prometheus_read(text, &samples))
        fail_msg("%s: %s", samples.error, text);
}

/* Its exit code; what it has printed is in `samples`. */
static int measure(const char *root)
{
    const char *args[] = { "metrics",   "--quiet",
                           "--servers", server_hosts(the_server),
                           root,        NULL };
    struct cli c;
    int code;

    cli_start(&c, LOCKCTL, args);
    code = cli_end(&c);
    if (code == 0)
        read_page(cli_said(&c));
    return code;
}

static double value(const char *name, const char *lock)
{
    const struct sample *s = prometheus_find(&samples, name, lock);

    if (s == NULL)
        fail_msg("no sample %s", name);
    return s->value;
}

TEST(a_queue_is_measured)
{
    const char *path = new_path();
    zkr_mutex *first = new_mutex(session, path);
    zkr_mutex *second = new_mutex(other, path);
    zkr_grant *g = acquire(first);
    struct waiter w;

    waiter_start(&w, second, SOON_MS);
    wait_children(path, 2);
    assert_int_equal(measure(path), 0);
    assert_true(value("zklock_up", NULL) == 1);
    assert_true(value("zklock_scan_complete", NULL) == 1);
    assert_true(value("zklock_scan_seconds", NULL) > 0);
    assert_true(value("zklock_held", path) == 1);
    assert_true(value("zklock_waiters", path) == 1);
    assert_true(value("zklock_hold_seconds_max", path) >=
                value("zklock_longest_wait_seconds", path));
    release(g);
    assert_int_equal(waiter_join(&w), ZKR_OK);
    assert_int_equal(measure("/"), 0);
    assert_true(value("zklock_held", path) == 1);
    assert_true(value("zklock_waiters", path) == 0);
    release(w.grant);
    zkr_mutex_free(first);
    zkr_mutex_free(second);
}

TEST(labels_of_others_are_escaped)
{
    char path[128];
    char label[128];
    zkr_mutex *m;
    zkr_grant *g;

    PRINT(path, "%s\"} 1\\n\xe2\x80\xae", new_path());
    PRINT(label, "%.*s\"} 1\\\\n\\xE2\\x80\\xAE", (int)strcspn(path, "\""),
          path);
    m = new_mutex(session, path);
    g = acquire(m);
    assert_int_equal(measure("/tests"), 0);
    assert_true(value("zklock_held", label) == 1);
    release(g);
    zkr_mutex_free(m);
}

static void read_file(const char *file)
{
    char text[65536];
    FILE *f = fopen(file, "re");
    size_t n;

    assert_non_null(f);
    n = fread(text, 1, sizeof(text) - 1, f);
    text[n] = '\0';
    (void)fclose(f);
    read_page(text);
}

static int measure_into(const char *file, const char *hosts)
{
    const char *args[] = { "metrics", "--servers", hosts, "--textfile",
                           file,      "--timeout", "2s",  NULL };
    struct cli c;

    cli_start(&c, LOCKCTL, args);
    return cli_end(&c);
}

static size_t count_files(const char *pattern)
{
    glob_t found;
    size_t n = glob(pattern, 0, NULL, &found) == 0 ? found.gl_pathc : 0;

    globfree(&found);
    return n;
}

TEST(a_textfile_is_replaced_as_a_whole)
{
    const char *file = cli_file("locks.prom");
    const char *path = new_path();
    zkr_mutex *m = new_mutex(session, path);
    zkr_grant *g = acquire(m);
    struct stat before, after;

    cli_write(file, "old\n", 0644);
    assert_int_equal(stat(file, &before), 0);
    assert_int_equal(measure_into(file, server_hosts(the_server)), 0);
    assert_int_equal(stat(file, &after), 0);
    assert_int_not_equal(before.st_ino, after.st_ino);
    assert_int_equal(after.st_mode & 0777, before.st_mode & 0777);
    read_file(file);
    assert_true(value("zklock_held", path) == 1);
    assert_int_equal(count_files(cli_file("locks.prom*")), 1);
    release(g);
    zkr_mutex_free(m);
}

/* Servers remove a container that nobody uses. Regression: zklock_up was 0, and
 * the exit code 65. */
TEST(an_idle_application_is_no_failure)
{
    assert_int_equal(measure(new_path()), 0);
    assert_true(value("zklock_up", NULL) == 1);
    assert_true(value("zklock_scan_complete", NULL) == 1);
}

TEST(without_servers_it_says_that_they_are_down)
{
    const char *file = cli_file("down.prom");

    assert_int_equal(measure_into(file, "127.0.0.1:1"), 69);
    read_file(file);
    assert_int_equal(samples.count, 1);
    assert_true(value("zklock_up", NULL) == 0);
}

TEST(a_file_that_cannot_be_made_leaves_nothing)
{
    const char *directory = cli_file("taken.prom");

    assert_int_equal(
        measure_into(cli_file("no/such/directory"), server_hosts(the_server)),
        73);
    assert_int_equal(mkdir(directory, 0700), 0);
    assert_int_equal(measure_into(directory, server_hosts(the_server)), 73);
    assert_int_equal(count_files(cli_file("taken.prom*")), 1);
}
