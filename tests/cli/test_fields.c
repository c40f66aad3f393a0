/* SPDX-License-Identifier: Apache-2.0 */
/* Each field of the JSON, by docs/lockctl-json.md: a row of fields.table says
 * which fields it is about, the command, and what jq must find true. A field of
 * the schema without a row fails the test. The world has several of everything,
 * so that what is right of the first only is seen. */
#include "look.h"
#include "txn_file.h"

#define RECORD(pid, tid, label, within)                                        \
    "{\"host\":\"h\",\"pid\":" pid ",\"thread\":\"main\",\"tid\":" tid         \
    ",\"program\":\"prog\",\"label\":\"" label                                 \
    "\",\"start\":\"2026-11-23T01:02:03Z\",\"library\":\"zkrecipes 9.8\""      \
    ",\"within\":" within "}"
#define UUID "_c_5a5bbc38-73ea-4b5a-9f73-96e8c4c6a436-"
#define MIN  "-9223372036854775808"

static struct admin *clients[4];
static json_t *known; /* of each node: its token, session and time */

/* --- the world --- */

static const struct {
    int client; /* -1: of no session */
    const char *node;
    const char *data;
} world[] = {
    /* Readers and writers of three clients. */
    { 2, "rw/" UUID "__READ__0000000000", RECORD("11", "7", "one", "\"0x5\"") },
    { 2, "rw/" UUID "__READ__0000000001", "__REVOKE__: why" },
    { 3, "rw/" UUID "__WRIT__0000000002", RECORD("13", "9", "", "null") },
    { 1, "rw/" UUID "__WRIT__0000000003", "host-b:7" },
    { -1, "rw/notes", "not one of them" },
    /* Two permits, and two who want one. */
    { 0, "pool/leases/" UUID "lease-0000000000", "10.0.0.1" },
    { 1, "pool/leases/" UUID "lease-0000000001", "10.0.0.2" },
    { 2, "pool/locks/" UUID "lock-0000000002", "10.0.0.3" },
    { 3, "pool/locks/" UUID "lock-0000000003", "10.0.0.4" },
    /* Two who wait for each other, and one more behind them. */
    { 0, "dead/x/" UUID "lock-0000000000", RECORD("1", "7", "x", "null") },
    { 1, "dead/y/" UUID "lock-0000000000", RECORD("2", "8", "y", "null") },
    { 0, "dead/y/" UUID "lock-0000000001", RECORD("1", "7", "x", "null") },
    { 1, "dead/x/" UUID "lock-0000000001", RECORD("2", "8", "y", "null") },
    { 2, "dead/x/" UUID "lock-0000000002", RECORD("3", "9", "z", "null") },
    /* Of no session: one that holds, and one that waits. */
    { -1, "stay/lock-0000000000", "a" },
    { -1, "stay/lock-0000000001", "b" },
    /* What others may write. */
    { 0, "edge/lock-0000000000", "" },
    { 0, "edge/lock-0000000001", RECORD("-1", "0", "", "\"0x0\"") },
    { 0, "edge/lock-0000000002",
      RECORD(MIN, MIN, "", "\"0xffffffffffffffff\"") },
    { 0, "edge/lock-0000000003",
      RECORD("9223372036854775807", "1", "", "\"0x10000000000000000\"") },
    { 0, "edge/lock-0000000004", RECORD("\"1\"", "null", "", "7") },
    { 0, "edge/lock-0000000005", RECORD("9223372036854775808", "1", "", "7") },
    { 0, "edge/lock-0000000006", "__REVOKE__ " },
    { 0, "edge/lock-2147483647", "{\"library\":\"zkrecipes\"}" },
};

static void make(int client, const char *name, const char *data)
{
    char time[64];
    struct Stat stat;

    (void)look_make(clients[client < 0 ? 0 : client], in_root(name), data,
                    client < 0 ? 0 : ZOO_EPHEMERAL);
    ok(admin_exists(admin, in_root(name), &stat));
    time_t seconds = (time_t)(stat.ctime / 1000);
    (void)strftime(time, sizeof(time), "%Y-%m-%dT%H:%M:%S", gmtime(&seconds));
    ok(json_object_set_new(
        known, name,
        json_pack("{s:s, s:s, s:s}", "token",
                  textf("%lld", (long long)stat.czxid), "session",
                  textf("0x%llx", (unsigned long long)stat.ephemeralOwner),
                  "at", textf("%s.%03dZ", time, (int)(stat.ctime % 1000)))));
}

