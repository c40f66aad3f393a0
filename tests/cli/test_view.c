/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of ls, show, check, wait, revoke and break against a real server. */

#include <pty.h>

#include "look.h"

#define UUID "5a5bbc38-73ea-4b5a-9f73-96e8c4c6a436"
#define HEX  "5a5bbc3873ea4b5a9f7396e8c4c6a436"

static zkr_session *s;
static char path[80];
static zkr_mutex *m;

static int setup(void)
{
    s = open_session();
    ok(look_make_root());
    PRINT(path, "%s/lock", look_root);
    m = new_mutex(s, path);
    return 0;
}

static int teardown(void)
{
    zkr_mutex_free(m);
    (void)zkr_session_close(s);
    return look_remove_root();
}

FIXTURE(setup, teardown)

static int64_t make(const char *name, const char *data)
{
    return look_make(admin, in_root(name), data, ZOO_EPHEMERAL);
}

/* --- ls --- */

TEST(our_holder_is_told_by_its_record)
{
    zkr_grant *g = acquire(m);
    char host[256];

    ok(gethostname(host, sizeof(host)));
    LOOK(0, "ls %s -o json", look_root);
    assert_string_equal(
        look_jq(".items[0] | [.path, .kind, .dialect, .state, .waiters, "
                ".longest_wait_ms, (.holders[0] | .token, .session, .data, "
                ".owner.host, .owner.pid)] | map(tostring) | join(' ')"),
        textf("%s mutex zkrecipes held 0 null %" PRId64 " 0x%" PRIx64
              " null %s %d",
              path, zkr_grant_token(g), zkr_session_id(s), host, getpid()));
    release(g);
}

/* --- nodes that are made by hand --- */

#define SOME                                                                   \
    "a cfg/_c_" UUID "-__READ__0000000000 10.0.0.1|a cfg/_c_" UUID             \
    "-__READ__0000000001 10.0.0.2|a cfg/_c_" UUID                              \
    "-__WRIT__0000000002 10.0.0.3|a go/_c_" HEX                                \
    "-lock-0000000000|a orders/" HEX                                           \
    "__lock__0000000004 hostA:123|a orders/" HEX                               \
    "__lock__0000000005 hostB:77|a recipe/x-100000be8790000-0000000000|"       \
    "a ruby/ex0000000000 me|a ruby/sh0000000001 you|a unfair/holder somebody"

#define LABELLED                                                               \
    "{\"host\":\"me\",\"pid\":7,\"thread\":\"main\",\"tid\":9,"                \
    "\"program\":\"p\",\"label\":\"night\",\"library\":\"zkrecipes 0.1\"}"

