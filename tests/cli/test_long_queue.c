/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of zk-lockctl on a long queue. The proxy counts its requests: a verb
 * that needs one node does not read a thousand, and the numbers that it prints
 * are true. */

#include "look.h"
#include "proxy.h"
#include "tmux.h"

enum { WAITERS = 1000 };

static struct proxy *proxy;
static char path[64];
static zkr_session *s;
static zkr_mutex *m;
static zkr_grant *held;

/* One of our clients holds; the waiters are nodes of others. */
static int group_setup(void)
{
    char node[128];

    PRINT(path, "%s", new_path());
    s = open_session();
    m = new_mutex(s, path);
    held = acquire(m);
    for (int i = 1; i <= WAITERS; i++) {
        PRINT(node, "%s/lock-%010d", path, i);
        if (admin_create_flags(admin, node, NULL, ZOO_EPHEMERAL, NULL, 0) !=
            ZOK)
            return -1;
    }
    return proxy_start(server_hosts(the_server), &proxy);
}

static int group_teardown(void)
{
    proxy_stop(proxy);
    zkr_grant_free(held);
    zkr_mutex_free(m);
    (void)zkr_session_close(s);
    return admin_delete_tree(admin, path);
}

/* Runs it with the path behind these words, and expects that exit code, that
 * text on stderr, and no more than a handful of requests. */
static void assert_asks_little(int code, const char *said, const char *words,
                               const char *more)
{
    char line[256];
    int got;

    PRINT(line, "%s %s%s", words, path, more);
    look_on(proxy_hosts(proxy));
    proxy_reset_counts(proxy);
    got = look(line);
    look_on(NULL);
    if (got != code || strstr(look_err, said) == NULL)
        fail_msg("%s: exit code %d: %s", line, got, look_err);
    if (proxy_requests(proxy, PROXY_ANY) > 9)
        fail_msg("%s: %ld requests", line, proxy_requests(proxy, PROXY_ANY));
}

/* Regression: a try read every node of the queue to say how long the queue is:
 * 3,007 requests for a queue of 3,000. */
TEST(a_try_reads_few_nodes)
{
    assert_asks_little(75, "1000 waiting", "run -n", " true");
}

TEST(check_reads_few_nodes)
{
    assert_asks_little(0, "", "check --held", "");
    assert_asks_little(1, "; 1000 waiting", "check --free", "");
    assert_asks_little(1, "; 1000 waiting", "check --held-by nobody", "");
    assert_asks_little(0, "", "check --held -o json", "");
}

TEST(wait_and_break_read_few_nodes)
{
    assert_asks_little(75, "; 1000 waiting", "wait -w 0 --free", "");
    assert_asks_little(64, "1000 waiting; the next", "break --no-4lw", "");
}

/* Regression: it counted only the nodes that it had read. */
TEST(top_counts_all_who_wait)
{
    char words[300];

    tmux_open(100, 24);
    PRINT(words, "%s top --servers %s %s", LOCKCTL, server_hosts(the_server),
          path);
    tmux_type(words);
    tmux_key("Enter");
    tmux_wait("1 lock, 1 held, 1000 waiting");
    tmux_close();
}

/* Regression: it said "5 in the queue" of a queue this long. */
TEST(a_limit_of_show_does_not_change_the_count)
{
    json_t *lock;
    char words[128];

    PRINT(words, "show --no-4lw --limit 5 %s", path);
    LOOK(0, "%s", words);
    assert_has(look_out, "1001 in the queue, 5 shown"
                         "\n");
    PRINT(words, "show --limit 5 -o json %s", path);
    LOOK(0, "%s", words);
    lock = json_array_get(look_items("LockQueue"), 0);
    assert_int_equal(json_integer_value(json_object_get(lock, "waiters")),
                     WAITERS);
    assert_int_equal(json_array_size(json_object_get(lock, "queue")), 5);
    assert_true(json_is_true(json_object_get(lock, "cut")));
}

/* The records of all holders are read when the question is who holds. */
TEST(many_holders_are_all_read)
{
    const char *readers = new_path();
    char node[128];
    char words[256];
    char record[128];

    assert_int_equal(admin_create(admin, readers, NULL), ZOK);
    for (int i = 0; i < 100; i++) {
        PRINT(node, "%s/_c_x-__READ__%010d", readers, i);
        PRINT(record,
              "{\"library\":\"zkrecipes\",\"host\":\"h%d\","
              "\"pid\":7}",
              i);
        assert_int_equal(admin_create(admin, node, record), ZOK);
    }
    PRINT(words, "check --held-by h99:7 %s", readers);
    LOOK(0, "%s", words);
    PRINT(words, "check --held-by h100:7 %s", readers);
    LOOK(1, "%s", words);
    assert_int_equal(admin_delete_tree(admin, readers), ZOK);
}

static int run_group(void)
{

    return test_run_between(group_setup, group_teardown);
}

int main(void)
{
    return tmux_run(run_group);
}
