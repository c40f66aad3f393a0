/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of zk-lockctl watch: real locks, a real server, and its faults. */
#include "look.h"

#include <zookeeper/proto.h>

#include "proxy.h"

static zkr_session *session;
static zkr_session *other;

static int setup(void)
{
    session = open_session();
    other = open_session();
    return 0;
}

/* The server may have been away, and the sessions may not be connected again
 * yet. */
static int teardown(void)
{
    (void)zkr_session_close(other);
    (void)zkr_session_close(session);
    return 0;
}

FIXTURE(setup, teardown)

/* Expects these texts one after the other in its output. */
static void assert_said_in_order(const struct cli *c, const char *const *texts)
{
    const char *at = cli_said(c);

    for (; *texts != NULL; texts++) {
        at = strstr(at, *texts);
        if (at == NULL)
            fail_msg("'%s' is missing, or not in its place: %s", *texts,
                     cli_said(c));
        at += strlen(*texts);
    }
}

/* Starts it, and waits until it has looked and seen a holder. */
static void start(struct cli *c, const char *const *args, const char *path)
{
    zkr_mutex *m = new_mutex(session, path);
    zkr_grant *g = acquire(m);

    cli_start(c, LOCKCTL, args);
    cli_wait_said(c, "holding");
    release(g);
    cli_wait_said(c, "gone");
    zkr_mutex_free(m);
}

static void watch_by(struct cli *c, const char *hosts, const char *path,
                     const char *format)
{
    const char *args[] = { "watch", "--servers", hosts, "--interval", "20ms",
                           "-o",    format,      path,  "--initial",  NULL };

    start(c, args, path);
}

static void watch(struct cli *c, const char *path, const char *format)
{
    watch_by(c, server_hosts(the_server), path, format);
}

static void end(struct cli *c, int sig)
{
    assert_int_equal(kill(c->pid, sig), 0);
    assert_int_equal(cli_end(c), 0);
}

TEST(a_queue_is_told_in_its_order)
{
    const char *path = new_path();
    zkr_mutex *first = new_mutex(session, path);
    zkr_mutex *second = new_mutex(other, path);
    struct waiter w;
    struct cli c;
    char tokens[2][64];
    const char *const order[] = {
        " queued ", " acquired ", tokens[0], "waited<=", " queued ",
        tokens[1],  " gone ",     tokens[0], "held<=",   " acquired ",
        tokens[1],  " gone ",     tokens[1], NULL
    };
    zkr_grant *g;

    watch(&c, path, "table");
    g = acquire(first);
    cli_wait_said_often(&c, " acquired ", 1);
    PRINT(tokens[0], "token=%lld", (long long)zkr_grant_token(g));
    waiter_start(&w, second, SOON_MS);
    cli_wait_said_often(&c, " queued ", 2);
    release(g);
    assert_int_equal(waiter_join(&w), ZKR_OK);
    PRINT(tokens[1], "token=%lld", (long long)zkr_grant_token(w.grant));
    cli_wait_said_often(&c, " acquired ", 2);
    release(w.grant);
    cli_wait_said_often(&c, " gone ", 3);
    end(&c, SIGTERM);
    assert_said_in_order(&c, order);
    zkr_mutex_free(first);
    zkr_mutex_free(second);
}

TEST(a_waiter_that_gives_up_has_left)
{
    const char *path = new_path();
    zkr_mutex *first = new_mutex(session, path);
    zkr_mutex *second = new_mutex(other, path);
    struct waiter w;
    struct cli c;
    zkr_grant *g;

    watch(&c, path, "table");
    g = acquire(first);
    waiter_start(&w, second, 3000); /* time to be seen */
    cli_wait_said_often(&c, " queued ", 2);
    assert_int_equal(waiter_join(&w), ZKR_ETIMEDOUT);
    cli_wait_said(&c, " left ");
    cli_wait_said_often(&c, " gone ", 1); /* that of start() */
    release(g);
    cli_wait_said_often(&c, " gone ", 2);
    end(&c, SIGINT);
    zkr_mutex_free(first);
    zkr_mutex_free(second);
}

/* --- JSON --- */

/* The n-th line that is an event of that name; to be freed. */
static json_t *nth_event(const struct cli *c, const char *name, int n)
{
    char *text = strdup(cli_said(c));
    json_t *found = NULL;
    char *rest = text;
    char *line;

    while ((line = strsep(&rest, "\n")) != NULL) {
        json_t *event = NULL;

        if (line[0] == '\0' || strncmp(line, "zk-lockctl: ", 12) == 0)
            continue;
        event = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
        if (event == NULL)
            fail_msg("not a line of JSON: %s", line);
        if (strcmp(json_string_value(json_object_get(event, "event")), name) ==
                0 &&
            --n == 0)
            found = json_incref(event);
        json_decref(event);
    }
    free(text);
    if (found == NULL)
        fail_msg("no event %s: %s", name, cli_said(c));
    return found;
}