/* What watch tells: three contenders of one lock, and of the others, who was
 * there; then its connection is lost. */
static void make_events(void)
{
    static const char zero[] = "ev/lock-0000000000";
    static const char *const nodes[] = { zero, "ev/lock-0000000001",
                                         "ev/lock-0000000002" };
    AUTO(proxy) proxy = new_proxy();
    struct cli c;

    START_CLI(&c, "watch", "--initial", "-qo", "jsonl", "--interval", "20ms",
              "--servers", proxy_hosts(proxy), in_root("ev"), in_root("rw"));
    cli_wait_said(&c, "WRIT__0000000003\"");
    for (int i = 0; i < 3; i++) {
        make(1 + i, nodes[i], "x");
        cli_wait_said(&c, textf("\"node\":\"lock-%010d\"", i));
    }
    assert_int_equal(admin_set(clients[3], in_root(zero), "__REVOKE__"), ZOK);
    cli_wait_said(&c, "\"revoked\"");
    assert_int_equal(admin_delete(clients[2], in_root(nodes[1])), ZOK);
    cli_wait_said(&c, "\"left\"");
    assert_int_equal(admin_delete(clients[1], in_root(zero)), ZOK);
    cli_wait_said(&c, "\"gone\"");
    proxy_cut(proxy);
    for (int i = 3; i < 5; i++) { /* two that nobody sees */
        make(1, textf("ev/lock-%010d", i), "x");
        ok(admin_delete(admin, in_root(textf("ev/lock-%010d", i))));
    }
    proxy_heal(proxy);
    cli_wait_said(&c, "\"missed\":");
    assert_int_equal(cli_kill(&c, SIGTERM), 0);
    assert_int_equal(rename(c.output, cli_file("events")), 0);
}

static int begin(void)
{
    known = json_object();
    clients[0] = admin;
    for (int i = 1; i < 4; i++) {
        if (admin_open(server_hosts(the_server), &clients[i]) != ZOK)
            return -1;
    }
    return look_make_root();
}

/* Transactions 1 and 9 of a server. */
static void make_log(void)
{
    static struct wire_out record;
    FILE *file = log_begin(cli_file("log.1"));

    for (int64_t zxid = 1; zxid < 10; zxid += 8) {
        out_txn(&record, 1, 1, zxid, 1000000000000 + zxid * 1000, 1);
        out_create(&record, textf("/l/lock-000000000%d", (int)zxid), "me",
                   true);
        log_put(file, &record);
    }
    log_end(file);
}

/* 101 grants, each of which waits for the one before, up to 5050 ms, and is
 * held for 10001 to 10101 ms. */
static void make_grants(void)
{
    static struct wire_out record;
    FILE *file = log_begin(cli_file("log.2"));
    int64_t zxid = 0;

    for (int i = 1; i <= 102; i++) {
        int64_t at_ms = 1000000000000 + i * 10000;

        if (i <= 101) {
            out_txn(&record, 1, 1, ++zxid, at_ms, 1);
            out_create(&record, textf("/l/lock-%010d", i), "me", true);
            log_put(file, &record);
        }
        if (i == 1)
            continue;
        out_txn(&record, 1, 1, ++zxid, at_ms + i * (i - 1) / 2, 2);
        out_text(&record, textf("/l/lock-%010d", i - 1));
        log_put(file, &record);
    }
    log_end(file);
}

/* A test, because only a test may fail. */
TEST(the_world_is_made)
{
    make_log();
    make_grants();
    for (size_t i = 0; i < COUNT(world); i++)
        make(world[i].client, world[i].node, world[i].data);
    make_events();
    ok(json_object_set_new(known, "root", json_string(look_root)));
    assert_int_equal(json_dump_file(known, cli_file("known"), 0), 0);
    (void)setenv("L", LOCKCTL, 1);
    (void)setenv("R", look_root, 1);
    (void)setenv("D", cli_file("."), 1);
    (void)setenv("LOGS", server_log_dir(the_server), 1);
    (void)setenv("ZK_SERVERS", server_hosts(the_server), 1);
}

/* --- the table --- */

static struct row {
    char names[400]; /* the definition, and its fields */
    char command[800];
    char check[4000];
} rows[128];
static size_t row_count;

static void add_text(char *text, size_t size, const char *more)
{
    size_t length = strlen(text);

    assert_in_range(length + strlen(more), 0, size - 2);
    (void)snprintf(text + length, size - length, " %s", more);
}

