/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of zk-lockctl on queues that Curator and kazoo have made. */

#include "look.h"
#include "worker.h"

static struct worker curator;
static struct worker kazoo;
static struct worker ours;
static char path[64];

static int start_all(void)
{
    struct {
        struct worker *worker;
        enum kind kind;
    } all[] = { { &ours, KIND_C },
                { &curator, KIND_CURATOR },
                { &kazoo, KIND_KAZOO } };

    for (size_t i = 0; i < 3; i++) {
        worker_start(all[i].worker, all[i].kind, 1);
        worker_open(all[i].worker, server_hosts(the_server), 10000);
    }
    return 0;
}

static int stop_all(void)
{
    worker_stop(&ours);
    worker_stop(&curator);
    worker_stop(&kazoo);
    return 0;
}

static int setup(void)
{
    PRINT(path, "%s", new_path());
    return 0;
}

static int teardown(void)
{
    (void)admin_delete_tree(admin, path);
    return 0;
}

FIXTURE(setup, teardown)

static const char *show(const char *columns)
{
    const char *const args[] = { "show", path, "--columns", columns, NULL };

    if (look_at(args) != 0)
        fail_msg("%s", look_err);
    /* without the line of the path */
    return strchr(look_golden(), '\n') + 1;
}

static void wait_in_queue(struct worker *w, const char *mode, size_t place)
{
    worker_tell(w, "acquire %s %d", mode, SOON_MS);
    wait_children(path, place + 1);
}

static void wait_for_view(const char *text)
{
    if (!COMES(
            strcmp(strchr(show("POS,STATE,DIALECT,MODE,BLOCKED-BY"), '\n') + 1,
                   text) == 0,
            SOON_MS))
        fail_msg("%s", look_out);
}

TEST(a_mixed_queue_is_shown_right)
{
    worker_do(&curator, "lock", "lock mutex curator %s", path);
    worker_do(&kazoo, "lock", "lock mutex patterns %s", path);
    worker_do(&ours, "lock", "lock mutex curator %s", path);
    worker_acquire(&curator, "write");
    wait_in_queue(&kazoo, "write", 1);
    wait_in_queue(&ours, "write", 2);
    wait_for_view(" 0 HELD curator exclusive -\n"
                  " 1 wait kazoo exclusive pos 0\n"
                  " 2 wait zkrecipes exclusive pos 1\n");
    ok(look_at((const char *const[]){ "check", "--held", path, NULL }));
    assert_has(show("OWNER"), "kazoo1");
    worker_do(&curator, "released", "release write");
    worker_expect_held(&kazoo);
    wait_for_view(" 0 HELD kazoo exclusive -\n"
                  " 1 wait zkrecipes exclusive pos 0\n");
    worker_do(&kazoo, "released", "release write");
    worker_expect_held(&ours);
    worker_do(&ours, "released", "release write");
}

/* Curator's reader watches the first writer, which is the nearest here. */
TEST(readers_and_writers_of_curator_are_shown_right)
{
    worker_do(&ours, "lock", "lock rw curator %s", path);
    worker_do(&curator, "lock", "lock rw curator %s", path);
    worker_acquire(&ours, "write");
    wait_in_queue(&curator, "read", 1);
    wait_for_view(" 0 HELD zkrecipes exclusive -\n"
                  " 1 wait curator shared pos 0\n");
    worker_do(&ours, "released", "release write");
    worker_expect_held(&curator);
    ok(look_at((const char *const[]){ "ls", path, "--columns",
                                      "KIND,DIALECT,STATE", NULL }));
    assert_string_equal(look_golden(),
                        "KIND DIALECT STATE\nrw curator shared\n");
    worker_do(&curator, "released", "release read");
}

TEST(a_request_reaches_curator)
{
    worker_do(&curator, "lock", "lock mutex curator %s", path);
    worker_do(&curator, "listening", "listen");
    worker_acquire(&curator, "write");
    assert_int_equal(
        look_at((const char *const[]){ "revoke", path, "-w", "0", NULL }), 75);
    worker_expect(&curator, "asked");
    worker_do(&curator, "released", "release write");
}

/* Curator and this library wait with a lease that does not hold yet, and watch
 * for children. */