TEST(a_request_is_told_and_its_holder_still_known)
{
    const char *path = new_path();
    zkr_mutex *m = new_mutex(session, path);
    char token[32];
    struct cli c;
    zkr_grant *g;
    json_t *event;
    json_t *of;

    watch(&c, path, "jsonl");
    g = acquire(m);
    PRINT(token, "%lld", (long long)zkr_grant_token(g));
    cli_wait_said(&c, "\"event\":\"acquired\"");
    ok(zkr_participants_revoke(other, zkr_grant_node(g)));
    cli_wait_said(&c, "\"event\":\"revoked\"");
    release(g);
    cli_wait_said_often(&c, "\"event\":\"gone\"", 2);
    end(&c, SIGTERM);

    event = nth_event(&c, "acquired", 1);
    assert_word(event, "path", path);
    assert_true(json_is_integer(json_object_get(event, "waited_ms_max")));
    assert_true(json_is_null(json_object_get(event, "held_ms_max")));
    assert_int_equal(strlen(json_string_value(json_object_get(event, "at"))),
                     strlen("2026-11-21T01:29:58.767Z"));
    json_decref(event);
    event = nth_event(&c, "gone", 2);
    assert_true(json_is_integer(json_object_get(event, "held_ms_max")));
    of = json_object_get(event, "contender");
    assert_word(of, "token", token);
    assert_true(json_is_true(json_object_get(of, "revoke_asked")));
    assert_true(json_is_object(json_object_get(of, "owner")));
    json_decref(event);
    zkr_mutex_free(m);
}

/* Regression: the text named the session instead. */
TEST(a_holder_that_is_asked_is_known_in_text)
{
    const char *path = new_path();
    zkr_mutex *m = new_mutex(session, path);
    char want[400];
    char host[256];
    char node[300];
    struct cli c;
    zkr_grant *g;

    assert_int_equal(gethostname(host, sizeof(host)), 0);
    watch(&c, path, "table");
    g = acquire(m);
    cli_wait_said(&c, " acquired ");
    ok(zkr_participants_revoke(other, zkr_grant_node(g)));
    PRINT(want, "revoked  %s %s:%d/%d ", path, host, (int)getpid(),
          (int)getpid());
    cli_wait_said(&c, want);
    cli_wait_said(&c, " (asked to release) ");
    release(g);
    cli_wait_said_often(&c, " gone ", 1);

    PRINT(node, "%s/_c_x-lock-0000000009", path);
    assert_int_equal(admin_create(admin, node, "of a Curator"), ZOK);
    cli_wait_said(&c, " of a Curator ");
    ok(zkr_participants_revoke(other, node));
    PRINT(want, "revoked  %s of a Curator (asked to release) ", path);
    cli_wait_said(&c, want);
    assert_int_equal(admin_delete(admin, node), ZOK);
    end(&c, SIGTERM);
    zkr_mutex_free(m);
}

TEST(without_a_lock_all_are_watched)
{
    const char *args[] = { "watch",      "--servers", server_hosts(the_server),
                           "--interval", "20ms",      "-o",
                           "jsonl",      "--initial", NULL };
    char path[64];
    char text[96];
    struct cli c;
    zkr_mutex *m;
    zkr_grant *g;

    start(&c, args, new_path());
    PRINT(path, "%s", new_path());
    m = new_mutex(session, path);
    PRINT(text, "\"path\":\"%s\"", path);
    g = acquire(m);
    cli_wait_said_often(&c, text, 2);
    release(g);
    cli_wait_said_often(&c, text, 3);
    /* This holds also when the directory has gone and is created again. */
    assert_int_equal(admin_delete_tree(admin, path), 0);
    g = acquire(m);
    cli_wait_said_often(&c, text, 5);
    release(g);
    cli_wait_said_often(&c, text, 6);
    end(&c, SIGTERM);
    zkr_mutex_free(m);
}

/* --- what is counted --- */

struct sums {
    json_int_t queued;
    json_int_t ended;  /* gone or left */
    json_int_t leases; /* acquired a permit */
    json_int_t claims; /* of those that ended: in the queue of a semaphore */
    json_int_t missed;
    int unknown; /* so often */
};

static bool is_event(const json_t *event, const char *name)
{
    return strcmp(json_string_value(json_object_get(event, "event")), name) ==
           0;
}

