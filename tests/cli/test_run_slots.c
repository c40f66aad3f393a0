/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of zk-lockctl run --slots: a lease of a semaphore. */

#include "start_run.h"

FIXTURE(take_path, NULL)

static const char *below(const char *name)
{
    return textf("%s/%s", path, name);
}

static void start_holder(struct cli *c, const char *slots)
{
    START(c, "--why=it", "--slots", slots, path, COMMAND, "signals");
    cli_wait_said(c, "ready\n");
}

TEST(so_many_run_at_once_and_no_more)
{
    struct cli other;
    struct cli third;

    start_holder(&cli, "2");
    start_holder(&other, "2");
    START(&third, "-n", "--slots", "2", path, "true");
    assert_end(&third, 75, "zk-lockctl (zkrecipes), \"it\", token ",
               ", and 1 more; ");
    START(&third, "--slots", "2", path, "echo", "started");
    cli_wait_said(&third, "waiting: ");
    assert_int_equal(cli_end(&other), 0);
    assert_end(&third, 0, "started\n");
    assert_int_equal(cli_end(&cli), 0);
    assert_int_equal(count_children(below("leases")), 0);
    assert_int_equal(count_children(below("locks")), 0);
}

/* Regression: who said "--slots 3" was let in beside the only one of
 * "--slots 1". */
TEST(another_number_of_slots_is_refused)
{
    struct cli other;
    struct cli third;

    start_holder(&cli, "1");
    START(&other, "--slots", "3", path, "true");
    assert_end(&other, 65, "is used as a semaphore of 1 by ");
    START(&other, "-n", "--slots", "1", path, "true");
    assert_int_equal(cli_end(&other), 75);
    START(&other, "--slots", "1", path, "true");
    cli_wait_said(&other, "; 0 waiting before us"); /* it has made its lease */
    START(&third, "--slots", "1", path, "true");
    cli_wait_said(&third, "; 1 waiting before us");
    assert_int_equal(cli_end(&cli), 0);
    assert_int_equal(cli_end(&other), 0);
    assert_int_equal(cli_end(&third), 0);
    assert_int_equal(RUN("--slots", "3", path, "true"), 0);
}

/* The name of the lease, and its data. */
TEST(the_command_knows_its_lease)
{
    START(&cli, "--slots", "3", "--why", "night", path, "-c",
          "env; echo ready; read -r line");
    cli_wait_said(&cli, "ready\n");
    assert_said(&cli, textf("ZKLOCK_NODE=%s\n", first_child(below("leases"))));
    assert_said(&cli, "ZKLOCK_KIND=semaphore\n");
    assert_said(&cli, textf("ZKLOCK_PATH=%s\n", path));
    assert_said(&cli, "ZKLOCK_TOKEN=");
    assert_has(data_of_first(below("leases")),
               "\"label\":\"night\",\"limit\":3,");
    assert_int_equal(write(cli.in, "\n", 1), 1);
    assert_int_equal(cli_end(&cli), 0);
}
