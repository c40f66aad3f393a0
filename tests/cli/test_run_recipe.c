/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of zk-lockctl run and lead at paths where another recipe is in use. It
 * ran there, and excluded nobody. */

#include "start_run.h"

FIXTURE(take_path, NULL)

#define UUID "5a5bbc38-73ea-4b5a-9f73-96e8c4c6a436"
#define HEX  "5a5bbc3873ea4b5a9f7396e8c4c6a436"

/* A path with such an ephemeral node below it. "": none. */
static const char *path_with(const char *node)
{
    (void)take_path();
    if (node[0] == '\0')
        assert_ok(admin_create(admin, path, NULL));
    else
        (void)look_make(admin, line("%s/%s", path, node), "x", ZOO_EPHEMERAL);
    return path;
}

static void refuse(const char *option, const char *used_for)
{
    START(&cli, option, path, "echo", "started");
    if (cli_end(&cli) != 65)
        fail_msg("not refused: %s", used_for);
    assert_said(&cli, line("%s is used for %s", path, used_for));
    assert_lacks(cli_said(&cli), "started");
}

#define SEMAPHORE "leases/_c_" UUID "-lease-0000000001"
#define MUTEX     "_c_" UUID "-lock-0000000001"
#define WRITER    "_c_" UUID "-__WRIT__0000000001"
#define LATCH     "_c_" UUID "-latch-0000000001"

TEST(another_recipe_is_refused)
{
    static const struct {
        const char *option;
        const char *node;
        const char *used_for;
    } cases[] = {
        { "-v", SEMAPHORE, "a semaphore: a mutex there would keep none" },
        { "-v", WRITER, "a read/write lock" },
        { "-v", LATCH, "a leader election" },
        { "-v", "holder", "an unfair mutex" },
        { "-v", UUID, "a barrier" },
        { "-v", HEX, "a semaphore, a double barrier or a party of kazoo" },
        { "-s", HEX "__party__", "a semaphore, a double barrier or a party" },
        { "-v", "x-1-0000000001", "a lock that other clients do not know" },
        { "-x", MUTEX, "a mutex" },
        { "-s", SEMAPHORE, "a semaphore" },
        { "--slots=2", MUTEX, "a mutex" },
        { "--slots=2", LATCH, "a leader election" },
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        (void)path_with(cases[i].node);
        refuse(cases[i].option, cases[i].used_for);
    }
}

TEST(a_counter_is_refused)
{
    assert_int_equal(admin_create(admin, path, "\1\2\3\4\5\6\7\x8"), ZOK);
    refuse("-v", "a counter");
    assert_int_equal(count_children(path), 0);
}

/* Data and children of a program's own are no recipe. */
TEST(other_nodes_are_in_nobodys_way)
{
    assert_int_equal(RUN(path_with("config"), "true"), 0);
    assert_int_equal(admin_set(admin, path, "12345678"), ZOK);
    assert_int_equal(RUN(path, "true"), 0);
    (void)take_path();
    assert_int_equal(admin_create(admin, path, "{\"size\":7}"), ZOK);
    assert_int_equal(RUN(path, "true"), 0);
    assert_int_equal(RUN(path_with(""), "true"), 0);
}

/* kazoo waits for us only if it is told to; that cannot be seen. */
TEST(kazoo_is_warned_of)
{
    START(&cli, "-n", path_with(HEX "__lock__0000000001"), "true");
    assert_end(&cli, 75,
               "does not wait for this run unless its lock has "
               "extra_lock_patterns");
}
