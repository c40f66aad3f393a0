/* SPDX-License-Identifier: Apache-2.0 */
/* Each exit code that the manual documents, of the verbs that have it, and each
 * field of the JSON, by docs/lockctl-json.md: a row of codes.table is a command
 * that ends with the code, or tells of the field. A verb, a code or a field
 * without a row fails the test. */
#include "look.h"
#include "server_private.h"
#include "txn_file.h"

static struct admin *clients[4];
static struct admin *second; /* one of them */
static char root[64];
static json_t *known; /* of each node of the second world */

enum { ROWS_MAX = 1024 };

static struct row {
    int code;
    char verb[16];
    const char *command;
} rows[ROWS_MAX];
static size_t row_count;

/* --- the world --- */

#define UUID "5a5bbc38-73ea-4b5a-9f73-96e8c4c6a436"
#define HEX  "5a5bbc3873ea4b5a9f7396e8c4c6a436"

/* "-NAME" is beside the root. */
static int64_t make(struct admin *who, const char *name, const char *data)
{
    return look_make(who,
                     textf("%s%s%s", root, name[0] == '-' ? "" : "/", name),
                     data, ZOO_EPHEMERAL);
}

#define RECORD(host, pid)                                                      \
    "{\"host\":\"" host "\",\"pid\":" pid ",\"thread\":\"t\",\"tid\":7,"       \
    "\"library\":\"zkrecipes 0.1.0\"}"

/* Permits whose owners say how many there are. */
static void make_slots(void)
{
    static const char *const slots[][2] = {
        { "0", "0" },       { "2", "2" },
        { "3", "3" },       { "9223372036854775807", "9223372036854775807" },
        { "-1", "-1" },     { "several", "2" },
        { "several", "3" },
    };

    for (size_t i = 0; i < COUNT(slots); i++)
        (void)make(
            admin,
            textf("slots/%s/leases/_c_a-lease-%010d", slots[i][0], (int)i),
            textf("{\"host\":\"me\",\"pid\":7,\"limit\":%s,"
                  "\"library\":\"zkrecipes 0.1.0\"}",
                  slots[i][1]));
}

/* A path with a node of each recipe, and of other programs: "of/NAME". */
static void make_uses(void)
{
    static const char *const nodes[] = {
        "semaphore/leases/_c_" UUID "-lease-0000000001",
        "writer/_c_" UUID "-__WRIT__0000000001",
        "latch/_c_" UUID "-latch-0000000001",
        "unfair/holder",
        "barrier/" UUID,
        "pool/" HEX,
        "party/" HEX "__party__",
        "c/x-1-0000000001",
        "ruby/ex0000000001",
        "mutex/_c_" UUID "-lock-0000000001",
        "kazoo/" HEX "__lock__0000000001",
        "broken/" HEX "__lock__0000000002",
        "program/config",
    };

    for (size_t i = 0; i < COUNT(nodes); i++)
        (void)make(admin, textf("of/%s", nodes[i]), "x");
    (void)make(admin, "of/evil/x-lock-0000000000", "\033[2Jgone\n");
    (void)look_make(admin,
                    textf("%s/of/stays/\xe2\x80\xae-lock-0000000000", root),
                    "old", 0);
    ok(admin_set(admin, textf("%s/of/program", root), "12345678"));
    ok(admin_create(admin, textf("%s/of/counter", root), "12345678"));
    ok(admin_create(admin, textf("%s/of/count", root), "1234"));
    ok(admin_create(admin, textf("%s/of/json", root), "{\"size\":7}"));
}

#define BLIND "_c_" UUID "-lock-0000000000"

