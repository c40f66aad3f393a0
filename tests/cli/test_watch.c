/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of zk-lockctl watch: real locks, a real server, and its faults. */
#include <sys/ptrace.h>

#include "look.h"
#include "usual.h"

static struct cli c;

FIXTURE(usual_setup_two, usual_teardown)

/* Expects these texts one after the other in its output. */
static void assert_said_in_order(const char *const *texts)
{
    const char *at = cli_said(&c);

    for (; *texts != NULL; texts++) {
        at = strstr(at, *texts);
        if (at == NULL)
            fail_msg("'%s' is missing, or not in its place: %s", *texts,
                     cli_said(&c));
        at += strlen(*texts);
    }
}

/* Starts it; first it tells what is there. */
#define START_WATCH(hosts, ...)                                                \
    START_CLI(&c, "watch", "--initial", "--servers", hosts, __VA_ARGS__)

/* The same; waits until it has looked, and seen a holder of that mutex. */
#define WATCH(mutex, ...)                                                      \
    do {                                                                       \
        zkr_grant *seen = acquire(mutex);                                      \
                                                                               \
        START_WATCH(__VA_ARGS__);                                              \
        cli_wait_said(&c, "holding");                                          \
        release(seen);                                                         \
        cli_wait_said(&c, "gone");                                             \
    } while (0)

static void watch_by(const char *hosts, const char *format)
{
    WATCH(m, hosts, "--interval", "20ms", "-o", format, path);
}

static void watch(const char *format)
{
    watch_by(server_hosts(the_server), format);
}

static void end(int sig)
{
    assert_int_equal(cli_kill(&c, sig), 0);
}

TEST(a_queue_is_told_in_its_order)
{
    struct waiter w;
    char tokens[2][64];
    const char *const order[] = { " queued ", " acquired ", tokens[0],
                                  " queued ", tokens[1],    " gone ",
                                  tokens[0],  " acquired ", tokens[1],
                                  " gone ",   tokens[1],    NULL };

    watch("table");
    zkr_grant *g = acquire(m);
    cli_wait_said_often(&c, " acquired ", 1);
    PRINT(tokens[0], "token=%lld", (long long)zkr_grant_token(g));
    waiter_start(&w, rival, SOON_MS);
    cli_wait_said_often(&c, " queued ", 2);
    release(g);
    assert_int_equal(waiter_join(&w), ZKR_OK);
    PRINT(tokens[1], "token=%lld", (long long)zkr_grant_token(w.grant));
    cli_wait_said_often(&c, " acquired ", 2);
    release(w.grant);
    cli_wait_said_often(&c, " gone ", 3);
    end(SIGTERM);
    assert_said_in_order(order);
}

/* --- JSON --- */

TEST(a_request_is_told_and_its_holder_still_known)
{
    watch("jsonl");
    zkr_grant *g = acquire(m);
    const char *token = textf("%lld", (long long)zkr_grant_token(g));
    cli_wait_said(&c, "\"event\":\"acquired\"");
    ok(zkr_participants_revoke(theirs, zkr_grant_node(g)));
    cli_wait_said(&c, "\"event\":\"revoked\"");
    release(g);
    cli_wait_said_often(&c, "\"event\":\"gone\"", 2);
    end(SIGTERM);

    assert_string_equal(
        jq(c.output,
           "-n -R '[inputs | select(startswith(\"zk-lockctl: \") | not) | "
           "fromjson] | (map(select(.event == \"acquired\"))[0] | .path, "
           "(.at | length)), (map(select(.event == \"gone\"))[1].contender | "
           ".token, .revoke_asked, (.owner | type))'"),
        textf("%s\n24\n%s\ntrue\nobject", path, token));
}

/* Regression: the text named the session instead. */
TEST(a_holder_that_is_asked_is_known_in_text)
{
    char host[256];

    assert_int_equal(gethostname(host, sizeof(host)), 0);
    watch("table");
    zkr_grant *g = acquire(m);
    cli_wait_said(&c, " acquired ");
    ok(zkr_participants_revoke(theirs, zkr_grant_node(g)));
    cli_wait_said(&c, textf("revoked  %s %s:%d/%d ", path, host, (int)getpid(),
                            (int)getpid()));
    cli_wait_said(&c, " (asked to release) ");
    release(g);
    cli_wait_said_often(&c, " gone ", 1);

    const char *node = textf("%s/_c_x-lock-0000000009", path);
    assert_int_equal(admin_create(admin, node, "of a Curator"), ZOK);
    cli_wait_said(&c, " of a Curator ");
    ok(zkr_participants_revoke(theirs, node));
    cli_wait_said(&c,
                  textf("revoked  %s of a Curator (asked to release) ", path));
    assert_int_equal(admin_delete(admin, node), ZOK);
    end(SIGTERM);
}