TEST(a_semaphore_of_both_is_shown_right)
{
    worker_do(&curator, "lock", "lock semaphore:1 curator %s", path);
    worker_do(&ours, "lock", "lock semaphore:1 curator %s", path);
    worker_acquire(&curator, "1");
    worker_tell(&ours, "acquire 1 %d", SOON_MS);
    wait_for_view(" 0 HELD curator shared -\n"
                  " 1 wait zkrecipes shared a permit\n"
                  " 2 wait zkrecipes exclusive a permit\n");
    worker_do(&curator, "released", "release 1");
    worker_expect_held(&ours);
    worker_tell(&curator, "acquire 1 %d", SOON_MS);
    wait_for_view(" 0 HELD zkrecipes shared -\n"
                  " 1 wait curator shared a permit\n"
                  " 2 wait curator exclusive a permit\n");
    ok(look_at((const char *const[]){ "ls", path, "--columns",
                                      "KIND,DIALECT,STATE,WAIT", NULL }));
    assert_string_equal(look_golden(), "KIND DIALECT STATE WAIT\n"
                                       "semaphore mixed shared 1\n");
    worker_do(&ours, "released", "release 1");
    worker_expect_held(&curator);
    worker_do(&curator, "released", "release 1");
}

/* Both write the id of the candidate, and nothing else. */
TEST(a_latch_of_both_is_shown_right)
{
    worker_do(&curator, "lock", "lock latch curator %s", path);
    worker_do(&ours, "lock", "lock latch curator %s", path);
    worker_acquire(&curator, "write");
    wait_in_queue(&ours, "write", 1);
    wait_for_view(" 0 HELD ? exclusive -\n"
                  " 1 wait ? exclusive pos 0\n");
    assert_int_equal(
        look_at((const char *const[]){ "check", "--free", path, NULL }), 1);
    assert_has(look_err, "is led by curator1");
    worker_do(&curator, "released", "release write");
    worker_expect_held(&ours);
    worker_do(&ours, "released", "release write");
}

static int look_verb(const char *verb, const char *option, const char *value)
{
    return look_at((const char *const[]){ verb, "--confirm", "50ms", path,
                                          option, value, NULL });
}

/* Ends what it waits for. */
static void start_anew(struct worker *w)
{
    worker_kill(w);
    worker_start(w, w->kind, 1);
    worker_open(w, server_hosts(the_server), 10000);
}

/* It cannot end by itself: the worker is killed. `again` makes it another lock
 * object, where one object would count instead of wait. */
static void assert_own_node_is_found(struct worker *w, const char *layout,
                                     bool again, bool certain)
{
    const char *lock = textf("lock mutex %s %s", layout, path);
    worker_do(w, "lock", "%s", lock);
    worker_acquire(w, "write");
    if (again)
        worker_do(w, "lock", "%s", lock);
    wait_in_queue(w, "write", 1);
    wait_children(path, 2);
    assert_int_equal(look_verb("deadlocks", "--possible", NULL), certain);
    assert_has(look_out, certain ? "DEADLOCK 1 (confirmed, 1 owner,"
                                 : "DEADLOCK 1 (possible, 1 owner,");
    assert_int_equal(strstr(look_out, "zk-lockctl revoke") != NULL, certain);
    assert_int_equal(look_verb("deadlocks", NULL, NULL), certain);
    assert_int_equal(look_verb("doctor", NULL, NULL), certain);
    if (!certain)
        assert_has(look_err, "1 possible deadlock, such as of ");
    assert_int_equal(look_verb("doctor", "--older", "1ms"), 1);
    assert_has(look_out, certain ? ": deadlock: " : ": own-node: ");
    start_anew(w);
    (void)admin_delete_tree(admin, path);
}

/* Regression: neither verb said a word. Curator and kazoo do not say which
 * thread made a node. */
TEST(a_session_behind_its_own_node_is_found)
{
    assert_own_node_is_found(&ours, "curator", false, true);
    assert_own_node_is_found(&curator, "curator", true, false);
    assert_own_node_is_found(&kazoo, "kazoo", false, false);
}

static int run_group(void)
{

    return test_run_between(start_all, stop_all);
}

int main(void)
{
    return workers_installed() ? run_with_server(NULL, run_group) : 77;
}