static void make_world(void)
{
    int64_t x, y;
    static const char *const lists[] = { "dead",         "ring",   "free",
                                         "not-a-lock",   "closed", "queued",
                                         "queued/leases" };

    for (size_t i = 0; i < COUNT(lists); i++)
        ok(admin_create(admin, textf("%s/%s", root, lists[i]), NULL));
    ok(admin_create(admin, textf("%s/not-a-lock/member", root), "x"));
    (void)setenv("T",
                 textf("%lld", (long long)make(admin, "held/lock-0000000000",
                                               "somebody")),
                 1);
    (void)setenv("U",
                 textf("%lld", (long long)make(second, "second/lock-0000000000",
                                               RECORD("me", "7"))),
                 1);
    (void)make(second,
               "election/_c_5a5bbc38-73ea-4b5a-9f73-96e8c4c6a436-latch-"
               "0000000000",
               textf("%01100d", 1)); /* more than is kept of it */
    (void)make(admin, "two/_c_a-__READ__0000000000", RECORD("me", "7"));
    (void)make(second, "two/_c_b-__READ__0000000001", RECORD("you", "81"));
    for (int i = 0; i < 16; i++)
        (void)make(admin, textf("readers/_c_%d-__READ__%010d", i, i), "x");
    (void)make(admin, "queued/locks/_c_" UUID "-lock-0000000000",
               "{\"host\":\"me\",\"pid\":7,\"limit\":2,\"library\":\"zkrecipes "
               "0.1.0\"}");
    (void)make(admin, "dead/lock-0000000000", RECORD("me", "7"));
    (void)make(admin, "dead/lock-0000000001", RECORD("me", "7"));
    /* Its node cannot be read. */
    (void)make(admin, "-blind/" BLIND, RECORD("me", "7"));
    look_permit(textf("%s-blind/" BLIND, root), 0);
    (void)make(admin, "-many/_c_a-__READ__0000000000", RECORD("me", "7"));
    (void)make(second, "-many/_c_b-__READ__0000000001", RECORD("you", "81"));
    (void)make(admin, "-many/_c_c-__WRIT__0000000002", RECORD("me", "7"));
    (void)make(admin, "-word/" HEX "__lock__0000000000", "\xe4\xba\x9b");
    /* It was asked, and has read that. */
    (void)make(admin, "-asked/lock-0000000000",
               "{\"host\":\"me\",\"pid\":7,\"asked\":true,"
               "\"library\":\"zkrecipes 0.1.0\"}");
    /* Of a session that may have several threads. */
    (void)make(admin, "maybe/lock-0000000000", "me");
    (void)make(admin, "maybe/lock-0000000001", "me");
    make_slots();
    make_uses();
    /* Two who wait for each other: what each holds. */
    x = make(admin, "ring/x/lock-0000000000", RECORD("me", "7"));
    y = make(second, "ring/y/lock-0000000000", RECORD("you", "8"));
    (void)make(second, "ring/x/lock-0000000001", RECORD("you", "8"));
    (void)make(admin, "ring/y/lock-0000000001", RECORD("me", "7"));
    (void)setenv("RING", textf("%lld,%lld", (long long)x, (long long)y), 1);
    look_permit(textf("%s/closed", root), 0);
    ok(admin_create(admin, textf("%s-shut", root), NULL));
    ok(admin_create(admin, textf("%s-shut/closed", root), NULL));
    look_permit(textf("%s-shut/closed", root), 0);
    (void)setenv("INSIDE", ZKR__CLIENT_INSIDE ? "1" : "0", 1);
    (void)setenv("L", LOCKCTL, 1);
    (void)setenv("MANUAL", MANUAL, 1);
    (void)setenv("COMMAND", COMMAND, 1);
    (void)setenv("PRELOADS", PRELOADS, 1);
    (void)setenv("VERSION", ZKR_VERSION_STRING, 1);
    (void)setenv("R", root, 1);
    (void)setenv("D", cli_file("."), 1);
    (void)setenv("LOGS", server_log_dir(the_server), 1);
    (void)setenv("ZK_SERVERS", server_hosts(the_server), 1);
}

/* --- the world of the fields of JSON --- */

/* It has several of everything: what is right of the first only is seen. */

#define FULL(pid, tid, label, within)                                          \
    "{\"host\":\"h\",\"pid\":" pid ",\"thread\":\"main\",\"tid\":" tid         \
    ",\"program\":\"prog\",\"label\":\"" label                                 \
    "\",\"start\":\"2026-11-23T01:02:03Z\",\"library\":\"zkrecipes 9.8\""      \
    ",\"within\":" within "}"
#define CURATOR "_c_" UUID "-"
#define MIN     "-9223372036854775808"

