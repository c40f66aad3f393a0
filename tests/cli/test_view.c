/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of ls, show, check, wait, revoke and break against a real server. */

#include "look.h"

#define UUID "5a5bbc38-73ea-4b5a-9f73-96e8c4c6a436"
#define HEX  "5a5bbc3873ea4b5a9f7396e8c4c6a436"

static char path[80];

static int setup(void)
{
    ok(look_make_root());
    PRINT(path, "%s/lock", look_root);
    return 0;
}

FIXTURE(setup, look_remove_root)

static int64_t make(const char *name, const char *data)
{
    return look_make(admin, in_root(name), data, ZOO_EPHEMERAL);
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
          .has = { "ROOT/orders a \"b\", c" } } } },
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

TEST(without_the_words_the_rest_is_shown)
{
    static const char *const lines[] = { "4lw.commands.whitelist=srvr,conf",
                                         NULL };
    AUTO(server) shy = new_server(&(struct server_opts){ .cfg_lines = lines });
    AUTO(session) there = open_to(server_hosts(shy), NULL);
    AUTO(mutex) lock = new_mutex(there, "/a");
    AUTO(grant) g = acquire(lock);

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
}

/* A lock may go, and come again, and so may the connection. */
TEST(a_queue_is_followed)
{
    AUTO(proxy) proxy = new_proxy();
    struct cli cli, waiter;

    make("lock/lock-0000000000", "hostA:1");
    START_CLI(&waiter, "wait", "--held-by", "me", "--servers",
              proxy_hosts(proxy), path);
    AWAIT(proxy_requests(proxy, ZOO_GETCHILDREN2_OP) > 1);
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
    proxy_cut(proxy);
    cli_wait_said(&cli, "no connection before the deadline");
    assert_end(&waiter, 69, "no connection before the deadline");
    assert_int_equal(cli_kill(&cli, SIGTERM), 128 + SIGTERM);
}

/* --- answers that are errors --- */

#define OURS                                                                   \
    "{\"host\":\"me\",\"pid\":7,\"thread\":\"t\",\"tid\":7,"                   \
    "\"program\":\"p\",\"library\":\"zkrecipes 0.1.0\"}"

/* clang-format off */
static const struct refused {
    const char *name;
    int type, first, last, error; /* of the requests that are refused */
    const char *words; /* before the path of a lock that is held, or with TOKEN or WAITER */
    int code;
    const char *said;
} refused[] = {
    { "wait_at_first", ZOO_GETCHILDREN2_OP, 1, 1, ZNOAUTH, "wait --free -w 60s", 77, "not permitted" },
    { "wait_with_its_watch", ZOO_GETCHILDREN2_OP, 2, 2, ZNOAUTH, "wait --free -w 60s", 77, "not permitted" },
    { "revoke_its_request", ZOO_SETDATA_OP, 1, 1, ZNOAUTH, "revoke -w 60s", 77, "not permitted" },
    { "revoke_its_second_look", ZOO_GETCHILDREN2_OP, 2, 2, ZNOAUTH, "revoke -w 60s", 77, "not permitted" },
    { "revoke_its_lock_has_gone", ZOO_GETCHILDREN2_OP, 2, 2, ZNONODE, "revoke -q -w 60s", 0, "" },
    { "break_its_reason", ZOO_SETDATA_OP, 1, 1, ZNOAUTH, "break --yes --no-4lw --reason x --token TOKEN", 77, "not permitted" },
    { "break_its_delete", ZOO_DELETE_OP, 1, 1, ZNOAUTH, "break --yes --no-4lw --token TOKEN", 77, "not permitted" },
    { "break_its_look_at_a_waiter", ZOO_GETCHILDREN2_OP, 3, 3, ZNOAUTH, "break --yes --no-4lw --token WAITER", 77, "not permitted" },
    { "break_its_last_look", ZOO_GETCHILDREN2_OP, 2, 2, ZNOAUTH, "break --yes --no-4lw --token TOKEN", 77, "not permitted" },
    { "doctor_its_second_look", ZOO_GETCHILDREN2_OP, 2, 2, ZNOAUTH, "doctor --no-4lw --confirm 1ms --older 1ms", 82, "0 findings; not all could" },
    { "doctor_says_why", ZOO_GETCHILDREN2_OP, 2, 2, ZNOAUTH, "doctor --no-4lw --confirm 1ms --older 1ms", 82, "could not be looked at: ZNOAUTH" },
    { "deadlocks_say_why", ZOO_GETCHILDREN2_OP, 2, 2, ZNOAUTH, "deadlocks --possible --confirm 1ms", 0, "could not be looked at: ZNOAUTH" },
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
    int64_t tokens[] = { make("lock/lock-0000000000", OURS),
                         make("lock/lock-0000000001", "hostB:77") };
    const char *at = row->words + strcspn(row->words, "TW");

    for (int i = row->first; i <= row->last; i++)
        proxy_rule_error(proxy, row->type, i, row->error);
    look_on(proxy_hosts(proxy));
    LOOK(row->code, "%.*s%s %s", (int)(at - row->words), row->words,
         *at == '\0' ? "" : textf("%" PRId64, tokens[*at == 'W']), path);
    assert_has(look_err, row->said);
    assert_lacks(look_err, "is free");
    assert_true(proxy_rule_done(proxy));
}