static const struct row {
    const char *name;
    struct scene scenes[10];
} rows[] = {
    { "locks_of_all_clients_are_listed",
      { { .make = SOME,
          .words = "ls R",
          .has = { "LOCK KIND DIALECT STATE HOLDER HELD WAIT TOKEN\n" },
          .lacks = "zk-lockctl:" },
        { .words = "ls R --columns LOCK,KIND,DIALECT,STATE,HOLDER,HELD,WAIT,"
                   "LONGEST,TOKEN",
          .out = "LOCK KIND DIALECT STATE HOLDER HELD WAIT LONGEST TOKEN\n"
                 "ROOT/cfg rw curator shared 2 holders <=AGE 1 AGE -\n"
                 "ROOT/go mutex go held session 0xN <=AGE 0 - TOKEN\n"
                 "ROOT/orders mutex kazoo held hostA:123 <=AGE 1 AGE TOKEN\n"
                 "ROOT/recipe mutex c-recipe held session 0xN <=AGE 0 - TOKEN\n"
                 "ROOT/ruby rw zk-ruby held me <=AGE 1 AGE TOKEN\n"
                 "ROOT/unfair unfair other held somebody <=AGE 0 - TOKEN\n",
          .lacks = "zk-lockctl:" } } },
    { "nothing_found_is_an_empty_list",
      { { .words = "ls R", .out = "", .has = { "no locks" } },
        { .words = "ls -q R", .out = "", .lacks = "zk-lockctl:" },
        { .words = "ls -o json R", .has = { "\"items\": []" } },
        { .words = "ls -o jsonl R", .out = "" } } },
    { "columns_are_chosen_and_added",
      { { .make = "a orders/" HEX "__lock__0000000004 a \"b\", c",
          .words = "ls --columns TOKEN,lock R",
          .has = { "TOKEN LOCK\n", " ROOT/orders\n" } },
        { .words = "ls --columns +CHILDREN R", .has = { "TOKEN CHILDREN\n" } },
        { .words = "ls --columns lock,HOLDER,WAIT R",
          .has = { "ROOT/orders a \"b\", c" } },
        { .words = "ls --columns NONE R",
          .code = 64,
          .has = { "--columns: 'NONE' is none; choose from LOCK," } },
        { .words = "ls --columns , R", .code = 64 } } },
    { "filters_leave_out",
      { { .make = SOME "|p gone/deep",
          .words = "ls --columns LOCK --waiting R",
          .out = "LOCK\nROOT/cfg\nROOT/orders\nROOT/ruby\n" },
        { .words = "ls --columns LOCK --dialect go R",
          .out = "LOCK\nROOT/go\n" },
        { .words = "ls --dialect nobody R", .code = 64 },
        { .words = "ls --limit 2 --columns LOCK R",
          .has = { "there are more locks than 2" } } } },
    { "a_long_queue_is_cut_with_a_note",
      { { .make = "a lock/lock-0000000000|a lock/lock-0000000001|"
                  "a lock/lock-0000000002|a lock/lock-0000000003",
          .words = "show --limit 2 R/lock",
          .has = { "4 in the queue, 2 shown\n",
                   "only 2 of 4 children are listed" } } } },
    { "a_queue_has_all_columns",
      { { .make = "a lock/_c_" UUID "-lock-0000000000 " LABELLED "|p lock/" HEX
                  "__lock__0000000001 hostB:77|p lock/notes x",
          .words = "show --columns POS,STATE,OWNER,LABEL,CLIENT,"
                   "SESSION,TIMEOUT,SINCE,BLOCKED-BY,MODE,DIALECT,THREAD,NODE "
                   "R/lock",
          .out =
              "ROOT/lock mutex (mixed) held 2 in the queue, 1 foreign\n"
              "POS STATE OWNER LABEL CLIENT SESSION TIMEOUT SINCE BLOCKED-BY "
              "MODE DIALECT THREAD NODE\n"
              " 0 HELD me:7/9 p night PORT 0xN 30s <=AGE - exclusive zkrecipes "
              "main _c_UUID-lock-0000000000\n"
              " 1 wait hostB:77 - (no session) - ? AGE pos 0 exclusive kazoo "
              "- UUID__lock__0000000001\n"
              " - foreign x - (no session) - ? AGE - - - - notes\n",
          .has = { "Curator counts foreign children (1)" } },
        { .words = "check --free R/lock",
          .code = 1,
          .has = { "lock is held by me:7/9 p (zkrecipes), \"night\", token ",
                   "; 1 waiting\n" } },
        { .words = "break --no-4lw R/lock",
          .code = 64,
          .has = { "\nzk-lockctl:   label: night\n",
                   "it is told soon after, but is not stopped",
                   "1 waiting; the next is granted at once" },
          .lacks = "DANGER" } } },
    { "what_a_lock_is_worth_a_word",
      { { .make = "a c/_c_" UUID "-lock-0000000000 10.0.0.1|p c/notes|"
                  "a unfair/holder me|a u/_c_" UUID
                  "-lock-0000000000 __REVOKE__|p u/notes|p p/" HEX
                  "__lock__0000000004 hostA:123",
          .words = "show --no-4lw R/c",
          .has = { "c mutex (curator) held 1 in the queue, 1 foreign\n",
                   "Curator counts foreign children (1)" } },
        { .words = "show --no-4lw R/u",
          .has = { "Curator counts foreign children (1)" } },
        { .words = "show --no-4lw R/unfair",
          .has = { "a waiter for an unfair mutex has no node" },
          .lacks = "Curator counts" },
        { .words = "break --no-4lw R/p",
          .code = 64,
          .has = { "its node belongs to no session: it stays until" },
          .lacks = "its session" } } },
};

TEST_ROWS(shown, rows, row)
{
    look_play(row->scenes, NULL, NULL);
}

/* --- hostile names and data --- */

TEST(huge_data_is_cut)
{
    char *huge = calloc(1, 200001);

    assert_non_null(huge);
    memset(huge, 'x', 200000);
    make("lock/lock-0000000000", huge);
    free(huge);
    LOOK(0, "show -o json %s", path);
    assert_true(strlen(look_out) < 8192);
    assert_has(look_out, "\"data_size\": 200000");
    LOOK(0, "ls %s", path);
    assert_true(strlen(look_out) < 1024);
    assert_has(look_out, "xxx...");
}