static const struct {
    int client; /* -1: of no session */
    const char *node;
    const char *data;
} world[] = {
    /* Readers and writers of three clients. */
    { 2, "rw/" CURATOR "__READ__0000000000",
      FULL("11", "7", "one", "\"0x5\"") },
    { 2, "rw/" CURATOR "__READ__0000000001", "__REVOKE__: why" },
    { 3, "rw/" CURATOR "__WRIT__0000000002", FULL("13", "9", "", "null") },
    { 1, "rw/" CURATOR "__WRIT__0000000003", "host-b:7" },
    { -1, "rw/notes", "not one of them\x7f" },
    /* Two permits, and two who want one. */
    { 0, "pool/leases/" CURATOR "lease-0000000000", "10.0.0.1" },
    { 1, "pool/leases/" CURATOR "lease-0000000001", "10.0.0.2" },
    { 2, "pool/locks/" CURATOR "lock-0000000002", "10.0.0.3" },
    { 3, "pool/locks/" CURATOR "lock-0000000003", "10.0.0.4" },
    /* Two who wait for each other, and one more behind them. */
    { 0, "dead/x/" CURATOR "lock-0000000000", FULL("1", "7", "x", "null") },
    { 1, "dead/y/" CURATOR "lock-0000000000", FULL("2", "8", "y", "null") },
    { 0, "dead/y/" CURATOR "lock-0000000001", FULL("1", "7", "x", "null") },
    { 1, "dead/x/" CURATOR "lock-0000000001", FULL("2", "8", "y", "null") },
    { 2, "dead/x/" CURATOR "lock-0000000002", FULL("3", "9", "z", "null") },
    /* Of no session: one that holds, and one that waits. */
    { -1, "stay/lock-0000000000", "a" },
    { -1, "stay/lock-0000000001", "b" },
    /* Others may write these. */
    { 0, "edge/lock-0000000000", "" },
    { 0, "edge/lock-0000000001", FULL("-1", "0", "", "\"0x0\"") },
    { 0, "edge/lock-0000000002", FULL(MIN, MIN, "", "\"0xffffffffffffffff\"") },
    { 0, "edge/lock-0000000003",
      FULL("9223372036854775807", "1", "", "\"0x10000000000000000\"") },
    { 0, "edge/lock-0000000004", FULL("\"1\"", "null", "", "7") },
    { 0, "edge/lock-0000000005", FULL("9223372036854775808", "1", "", "7") },
    { 0, "edge/lock-0000000006", "__REVOKE__ " },
    { 0, "edge/lock-2147483647", "{\"library\":\"zkrecipes\"}" },
};

static void know(int client, const char *name, const char *data)
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
        know(1 + i, nodes[i], "x");
        cli_wait_said(&c, textf("\"node\":\"lock-%010d\"", i));
    }
    ok(admin_set(clients[3], in_root(zero), "__REVOKE__: why"));
    cli_wait_said(&c, "\"revoked\"");
    assert_int_equal(admin_delete(clients[2], in_root(nodes[1])), ZOK);
    cli_wait_said(&c, "\"left\"");
    assert_int_equal(admin_delete(clients[1], in_root(zero)), ZOK);
    cli_wait_said(&c, "\"gone\"");
    proxy_cut(proxy);
    for (int i = 3; i < 5; i++) { /* two that nobody sees */
        know(1, textf("ev/lock-%010d", i), "x");
        ok(admin_delete(admin, in_root(textf("ev/lock-%010d", i))));
    }
    proxy_heal(proxy);
    cli_wait_said(&c, "\"missed\":");
    assert_int_equal(cli_kill(&c, SIGTERM), 0);
    assert_int_equal(rename(c.output, cli_file("events")), 0);
}

/* The holder from before lets go; nobody knows for how long it waited. Then
 * come 100 grants, each of which waits for the one before, up to 4950 ms, and
 * is held for 10001 to 10100 ms: one is longer than p99. */
static void make_grants(void)
{
    static struct wire_out record;
    FILE *file = log_begin(cli_file("made/log.2"));
    int64_t zxid = 0;

    for (int i = 1; i <= 101; i++) {
        int64_t at_ms = 1000000000000 + i * 10000;

        if (i <= 100) {
            out_txn(&record, 1, 1, ++zxid, at_ms, 1);
            out_create(&record, textf("/l/lock-%010d", i), "me", true);
            log_put(file, &record);
        }
        out_txn(&record, 1, 1, ++zxid, at_ms + i * (i - 1) / 2, 2);
        out_text(&record, textf("/l/lock-%010d", i - 1));
        log_put(file, &record);
    }
    log_end(file);
}

static void make_second_world(void)
{
    ok(mkdir(cli_file("made"), 0700));
    log_write(cli_file("made/log.1"), "1+/l/#1;@9;1+/l/#9");
    make_grants();
    for (size_t i = 0; i < COUNT(world); i++)
        know(world[i].client, world[i].node, world[i].data);
    make_events();
    ok(json_object_set_new(known, "root", json_string(look_root)));
    assert_int_equal(json_dump_file(known, cli_file("known"), 0), 0);
    (void)setenv("SCHEMA", SCHEMA, 1);
    (void)setenv("F", look_root, 1);
}

/* --- the codes --- */