/* A row: the names, "$ " and the command, and the check indented. */
static void read_table(void)
{
    FILE *file = fopen(FIELDS, "re");
    struct row *row = rows;
    char text[4000];

    assert_non_null(file);
    while (fgets(text, sizeof(text), file) != NULL) {
        text[strcspn(text, "\n")] = '\0';
        if (text[0] == '\0' && row->check[0] != '\0')
            row++;
        else if (text[0] == ' ')
            add_text(row->check, sizeof(row->check), text);
        else if (text[0] == '$')
            add_text(row->command, sizeof(row->command), text + 1);
        else if (text[0] != '\0' && text[0] != '#')
            add_text(row->names, sizeof(row->names), text);
        assert_true(row < rows + COUNT(rows) - 1);
    }
    (void)fclose(file);
    row_count = (size_t)(row - rows) + (row->check[0] != '\0');
}

/* What the commands of the table are made of. */
static const char commands[] =
    "exec 2>/dev/null; "
    "contexts() { cd $D; for c in a b; do echo \"[$c]\"; for k in servers "
    "auth-file timeout tls-ca tls-cert tls-key tls-password-file "
    "sasl-mechanism sasl-user sasl-password-file sasl-realm "
    "sasl-service sasl-host; do case $k in servers) v=$c:1;; "
    "timeout) v=9s;; sasl-mechanism) v=DIGEST-MD5;; "
    "*) v=$c-$k;; esac; echo \"$k = $v\"; done; done >config; echo "
    "'[c]\nservers = c:1' >>config; sed -i '1i current = b' config; chmod "
    "600 config; export ZK_LOCKCTL_CONFIG=$D/config; unset ZK_SERVERS; }; ";

static const char definitions[] =
    "def u: \"" UUID "\"; "
    "def ms: (.[0:19] + \"Z\" | fromdate) * 1000 + (.[20:23] | tonumber); "
    "def age: (now * 1000 - ms) | fabs; "
    "def near($a; $b): ($a - $b | fabs) < 2000; $k[0] as $k | $o[0] | ";

TEST(each_field_is_what_its_definition_says)
{
    const char *last = "";
    int wrong = 0;

    read_table();
    for (const struct row *row = rows; row < rows + row_count; row++) {
        struct cli c;

        if (strcmp(last, row->command) != 0) { /* else its output is shared */
            START_SH(&c, "%s%s", commands, row->command);
            (void)cli_end(&c);
            ok(rename(c.output, cli_file("output")));
        }
        last = row->command;
        cli_start(&c, "/usr/bin/jq",
                  (const char *const[]){
                      "-nce", "--slurpfile", "o", cli_file("output"),
                      "--slurpfile", "k", cli_file("known"),
                      textf("%s%s", definitions, row->check), NULL });
        int code = cli_end(&c);
        if (code == 0 && strcmp(cli_said(&c), "true\n") == 0)
            continue;
        print_error("%s:%s:%s\njq: %d: %s", row->names, row->command,
                    row->check, code, cli_said(&c));
        print_error("%s\n", cli_read(cli_file("output")));
        wrong++;
    }
    assert_int_equal(wrong, 0);
}

static bool has_row(const char *definition, const char *field)
{
    char names[402];

    const char *first = textf(" %s ", definition);
    const char *word = textf(" %s ", field);
    for (size_t i = 0; i < row_count; i++) {
        (void)strcpy(stpcpy(names, rows[i].names), " ");
        if (strncmp(names, first, strlen(first)) == 0 &&
            strstr(names + strlen(first) - 1, word) != NULL)
            return true;
    }
    return false;
}

/* A new field fails here until it has a row. */
TEST(each_field_of_the_schema_has_a_row)
{
    json_t *schema = json_load_file(SCHEMA, 0, NULL);
    const char *definition;
    const char *field;
    json_t *of;
    json_t *what;
    int count = 0;

    json_object_foreach(json_object_get(schema, "$defs"), definition, of)
    {
        json_object_foreach(json_object_get(of, "properties"), field, what)
        {
            count++;
            if (!has_row(definition, field))
                fail_msg("no row for %s.%s", definition, field);
        }
    }
    assert_in_range(count, 100, 1000);
    json_decref(schema);
}

static int end(void)
{
    for (int i = 1; i < 4; i++)
        admin_close(clients[i]);
    json_decref(known);
    return look_remove_root();
}

GROUP(begin, end)
