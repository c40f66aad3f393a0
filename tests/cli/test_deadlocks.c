/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of zk-lockctl deadlocks against a real server. */

#include "look.h"

/* Looks for deadlocks below the root, with these words more. */
#define FIND(code, words)                                                      \
    LOOK(code, "deadlocks --confirm 20ms %s %s", words, look_root)

FIXTURE(look_make_root, look_remove_root)

/* --- threads that wait for each other --- */

enum { OWNERS = 2 };

/* A thread that holds the first lock and then wants the second. */
static struct owner {
    zkr_session *session;
    zkr_rwlock *first;
    zkr_rwlock *second;
    pthread_t thread;
    int first_rc;
    int second_rc;
} owners[OWNERS];

static pthread_barrier_t barrier; /* all hold their first */

static void *own(void *arg)
{
    struct owner *o = arg;
    AUTO(grant) first = NULL;
    AUTO(grant) second = NULL;

    o->first_rc = zkr_rwlock_acquire_write(o->first, SOON_MS, &first);
    (void)pthread_barrier_wait(&barrier);
    o->second_rc = zkr_rwlock_acquire_write(o->second, SOON_MS * 3, &second);
    return NULL;
}

static const char *lock_path(int i)
{
    return textf("%s/lock \"%d\"", look_root, i);
}

static zkr_rwlock *new_lock(zkr_session *s, int i)
{
    return NEW(rwlock, s, lock_path(i),
               OPTS(lockable, .label = "close the books"));
}

/* Each owner holds a lock and waits for that of the other. */
static void start_ring(void)
{
    ok(pthread_barrier_init(&barrier, NULL, OWNERS));
    for (int i = 0; i < OWNERS; i++) {
        struct owner *o = &owners[i];

        o->session = open_session();
        o->first = new_lock(o->session, i);
        o->second = new_lock(o->session, 1 - i);
        o->thread = thread_start(own, o);
    }
    for (int i = 0; i < OWNERS; i++)
        wait_children(lock_path(i), 2);
}

static void end_ring(void)
{
    for (int i = 0; i < OWNERS; i++)
        (void)zkr_lockable_cancel(owners[i].second);
    for (int i = 0; i < OWNERS; i++) {
        struct owner *o = &owners[i];

        (void)thread_join(o->thread);
        zkr_rwlock_free(o->first);
        zkr_rwlock_free(o->second);
        close_session(o->session);
        ok(o->first_rc);
    }
    (void)pthread_barrier_destroy(&barrier);
}

static void assert_ring_is_told(void)
{
    FIND(1, "-qo json");
    assert_jq(".kind == 'DeadlockList' and (.items | length) == 1 and "
              "(.items[0] | .confirmed and (.owners | length) == %d and "
              "all(.owners[] | .holds, .waits_for; "
              ".contender.owner.label == 'close the books') and "
              "([.owners[].waits_for.lock] | reverse) == "
              "[.owners[].holds.lock])",
              OWNERS);
}

/* Regression: the second look dropped all locks behind a semaphore. */
TEST(a_semaphore_before_a_deadlock_hides_nothing)
{
#define UUID "5a5bbc38-73ea-4b5a-9f73-96e8c4c6a436"
    start_ring();
    assert_ring_is_told();
    FIND(1, "");
    assert_has(look_out, "DEADLOCK 1 (confirmed, 2 owners");
    assert_has(look_out, " (close the books)  holds ");
    assert_has(look_out,
               "to resolve: zk-lockctl revoke $'/tests/lock-of-test-");
    assert_has(look_out, "/lock\\040\\042");
    (void)look_make(admin, in_root("a/leases/_c_" UUID "-lease-0000000000"), "",
                    0);
    (void)look_make(admin, in_root("a/locks/_c_" UUID "-lock-0000000001"), "",
                    0);
    assert_ring_is_told();
    end_ring();
#undef UUID
}

/* --- nodes of others --- */