/* --- what is counted --- */

struct sums {
    long long queued;
    long long ended;  /* gone or left */
    long long leases; /* acquired a permit */
    long long claims; /* of those that ended: in the queue of a semaphore */
    long long missed;
    int unknown; /* so often */
};

/* Of what it has said of this lock so far. */
static struct sums sum(void)
{
    const char *text = jq(
        c.output,
        textf("-n -R 'def n(f): map(select(f)) | length; [inputs | fromjson? | "
              "select(.path == \"%s\")] | [n(.event == \"queued\"), "
              "n(.event | IN(\"gone\", \"left\")), "
              "n(.event == \"acquired\" and "
              "(.contender.node | startswith(\"leases/\"))), "
              "n(.event == \"gone\" and "
              "(.contender.node | startswith(\"locks/\"))), "
              "(map(.missed // 0) | add // 0), "
              "n(.event == \"missed\" and .missed == null)] | join(\" \")'",
              path));
    struct sums sums;

    assert_int_equal(sscanf(text, "%lld %lld %lld %lld %lld %d", &sums.queued,
                            &sums.ended, &sums.leases, &sums.claims,
                            &sums.missed, &sums.unknown),
                     6);
    return sums;
}

/* Nodes of a queue come and go at random: what stays for a while is seen. */
static int make_changes(const char *end_name, int count)
{
    char nodes[8][128] = { "" };
    int made = 0;

    for (int i = 0; i < count; i++) {
        char *node = nodes[rand() % 8];

        if (node[0] == '\0') {
            ok(admin_create_flags(admin, textf("%s/x-lock-", path), "x",
                                  ZOO_EPHEMERAL | ZOO_SEQUENCE, node, 128));
            made++;
        } else {
            assert_int_equal(admin_delete(admin, node), 0);
            node[0] = '\0';
        }
        if (rand() % 16 == 0)
            sleep_ms(rand() % 60);
    }
    for (int i = 0; i < 8; i++)
        if (nodes[i][0] != '\0')
            assert_int_equal(admin_delete(admin, nodes[i]), 0);
    ok(admin_create(admin, textf("%s/%s", path, end_name), end_name));
    return made;
}

/* Nobody knew of contenders that came and went between two looks. */
TEST(short_lived_nodes_are_seen_or_counted)
{
    AUTO(proxy) p = new_proxy();

    watch_by(proxy_hosts(p), "jsonl");
    int made = make_changes("first-lock-4000000001", 80);
    cli_wait_said(&c, "first-lock-4000000001");
    made += make_changes("second-lock-4000000002", 80);
    cli_wait_said(&c, "second-lock-4000000002");
    struct sums sums = sum();
    /* that of watch_by() has gone, too */
    assert_int_equal(sums.queued + sums.missed, made + 2);
    assert_int_equal(sums.ended + sums.missed, made + 1);
    assert_int_equal(sums.unknown, 0);
    end(SIGTERM);
}

/* The same over lost connections, and over the end of its session. */
TEST(nodes_that_come_and_go_meanwhile_are_counted)
{
    int made = 0;
    AUTO(proxy) p = new_proxy();

    WATCH(m, proxy_hosts(p), "--timeout", "2s", "--interval", "20ms", "-o",
          "jsonl", path);
    for (int round = 0; round < 4; round++) {
        const char *name = textf("cut-lock-400000000%d", round);

        proxy_cut(p);
        cli_wait_said_often(&c, "connection lost", round + 1);
        made += make_changes(name, 50);
        if (round % 2 == 1)
            sleep_ms(2000); /* the session of 1 s ends */
        proxy_heal(p);
        cli_wait_said(&c, name);
    }
    assert_int_equal(sum().queued + sum().missed, made + 4);
    assert_int_equal(sum().unknown, 0);
    cli_wait_said_often(&c, "\"event\":\"resync\"", 4);
    end(SIGTERM);
    assert_in_range(text_count(cli_said(&c), "waiting for it"), 4, 12);
    assert_string_equal(
        jq(c.output,
           "-n -R '[inputs | fromjson? | select(.event == \"resync\")]"
           " | all(.last_look < .at) and (map(.last_look) | . == "
           "unique)'"),
        "true");
}

