/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of what zk-lockctl asks of the servers: the proxy counts its requests
 * on many locks, and on one long queue. The test prints them, with the CPU time
 * of the tool, also for numbers of locks and contenders that the environment
 * names: docs/lockctl.md. */

#include <sys/resource.h>

#include "tmux.h"

enum {
    CONNECT = 1, /* requests before the verb has its session */
    FIND = 2,    /* requests of a search, beside its directories */
    LIST = 2,    /* requests of a list of one lock, beside its nodes */
};

/* All locks are held, and somebody waits for some of them. In the queue of one
 * lock one holds. */
static int locks = 200, waited, queued = 1001; /* more than top reads */

static struct proxy *proxy;
static struct admin *waiter; /* no session both holds and waits */
static char fleet[64];
static char queue[64];

static void make(struct admin *by, const char *dir, int i)
{
    ok(admin_create_flags(by, textf("%s/lock-%010d", dir, i), NULL,
                          ZOO_EPHEMERAL, NULL, 0));
}

static int group_setup(void)
{
    locks = (int)test_number("COSTS_LOCKS", locks);
    queued = (int)test_number("COSTS_QUEUE", queued);
    waited = locks / 2;
    PRINT(fleet, "%s", new_path());
    PRINT(queue, "%s", new_path());
    assert_int_equal(admin_open(server_hosts(the_server), &waiter), ZOK);
    ok(admin_create(admin, fleet, NULL));
    for (int i = 0; i < locks; i++) {
        const char *lock = textf("%s/l%04d", fleet, i);

        ok(admin_create(admin, lock, NULL));
        make(admin, lock, 0);
        if (i < waited)
            make(waiter, lock, 1);
    }
    assert_int_equal(admin_create(admin, queue, NULL), ZOK);
    make(admin, queue, 0);
    for (int i = 1; i < queued; i++)
        make(waiter, queue, i);
    return proxy_start(server_hosts(the_server), &proxy);
}

static int group_teardown(void)
{
    proxy_stop(proxy);
    admin_close(waiter);
    return admin_delete_tree(admin, fleet) == ZOK
               ? admin_delete_tree(admin, queue)
               : -1;
}

GROUP(group_setup, group_teardown)