/* --- recipes of which there is no package --- */

static const struct recipe {
    const char *name;
    const char *dialect;
    const char *prefixes[3]; /* of their nodes: who holds, and two who wait */
} recipes[] = {
    { "in C",
      "c-recipe",
      { "x-0100000be8790000-", "x-0100000be8790001-", "x-0200000be8790002-" } },
    { "in Java, with the session in decimal",
      "c-recipe",
      { "x-72057645182812160-", "x-72057645182812161-",
        "x-72057645182812162-" } },
    { "in Go",
      "go",
      { "_c_" HEX "-lock-", "_c_" HEX "-lock-", "_c_" HEX "-lock-" } },
    { "in Ruby", "zk-ruby", { "ex", "sh", "sh" } },
};

TEST_ROWS(queues_of_other_recipes_are_shown_and_broken, recipes, r)
{
    bool shared = strcmp(r->prefixes[1], "sh") == 0;
    const char *mode = shared ? "shared" : "exclusive";

    ok(admin_create(admin, path, NULL));
    for (int i = 0; i < 3; i++) /* the server adds the number */
        ok(admin_create_flags(admin, textf("%s/%s", path, r->prefixes[i]), "",
                              ZOO_EPHEMERAL | ZOO_SEQUENCE, NULL, 0));
    LOOK(0, "show --columns POS,STATE,DIALECT,MODE,BLOCKED-BY %s", path);
    assert_string_equal(strchr(look_golden(), '\n') + 1,
                        textf("POS STATE DIALECT MODE BLOCKED-BY\n"
                              " 0 HELD %s exclusive -\n 1 wait %s %s pos 0\n"
                              " 2 wait %s %s pos %d\n",
                              r->dialect, r->dialect, mode, r->dialect, mode,
                              shared ? 0 : 1));
    LOOK(0, "ls --columns DIALECT,STATE,WAIT %s", path);
    assert_string_equal(look_golden(),
                        textf("DIALECT STATE WAIT\n%s held 2\n", r->dialect));
    LOOK(0, "check --held %s", path);
    LOOK_ERR(75, "does not listen", "revoke -w 0 %s", path);
    LOOK(0, "show -qo json %s", path);
    LOOK_ERR(0, "does not look at its own node", "break --yes --token %s %s",
             look_jq(".items[0].holders[0].token"), path);
    LOOK(0, "check --held %s", path);
    LOOK(0, "ls --columns WAIT %s", path);
    assert_string_equal(look_out, shared ? "WAIT\n   0\n" : "WAIT\n   1\n");
}

/* --- show --- */

TEST(a_queue_is_shown_with_who_blocks_whom)
{
    AUTO(session) other = open_session();
    AUTO(mutex) second = new_mutex(other, path);
    zkr_grant *g = acquire(m);
    struct waiter w;

    waiter_queue(&w, second);
    settle(other);
    LOOK(0, "show --columns POS,STATE,CLIENT,SESSION,BLOCKED-BY %s", path);
    assert_string_equal(look_golden(),
                        "ROOT/lock mutex (zkrecipes) held 2 in the queue\n"
                        "POS STATE CLIENT SESSION BLOCKED-BY\n"
                        " 0 HELD PORT 0xN -\n"
                        " 1 wait PORT 0xN pos 0\n");
    LOOK(0, "show -o json %s", path);
    assert_string_equal(
        look_jq("[.kind, (.items[0].queue | length, (.[1] | "
                ".session_timeout_ms, .session, .waits_for, .server))] | "
                "map(tostring) | join(' ')"),
        textf("LockQueue 2 %d 0x%" PRIx64 " %s %s",
              (int)zkr_session_timeout_ms(other), zkr_session_id(other),
              strrchr(zkr_grant_node(g), '/') + 1, server_hosts(the_server)));
    release(g);
    assert_int_equal(waiter_join(&w), ZKR_OK);
    release(w.grant);
}