#define OF(pid, tid)                                                           \
    " {\"host\":\"h\",\"pid\":" pid ",\"thread\":\"t\",\"tid\":" tid           \
    ",\"program\":\"p\",\"library\":\"zkrecipes 0.1.0\"}|"
#define ONE  OF("1", "7")
#define TWO  OF("2", "81")
#define NINE OF("1", "9")

TEST(deadlocks_are_told_from_each_other)
{
    static const struct scene scenes[] = {
        { .make = "a x/lock-0000000000" ONE "b x/lock-0000000001" TWO
                  "b y/lock-0000000000" TWO,
          .words = "deadlocks --confirm 20ms R",
          .out = "",
          .has = { "no deadlock among 2 locks" } },
        { .make = "a w/lock-0000000000 me|a w/lock-0000000001 me|"
                  "a z/lock-0000000000" NINE "a z/lock-0000000001" NINE
                  "a y/lock-0000000001" ONE,
          .words = "deadlocks --confirm 20ms R",
          .code = 1,
          .out = "DEADLOCK 1 (confirmed, 2 owners, for AGE)\n"
                 " h:1/7 p holds ROOT/x (<=AGE) waits for ROOT/y "
                 "(AGE, position 1)\n"
                 " h:2/81 p holds ROOT/y (<=AGE) waits for ROOT/x "
                 "(AGE, position 1)\n"
                 " waits shortest: h:1/7 p\n"
                 " to resolve: zk-lockctl revoke ROOT/x\n"
                 "\n"
                 "DEADLOCK 2 (confirmed, 1 owner, for AGE)\n"
                 " h:1/9 p holds ROOT/z (<=AGE) waits for ROOT/z "
                 "(AGE, position 1)\n"
                 " waits shortest: h:1/9 p\n"
                 " to resolve: zk-lockctl revoke ROOT/z\n",
          .has = { "note: 1 possible deadlock, such as of me at " } },
        { .words = "deadlocks --confirm 20ms --possible R",
          .code = 1,
          .has = { "DEADLOCK 3 (possible, 1 owner, " } },
        { .words = "deadlocks --confirm 20ms -o json R",
          .code = 1,
          .has = { "lockctl revoke ROOT/x\"", "lockctl revoke ROOT/z\"" } },
        { .words = "doctor --confirm 20ms R",
          .code = 1,
          .out = "ROOT/y: deadlock: h:1/7 p is the last of 2 owners who wait "
                 "for each other. Cure: zk-lockctl deadlocks shows it and what "
                 "ends it\n"
                 "ROOT/z: deadlock: h:1/9 p waits for itself. Cure: zk-lockctl "
                 "deadlocks shows it and what ends it\n",
          .has = { "4 locks, 2 findings\n" } },
        /* who waits is no holder that could be asked */
        { .make = "a r/__READ__0000000000" ONE "b r/__READ__0000000002" TWO
                  "b s/lock-0000000000" TWO "a s/lock-0000000001" ONE
                  "p r/__WRIT__0000000001 w",
          .words = "deadlocks --confirm 20ms R/r R/s",
          .code = 1,
          .has = { "to resolve: zk-lockctl break --token" } },
        { .words = NULL },
    };
    struct admin *b;

    assert_int_equal(admin_open(server_hosts(the_server), &b), ZOK);
    look_play(scenes, b, NULL);
    admin_close(b);
}

