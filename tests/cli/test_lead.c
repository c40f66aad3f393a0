/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of zk-lockctl lead, against a real server. */

#include "look.h"

#define START(c, ...)                                                          \
    cli_start(                                                                 \
        c, LOCKCTL,                                                            \
        (const char *const[]){ "lead", "--servers", server_hosts(the_server),  \
                               "--session-timeout", "20s", "--kill-grace",     \
                               "600ms", __VA_ARGS__, NULL })
#define LEAD(...) (START(&cli, __VA_ARGS__), cli_end(&cli))

static struct cli cli;
static const char *path;

static int setup(void)
{
    path = new_path();
    return 0;
}

FIXTURE(setup, NULL)

TEST(a_command_runs_while_it_leads)
{
    START(&cli, "--why", "night shift", path, "-c",
          "env; echo ready; read -r line; exit 7");
    cli_wait_said(&cli, "ready\n");
    assert_has(cli_said(&cli), "ZKLOCK_KIND=leader\n");
    assert_has(cli_said(&cli), "-latch-0000000000\n");
    assert_has(cli_said(&cli), "ZKLOCK_TOKEN=");
    LOOK(0, "show --no-4lw -o wide %s", path);
    assert_has(look_golden(), "leader (zkrecipes) held");
    assert_has(look_out, "night shift");
    assert_int_equal(write(cli.in, "\n", 1), 1);
    assert_int_equal(cli_end(&cli), 7);
    assert_int_equal(count_children(path), 0);
}

TEST(a_wait_with_an_end_is_not_begun_again)
{
    struct cli next;

    START(&cli, path, COMMAND, "signals");
    cli_wait_said(&cli, "ready\n");
    START(&next, "--restart", "-w", "300ms", "-E", "9", path, "true");
    assert_int_equal(cli_end(&next), 9);
    wait_children(path, 1);
    assert_int_equal(cli_end(&cli), 0);
}

static void wait_turns(int want)
{
    cli_wait_said(&cli, line("turn %d\n", want));
}

/* Counts the turns in a file. */
#define TURN                                                                   \
    "n=$(cat \"$0\" 2>/dev/null || echo 0); n=$((n + 1)); echo $n >\"$0\"; "   \
    "echo turn $n; "

TEST(with_restart_it_leads_again_after_a_loss)
{
    const char *file = cli_file("turns");

    (void)unlink(file);
    START(&cli, "--restart", path, "sh", "-c", TURN "exec sleep 1000", file);
    for (int i = 1; i <= 2; i++) {
        wait_turns(i);
        delete_nth_child(path, 0);
    }
    wait_turns(3);
    assert_has(cli_said(&cli), "exit status 79; once more in 1s");
    assert_has(cli_said(&cli), "exit status 79; once more in 2s");
    assert_int_equal(count_children(path), 1);
    assert_int_equal(kill(cli.pid, SIGTERM), 0);
    assert_int_equal(cli_end(&cli), 128 + SIGTERM);
    assert_int_equal(count_children(path), 0);
}

/* Meanwhile it does not lead. */
TEST(also_after_the_end_of_the_command)
{
    const char *file = cli_file("turns");
    struct cli other;

    (void)unlink(file);
    START(&cli, "--restart", path, "sh", "-c", TURN "exit 3", file);
    wait_turns(2);
    cli_wait_said(&cli, "exit status 3; once more in 2s");
    START(&other, path, "true");
    assert_int_equal(cli_end(&other), 0);
    assert_lacks(cli_said(&cli), "turn 3");
    assert_int_equal(kill(cli.pid, SIGTERM), 0);
    assert_int_equal(cli_end(&cli), 128 + SIGTERM);
}

TEST(a_command_that_cannot_start_is_not_tried_again)
{
    assert_int_equal(LEAD("--restart", path, "/etc/passwd"), 126);
    assert_int_equal(LEAD("--restart", path, "no-such-command"), 127);
    assert_int_equal(count_children(path), 0);
}

TEST(inside_of_itself_it_is_refused)
{
    assert_int_equal(LEAD(path, LOCKCTL, "lead", "--servers",
                          server_hosts(the_server), path, "echo", "started"),
                     64);
    assert_has(cli_said(&cli), "you hold /");
    assert_lacks(cli_said(&cli), "started");
}

TEST(wrong_usage_is_64)
{
    static const char *const options[] = { "-s", "-x", "--slots=2",
                                           "--and=/b" };

    for (size_t i = 0; i < COUNT(options); i++)
        assert_int_equal(LEAD(options[i], path, "true"), 64);
    assert_int_equal(LEAD(path, "--and", "/b", "true"), 64);
    assert_int_equal(LEAD(path), 64);
    assert_int_equal(LEAD("/a//b", "true"), 64);
}