/* Each permit is a claim in the queue, then a lease. A lease that was only seen
 * beside its claim has no event when both go, but the claim has. */
static bool are_all_told(const struct sums *sums, int rounds)
{
    long long told = sums->queued + sums->leases + sums->missed;

    return told <= 2 * rounds && told + sums->claims >= 2 * rounds;
}

TEST(the_nodes_of_a_semaphore_are_seen_or_counted)
{
    enum { ROUNDS = 20 };
    AUTO(semaphore) sem = NEW(semaphore, s, path, 2, NULL);
    struct sums sums;

    zkr_grant *g = GRANT(semaphore_acquire, sem, SOON_MS);
    START_WATCH(server_hosts(the_server), "-o", "jsonl");
    cli_wait_said(&c, "holding");
    for (int i = 0; i < ROUNDS; i++) {
        zkr_grant *one = GRANT(semaphore_acquire, sem, SOON_MS);
        sleep_ms(i % 10 == 0 ? 150 : 0);
        release(one);
    }
    release(g);
    ok(zkr_semaphore_acquire(sem, SOON_MS, &g));
    if (!COMES(
            (sums = sum(), sums.leases > 0 && are_all_told(&sums, ROUNDS + 1)),
            SOON_MS))
        fail_msg("%lld claims were queued, %lld leases acquired, %lld nodes "
                 "missed, %lld claims ended: %s",
                 sums.queued, sums.leases, sums.missed, sums.claims,
                 cli_said(&c));
    assert_in_range(sums.leases, 2, ROUNDS + 1);
    assert_int_equal(sums.unknown, 0);
    assert_lacks(cli_said(&c), "/leases\""); /* a part is no lock */
    end(SIGTERM);
    release(g);
}

/* Waits until so many contenders came and went, as far as it has told. */
static void wait_all_ended(int wanted)
{
    struct sums sums;

    if (!COMES((sums = sum(), sums.ended + sums.missed >= wanted), SOON_MS))
        fail_msg("not all %d have ended: %s", wanted, cli_said(&c));
}

/* Without a path all locks are watched, also when a directory has gone and is
 * created again. The server says that nothing came before the deletion. */
TEST(an_empty_directory_goes_and_nothing_is_missed)
{
    AUTO(mutex) before = new_mutex(s, new_path());

    WATCH(before, server_hosts(the_server), "-o", "jsonl");
    for (int i = 0; i < 2; i++) {
        AUTO(mutex) one = new_mutex(s, path);

        release(acquire(one));
        wait_all_ended(1 + 2 * i); /* all of it was listed */
        assert_int_equal(admin_delete(admin, path), 0);
        zkr_grant *g = acquire(one);
        const char *token =
            textf("\"token\":\"%lld\"", (long long)zkr_grant_token(g));
        cli_wait_said_often(&c, token, 2);
        release(g);
        wait_all_ended(2 + 2 * i);
        assert_int_equal(text_count(cli_said(&c), token), 3);
        assert_int_equal(sum().queued + sum().missed, 2 + 2 * i);
        assert_int_equal(sum().unknown, 0);
        assert_int_equal(admin_delete(admin, path), 0);
    }
    end(SIGTERM);
}

static void make_below(const char *lock, const char *name)
{
    (void)look_make(admin, textf("%s/%s", lock, name), "x", 0);
}

/* It had a node that came after the last list. */
TEST(a_directory_that_goes_with_what_was_in_it_is_told)
{
    static const char *const cases[][2] = {
        { "table", " nobody knows how many nodes came and went unseen\n" },
        { "jsonl", "\"missed\":null" },
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        watch(cases[i][0]);
        assert_int_equal(kill(c.pid, SIGSTOP), 0);
        wait_process_state(c.pid, 'T');
        make_below(path, "x-lock-4000000000");
        assert_int_equal(admin_delete_tree(admin, path), ZOK);
        assert_int_equal(kill(c.pid, SIGCONT), 0);
        cli_wait_said(&c, cases[i][1]);
        end(SIGTERM);
    }
}

