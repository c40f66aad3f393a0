/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of zk-lockctl metrics: real locks, and files that others read. */
#include "look.h"

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

/* What it prints is in `samples`. */
static void measure(const char *root)
{
    LOOK(0, "metrics --quiet %s", root);
    read_page(look_out);
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
    measure(path);
    assert_true(value("zklock_up", NULL) == 1);
    assert_true(value("zklock_scan_complete", NULL) == 1);
    assert_true(value("zklock_scan_seconds", NULL) > 0);
    assert_true(value("zklock_held", path) == 1);
    assert_true(value("zklock_waiters", path) == 1);
    assert_true(value("zklock_hold_seconds_max", path) >=
                value("zklock_longest_wait_seconds", path));
    release(g);
    assert_int_equal(waiter_join(&w), ZKR_OK);
    measure("/");
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
    measure("/tests");
    assert_true(value("zklock_held", label) == 1);
    release(g);
    zkr_mutex_free(m);
}

/* Servers remove a container that nobody uses. Regression: zklock_up was 0, and
 * the exit code 65. */
TEST(an_idle_application_is_no_failure)
{
    measure(new_path());
    assert_true(value("zklock_up", NULL) == 1);
    assert_true(value("zklock_scan_complete", NULL) == 1);
}

TEST(without_servers_it_says_that_they_are_down)
{
    LOOK(69, "metrics --servers 127.0.0.1:1 --timeout 2s");
    read_page(look_out);
    assert_int_equal(samples.count, 1);
    assert_true(value("zklock_up", NULL) == 0);
}