static void add(struct sums *s, const json_t *event)
{
    const json_t *missed = json_object_get(event, "missed");
    const json_t *of = json_object_get(event, "contender");
    const char *node = json_string_value(json_object_get(of, "node"));

    s->queued += is_event(event, "queued");
    s->ended += is_event(event, "gone") || is_event(event, "left");
    s->leases += is_event(event, "acquired") && node != NULL &&
                 strncmp(node, "leases/", 7) == 0;
    s->claims += is_event(event, "gone") && node != NULL &&
                 strncmp(node, "locks/", 6) == 0;
    if (is_event(event, "missed"))
        s->unknown += json_is_null(missed);
    s->missed += json_integer_value(missed);
}

static struct sums sum(const struct cli *c, const char *of)
{
    char *text = strdup(cli_said(c));
    struct sums s = { 0 };
    char *rest = text;
    char *line;

    while ((line = strsep(&rest, "\n")) != NULL) {
        json_t *event = line[0] == '{' ? json_loads(line, 0, NULL) : NULL;
        const char *at = json_string_value(json_object_get(event, "path"));

        if (at != NULL && strcmp(at, of) == 0)
            add(&s, event);
        json_decref(event);
    }
    free(text);
    return s;
}

/* Nodes of a queue come and go at random; what stays for a while is seen, the
 * rest is counted. */
static int make_changes(const char *path, const char *end_name, int count)
{
    char nodes[8][128] = { "" };
    char name[128];
    int made = 0;

    for (int i = 0; i < count; i++) {
        char *node = nodes[rand() % 8];

        if (node[0] == '\0') {
            PRINT(name, "%s/x-lock-", path);
            assert_ok(admin_create_flags(
                admin, name, "x", ZOO_EPHEMERAL | ZOO_SEQUENCE, node, 128));
            made++;
        } else {
            assert_int_equal(admin_delete(admin, node), 0);
            node[0] = '\0';
        }
        if (rand() % 16 == 0)
            sleep_ms(rand() % 60);
    }
    for (int i = 0; i < 8; i++) {
        if (nodes[i][0] != '\0')
            assert_int_equal(admin_delete(admin, nodes[i]), 0);
    }
    PRINT(name, "%s/%s", path, end_name);
    assert_int_equal(admin_create(admin, name, end_name), 0);
    return made;
}

/* Nobody knew of contenders that came and went between two looks. */
TEST(short_lived_nodes_are_seen_or_counted)
{
    const char *path = new_path();
    struct proxy *p;
    struct cli c;
    int made;

    assert_int_equal(proxy_start(server_hosts(the_server), &p), 0);
    watch_by(&c, proxy_hosts(p), path, "jsonl");
    made = 0; /* the holder of start() was there already */
    made += make_changes(path, "first-lock-4000000001", 80);
    cli_wait_said(&c, "first-lock-4000000001");
    made += make_changes(path, "second-lock-4000000002", 80);
    cli_wait_said(&c, "second-lock-4000000002");
    {
        struct sums s = sum(&c, path);

        /* that of start() has gone, too */
        assert_int_equal(s.queued + s.missed, made + 2);
        assert_int_equal(s.ended + s.missed, made + 1);
        assert_int_equal(s.unknown, 0);
    }
    end(&c, SIGTERM);
    proxy_stop(p);
}

/* The same over lost connections, and over the end of its session. */
TEST(nodes_that_come_and_go_meanwhile_are_counted)
{
    const char *path = new_path();
    struct proxy *p;
    struct cli c;
    int made = 0;

    assert_int_equal(proxy_start(server_hosts(the_server), &p), 0);
    {
        const char *args[] = { "watch",     "--servers", proxy_hosts(p),
                               "--timeout", "2s",        "--interval",
                               "20ms",      "-o",        "jsonl",
                               path,        "--initial", NULL };

        start(&c, args, path);
    }
    for (int round = 0; round < 2; round++) {
        char name[64];

        proxy_cut(p);
        cli_wait_said_often(&c, "connection lost", 2 * round + 1);
        PRINT(name, "cut-lock-400000000%d", round);
        made += make_changes(path, name, 50);
        proxy_heal(p);
        cli_wait_said(&c, name);
        proxy_cut(p);
        cli_wait_said_often(&c, "connection lost", 2 * round + 2);
        PRINT(name, "new-lock-400000001%d", round);
        made += make_changes(path, name, 50);
        sleep_ms(2000); /* the session of 1 s ends */
        proxy_heal(p);
        cli_wait_said(&c, name);
    }
    assert_int_equal(sum(&c, path).queued + sum(&c, path).missed, made + 4);
    assert_int_equal(sum(&c, path).unknown, 0);
    cli_wait_said_often(&c, "\"event\":\"resync\"", 4);
    end(&c, SIGTERM);
    proxy_stop(p);
}

/* Each permit is a claim in the queue, then a lease. A lease that was only seen
 * beside its claim has no event when both go, but the claim has. */
static bool are_all_told(const struct sums *s, int rounds)
{
    json_int_t told = s->queued + s->leases + s->missed;

    return told <= 2 * rounds && told + s->claims >= 2 * rounds;
}