/* While it is stopped, a change uses up its watch, and then the directory is
 * deleted and made again: no answer tells of that but the next list. The parts
 * of a semaphore were told as locks of their own. */
TEST(another_directory_of_that_name_is_told)
{
    static const char *const nodes[][2] = {
        { "x-lock-0000000000", "y-lock-0000000001" },
        { "leases/x-lease-0000000000", "locks/y-lock-0000000001" },
    };

    for (size_t i = 0; i < COUNT(nodes); i++) {
        make_below(path, nodes[i][0]);
        make_below(path, nodes[i][1]);
        START_WATCH(server_hosts(the_server), "--interval", "20ms", "-o",
                    "jsonl", path);
        cli_wait_said(&c, "\"event\":\"waiting\"");
        assert_int_equal(kill(c.pid, SIGSTOP), 0);
        wait_process_state(c.pid, 'T');
        make_below(path, "z-lock-0000000002");
        ok(admin_delete_tree(admin, path));
        make_below(path, nodes[i][0]);
        make_below(path, nodes[i][1]);
        assert_int_equal(kill(c.pid, SIGCONT), 0);
        cli_wait_said_often(&c, "\"event\":\"queued\"", i == 0 ? 2 : 1);
        assert_has(cli_said(&c), textf("%s\",\"missed\":null", path));
        assert_int_equal(text_count(cli_said(&c), "\"missed\":"), 1);
        end(SIGTERM);
        ok(admin_delete_tree(admin, path));
    }
}

/* --- faults --- */

/* A second loss comes before its main thread, which is traced, can tell of the
 * first: what came between them is told late, too. */
TEST(after_a_lost_connection_it_says_resync)
{
    const char *const order[] = { "zk-lockctl: ", "\"resync\"", "\"queued\"",
                                  "\"acquired\"", NULL };
    AUTO(proxy) p = new_proxy();

    watch_by(proxy_hosts(p), "jsonl");
    proxy_cut(p);
    cli_wait_said(&c, "zk-lockctl: "); /* it has noticed */
    zkr_grant *g = acquire(m);
    ok(ptrace(PTRACE_SEIZE, c.pid, NULL, NULL));
    ok(ptrace(PTRACE_INTERRUPT, c.pid, NULL, NULL));
    assert_int_equal(waitpid(c.pid, NULL, __WALL), c.pid);
    proxy_reset_counts(p);
    proxy_heal(p);
    AWAIT(proxy_requests(p, ZOO_GETCHILDREN2_OP) > 0);
    make_below(path, "x-lock-4000000000");
    proxy_cut(p);
    make_below(path, "y-lock-4000000001");
    proxy_reset_counts(p);
    proxy_heal(p);
    AWAIT(proxy_requests(p, ZOO_GETCHILDREN2_OP) > 0);
    ok(ptrace(PTRACE_DETACH, c.pid, NULL, NULL));
    cli_wait_said(&c, "y-lock");
    release(g);
    cli_wait_said_often(&c, "\"gone\"", 2);
    end(SIGTERM);
    assert_said_in_order(order);
    assert_string_equal(
        jq(c.output,
           "-n -R '[inputs | fromjson?] | "
           "map(.last_look // empty)[0] <= (map(.contender // empty | "
           "select(.node | startswith(\"x\")))[0].queued_at)'"),
        "true");
}

/* Regression: the server uses up the watch of a directory that may not be read
 * when it changes, without a word. Nothing was told of it any more. */
TEST(after_a_time_without_read_it_watches_again)
{
    watch("jsonl");
    for (int i = 0; i < 2; i++) {
        const char *holder = textf("%s/a-lock-000000001%d", path, i);
        const char *node = textf("%s/b-lock-0000000020", path);

        assert_int_equal(admin_create(admin, holder, "x"), ZOK);
        cli_wait_said_often(&c, "\"event\":\"acquired\"", 1 + 2 * i);
        look_permit(path, ZOO_PERM_ALL & ~ZOO_PERM_READ);
        assert_int_equal(admin_create(admin, node, "x"), ZOK);
        assert_int_equal(admin_delete(admin, node), ZOK);
        look_permit(path, ZOO_PERM_ALL);
        assert_int_equal(admin_delete(admin, holder), ZOK);
        cli_wait_said_often(&c, "\"event\":\"gone\"", 2 + 2 * i);
        assert_int_equal(sum().missed, 1 + i);
        node = textf("%s/c-lock-000000003%d", path, i);
        assert_int_equal(admin_create(admin, node, "x"), ZOK);
        cli_wait_said_often(&c, "\"event\":\"acquired\"", 2 + 2 * i);
        assert_int_equal(admin_delete(admin, node), ZOK);
        cli_wait_said_often(&c, "\"event\":\"gone\"", 3 + 2 * i);
    }
    end(SIGTERM);
}