TEST(without_the_words_the_rest_is_shown)
{
    static const char *const lines[] = { "4lw.commands.whitelist=srvr,conf",
                                         NULL };
    struct server_opts opts = { .cfg_lines = lines };
    struct server *shy = NULL;
    zkr_session *there = NULL;

    assert_int_equal(server_start(&opts, &shy), SERVER_OK);
    ok(zkr_session_open(server_hosts(shy), NULL, &there));
    zkr_mutex *lock = new_mutex(there, "/a");
    zkr_grant *g = acquire(lock);
    look_on(server_hosts(shy));
    LOOK(0, "show /a --columns STATE,CLIENT,TIMEOUT");
    assert_string_equal(look_golden(), "/a mutex (zkrecipes) held 1 in the "
                                       "queue\nSTATE CLIENT TIMEOUT\n"
                                       "HELD ? ?\n");
    assert_has(look_err, "4lw.commands.whitelist=srvr,cons");
    LOOK(0, "show /a -o json");
    LOOK_ERR(82, "1 lock, 0 findings; not all could be looked at", "doctor /a");
    LOOK(0, "doctor --no-4lw /a");
    LOOK(0, "doctor /nothing");
    LOOK(0, "break --yes --token %" PRId64 " /a", zkr_grant_token(g));
    assert_has(look_err, "may live; the servers do not tell");
    wait_grant_state(g, ZKR_GRANT_LOST);
    zkr_grant_free(g);
    zkr_mutex_free(lock);
    close_session(there);
    server_stop(shy);
}

/* A lock may go, and come again, and so may the connection. */
TEST(a_queue_is_followed)
{
    AUTO(proxy) proxy = new_proxy();
    struct cli cli;

    make("lock/lock-0000000000", "hostA:1");
    START_CLI(&cli, "show", "--follow", "--limit", "1", "--no-4lw", "-o",
              "jsonl", "--servers", proxy_hosts(proxy), path);
    cli_wait_said(&cli, "hostA:1");
    ok(admin_delete_tree(admin, path));
    cli_wait_said(&cli, "/lock does not exist");
    make("lock/lock-0000000002", "hostB:2");
    cli_wait_said(&cli, "hostB:2");
    make("lock/lock-0000000003", "hostC:3");
    cli_wait_said(&cli, "\"cut\":true");
    assert_lacks(cli_said(&cli), "hostC:3");
    (void)kill(cli.pid, SIGTERM);
    assert_int_equal(cli_end(&cli), 128 + SIGTERM);
}

/* --- check, wait --- */

TEST(scripts_ask_by_the_exit_code)
{
    char host[256];

    assert_int_equal(gethostname(host, sizeof(host)), 0);
    zkr_grant *g = acquire(m);
    LOOK_ERR(1, "is held by", "check --free %s", path);
    assert_string_equal(look_out, "");
    LOOK(1, "check -q --free %s", path);
    assert_string_equal(look_err, "");
    LOOK(0, "check --held-by %s %s", host, path);
    LOOK(0, "check --held-by %s:%d %s", host, (int)getpid(), path);
    LOOK(1, "check --held-by %s:%d %s", host, (int)getppid(), path);
    LOOK(0, "check --held -o json %s", path);
    assert_jq(".kind == 'LockList' and (.items | length) == 1");
    release(g);
}

struct releasing {
    struct proxy *proxy;
    zkr_grant *grant;
};

static void *release_when_asked_again(void *arg)
{
    struct releasing *r = arg;

    (void)COMES(proxy_requests(r->proxy, ZOO_GETCHILDREN2_OP) > 1, SOON_MS);
    (void)zkr_grant_release(r->grant);
    return NULL;
}

/* The lock becomes free when the tool has seen it held. */
static void wait_until_released(zkr_grant *g)
{
    AUTO(proxy) proxy = new_proxy();
    struct releasing r = { proxy, g };
    pthread_t thread = thread_start(release_when_asked_again, &r);

    look_on(proxy_hosts(proxy));
    LOOK(0, "wait --free -w 20s %s", path);
    look_on(NULL);
    thread_join(thread);
    zkr_grant_free(g);
}

TEST(wait_returns_when_it_is_so)
{
    zkr_grant *g = acquire(m);
    int64_t begun = now_ms();

    LOOK(75, "wait --free -w 300ms %s", path);
    assert_true(now_ms() - begun >= 300);
    LOOK(75, "wait --free -w 0 %s", path);
    LOOK(0, "wait --held -w 0 %s", path);
    wait_until_released(g);
}

/* --- answers that are errors --- */

#define OURS                                                                   \
    "{\"host\":\"me\",\"pid\":7,\"thread\":\"t\",\"tid\":7,"                   \
    "\"program\":\"p\",\"library\":\"zkrecipes 0.1.0\"}"