TEST(the_nodes_of_a_semaphore_are_seen_or_counted)
{
    enum { ROUNDS = 20 };
    const char *path = new_path();
    zkr_semaphore *sem = NULL;
    struct sums s;
    struct cli c;
    zkr_grant *g;

    ok(zkr_semaphore_new(session, path, 2, NULL, &sem));
    ok(zkr_semaphore_acquire(sem, SOON_MS, &g));
    {
        const char *args[] = { "watch", "--servers", server_hosts(the_server),
                               "-o",    "jsonl",     "--initial",
                               NULL };

        cli_start(&c, LOCKCTL, args);
        cli_wait_said(&c, "holding");
    }
    for (int i = 0; i < ROUNDS; i++) {
        zkr_grant *one;

        ok(zkr_semaphore_acquire(sem, SOON_MS, &one));
        sleep_ms(i % 10 == 0 ? 150 : 0);
        release(one);
    }
    release(g);
    ok(zkr_semaphore_acquire(sem, SOON_MS, &g));
    for (int left = SOON_MS; left > 0; left -= 20) {
        s = sum(&c, path);
        if (are_all_told(&s, ROUNDS + 1) && s.leases > 0)
            break;
        sleep_ms(20);
    }
    if (!are_all_told(&s, ROUNDS + 1))
        fail_msg("%lld claims were queued, %lld leases acquired, %lld nodes "
                 "missed, %lld claims ended: %s",
                 (long long)s.queued, (long long)s.leases, (long long)s.missed,
                 (long long)s.claims, cli_said(&c));
    assert_in_range(s.leases, 2, ROUNDS + 1);
    assert_int_equal(s.unknown, 0);
    end(&c, SIGTERM);
    release(g);
    zkr_semaphore_free(sem);
}

struct ends {
    const struct cli *c;
    const char *path;
    int wanted;
};

static bool have_all_ended(void *arg)
{
    const struct ends *e = arg;
    struct sums s = sum(e->c, e->path);

    return s.ended + s.missed >= e->wanted;
}

/* Waits until so many contenders came and went, as far as it has told. */
static void wait_all_ended(const struct cli *c, const char *path, int wanted)
{
    struct ends e = { c, path, wanted };

    if (!wait_until(have_all_ended, &e, SOON_MS))
        fail_msg("not all %d have ended: %s", wanted, cli_said(c));
}

/* The server says that nothing came before the deletion of a directory. */
TEST(an_empty_directory_goes_and_nothing_is_missed)
{
    const char *args[] = { "watch", "--servers", server_hosts(the_server),
                           "-o",    "jsonl",     "--initial",
                           NULL };
    char path[64];
    struct cli c;

    start(&c, args, new_path());
    PRINT(path, "%s", new_path());
    for (int i = 0; i < 2; i++) {
        zkr_mutex *m = new_mutex(session, path);

        release(acquire(m));
        wait_all_ended(&c, path, 1 + 2 * i); /* all of it was listed */
        assert_int_equal(admin_delete(admin, path), 0);
        release(acquire(m));
        wait_all_ended(&c, path, 2 + 2 * i);
        assert_int_equal(sum(&c, path).queued + sum(&c, path).missed,
                         2 + 2 * i);
        assert_int_equal(sum(&c, path).unknown, 0);
        zkr_mutex_free(m);
        assert_int_equal(admin_delete(admin, path), 0);
    }
    end(&c, SIGTERM);
}

/* --- what others write --- */

/* Servers take no control characters in names, but all others, and any data. */
TEST(hostile_text_reaches_no_terminal)
{
    static const char *const formats[] = { "wide", "jsonl" };
    char path[128];
    char node[256];

    for (size_t i = 0; i < 2; i++) {
        struct cli c;
        zkr_mutex *m;

        PRINT(path, "%s\xe2\x80\xae\"\\", new_path());
        m = new_mutex(session, path);
        watch(&c, path, formats[i]);
        PRINT(node, "%s/\xe2\x80\xae\"\\,\xe2\x80\xa8lock-0000000007", path);
        assert_ok(admin_create_flags(admin, node, "\x1b]0;x\a\x1b[2J\xff\r\nx",
                                     ZOO_EPHEMERAL, NULL, 0));
        cli_wait_said(&c, "acquired");
        assert_int_equal(admin_delete(admin, node), 0);
        cli_wait_said_often(&c, "gone", 2);
        end(&c, SIGTERM);
        assert_null(strpbrk(cli_said(&c), "\x1b\a\xff"));
        assert_lacks(cli_said(&c), "\xe2\x80\xae");
        assert_lacks(cli_said(&c), "\xe2\x80\xa8");
        if (i == 1)
            json_decref(nth_event(&c, "acquired", 1));
        zkr_mutex_free(m);
    }
}