/* Of the programs that have ended. The server has not. */
static int64_t cpu_ms(void)
{
    struct rusage used;

    (void)getrusage(RUSAGE_CHILDREN, &used);
    return (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000 +
           (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1000;
}

static const char *waiting; /* what is said of the queue; NULL: anything */

/* Runs it with the path behind these words, and expects that exit code, and no
 * more requests than that. */
static void assert_costs(long most, int code, const char *words,
                         const char *path, const char *more)
{
    int64_t before = cpu_ms();

    const char *line = textf("%s %s%s", words, path, more);
    look_on(proxy_hosts(proxy));
    proxy_reset_counts(proxy);
    int got = look(line);
    look_on(NULL);
    long sent = proxy_requests(proxy, PROXY_ANY);
    print_message("%-60s %6ld requests %6lld ms of CPU time\n", line, sent,
                  (long long)(cpu_ms() - before));
    if (got != code || sent > most ||
        (waiting != NULL && strstr(look_err, waiting) == NULL))
        fail_msg("%s: exit code %d, %ld requests (%ld lists, %ld of data, "
                 "%ld exists, %ld syncs, %ld connections): %s",
                 line, got, sent,
                 proxy_requests(proxy, ZOO_GETCHILDREN_OP) +
                     proxy_requests(proxy, ZOO_GETCHILDREN2_OP),
                 proxy_requests(proxy, ZOO_GETDATA_OP),
                 proxy_requests(proxy, ZOO_EXISTS_OP),
                 proxy_requests(proxy, ZOO_SYNC_OP),
                 proxy_requests(proxy, PROXY_CONNECT), look_err);
}

/* Regression: it listed each lock again that the search had listed, after a
 * sync for each: 9,005 requests for 2,000 locks. */
TEST(a_table_of_locks_costs_two_requests_for_each)
{
    assert_costs(CONNECT + FIND + 2 * locks, 0, "ls", fleet, "");
}

TEST(a_wait_costs_one_more)
{
    const long most = CONNECT + FIND + 2 * locks + waited;

    assert_costs(most, 0, "ls -o json", fleet, "");
    assert_costs(most, 0, "ls --columns lock,longest", fleet, "");
    assert_costs(most, 0, "metrics", fleet, "");
    assert_costs(most, 0, "deadlocks", fleet, "");
    assert_costs(most, 0, "doctor --no-4lw", fleet, "");
}

/* Regression: the second look was at all locks. */
TEST(a_second_look_is_at_the_suspects)
{
    const long most = CONNECT + FIND + 2 * locks + waited;

    const char *node = textf("%s/l0000/lock-0000000002", fleet);
    assert_int_equal(admin_create(admin, node, NULL), ZOK); /* persistent */
    assert_costs(most + 1 + LIST + 3, 1, "doctor --no-4lw --confirm 10ms",
                 fleet, "");
    assert_int_equal(admin_delete(admin, node), ZOK);
}

TEST(a_queue_costs_one_request_for_each_node)
{
    const long most = CONNECT + LIST + queued;

    assert_costs(most, 0, "show --no-4lw", queue, "");
    assert_costs(most + FIND, 0, "doctor --no-4lw", queue, "");
}

/* Regressions: for machines check read the whole queue, and a try read it to
 * say how long it is. */
TEST(asking_for_the_holder_costs_a_handful)
{
    assert_costs(CONNECT + LIST + 1, 0, "check --held", queue, "");
    assert_costs(CONNECT + LIST + 2, 0, "check --held -o json", queue, "");
    waiting = textf("%d waiting", queued - 1);
    assert_costs(CONNECT + LIST + 1, 1, "check --free", queue, "");
    assert_costs(CONNECT + LIST + 1, 1, "check --held-by nobody", queue, "");
    assert_costs(CONNECT + 2 + LIST + 4, 75, "run -n", queue, " true");
    assert_costs(CONNECT + LIST + 1, 75, "wait -w 0 --free", queue, "");
    assert_costs(CONNECT + LIST + 1, 64, "break --no-4lw", queue, "");
    waiting = NULL;
}

/* It asks one, who goes, and then all readers hold. */
TEST(a_revoke_of_one_before_many_costs_a_handful)
{
    const char *shared = new_path();
    struct cli c;

    START_CLI(&c, "run", "--servers", server_hosts(the_server), "-x",
              "--on-revoke=term", shared, "sleep", "600");
    wait_children(shared, 1);
    for (int i = 1; i < queued; i++)
        ok(admin_create(admin, textf("%s/_c_x-__READ__%010d", shared, i), ""));
    waiting = textf("is held by %d", queued - 1);
    assert_costs(50, 0, "revoke", shared, "");
    waiting = NULL;
    assert_int_equal(cli_end(&c), 80);
    ok(admin_delete_tree(admin, shared));
}

/* Regression: it counted only the nodes that it had read. */
TEST(top_counts_all_who_wait)
{
    tmux_open(100, 24);
    tmux_line("%s top --servers %s %s", LOCKCTL, server_hosts(the_server),
              queue);
    tmux_wait(textf("1 lock, 1 held, %d waiting", queued - 1));
    (void)tmux_close();
}

/* Regression: it said "5 in the queue" of a queue this long. */
TEST(a_limit_of_show_does_not_change_the_count)
{
    LOOK(0, "show --no-4lw --limit 5 %s", queue);
    assert_has(look_out, textf("%d in the queue, 5 shown\n", queued));
    LOOK(0, "show --no-4lw %s", queue);
    assert_lacks(look_out, " shown");
    LOOK(0, "show --limit 5 -o json %s", queue);
    assert_string_equal(
        look_jq(".kind, (.items[0] | .waiters, (.queue | length), .cut)"),
        textf("LockQueue\n%d\n5\ntrue", queued - 1));
}

/* The records of all holders are read when the question is who holds. */
TEST(many_holders_are_all_read)
{
    const char *readers = new_path();
    assert_int_equal(admin_create(admin, readers, NULL), ZOK);
    for (int i = 0; i < 100; i++) {
        ok(admin_create(admin, textf("%s/_c_x-__READ__%010d", readers, i),
                        textf("{\"library\":\"zkrecipes\",\"host\":\"h%d\","
                              "\"pid\":7}",
                              i)));
    }
    LOOK(0, "check --held-by h99:7 %s", readers);
    LOOK(1, "check --held-by h100:7 %s", readers);
    assert_int_equal(admin_delete_tree(admin, readers), ZOK);
}

/* Connect, the names of the recipe there, create and list, delete; and a watch
 * on a grant that is held for long. */
TEST(a_run_costs_six_requests)
{
    const char *path = new_path();

    assert_int_equal(admin_create(admin, path, NULL), ZOK);
    assert_costs(CONNECT + 5, 0, "run", path, " true");
    assert_int_equal(admin_delete(admin, path), ZOK);
}
