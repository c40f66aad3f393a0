/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of zk-lockctl on queues that Curator and kazoo have made. */

#include "look.h"
#include "worker.h"

static struct worker curator;
static struct worker kazoo;
static struct worker ours;
static char path[64];

static void start(struct worker *w, enum kind kind)
{
    worker_start(w, kind, 1);
    worker_open(w, server_hosts(the_server), 10000);
}

static int start_all(void)
{
    start(&ours, KIND_C);
    start(&curator, KIND_CURATOR);
    start(&kazoo, KIND_KAZOO);
    return 0;
}

static int stop_all(void)
{
    worker_stop(&ours);
    worker_stop(&curator);
    worker_stop(&kazoo);
    return 0;
}

GROUP(start_all, stop_all)

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
    LOOK(0, "show %s --columns %s", path, columns);
    /* without the line of the path */
    return strchr(look_golden(), '\n') + 1;
}

static void join(struct worker *w, const char *lock)
{
    worker_do(w, "lock", "lock %s %s", lock, path);
}

static void give_back(struct worker *w, const char *mode, struct worker *next)
{
    worker_do(w, "released", "release %s", mode);
    if (next != NULL)
        worker_expect_held(next);
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
    join(&curator, "mutex curator");
    join(&kazoo, "mutex patterns");
    join(&ours, "mutex curator");
    worker_acquire(&curator, "write");
    wait_in_queue(&kazoo, "write", 1);
    wait_in_queue(&ours, "write", 2);
    wait_for_view(" 0 HELD curator exclusive -\n"
                  " 1 wait kazoo exclusive pos 0\n"
                  " 2 wait zkrecipes exclusive pos 1\n");
    LOOK(0, "check --held %s", path);
    assert_has(show("OWNER"), "kazoo1");
    give_back(&curator, "write", &kazoo);
    wait_for_view(" 0 HELD kazoo exclusive -\n"
                  " 1 wait zkrecipes exclusive pos 0\n");
    give_back(&kazoo, "write", &ours);
    give_back(&ours, "write", NULL);
}

/* Curator's reader watches the first writer, which is the nearest here. */
TEST(readers_and_writers_of_curator_are_shown_right)
{
    join(&ours, "rw curator");
    join(&curator, "rw curator");
    worker_acquire(&ours, "write");
    wait_in_queue(&curator, "read", 1);
    wait_for_view(" 0 HELD zkrecipes exclusive -\n"
                  " 1 wait curator shared pos 0\n");
    give_back(&ours, "write", &curator);
    LOOK(0, "ls %s --columns KIND,DIALECT,STATE", path);
    assert_string_equal(look_golden(),
                        "KIND DIALECT STATE\nrw curator shared\n");
    give_back(&curator, "read", NULL);
}

TEST(a_request_reaches_curator)
{
    join(&curator, "mutex curator");
    worker_do(&curator, "listening", "listen");
    worker_acquire(&curator, "write");
    LOOK(75, "revoke %s -w 0", path);
    worker_expect(&curator, "asked");
    give_back(&curator, "write", NULL);
}

/* Curator and this library wait with a lease that does not hold yet, and watch
 * for children. */
TEST(a_semaphore_of_both_is_shown_right)
{
    join(&curator, "semaphore:1 curator");
    join(&ours, "semaphore:1 curator");
    worker_acquire(&curator, "1");
    worker_tell(&ours, "acquire 1 %d", SOON_MS);
    wait_for_view(" 0 HELD curator shared -\n"
                  " 1 wait zkrecipes shared a permit\n"
                  " 2 wait zkrecipes exclusive a permit\n");
    give_back(&curator, "1", &ours);
    worker_tell(&curator, "acquire 1 %d", SOON_MS);
    wait_for_view(" 0 HELD zkrecipes shared -\n"
                  " 1 wait curator shared a permit\n"
                  " 2 wait curator exclusive a permit\n");
    LOOK(0, "ls %s --columns KIND,DIALECT,STATE,WAIT", path);
    assert_string_equal(look_golden(), "KIND DIALECT STATE WAIT\n"
                                       "semaphore mixed shared 1\n");
    give_back(&ours, "1", &curator);
    give_back(&curator, "1", NULL);
}

/* Both write the id of the candidate, and nothing else. */
TEST(a_latch_of_both_is_shown_right)
{
    join(&curator, "latch curator");
    join(&ours, "latch curator");
    worker_acquire(&curator, "write");
    wait_in_queue(&ours, "write", 1);
    wait_for_view(" 0 HELD ? exclusive -\n"
                  " 1 wait ? exclusive pos 0\n");
    LOOK_ERR(1, "is led by curator1", "check --free %s", path);
    give_back(&curator, "write", &ours);
    give_back(&ours, "write", NULL);
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
    LOOK(certain, "deadlocks --confirm 50ms --possible %s", path);
    assert_has(look_out, certain ? "DEADLOCK 1 (confirmed, 1 owner,"
                                 : "DEADLOCK 1 (possible, 1 owner,");
    assert_int_equal(strstr(look_out, "zk-lockctl revoke") != NULL, certain);
    LOOK(certain, "deadlocks --confirm 50ms %s", path);
    LOOK(certain, "doctor --confirm 50ms %s", path);
    if (!certain)
        assert_has(look_err, "1 possible deadlock, such as of ");
    LOOK_OUT(1, certain ? ": deadlock: " : ": own-node: ",
             "doctor --confirm 50ms --older 1ms %s", path);
    worker_kill(w); /* which ends what it waits for */
    start(w, w->kind);
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

int main(void)
{
    return workers_installed() ? cli_run(NULL) : 77;
}