/* --- faults --- */

/* Wait until it has noticed that no server answers, between two looks or in the
 * middle of one, which fails. A look that a server answers in time after all
 * has not failed: then there is no resync. */
static void wait_said_trouble(const struct cli *c)
{
    cli_wait_said(c, "zk-lockctl: ");
}

TEST(after_a_lost_connection_it_says_resync)
{
    const char *path = new_path();
    zkr_mutex *m = new_mutex(session, path);
    const char *const order[] = { "zk-lockctl: ",
                                  " resync ",
                                  " changes since ",
                                  " are told late\n",
                                  " queued ",
                                  " acquired ",
                                  NULL };
    struct proxy *p;
    struct cli c;
    zkr_grant *g;

    assert_int_equal(proxy_start(server_hosts(the_server), &p), 0);
    watch_by(&c, proxy_hosts(p), path, "table");
    proxy_cut(p);
    wait_said_trouble(&c);
    g = acquire(m);
    proxy_heal(p);
    cli_wait_said(&c, " acquired ");
    release(g);
    cli_wait_said_often(&c, " gone ", 2);
    end(&c, SIGTERM);
    proxy_stop(p);
    assert_said_in_order(&c, order);
    zkr_mutex_free(m);
}

/* How long the holder of the n-th `gone` held at most. */
static int64_t held_of(const struct cli *c, int n)
{
    json_t *event = nth_event(c, "gone", n);
    int64_t held = json_integer_value(json_object_get(event, "held_ms_max"));

    json_decref(event);
    return held;
}

/* Regression: the list after the reconnect had made the time before it look as
 * if it had been watched, so a holder of 7s was told to have held 2.1s. */
TEST(a_hold_while_cut_off_is_an_upper_bound)
{
    const char *path = new_path();
    zkr_mutex *first = new_mutex(session, path);
    zkr_mutex *second = new_mutex(other, path);
    struct proxy *p;
    struct waiter w;
    struct cli c;
    zkr_grant *g;
    char text[128];
    int64_t from_ms;
    int64_t held_ms;

    assert_int_equal(proxy_start(server_hosts(the_server), &p), 0);
    {
        const char *args[] = { "watch", "--servers", proxy_hosts(p), "-o",
                               "jsonl", "--initial", path,           NULL };

        start(&c, args, path);
    }
    g = acquire(first);
    waiter_start(&w, second, SOON_MS);
    cli_wait_said_often(&c, "\"event\":\"queued\"", 2);
    proxy_cut(p);
    cli_wait_said(&c, "connection lost");
    release(g);
    assert_int_equal(waiter_join(&w), ZKR_OK);
    from_ms = now_ms();
    sleep_ms(1000); /* it holds */
    proxy_heal(p);
    PRINT(text, "\"token\":\"%lld\"", (long long)zkr_grant_token(w.grant));
    cli_wait_said_often(&c, "\"event\":\"acquired\"", 2);
    held_ms = now_ms() - from_ms;
    release(w.grant);
    cli_wait_said_often(&c, "\"event\":\"gone\"", 3);
    end(&c, SIGTERM);
    assert_has(cli_said(&c), text);
    assert_true(held_of(&c, 3) >= held_ms);
    proxy_stop(p);
    zkr_mutex_free(first);
    zkr_mutex_free(second);
}

/* Regression: the pause between two lists did not count: with 10s a holder of
 * 14s was told to have held 10.5s. */
TEST(a_hold_in_a_pause_is_an_upper_bound)
{
    const char *path = new_path();
    zkr_mutex *first = new_mutex(session, path);
    zkr_mutex *second = new_mutex(other, path);
    const char *args[] = { "watch", "--servers",  server_hosts(the_server),
                           "-o",    "jsonl",      "--initial",
                           path,    "--interval", "2s",
                           NULL };
    struct waiter w;
    struct cli c;
    zkr_grant *g;
    int64_t from_ms;
    int64_t held_ms;

    start(&c, args, path);
    g = acquire(first);
    waiter_start(&w, second, SOON_MS);
    cli_wait_said_often(&c, "\"event\":\"queued\"", 2);
    release(g);
    assert_int_equal(waiter_join(&w), ZKR_OK);
    from_ms = now_ms();
    cli_wait_said_often(&c, "\"event\":\"acquired\"", 2);
    sleep_ms(1500); /* it holds, nearly until the next list */
    held_ms = now_ms() - from_ms;
    release(w.grant);
    cli_wait_said_often(&c, "\"event\":\"gone\"", 3);
    end(&c, SIGTERM);
    assert_true(held_of(&c, 3) >= held_ms);
    zkr_mutex_free(first);
    zkr_mutex_free(second);
}