/* jq -e takes nothing for the truth. */
static const char functions[] =
    "says() { local text=$1 code; shift; \"$@\" >$D/said 2>&1; code=$?; "
    "cat $D/said; grep -qF -e \"$text\" $D/said || return 99; return $code; }; "
    "fails() { local text=$1 code; shift; \"$@\" >$D/out 2>$D/said; code=$?; "
    "cat $D/out $D/said; [ ! -s $D/out ] && [ $(wc -l <$D/said) = 1 ] && "
    "grep -q ^zk-lockctl $D/said && grep -qF -e \"$text\" $D/said || "
    "return 99; return $code; }; "
    "jq() { local text code; text=$(command jq \"$@\"); code=$?; "
    "[ -z \"$text\" ] || printf '%s\\n' \"$text\"; "
    "[[ $1 != -e* || -n $text ]] && return $code; }; "
    "fits() { local f; f=$(tee $D/fits | jq -r --slurpfile schema '" SCHEMA
    "' --arg definition $1 -f '" SCHEMA_CHECK "') && [ -s $D/fits ] && "
    "[ -z \"$f\" ] || { echo \"$f\"; return 1; }; }; "
    "config() { C=$D/zk-lockctl/config; export XDG_CONFIG_HOME=$D; unset "
    "ZK_SERVERS ZK_LOCKCTL_CONFIG ZK_LOCKCTL_CONTEXT; mkdir -p ${C%/*}; "
    "rm -f $C; [ -z \"$1\" ] || { printf \"$1\" >$C; chmod ${2-600} $C; }; }; "
    "pair() { config 'current = one\\r\\n\\n[\\tone ]\\nservers = "
    "one:1/of-one\\n"
    "timeout = 1s\\n[two]\\nservers=two:2\\nauth-file = secrets/two\\n' $1; }; "
    "faulty() { config \"$1\"; for v in context 'ls /'; do "
    "fails \"$2\" $L $v; [ $? = 78 ] || exit 9; done; }; "
    "comes() { until grep -qsF -e \"$1\" $2; do kill -0 $! || exit 9; "
    "sleep 0.1; done; }; "
    "gone() { while grep -qs '^State:.[^Z]' /proc/$1/status; do sleep 0.1; "
    "done; }; "
    "has() { command -v $1 >/dev/null || [ \"${CI-}\" = true ] || exit 0; }; "
    "keep() { local n=$1; shift; rm -f $D/$n.*; $L run \"$@\" -c "
    "\">$D/$n.held; "
    "timeout 60 sh -c 'until [ -e $D/$n.go ]; do sleep 0.1; done'\" & "
    "eval $n=$!; until [ -e $D/$n.held ]; do kill -0 $! || exit 9; sleep 0.1; "
    "done; }; "
    "drop() { >$D/$1.go; wait ${!1}; }; "
    "H=\"$L hold --session-timeout=20s\" PRELOADED=\"env LD_PRELOAD=$PRELOADS "
    "ASAN_OPTIONS=$ASAN_OPTIONS:verify_asan_link_order=0\"; "
    "keeper() { $L show --columns OWNER $1 | "
    "sed -n '$s/.*:\\([0-9]*\\) .*/\\1/p'; }; "
    "lose() { $L break -q --no-4lw --yes --token "
    "$($L ls --columns TOKEN $1 | tail -1) $1; }; "
    "of() { $L \"$@\" >$D/output 2>$D/said; :; }; "
    "is() { local of=$1 check=${!#} found; shift; "
    "printf \"$of %s\\n\" \"${@:1:$#-1}\" >>$D/told; "
    "found=$(command jq -nc --slurpfile o $D/output --slurpfile k $D/known "
    "'def u: \"" CURATOR "\"; "
    "def ms: (.[0:19] + \"Z\" | fromdate) * 1000 + (.[20:23] | tonumber); "
    "def age: (now * 1000 - ms) | fabs; "
    "def near($a; $b): ($a - $b | fabs) < 2000; $k[0] as $k | $o[0] | '"
    "\"$check\" 2>&1); [ \"$found\" = true ] || "
    "{ echo \"$of $*: $found\"; cat $D/output; return 1; }; }; "
    "counts() { [ \"$($L $1 context show -o json | fits answer && jq -r "
    "'select(.kind == \"SettingList\").items[] | [.setting, .value, .from] | "
    "join(\",\")' $D/fits | xargs)\" = \"$2\" ] || exit 9; }; ";

static bool has_row(const char *verb, int code)
{
    for (size_t i = 0; i < row_count; i++) {
        if ((verb == NULL || strcmp(rows[i].verb, verb) == 0) &&
            (code < 0 || rows[i].code == code))
            return true;
    }
    return false;
}