TEST(without_records_it_is_only_possible)
{
    static const struct scene scenes[] = {
        { .make = "a x/lock-0000000000 10.0.0.1|b x/lock-0000000001 10.0.0.2|"
                  "b y/lock-0000000000 " EVIL "|a y/lock-0000000001 10.0.0.1",
          .words = "deadlocks --confirm 20ms --possible R",
          .out = "DEADLOCK 1 (possible, 2 owners, for AGE)\n"
                 " 10.0.0.1 holds ROOT/x (<=AGE) waits for ROOT/y "
                 "(AGE, position 1)\n"
                 " 10.0.0.2 holds ROOT/y (<=AGE) waits for ROOT/x "
                 "(AGE, position 1)\n"
                 " possible: it is none if other threads of the session wait, "
                 "or in an election;\n"
                 " see the stacks of these programs before you end one\n" },
        { .words = "deadlocks --confirm 20ms R",
          .has = { "1 possible deadlock, such as of ",
                   "no deadlock among 2 locks" },
          .lacks = "DEADLOCK" },
        { .words = "doctor --confirm 20ms --older 1ms R",
          .code = 1,
          .has = { "old-holder: 10.0.0.1", " 2 findings\n" } },
        { .words = "deadlocks --confirm 20ms --possible -o json R",
          .has = { "\"confirmed\": false", "\"cure\": null" } },
        { .words = NULL },
    };
    AUTO(proxy) proxy = new_proxy();
    struct admin *b;
    struct cli cli;

    assert_int_equal(admin_open(server_hosts(the_server), &b), ZOK);
    look_play(scenes, b, NULL);
    /* all is made anew before the second look: that deadlock is another */
    proxy_rule(proxy, ZOO_GETCHILDREN2_OP, 4, PROXY_HOLD_REQUEST);
    START_CLI(&cli, "deadlocks", "--confirm", "1ms", "--timeout", "60s",
              "--possible", "--servers", proxy_hosts(proxy), look_root);
    assert_true(proxy_wait_rule(proxy, SOON_MS));
    ok(admin_delete_tree(admin, in_root("x")));
    ok(admin_delete_tree(admin, in_root("y")));
    look_play(scenes, b, NULL);
    proxy_release(proxy);
    assert_end(&cli, 0, "no deadlock among 2 locks");
    admin_close(b);
}

/* --- without a deadlock --- */

enum { BUSY_THREADS = 6, BUSY_SESSIONS = 3, BUSY_LOCKS = 3 };

struct busy {
    zkr_mutex *locks[BUSY_LOCKS];
    atomic_bool *stop;
    unsigned random;
    pthread_t thread;
    long rounds;
    int rc;
};

/* All take two locks in one order, so no deadlock can be. */
static void *be_busy(void *arg)
{
    struct busy *b = arg;

    while (b->rc == ZKR_OK && !atomic_load(b->stop)) {
        int low = rand_r(&b->random) % (BUSY_LOCKS - 1);
        int high = low + 1 + rand_r(&b->random) % (BUSY_LOCKS - 1 - low);
        zkr_grant *first = NULL;
        zkr_grant *second = NULL;

        b->rc = zkr_mutex_acquire(b->locks[low], SOON_MS, &first);
        if (b->rc == ZKR_OK)
            b->rc = zkr_mutex_acquire(b->locks[high], SOON_MS, &second);
        if (b->rc == ZKR_OK)
            b->rc = zkr_grant_release(second);
        if (b->rc == ZKR_OK)
            b->rc = zkr_grant_release(first);
        zkr_grant_free(second);
        zkr_grant_free(first);
        b->rounds++;
    }
    return NULL;
}

/* Without the second look, some of 150 runs gave a deadlock; and a waiter whose
 * predecessor has just gone watches nobody for a moment. */
