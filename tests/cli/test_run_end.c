/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of zk-lockctl run: how soon it ends after TERM. */

#include "start_run.h"

FIXTURE(take_path, NULL)

/* The lease of such a long session is checked every ten seconds or so: a tool
 * that has missed the end of its command notices it then at the earliest. */
#define LONG           "40s"
#define SOON_ENOUGH_MS 4000

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* How long it took from TERM to the end of the tool. */
static int64_t end_one(void)
{
    START_FOR(&cli, LONG, server_hosts(the_server), path, "sleep", "1000");
    (void)wait_child_of(cli.pid, "sleep");
    struct stopwatch *w = stopwatch_start();
    assert_int_equal(cli_kill(&cli, SIGTERM), 128 + SIGTERM);
    struct lap lap = stopwatch_stop(w);
    assert_true(lap_is_within(lap, 0, SOON_ENOUGH_MS));
    return lap.took_ns / 1000000;
}

static void end_many(int count)
{
    int64_t *took_ms = calloc((size_t)count, sizeof(took_ms[0]));

    assert_non_null(took_ms);
    for (int i = 0; i < count; i++)
        took_ms[i] = end_one();
    qsort(took_ms, (size_t)count, sizeof(took_ms[0]), compare);
    print_message("%d times: median %lld ms, 99 of 100 within %lld ms, "
                  "longest %lld ms\n",
                  count, (long long)took_ms[count / 2],
                  (long long)took_ms[count * 99 / 100],
                  (long long)took_ms[count - 1]);
    free(took_ms);
}

/* Regression: the tool looked for children that had ended, and then read its
 * signals. When the command ended in between, the tool took its signal without
 * looking again, and held the lock until the lease was due: for half a session
 * timeout, in one of ten runs. */
TEST(a_command_that_term_ends_leaves_the_lock_at_once)
{
    end_many((int)test_number("ZKR_TERMS", 20)); /* more for the long run */
}

static int make_kill_slow(void)
{
    preload("slow-kill");
    return take_path();
}

static int make_kill_normal(void)
{
    return unsetenv("LD_PRELOAD");
}

/* The same in every run: the command ends while the tool is sending TERM. */
TEST_WITH(an_end_amid_the_signals_is_seen, make_kill_slow, make_kill_normal)
{
    end_many(2);
}

static void start_stopped(void)
{
    START(&cli, path, "sh", "-c", "kill -STOP $$");
    wait_process_state(wait_child_of(cli.pid, "sh"), 'T');
}

/* Regression: the tool passed the signal on, but sent no CONT, so the command
 * stayed stopped. */
TEST(a_command_that_is_stopped_can_be_ended)
{
    static const int signals[] = { SIGTERM, SIGINT, SIGHUP, SIGQUIT };

    for (size_t i = 0; i < COUNT(signals); i++) {
        start_stopped();
        assert_int_equal(cli_kill(&cli, signals[i]), 128 + signals[i]);
    }
    assert_int_equal(count_children(path), 0);
}

TEST(a_command_that_is_stopped_can_be_continued)
{
    start_stopped();
    assert_int_equal(cli_kill(&cli, SIGCONT), 0);
}

TEST(other_signals_kill_nobody)
{
    START_READY(&cli, "--kill-after", "0", new_path());
    assert_int_equal(kill(cli.pid, SIGHUP), 0); /* reload, for many */
    cli_wait_said(&cli, "HUP\n");
    assert_int_equal(kill(cli.pid, SIGINT), 0);
    cli_wait_said(&cli, "INT\n");
    assert_int_equal(cli_end(&cli), 0);
}