static void make_node(const char *lock, const char *name, char *ret_node)
{
    ok(admin_create_flags(admin, textf("%s/%s", lock, name), "x", ZOO_SEQUENCE,
                          ret_node, 256));
}

/* One claim of a semaphore comes, gets its permit, and goes. */
static void use_a_permit(const char *semaphore)
{
    char claim[256];
    char lease[256];

    make_node(semaphore, "locks/x-lock-", claim);
    make_node(semaphore, "leases/x-lease-", lease);
    assert_int_equal(admin_delete(admin, claim), ZOK);
    assert_int_equal(admin_delete(admin, lease), ZOK);
}

/* Regression: a semaphore that was busy during the first look was told as new:
 * its old holder had just `acquired`, and what came and went before the look
 * was missed. */
TEST(the_first_look_of_a_busy_directory_is_its_first)
{
    AUTO(proxy) p = new_proxy();

    const char *deep = textf("%s/d/d/d/d/d/d/d/d", path);
    make_below(deep, "locks");
    make_below(deep, "leases/old-lease-0000000000");
    for (int i = 0; i < 50; i++)
        use_a_permit(deep);
    proxy_set_latency(p, 80);
    for (int i = 0; i < 5; i++) {
        int64_t end_ms = now_ms() + SOON_MS;

        START_WATCH(proxy_hosts(p), "-o", "jsonl");
        while (strstr(cli_said(&c), "old-lease") == NULL && now_ms() < end_ms)
            use_a_permit(deep);
        end(SIGTERM);
        /* it holds in its first line, and nothing was missed before that */
        const char *said = textf("\n%s", cli_said(&c));
        const char *old = strstr(said, "old-lease");
        assert_non_null(old);
        const char *before = textf("%.*s", (int)(old - said), said);
        assert_lacks(before, "\"event\":\"missed\"");
        assert_has(strrchr(before, '\n'), "\"event\":\"holding\"");
    }
}

/* A semaphore in which something happens all the time: each permit is given
 * back when the next ones are there, so most nodes are in one list at least. */
struct churn {
    char nodes[16][2][256]; /* a claim and its lease */
    int made;
};

static void change(struct churn *u)
{
    char(*pair)[256] = u->nodes[u->made++ % 16];

    if (pair[0][0] != '\0') {
        assert_int_equal(admin_delete(admin, pair[0]), ZOK);
        assert_int_equal(admin_delete(admin, pair[1]), ZOK);
    }
    make_node(path, "locks/x-lock-", pair[0]);
    make_node(path, "leases/x-lease-", pair[1]);
}

/* Regression: news were taken when no list and no read of the lock was under
 * way. With slow answers there was always one, so nothing was told before the
 * changes ended. */
TEST(events_come_while_changes_never_end)
{
    AUTO(proxy) p = new_proxy();
    struct churn u = { .made = 0 };
    int64_t end_ms = now_ms() + SOON_MS;

    make_below(path, "locks");
    make_below(path, "leases");
    change(&u);
    proxy_set_latency(p, 300);
    START_WATCH(proxy_hosts(p), "-o", "jsonl", path, "--interval", "20ms");
    /* each list has some that came and went before it */
    while (text_count(cli_said(&c), "\"event\":\"missed\"") < 4) {
        if (now_ms() >= end_ms)
            fail_msg("%d changes and no four misses: %s", u.made, cli_said(&c));
        change(&u);
    }
    assert_int_equal(sum().unknown, 0);
    end(SIGTERM);
}

