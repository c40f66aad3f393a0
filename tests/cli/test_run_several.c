/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of zk-lockctl run LOCK --and LOCK: all locks, or none. */

#include "start_run.h"

#define INSIDE LOCKCTL, "run", "--servers", server_hosts(the_server)

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

/* Each way round: the one that waits has nothing that the other needs. */
TEST(two_that_name_them_in_another_order_take_turns)
{
    struct cli other;

    START(&cli, b, "--and", a, "-c", "for i in 1 2 3; do echo $i; done");
    START(&other, a, "--and", b, "-c", "for i in 1 2 3; do echo $i; done");
    assert_int_equal(cli_end(&cli), 0);
    assert_int_equal(cli_end(&other), 0);
}

TEST(when_one_is_taken_none_is_kept)
{
    struct cli second;

    START_READY(&cli, "--why", "books", b);
    START(&second, "-n", a, "--and", b, "echo", "started");
    assert_end(&second, 75, line("not acquired: %s is held by ", b));
    assert_lacks(cli_said(&second), "started");
    wait_children(a, 0);
    START(&second, "-w", "6s", a, "--and", b, "true");
    cli_wait_said(&second, line("waiting: %s is held by ", b));
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
        assert_end(&cli, 79, line("deleted its node, %s/", paths[i]));
        wait_children(a, 0);
        wait_children(b, 0);
    }
}

/* In the order of the command line, which is not that of the multi-lock. */
TEST(the_command_knows_each_lock)
{
    long long token_b, token_a;
    char want[1024];

    PRINT(want, "%s\n%s\n%s\n%s\n", b, a, b, a);
    assert_run(0, want, b, "--and", a, "-c",
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
    assert_int_equal(RUN("-n", "--slots", "2", a, "--and", b, "-c",
                         "[ $(echo \"$ZKLOCK_NODE\" | grep -c /leases/) = 2 ]"),
                     0);
}

/* Neighbours in the order of bytes: "/x" and "/x-y", whose nodes are in "/x/"
 * and "/x-y/"; and one below the other. */
TEST(names_that_begin_alike_are_told_apart)
{
    char beside[160];
    char under[160];

    PRINT(beside, "%s-y", a);
    PRINT(under, "%s/y", a);
    assert_int_equal(RUN(beside, "--and", a, "--and", under, "-c",
                         "echo \"$ZKLOCK_NODE\" | sed 's,/_c_.*,,'"),
                     0);
    assert_string_equal(cli_said(&cli), line("%s\n%s\n%s\n", beside, a, under));
    assert_int_equal(RUN("--slots", "1", beside, "--and", a, "-c",
                         "echo \"$ZKLOCK_NODE\" | sed 's,/leases/.*,,'"),
                     0);
    assert_string_equal(cli_said(&cli), line("%s\n%s\n", beside, a));
}

TEST(one_that_is_held_around_is_refused)
{
    char want[256];

    PRINT(want, "you hold %s already", b);
    assert_run(64, want, b, INSIDE, a, "--and", b, "echo", "started");
    assert_run(64, want, b, "--and", c, INSIDE, b, "echo", "started");
    assert_lacks(cli_said(&cli), "started");
    assert_int_equal(RUN(b, "--and", c, INSIDE, a, "true"), 0);
}

TEST(wrong_usage_is_64)
{
    const char *args[20] = { "run" };

    assert_run(64, "is in it already", a, "--and", a, "true");
    assert_int_equal(RUN(a, "--and"), 64);
    assert_int_equal(RUN(a, "--and", b), 64);
    assert_int_equal(RUN(a, "--and", "", "true"), 64);
    for (size_t i = 1; i <= 16; i++)
        args[i] = "--and=/b";
    args[17] = "/a";
    cli_start(&cli, LOCKCTL, args);
    assert_end(&cli, 64, "more than 16 locks");
}

/* --and is ours only right behind a lock. */
TEST(the_command_has_its_own_options)
{
    assert_run(0, "--and ", a, "echo", "--and", b);
    assert_int_equal(RUN(a, "--", "echo", "--and"), 0);
    assert_string_equal(cli_said(&cli), "--and\n");
}