static void may_be_read(const char *path, bool yes)
{
    struct ACL acl = { ZOO_PERM_ALL & (yes ? -1 : ~ZOO_PERM_READ),
                       ZOO_ANYONE_ID_UNSAFE };
    struct ACL_vector acls = { 1, &acl };

    assert_int_equal(admin_set_acl(admin, path, &acls), ZOK);
}

/* Regression: the server uses up the watch of a directory that may not be read
 * when it changes, without a word. Nothing was told of it any more. */
TEST(after_a_time_without_read_it_watches_again)
{
    const char *path = new_path();
    char holder[128];
    char node[128];
    struct cli c;

    watch(&c, path, "jsonl");
    for (int i = 0; i < 2; i++) {
        PRINT(holder, "%s/a-lock-000000001%d", path, i);
        assert_int_equal(admin_create(admin, holder, "x"), ZOK);
        cli_wait_said_often(&c, "\"event\":\"acquired\"", 1 + 2 * i);
        may_be_read(path, false);
        PRINT(node, "%s/b-lock-0000000020", path);
        assert_int_equal(admin_create(admin, node, "x"), ZOK);
        assert_int_equal(admin_delete(admin, node), ZOK);
        may_be_read(path, true);
        assert_int_equal(admin_delete(admin, holder), ZOK);
        cli_wait_said_often(&c, "\"event\":\"gone\"", 2 + 2 * i);
        assert_int_equal(sum(&c, path).missed, 1 + i);
        PRINT(node, "%s/c-lock-000000003%d", path, i);
        assert_int_equal(admin_create(admin, node, "x"), ZOK);
        cli_wait_said_often(&c, "\"event\":\"acquired\"", 2 + 2 * i);
        assert_int_equal(admin_delete(admin, node), ZOK);
        cli_wait_said_often(&c, "\"event\":\"gone\"", 3 + 2 * i);
    }
    end(&c, SIGTERM);
}

/* One claim of a semaphore comes, gets its permit, and goes. */
static void use_a_permit(const char *path)
{
    char name[256];
    char claim[256];
    char lease[256];

    PRINT(name, "%s/locks/x-lock-", path);
    assert_ok(admin_create_flags(admin, name, "x", ZOO_SEQUENCE, claim, 256));
    PRINT(name, "%s/leases/x-lease-", path);
    assert_ok(admin_create_flags(admin, name, "x", ZOO_SEQUENCE, lease, 256));
    assert_int_equal(admin_delete(admin, claim), ZOK);
    assert_int_equal(admin_delete(admin, lease), ZOK);
}

static void make_below(char *path, size_t size, const char *name)
{
    size_t len = strlen(path);

    (void)snprintf(path + len, size - len, "/%s", name);
    assert_int_equal(admin_create(admin, path, "x"), ZOK);
}

/* The first line that names the old lease says that it holds, and nothing was
 * missed before that. */
static void assert_first_look(const struct cli *c)
{
    char *text = strdup(cli_said(c));
    char *rest = text;
    char *line;

    while ((line = strsep(&rest, "\n")) != NULL) {
        assert_lacks(line, "\"event\":\"missed\"");
        if (strstr(line, "old-lease") != NULL)
            break;
    }
    assert_non_null(line);
    assert_has(line, "\"event\":\"holding\"");
    free(text);
}

/* Regression: a semaphore that was busy during the first look was told as new:
 * its old holder had just `acquired`, and what came and went before the look
 * was missed. */
TEST(the_first_look_of_a_busy_directory_is_its_first)
{
    char path[256];
    char part[256];
    struct proxy *p;

    PRINT(path, "%s", new_path());
    assert_int_equal(admin_create(admin, path, NULL), ZOK);
    for (int i = 0; i < 8; i++)
        make_below(path, sizeof(path), "d");
    PRINT(part, "%s", path);
    make_below(part, sizeof(part), "locks");
    PRINT(part, "%s", path);
    make_below(part, sizeof(part), "leases");
    make_below(part, sizeof(part), "old-lease-0000000000");
    for (int i = 0; i < 50; i++)
        use_a_permit(path);
    assert_int_equal(proxy_start(server_hosts(the_server), &p), 0);
    proxy_set_latency(p, 80);
    for (int i = 0; i < 5; i++) {
        const char *args[] = { "watch", "--servers", proxy_hosts(p),
                               "-o",    "jsonl",     "--initial",
                               NULL };
        struct cli c;
        int64_t end_ms = now_ms() + SOON_MS;

        cli_start(&c, LOCKCTL, args);
        while (strstr(cli_said(&c), "old-lease") == NULL && now_ms() < end_ms)
            use_a_permit(path);
        end(&c, SIGTERM);
        assert_first_look(&c);
    }
    proxy_stop(p);
}

/* A semaphore in which something happens all the time: each permit is given
 * back when the next ones are there, so most nodes are in one list at least. */
