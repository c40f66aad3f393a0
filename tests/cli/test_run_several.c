/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of zk-lockctl run LOCK --and LOCK: all locks, or none. */

#include "start_run.h"

static char a[128];
static char b[128];
static char c[128];

static int new_paths(void)
{
    (void)take_path();
    PRINT(a, "%s-a", path);
    PRINT(b, "%s-b", path);
    PRINT(c, "%s-c", path);
    return 0;
}

FIXTURE(new_paths, NULL)

TEST(all_are_held_while_the_command_runs)
{
    START_READY(&cli, a, "--and", b, "--and", c, "--");
    assert_int_equal(count_children(a) + count_children(b) + count_children(c),
                     3);
    assert_int_equal(cli_end(&cli), 0);
    assert_int_equal(count_children(a) + count_children(b) + count_children(c),
                     0);
    assert_int_equal(RUN("--and", a, b, "true"), 0);
    assert_int_equal(RUN("--and", a, b, "-c", "exit 9"), 9);
    assert_int_equal(RUN(b, "--and", a, "-c", "exit 9"), 9);
}

TEST(when_one_is_taken_none_is_kept)
{
    struct cli second;

    START_READY(&cli, "--why", "books", b);
    START(&second, "-n", a, "--and", b, "echo", "started");
    assert_end(&second, 75, textf("not acquired: %s is held by ", b));
    assert_lacks(cli_said(&second), "started");
    wait_children(a, 0);
    START(&second, "-w", "6s", a, "--and", b, "true");
    cli_wait_said(&second, textf("waiting: %s is held by ", b));
    assert_int_equal(cli_end(&second), 75);
    wait_children(a, 0);
    assert_int_equal(count_children(b), 1);
    assert_int_equal(cli_end(&cli), 0);
}

TEST(the_loss_of_one_is_a_loss)
{
    static char *const paths[] = { a, b };

    for (size_t i = 0; i < 2; i++) {
        START_READY(&cli, a, "--and", b);
        delete_nth_child(paths[i], 0);
        wait_process_state(cli.pid, 'Z');
        assert_end(&cli, 79, textf("deleted its node, %s/", paths[i]));
        wait_children(a, 0);
        wait_children(b, 0);
    }
}

/* In the order of the command line, which is not that of the multi-lock. */
TEST(the_command_knows_each_lock)
{
    long long token_b, token_a;

    assert_run(0, textf("%s\n%s\n%s\n%s\n", b, a, b, a), b, "--and", a, "-c",
               "echo \"$ZKLOCK_PATH\"; "
               "echo \"$ZKLOCK_NODE\" | sed 's,/_c_.*,,'; "
               "echo tokens $ZKLOCK_TOKEN");
    assert_int_equal(sscanf(strstr(cli_said(&cli), "tokens "),
                            "tokens %lld %lld", &token_b, &token_a),
                     2);
    assert_true(token_a > 0 && token_a < token_b);
}

TEST(they_are_all_for_reading_or_writing_or_slots)
{
    struct cli second;

    START_READY(&cli, "-s", a, "--and", b);
    START(&second, "-n", "-s", b, "--and", c, "true");
    assert_int_equal(cli_end(&second), 0);
    START(&second, "-n", "-x", b, "--and", c, "true");
    assert_int_equal(cli_end(&second), 75);
    assert_int_equal(cli_end(&cli), 0);
    ok(RUN("-n", "--slots", "2", a, "--and", b, "-c",
           "[ $(echo \"$ZKLOCK_NODE\" | grep -c /leases/) = 2 ]"));
}
