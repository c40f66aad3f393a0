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

TEST(a_wait_may_have_an_end)
{
    struct cli next;

    START(&cli, path, COMMAND, "signals");
    cli_wait_said(&cli, "ready\n");
    START(&next, "-w", "300ms", "-E", "9", path, "true");
    assert_int_equal(cli_end(&next), 9);
    wait_children(path, 1);
    assert_int_equal(cli_end(&cli), 0);
}

TEST(a_command_that_cannot_start_leaves_nothing)
{
    assert_int_equal(LEAD(path, "/etc/passwd"), 126);
    assert_int_equal(LEAD(path, "no-such-command"), 127);
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