struct churn {
    char path[256];
    char nodes[16][2][256]; /* a claim and its lease */
    int made;
};

static void make_node(const struct churn *u, const char *name, char *ret_node)
{
    char path[300];

    PRINT(path, "%s/%s", u->path, name);
    assert_ok(
        admin_create_flags(admin, path, "x", ZOO_SEQUENCE, ret_node, 256));
}

static void change(struct churn *u)
{
    char(*pair)[256] = u->nodes[u->made++ % 16];

    if (pair[0][0] != '\0') {
        assert_int_equal(admin_delete(admin, pair[0]), ZOK);
        assert_int_equal(admin_delete(admin, pair[1]), ZOK);
    }
    make_node(u, "locks/x-lock-", pair[0]);
    make_node(u, "leases/x-lease-", pair[1]);
}

static void churn_start(struct churn *u)
{
    char part[256];

    *u = (struct churn){ .made = 0 };
    PRINT(u->path, "%s", new_path());
    assert_int_equal(admin_create(admin, u->path, NULL), ZOK);
    PRINT(part, "%s", u->path);
    make_below(part, sizeof(part), "locks");
    PRINT(part, "%s", u->path);
    make_below(part, sizeof(part), "leases");
    change(u);
}

/* Changes it until the text was said so often. */
static void change_until_said(struct churn *u, const struct cli *c,
                              const char *text, int times)
{
    int64_t end_ms = now_ms() + SOON_MS;

    while (text_count(cli_said(c), text) < times) {
        if (now_ms() >= end_ms)
            fail_msg("after %d changes it has not said '%s' %d times: %s",
                     u->made, text, times, cli_said(c));
        change(u);
    }
}

/* Regression: news were taken when no list and no read of the lock was under
 * way. With slow answers there was always one, so nothing was told before the
 * changes ended. */
TEST(events_come_while_changes_never_end)
{
    static struct churn u;
    struct proxy *p;
    struct cli c;

    churn_start(&u);
    assert_int_equal(proxy_start(server_hosts(the_server), &p), 0);
    proxy_set_latency(p, 300);
    {
        const char *args[] = { "watch", "--servers",  proxy_hosts(p),
                               "-o",    "jsonl",      "--initial",
                               u.path,  "--interval", "20ms",
                               NULL };

        cli_start(&c, LOCKCTL, args);
    }
    /* each list has some that came and went before it */
    change_until_said(&u, &c, "\"event\":\"missed\"", 4);
    assert_int_equal(sum(&c, u.path).unknown, 0);
    end(&c, SIGTERM);
    proxy_stop(p);
}

/* Regression: below a chroot "/zookeeper" is a directory like others. */
TEST(below_a_chroot_all_is_watched)
{
    char path[256];
    char chroot[256];
    char servers[512];
    const char *args[] = { "watch", "--servers", servers, "--initial", NULL };
    struct cli c;

    PRINT(chroot, "%s", new_path());
    PRINT(servers, "%s%s", server_hosts(the_server), chroot);
    PRINT(path, "%s", chroot);
    assert_int_equal(admin_create(admin, path, NULL), ZOK);
    make_below(path, sizeof(path), "zookeeper");
    make_below(path, sizeof(path), "x-lock-0000000000");
    cli_start(&c, LOCKCTL, args);
    cli_wait_said(&c, " /zookeeper ");
    end(&c, SIGTERM);
}

enum { DAY_MS = 24 * 3600 * 1000 };

/* The time of the first event of that name, in ms of its day. */
static int when(const struct cli *c, const char *name)
{
    json_t *event = nth_event(c, name, 1);
    const char *at = json_string_value(json_object_get(event, "at"));
    int hour, minute, second, ms;

    assert_int_equal(
        sscanf(at, "%*10sT%d:%d:%d.%dZ", &hour, &minute, &second, &ms), 4);
    json_decref(event);
    return ((hour * 60 + minute) * 60 + second) * 1000 + ms;
}

/* Regression: the pause began after the second list, so the first change was
 * told at once. */
TEST(the_first_pause_is_kept)
{
    char path[256];
    char node[256];
    const char *args[] = { "watch",     "--servers",  server_hosts(the_server),
                           "--initial", "--interval", "3s",
                           "-o",        "jsonl",      path,
                           NULL };
    struct cli c;

    PRINT(path, "%s", new_path());
    assert_int_equal(admin_create(admin, path, NULL), ZOK);
    PRINT(node, "%s", path);
    make_below(node, sizeof(node), "x-lock-0000000000");
    cli_start(&c, LOCKCTL, args);
    cli_wait_said(&c, "\"event\":\"holding\"");
    PRINT(node, "%s", path);
    make_below(node, sizeof(node), "y-lock-0000000001");
    cli_wait_said(&c, "\"event\":\"queued\"");
    end(&c, SIGTERM);
    assert_true((when(&c, "queued") + DAY_MS - when(&c, "holding")) % DAY_MS >=
                2000);
}