/* Regression: the first change was told at once, as the pause began late. */
TEST(the_first_pause_is_kept)
{
    int64_t begin_ms = now_ms();

    make_below(path, "x-lock-0000000000");
    START_WATCH(server_hosts(the_server), "--interval", "8s", "-o", "jsonl",
                path);
    cli_wait_said(&c, "\"event\":\"holding\"");
    make_below(path, "y-lock-0000000001");
    cli_wait_said(&c, "\"event\":\"queued\"");
    assert_true(now_ms() - begin_ms >= 8000);
    end(SIGTERM);
}

/* Regression: all directories without READ were asked for within a moment. */
TEST(an_unwatchable_lock_is_asked_for_slowly)
{
    enum { DIRS = 300 };
    AUTO(proxy) p = new_proxy();

    for (int i = 0; i < DIRS; i++) {
        make_below(path, textf("d%0550d", i));
        look_permit(textf("%s/d%0550d", path, i),
                    ZOO_PERM_ALL & ~ZOO_PERM_READ);
    }
    START_CLI(&c, "watch", "--timeout", "60s", "--servers", proxy_hosts(p));
    cli_wait_said(&c, "could not be looked at");
    for (int round = 0; round < 2; round++) {
        proxy_reset_counts(p);
        AWAIT(proxy_requests(p, ZOO_GETCHILDREN2_OP) > 0);
        struct stopwatch *w = stopwatch_start();
        AWAIT(proxy_requests(p, ZOO_GETCHILDREN2_OP) >= 250);
        assert_true(stopwatch_says(w, 1200, SOON_MS));
    }
    assert_int_equal(text_count(cli_said(&c), "could not be looked at"), 1);
    /* They have no watches, so one session has room for others. */
    for (int i = 0; i < 100; i++)
        make_below(path, textf("e%0550d", i));
    make_below(path, "f/x-lock-0000000000");
    cli_wait_said(&c, " acquired ");
    assert_int_equal(proxy_requests(p, PROXY_CONNECT), 0);
    end(SIGTERM);
    for (int i = 0; i < DIRS; i++)
        look_permit(textf("%s/d%0550d", path, i), ZOO_PERM_ALL);
    assert_int_equal(admin_delete_tree(admin, path), 0);
}

/* Regressions: paths that were given did not count, so that the servers cut the
 * connection again and again; and beyond 4,500 nodes it asked every 10 s. The
 * last path is of the third session. */
TEST(sessions_share_what_one_cannot_watch)
{
    AUTO(proxy) p = new_proxy();

    make_below(path, "4600/x-lock-0000000000");
    START_SH(&c, "exec %s watch --initial --servers %s $(seq -f %s/%%g 4600)",
             LOCKCTL, proxy_hosts(p), path);
    cli_wait_said(&c, " holding ");
    assert_int_equal(proxy_requests(p, PROXY_CONNECT), 3);
    quiet_wait(p, 500);
    proxy_reset_counts(p);
    make_below(path, "4600/x-lock-0000000001");
    cli_wait_said(&c, " queued ");
    assert_in_range(quiet_requests(p), 1, 2);
    proxy_rule(p, ZOO_GETCHILDREN2_OP, 1, PROXY_DROP_REPLY);
    make_below(path, "4600/x-lock-0000000002");
    cli_wait_said_often(&c, " queued ", 2);
    cli_wait_said(&c, " resync   changes since 20");
    assert_int_equal(proxy_requests(p, PROXY_CONNECT), 1);
    assert_has(cli_said(&c), "Z are told late\n");
    assert_lacks(cli_said(&c), "more directories than");
    end(SIGTERM);
    ok(admin_delete_tree(admin, path));
}

TEST(it_outlives_the_server)
{
    watch("jsonl");
    server_kill9(the_server);
    cli_wait_said(&c, "zk-lockctl: ");
    restart_server();
    cli_wait_said(&c, "\"event\":\"resync\",\"last_look\":\"20");
    zkr_grant *g = acquire(m);
    cli_wait_said(&c, "\"event\":\"acquired\"");
    release(g);
    end(SIGTERM);
}

TEST(a_signal_ends_it_also_when_the_server_is_silent)
{
    AUTO(proxy) p = new_proxy();

    watch_by(proxy_hosts(p), "table");
    proxy_freeze(p);
    sleep_ms(100); /* a look is under way, or soon */
    struct stopwatch *w = stopwatch_start();
    end(SIGTERM);
    assert_true(stopwatch_says(w, 0, 4000));
}