/* clang-format off */
static const struct refused {
    const char *name;
    int type, first, last, error; /* of the requests that are refused */
    const char *words; /* before the path of a lock that is held, or with TOKEN */
    int code;
    const char *said;
} refused[] = {
    { "wait_at_first", ZOO_GETCHILDREN2_OP, 1, 1, ZNOAUTH, "wait --free -w 60s", 77, "not permitted" },
    { "wait_with_its_watch", ZOO_GETCHILDREN2_OP, 2, 2, ZNOAUTH, "wait --free -w 60s", 77, "not permitted" },
    { "revoke_its_request", ZOO_SETDATA_OP, 1, 1, ZNOAUTH, "revoke -w 60s", 77, "not permitted" },
    { "revoke_its_second_look", ZOO_GETCHILDREN2_OP, 2, 2, ZNOAUTH, "revoke -w 60s", 77, "not permitted" },
    { "break_its_reason", ZOO_SETDATA_OP, 1, 1, ZNOAUTH, "break --yes --no-4lw --reason x --token TOKEN", 77, "not permitted" },
    { "break_its_delete", ZOO_DELETE_OP, 1, 1, ZNOAUTH, "break --yes --no-4lw --token TOKEN", 77, "not permitted" },
    { "break_its_last_look", ZOO_GETCHILDREN2_OP, 2, 2, ZNOAUTH, "break --yes --no-4lw --token TOKEN", 77, "not permitted" },
    { "doctor_its_second_look", ZOO_GETCHILDREN2_OP, 2, 2, ZNOAUTH, "doctor --no-4lw --confirm 1ms --older 1ms", 82, "0 findings; not all could" },
    { "show", ZOO_GETCHILDREN2_OP, 1, 1, ZNOAUTH, "show --no-4lw", 77, "not permitted" },
    { "watch", ZOO_GETCHILDREN2_OP, 1, 1, ZNOAUTH, "watch", 77, "cannot list" },
    { "metrics", ZOO_GETCHILDREN2_OP, 1, 1, ZNOAUTH, "metrics", 77, "cannot list" },
    { "run_its_create", ZOO_CREATE2_OP, 1, 1, ZNOAUTH, "run -c true", 77, "not permitted" },
    { "revoke_for_ever", ZOO_SETDATA_OP, 1, 5, ZBADVERSION, "revoke -w 60s", 70, "version" },
};
/* clang-format on */

TEST_ROWS(an_error_ends, refused, row)
{
    AUTO(proxy) proxy = new_proxy();
    int64_t token = make("lock/lock-0000000000", OURS);
    const char *at = strstr(row->words, "TOKEN");

    for (int i = row->first; i <= row->last; i++)
        proxy_rule_error(proxy, row->type, i, row->error);
    look_on(proxy_hosts(proxy));
    LOOK(row->code, "%.*s%s %s", (int)strcspn(row->words, "T"), row->words,
         at == NULL ? "" : textf("%" PRId64, token), path);
    assert_has(look_err, row->said);
    assert_lacks(look_err, "is free");
    assert_true(proxy_rule_done(proxy));
}

/* --- revoke --- */

/* A holder that gives the lock back when it is asked. */
static void give_back(zkr_grant *g, const struct zkr_grant_event *e, void *user)
{
    atomic_int *asked = user;

    if (e->kind != ZKR_GRANT_REVOKE_REQUESTED)
        return;
    (void)atomic_fetch_add(asked, 1);
    (void)zkr_grant_release_async(g, NULL, NULL);
}

TEST(a_holder_that_listens_gives_back)
{
    static atomic_int asked;
    zkr_grant *g = acquire(m);

    atomic_store(&asked, 0);
    ok(zkr_grant_listen(g, give_back, &asked));
    LOOK_ERR(0, "is free", "revoke %s", path);
    assert_int_equal(atomic_load(&asked), 1);
    zkr_grant_free(g);
    LOOK(0, "revoke %s", path);
}

/* Regression: it waited for ten seconds, whatever -w said. */
TEST(a_revoke_waits_as_long_as_told)
{
    zkr_grant *g = acquire(m);
    struct stopwatch *w = stopwatch_start();

    LOOK(75, "revoke -w 1ms %s", path);
    assert_true(stopwatch_says(w, 0, 5000));
    release(g);
}

/* Regression: the path was written to, whoever had it. A name without a UUID
 * returns after its directory was made anew, and the request replaced the
 * record of somebody whom the tool had not seen. */