static long lists(struct proxy *p)
{
    return proxy_requests(p, ZOO_GETCHILDREN2_OP);
}

static bool was_one_asked(void *p)
{
    return lists(p) > 0;
}

static bool were_many_asked(void *p)
{
    return lists(p) >= 250;
}

/* Regression: each answer asked for 50 more at once, so all of many directories
 * without READ were asked for within a moment. */
TEST(an_unwatchable_lock_is_asked_for_slowly)
{
    enum { DIRS = 300 };
    char path[256];
    struct proxy *p;
    struct stopwatch *w;
    struct cli c;

    PRINT(path, "%s", new_path());
    assert_int_equal(admin_create(admin, path, NULL), ZOK);
    for (int i = 0; i < DIRS; i++) {
        char dir[300];

        PRINT(dir, "%s/d%d", path, i);
        assert_int_equal(admin_create(admin, dir, NULL), ZOK);
        may_be_read(dir, false);
    }
    assert_int_equal(proxy_start(server_hosts(the_server), &p), 0);
    {
        const char *args[] = { "watch", "--servers", proxy_hosts(p), NULL };

        cli_start(&c, LOCKCTL, args);
    }
    cli_wait_said(&c, "could not be looked at");
    for (int round = 0; round < 2; round++) {
        proxy_reset_counts(p);
        assert_true(wait_until(was_one_asked, p, SOON_MS));
        w = stopwatch_start();
        assert_true(wait_until(were_many_asked, p, SOON_MS));
        assert_true(stopwatch_says(w, 1200, SOON_MS));
    }
    end(&c, SIGTERM);
    for (int i = 0; i < DIRS; i++) {
        char dir[300];

        PRINT(dir, "%s/d%d", path, i);
        may_be_read(dir, true);
    }
    assert_int_equal(admin_delete_tree(admin, path), 0);
    proxy_stop(p);
}

/* Regression: paths that were given did not count. The servers cut a connection
 * that watches too many nodes, again and again. */
TEST(locks_that_are_given_are_watched_as_far_as_it_goes)
{
    char command[512];
    const char *const args[] = { "-c", command, NULL };
    struct cli c;

    PRINT(command, "exec %s watch --servers %s $(seq -f /given/%%g 4600)",
          LOCKCTL, server_hosts(the_server));
    cli_start(&c, "/bin/sh", args);
    cli_wait_said(&c, "more directories than can be watched");
    end(&c, SIGTERM);
}

TEST(it_outlives_the_server)
{
    const char *path = new_path();
    zkr_mutex *m = new_mutex(session, path);
    struct cli c;
    zkr_grant *g;

    watch(&c, path, "jsonl");
    server_kill9(the_server);
    wait_said_trouble(&c);
    restart_server();
    cli_wait_said(&c, "\"event\":\"resync\"");
    g = acquire(m);
    cli_wait_said(&c, "\"event\":\"acquired\"");
    release(g);
    end(&c, SIGTERM);
    zkr_mutex_free(m);
}

TEST(a_signal_ends_it_also_when_the_server_is_silent)
{
    struct proxy *p;
    struct cli c;
    struct stopwatch *w;

    assert_int_equal(proxy_start(server_hosts(the_server), &p), 0);
    watch_by(&c, proxy_hosts(p), new_path(), "table");
    proxy_freeze(p);
    sleep_ms(100); /* a look is under way, or soon */
    w = stopwatch_start();
    end(&c, SIGTERM);
    assert_true(stopwatch_says(w, 0, 4000));
    proxy_stop(p);
}

TEST(output_that_cannot_be_written_ends_it)
{
    const char *path = new_path();
    zkr_mutex *m = new_mutex(session, path);
    char command[512];
    const char *const args[] = { "-c", command, NULL };
    zkr_grant *g = acquire(m);
    struct cli c;

    PRINT(command, "exec %s watch --servers %s --initial %s > /dev/full",
          LOCKCTL, server_hosts(the_server), path);
    cli_start(&c, "/bin/sh", args);
    assert_int_equal(cli_end(&c), 74);
    release(g);
    zkr_mutex_free(m);
}

TEST(senseless_options_are_refused)
{
    static const char *const lines[][4] = {
        { "watch", "-o", "json" },
        { "watch", "-o", "dot" },
        { "watch", "--interval", "0" },
        { "watch", "--interval", "soon" },
        { "watch", "--columns", "TIME" },
        { "watch", "--nonsense" },
        { "watch", "" },
    };

    for (size_t i = 0; i < COUNT(lines); i++) {
        struct cli c;

        cli_start(&c, LOCKCTL, lines[i]);
        assert_int_equal(cli_end(&c), 64);
    }
}