/* --- revoke --- */

/* Regression: the path was written to, whoever had it. A name without a UUID
 * returns in a new directory, as that of somebody the tool has not seen. */
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
    AUTO(proxy) proxy = new_proxy();
    struct cli cli;

    START_CLI(&cli, "wait", "--held", "-w", "2s", "--servers",
              proxy_hosts(proxy), path);
    AWAIT(proxy_requests(proxy, ZOO_GETCHILDREN2_OP) > 1);
    make("lock/notes", "");
    assert_int_equal(cli_end(&cli), 75); /* nobody has held it */
    proxy_reset_counts(proxy);
    make("lock/lock-0000000000", "");
    START_CLI(&cli, "wait", "--free", "--servers", proxy_hosts(proxy), path);
    AWAIT(proxy_requests(proxy, ZOO_GETCHILDREN2_OP) > 1);
    ok(admin_delete(admin, textf("%s/lock-0000000000", path)));
    assert_int_equal(cli_end(&cli), 0);
    LOOK_ERR(0, "is free", "break --yes --token %" PRId64 " %s",
             make("lock/lock-0000000000", ""), path);
    LOOK(65, "check --free %s", path);
}

/* --- break --- */

/* Regression: doctor named this command for a node that waits without a
 * session, and it answered that nobody holds with the token. */
TEST(a_waiter_is_removed_by_its_token)
{
    int64_t waiter = make("lock/" HEX "__lock__0000000005", "hostB:77");

    make("lock/" HEX "__lock__0000000004", "hostA:123");
    make("lock/" HEX "__lock__0000000006", "hostC:5");
    LOOK(64, "break --token %" PRId64 " %s", waiter, path);
    assert_int_equal(count_children(path), 3);
    LOOK_ERR(0, "removed: the waiter at position 1 of the queue, hostB:77",
             "break --yes --token %" PRId64 " %s", waiter, path);
    assert_has(look_err, "is held by hostA:123");
    assert_lacks(look_err, "broken");
    assert_int_equal(
        admin_exists(admin, textf("%s/" HEX "__lock__0000000005", path), NULL),
        ZNONODE);
    assert_int_equal(count_children(path), 2);
    LOOK_ERR(65, "nobody holds it with the token",
             "break --yes --token %" PRId64 " %s", waiter, path);
    assert_int_equal(count_children(path), 2);
}

/* Between the look and the deed a waiter may get the lock: then a holder would
 * lose it, of which the tool has said nothing. Or it goes, as a holder may. */
/* clang-format off */
static const struct late {
    const char *name;
    int which; /* is broken: the holder, or who waits */
    int read;  /* its reply is held back: of the holder, or the last one */
    const char *gone, *said;
    int left;
} late[] = {
    { "holds_by_now", 1, 4, "/_c_a-__WRIT__0000000000", "it holds by now", 2 },
    { "holds_by_now_beside_another", 2, 4, "/_c_a-__WRIT__0000000000", "it holds by now", 2 },
    { "has_gone", 1, 4, "/_c_b-__READ__0000000001", "hostB:77 has let go by itself: nothing", 2 },
    { "has_gone_with_its_lock", 1, 4, "", "hostB:77 has let go by itself: nothing", 0 },
    { "held_and_has_gone", 0, 1, "/_c_a-__WRIT__0000000000", "me:7/7 p has let go by itself: nothing", 2 },
};
/* clang-format on */

TEST_ROWS(a_contender_that, late, row)
{
    AUTO(proxy) proxy = new_proxy();
    struct cli cli;
    int64_t tokens[] = { make("lock/_c_a-__WRIT__0000000000", OURS),
                         make("lock/_c_b-__READ__0000000001", "hostB:77"),
                         make("lock/_c_c-__READ__0000000002", "hostC:5") };

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