TEST(the_next_of_that_name_is_not_asked)
{
    const char *node = textf("%s/lock-0000000000", path);
    AUTO(proxy) proxy = new_proxy();
    struct cli cli;
    char data[64];

    make("lock/lock-0000000000", OURS);
    proxy_rule(proxy, ZOO_GETDATA_OP, 1, PROXY_HOLD_REPLY);
    START_CLI(&cli, "revoke", "--timeout", "60s", "--servers",
              proxy_hosts(proxy), path);
    assert_true(proxy_wait_rule(proxy, SOON_MS));
    assert_int_equal(admin_delete_tree(admin, path), ZOK);
    const char *token = textf("%" PRId64, make("lock/lock-0000000000", "new"));
    proxy_release(proxy);
    assert_end(&cli, 0, "has let go by itself");
    assert_int_equal(admin_get(admin, node, data, sizeof(data)), ZOK);
    assert_string_equal(data, "new");
    /* nor broken */
    proxy_rule(proxy, ZOO_GETDATA_OP, 1, PROXY_HOLD_REPLY);
    START_CLI(&cli, "break", "--yes", "--no-4lw", "--token", token, "--timeout",
              "60s", "--servers", proxy_hosts(proxy), path);
    assert_true(proxy_wait_rule(proxy, SOON_MS));
    ok(admin_delete(admin, node));
    make("lock/lock-0000000000", "newer");
    proxy_release(proxy);
    assert_end(&cli, 65, "has let go by itself: nothing was done");
    assert_int_equal(count_children(path), 1);
}

TEST(a_holder_that_does_not_is_told)
{
    zkr_grant *g = acquire(m);
    char data[64];

    LOOK(75, "revoke -w 300ms --reason disk\"swap %s", path);
    assert_has(look_err, "is held by session 0x");
    assert_has(look_err, "(asked to release)");
    assert_has(look_err, "(?)");
    /* Regression: who is connected was not told, and the reason was lost. */
    assert_has(look_err, ", connected from 127.0.0.1:");
    assert_has(look_err,
               textf("to %s, has not given it back; stop it, or: zk-lockctl "
                     "break --token %" PRId64 " --reason 'disk\"swap' %s",
                     server_hosts(the_server), zkr_grant_token(g), path));
    assert_int_equal(zkr_grant_check(g), ZKR_OK);
    /* it was "a holder in the dialect curator", which would go on */
    LOOK(0, "break --yes --token %" PRId64 " %s", zkr_grant_token(g), path);
    assert_has(look_err, "DANGER: its node does not tell its client");
    wait_grant_state(g, ZKR_GRANT_LOST);
    zkr_grant_free(g);
    make("lock/" HEX "__lock__0000000004", "hostA:123");
    LOOK(75, "revoke -w 300ms %s", path);
    assert_has(look_err, "hostA:123 is not asked: kazoo does not listen");
    ok(admin_get(admin, textf("%s/" HEX "__lock__0000000004", path), data,
                 sizeof(data)));
    assert_string_equal(data, "hostA:123");
}

/* The holder has written into its node between the look and the request. */
TEST(a_request_is_written_once_more_when_its_node_has_changed)
{
    AUTO(proxy) proxy = new_proxy();
    char data[64] = "";

    make("lock/_c_" UUID "-lock-0000000000", "10.0.0.1");
    proxy_rule_error(proxy, ZOO_SETDATA_OP, 1, ZBADVERSION);
    look_on(proxy_hosts(proxy));
    LOOK(75, "revoke -w 0s %s", path);
    look_on(NULL);
    assert_true(proxy_rule_done(proxy));
    ok(admin_get(admin, textf("%s/_c_" UUID "-lock-0000000000", path), data,
                 sizeof(data)));
    assert_string_equal(data, "__REVOKE__");
}

/* Regression: only a foreign child was left, so the last look said that this is
 * no lock; then wait, revoke and break failed although the lock was free. */
TEST(a_lock_with_a_foreign_child_becomes_free)
{
    zkr_grant *g = acquire(m);

    make("lock/notes", "");
    wait_until_released(g);
    LOOK_ERR(0, "is free", "break --yes --token %" PRId64 " %s",
             make("lock/lock-0000000000", ""), path);
    LOOK(65, "check --free %s", path);
}

/* --- break --- */