TEST(a_busy_system_gives_no_false_alarm)
{
    static struct busy busy[BUSY_THREADS];
    zkr_session *sessions[BUSY_SESSIONS];
    atomic_bool stop = false;
    int code = 0;

    /* Locks that nobody uses, between those that are in use: listing them takes
     * time, in which those change. */
    for (int i = 0; i < BUSY_LOCKS * 40; i++)
        (void)look_make(admin,
                        textf("%s/lock \"%d\" %d/lock-0000000000", look_root,
                              i / 40, i % 40),
                        "", ZOO_EPHEMERAL);
    for (int i = 0; i < BUSY_SESSIONS; i++)
        sessions[i] = open_session();
    for (int i = 0; i < BUSY_THREADS; i++) {
        busy[i] = (struct busy){ .stop = &stop, .random = (unsigned)i };
        for (int k = 0; k < BUSY_LOCKS; k++)
            busy[i].locks[k] =
                new_mutex(sessions[i % BUSY_SESSIONS], lock_path(k));
        busy[i].thread = thread_start(be_busy, &busy[i]);
    }
    for (long i = test_number("ZKR_DEADLOCK_RUNS", 150); i > 0 && code == 0;
         i--)
        code = look(textf("deadlocks --confirm 5ms %s", look_root));
    for (int i = 0; i < 10 && code == 0; i++)
        code = look(textf("doctor --confirm 1s %s", look_root));
    atomic_store(&stop, true);
    for (int i = 0; i < BUSY_THREADS; i++)
        (void)thread_join(busy[i].thread);
    for (int i = 0; i < BUSY_THREADS; i++) {
        for (int k = 0; k < BUSY_LOCKS; k++)
            zkr_mutex_free(busy[i].locks[k]);
        ok(busy[i].rc);
        assert_true(busy[i].rounds > 1);
    }
    for (int i = 0; i < BUSY_SESSIONS; i++)
        close_session(sessions[i]);
    if (code != 0)
        fail_msg("exit code %d: %s", code, look_out);
}

/* --- runs inside of runs --- */

/* Starts a run that takes the lock `first`, and waits until the other run has
 * taken `second`; then it starts a run inside itself, for that one. */
static void start_nested(struct cli *c, const char *first, const char *second)
{
    START_CLI(c, "run", "--servers", server_hosts(the_server),
              textf("%s/%s", look_root, first), "--", "/bin/sh", "-c",
              textf("touch '%s'; until [ -e '%s' ]; do sleep .02; done; "
                    "exec '%s' run --servers %s '%s/%s' -- true",
                    cli_file(first), cli_file(second), LOCKCTL,
                    server_hosts(the_server), look_root, second));
}

/* Each run has its own session. Regression: the answer was "no deadlock". */
TEST(nested_runs_that_wait_for_each_other_are_found)
{
    struct cli runs[2];

    start_nested(&runs[0], "a", "b");
    start_nested(&runs[1], "b", "a");
    wait_children(in_root("a"), 2);
    wait_children(in_root("b"), 2);
    LOOK(1, "deadlocks --confirm 100ms %s", look_root);
    assert_has(look_out, "DEADLOCK 1 (confirmed, 2 owners, for ");
    assert_has(look_out, " zk-lockctl (true)  waits for ");
    assert_has(look_out, ", position 1), inside ");
    assert_has(look_out, " zk-lockctl (/bin/sh "); /* their labels */
    assert_has(look_out, "), which holds ");
    assert_has(look_out, "  to resolve: end ");
    LOOK(1, "deadlocks -q -o json %s", look_root);
    assert_jq(
        ".kind == 'DeadlockList' and (.items | length) == 1 and "
        "(.items[0] | .confirmed and (.owners | length) == 2) and "
        "all(.items[0].owners[]; .session == .waits_for.contender.session)");
    LOOK_OUT(1, ": deadlock: ", "doctor --confirm 100ms %s", look_root);
    assert_has(look_err, " 2 locks, 1 finding\n");
    /* Regression: of a run it was said that it may not notice a break. */
    LOOK(75, "revoke -w 0s %s/a", look_root);
    LOOK(75, "revoke -w 0s %s/b", look_root);
    do
        LOOK(1, "deadlocks --confirm 100ms %s", look_root);
    while (strstr(look_out, " first)\n") == NULL);
    assert_int_equal(cli_kill(&runs[0], SIGTERM), 128 + SIGTERM);
    assert_int_equal(cli_end(&runs[1]), 0); /* it has both now */
    LOOK(0, "deadlocks --confirm 100ms %s", look_root);
}