/* All of a verb. */
static void try_rows(const void *verb)
{
    static bool is_made;
    int wrong = 0;

    if (!is_made) {
        make_world();
        make_second_world();
    }
    is_made = true;
    for (const struct row *row = rows; row < rows + row_count; row++) {
        struct cli c;

        if (strcmp(row->verb, verb) != 0)
            continue;
#ifdef __SANITIZE_THREAD__ /* its threads would get no stack */
        if (strstr(row->command, "ulimit -s") != NULL)
            continue;
#endif
        (void)setenv("V", row->verb, 1);
        (void)alarm(test_patience_s);
        START_SH(&c, "%s%s", functions, row->command);
        int code = cli_end(&c);
        if (code == row->code)
            continue;
        print_error("%s: %s: exit code %d, not %d: %s\n", row->verb,
                    row->command, code, row->code, cli_said(&c));
        wrong++;
    }
    assert_int_equal(wrong, 0);
}

/* A row for each of its verbs, and a test for each new verb. */
static void add_rows(char *text)
{
    static struct test_case cases[64];
    static size_t count;
    char *command = strstr(text, ": ");
    char *rest;
    char *verb;
    int code = (int)strtol(text, &verb, 10);

    if (command == NULL)
        abort();
    *command = '\0';
    for (verb = strtok_r(verb, " ,", &rest); verb != NULL;
         verb = strtok_r(NULL, " ,", &rest)) {
        struct row *row = &rows[row_count];

        if (row_count == ROWS_MAX || count == COUNT(cases))
            abort();
        if (!has_row(verb, -1)) {
            cases[count] =
                (struct test_case){ .name = "each_code_is_what_the_manual_says",
                                    .row = row->verb,
                                    .run = try_rows,
                                    .arg = row->verb };
            test_register(&cases[count++]);
        }
        row->code = code;
        PRINT(row->verb, "%.15s", verb);
        row->command = command + 2;
        row_count++;
    }
}

/* A line that begins with a blank goes on with the row before it. */
__attribute__((constructor)) static void read_table(void)
{
    static char *text;
    FILE *file = fopen(CODES, "re");
    size_t size = 0;
    char *end;

    if (file == NULL || getdelim(&text, &size, '\0', file) < 0 ||
        fclose(file) != 0)
        abort();
    for (char *row = text; *row != '\0'; row = end) {
        end = row;
        do
            end = strchr(end, '\n') + 1;
        while (*end == ' ');
        end[-1] = '\0';
        if (row[0] >= '0' && row[0] <= '9')
            add_rows(row);
    }
}

TEST(each_code_of_the_manual_has_a_row)
{
    FILE *manual = fopen(MANUAL, "re");
    bool inside = false;
    char text[2000];
    int count = 0;
    int code;

    assert_non_null(manual);
    while (fgets(text, sizeof(text), manual) != NULL) {
        if (strncmp(text, ".SH ", 4) == 0)
            inside = strcmp(text, ".SH EXIT STATUS\n") == 0;
        if (!inside || sscanf(text, ".B %d", &code) != 1)
            continue;
        count++;
        if (!has_row(NULL, code))
            fail_msg("no row for %d", code);
    }
    (void)fclose(manual);
    assert_in_range(count, 15, 100);
}

TEST(each_verb_has_a_row_that_ends_well)
{
    char *rest = look_out;
    char verb[16];
    char *text;
    int count = 0;

    LOOK(0, "help");
    while ((text = strsep(&rest, "\n")) != NULL) {
        if (strncmp(text, "  ", 2) != 0 || text[2] == ' ' ||
            sscanf(text + 2, "%15[a-z]", verb) != 1)
            continue;
        count++;
        if (!has_row(verb, 0))
            fail_msg("no row for %s", verb);
    }
    assert_in_range(count, 15, 100);
}

static int begin(void)
{
    test_patience_s = 600; /* of a row */
    PRINT(root, "%s", new_path());
    known = json_object();
    clients[0] = admin;
    for (int i = 1; i < 4; i++) {
        if (admin_open(server_hosts(the_server), &clients[i]) != ZOK)
            return -1;
    }
    second = clients[1];
    return admin_create(admin, root, NULL) != ZOK || look_make_root() != ZOK;
}

static int end(void)
{
    for (int i = 1; i < 4; i++)
        admin_close(clients[i]);
    json_decref(known);
    return 0;
}

GROUP(begin, end)