TEST(break_takes_the_lock_away)
{
    AUTO(session) other = open_session();
    AUTO(mutex) second = new_mutex(other, path);
    zkr_grant *g = acquire(m);
    struct waiter w;

    waiter_queue(&w, second);
    LOOK(65, "break --yes --token 0x%" PRIx64 " %s", zkr_grant_token(g) - 1,
         path);
    assert_has(look_err, "nobody holds it with the token");
    LOOK(64, "break %s", path);
    assert_has(look_err,
               textf("use --yes --token %" PRId64, zkr_grant_token(g)));
    wait_verified(g);
    LOOK(0, "break --yes --token 0x%" PRIx64 " %s -o json", zkr_grant_token(g),
         path);
    assert_has(look_err, "it is connected from 127.0.0.1:");
    assert_has(look_err, "1 waiting; the next is granted at once");
    assert_int_equal(waiter_join(&w), ZKR_OK);
    wait_grant_state(g, ZKR_GRANT_LOST);
    assert_string_equal(look_jq(".items[0].holders[0].token"),
                        textf("%" PRId64, zkr_grant_token(w.grant)));
    zkr_grant_free(g);
    release(w.grant);
}

/* Regression: doctor named this command for a node that waits without a
 * session, and it answered that nobody holds with the token. */
TEST(a_waiter_is_removed_by_its_token)
{
    int64_t holder = make("lock/" HEX "__lock__0000000004", "hostA:123");
    int64_t waiter = make("lock/" HEX "__lock__0000000005", "hostB:77");

    make("lock/" HEX "__lock__0000000006", "hostC:5");
    LOOK(64, "break --token %" PRId64 " %s", waiter, path);
    assert_int_equal(count_children(path), 3);
    LOOK(0, "break --yes --token %" PRId64 " %s", waiter, path);
    assert_has(look_err,
               "it is a waiter that is removed, not a holder: hostB:77 at "
               "position 1 of the queue of ");
    assert_has(look_err,
               "its client, if it lives, is told that its claim was deleted");
    assert_has(look_err,
               "removed: the waiter at position 1 of the queue, hostB:77");
    assert_has(look_err, "is held by hostA:123");
    assert_lacks(look_err, "DANGER");
    assert_lacks(look_err, "broken");
    assert_int_equal(
        admin_exists(admin, textf("%s/" HEX "__lock__0000000005", path), NULL),
        ZNONODE);
    assert_int_equal(count_children(path), 2);
    LOOK(65, "break --yes --token %" PRId64 " %s", waiter, path);
    assert_has(look_err, "nobody holds it with the token");
    assert_int_equal(count_children(path), 2);
    LOOK(0, "break --yes --token %" PRId64 " %s", holder, path);
    assert_has(look_err, "DANGER: a holder in the dialect kazoo");
    assert_int_equal(count_children(path), 1);
}

/* Between the look and the deed a waiter may be granted the lock: then it is a
 * holder that would lose it, of which the tool has said nothing. Or it has
 * gone, as a holder may. */
/* clang-format off */
static const struct late {
    const char *name;
    int which; /* is broken: the holder, or who waits */
    int read;  /* whose reply is held back: the first look reads the holder, the
                  second one both */
    const char *gone, *said;
    int left;
} late[] = {
    { "holds_by_now", 1, 3, "/lock-0000000000", "it holds by now", 1 },
    { "has_gone", 1, 3, "/lock-0000000001", "hostB:77 has let go by itself: nothing", 1 },
    { "has_gone_with_its_lock", 1, 3, "", "hostB:77 has let go by itself: nothing", 0 },
    { "held_and_has_gone", 0, 1, "/lock-0000000000", "me:7/7 p has let go by itself: nothing", 1 },
};
/* clang-format on */

TEST_ROWS(a_contender_that, late, row)
{
    AUTO(proxy) proxy = new_proxy();
    struct cli cli;
    int64_t tokens[] = { make("lock/lock-0000000000", OURS),
                         make("lock/lock-0000000001", "hostB:77") };

    proxy_rule(proxy, ZOO_GETDATA_OP, row->read, PROXY_HOLD_REPLY);
    START_CLI(&cli, "break", "--yes", "--no-4lw", "--token",
              textf("%" PRId64, tokens[row->which]), "--reason", "why",
              "--timeout", "60s", "--servers", proxy_hosts(proxy), path);
    assert_true(proxy_wait_rule(proxy, SOON_MS));
    ok(admin_delete_tree(admin, textf("%s%s", path, row->gone)));
    proxy_release(proxy);
    assert_end(&cli, 65, row->said);
    assert_int_equal(row->left == 0 ? 0 : count_children(path), row->left);
}

static char said[8192];

/* On a terminal of that width. `answer`, unless NULL, is typed when it asks.
 * Its output is in `said`, without carriage returns. */
static int on_a_terminal(int width, const char *answer, const char *verb,
                         const char *lock)
{
    struct winsize size = { .ws_row = 24, .ws_col = (unsigned short)width };
    size_t used = 0;
    int status;
    int fd;
    pid_t pid = forkpty(&fd, NULL, NULL, &size);

    assert_true(pid >= 0);
    if (pid == 0) {
        (void)execl(LOCKCTL, LOCKCTL, verb, lock, (char *)NULL);
        _exit(127);
    }
    while (read(fd, said + used, 1) == 1) {
        if (said[used] != '\r' && used < sizeof(said) - 1)
            used++;
        said[used] = '\0';
        if (answer != NULL && strstr(said, "not to: ") != NULL) {
            assert_true(write(fd, answer, strlen(answer)) > 0);
            answer = NULL;
        }
    }
    said[used] = '\0';
    (void)close(fd);
    assert_true(waitpid(pid, &status, 0) == pid);
    assert_null(answer); /* it has asked */
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int break_on_a_terminal(const char *answer)
{
    return on_a_terminal(80, answer, "break", path);
}

TEST(break_asks_for_the_token_on_the_terminal)
{
    zkr_grant *g = acquire(m);

    (void)setenv("ZK_SERVERS", server_hosts(the_server), 1);
    assert_int_equal(break_on_a_terminal("yes\n"), 65);
    assert_int_equal(break_on_a_terminal("\n"), 65);
    assert_int_equal(
        break_on_a_terminal(textf("%" PRId64 "\n", zkr_grant_token(g) + 1)),
        65);
    wait_verified(g);
    ok(break_on_a_terminal(textf("0x%" PRIx64 "\n", zkr_grant_token(g))));
    wait_grant_state(g, ZKR_GRANT_LOST);
    zkr_grant_free(g);
}

/* --- how it looks --- */

/* Checks the lines of the table; a note may be longer. */
static void assert_no_line_is_longer(const char *text, size_t width)
{
    for (; *text != '\0'; text += strcspn(text, "\n"), text += *text == '\n') {
        if (strcspn(text, "\n") > width &&
            strncmp(text, "zk-lockctl:", 11) != 0)
            fail_msg("%zu columns: %.*s", width, (int)strcspn(text, "\n"),
                     text);
    }
}

/* Regression: the owner was cut to "vm:22", and lines were too long all the
 * same. */
TEST(tables_are_as_wide_as_the_terminal)
{
    static const char label[] = "release 42 of the web site, by hand";
    AUTO(mutex) labelled = NULL;
    char owner[400];

    ok(zkr_mutex_new(s, path, OPTS(lockable, .label = label), &labelled));
    zkr_grant *g = acquire(labelled);
    (void)gethostname(owner, 256);
    (void)snprintf(owner + strlen(owner), 100, ":%d/%d ", (int)getpid(),
                   (int)getpid());
    owner[strlen(owner) < 17 ? strlen(owner) : 17] = '\0';
    (void)setenv("ZK_SERVERS", server_hosts(the_server), 1);
    for (int width = 60; width <= 240; width += 20) {
        ok(on_a_terminal(width, NULL, "ls", look_root));
        assert_no_line_is_longer(strstr(said, "LOCK "), (size_t)width);
        ok(on_a_terminal(width, NULL, "show", path));
        assert_no_line_is_longer(strstr(said, "POS "), (size_t)width);
        assert_has(said, owner);
        assert_int_equal(strstr(said, "note: no room for ") == NULL,
                         strstr(said, " TIMEOUT ") != NULL &&
                             strstr(said, " SESSION ") != NULL);
    }
    assert_has(said, label);
    ok(on_a_terminal(80, NULL, "show", path));
    assert_has(said, "CLIENT, SESSION, TIMEOUT; -o wide has all columns\n");
    release(g);
}

/* A terminal with one byte per character would take 0x9b for a command. */
TEST(without_utf_8_only_ascii_is_written)
{
    make("lock/" HEX "__lock__0000000004", "\xe4\xba\x9b");
    LOOK(0, "ls --columns HOLDER %s", look_root);
    assert_string_equal(look_out, "HOLDER\n\xe4\xba\x9b\n");
    (void)setenv("LC_ALL", "C", 1);
    LOOK(0, "ls --columns HOLDER %s", look_root);
    assert_string_equal(look_out, "HOLDER\n\\xE4\\xBA\\x9B\n");
    LOOK_ERR(1, "is held by \\xE4\\xBA\\x9B (kazoo)", "check --free %s", path);
    for (const char *p = look_err; *p != '\0'; p++)
        assert_true(*p == '\n' || (*p >= 0x20 && *p < 0x7f));
    (void)setenv("LC_ALL", "C.UTF-8", 1);
}
