/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of every verb with hostile names and data: the output never moves a
 * cursor, JSON is valid by the schema, and no other node is deleted.
 *
 * ZKR_SEED repeats a run, ZKR_FUZZ_MS is how long it goes on (6000), and
 * ZKR_FUZZ_CHILDREN how large a directory is (600). */

#include <sysexits.h>
#include <time.h>

#include <zookeeper/zookeeper.h>

#include "look.h"
#include "safe.h"

enum { OWNERS = 3, LOCKS_MAX = 4, NODES_MAX = 12 };

static unsigned seed;
static char root[64];
static struct admin *owners[OWNERS];
static char locks[LOCKS_MAX][2048];
static size_t lock_count;

/* --- random things --- */

static size_t below(size_t limit)
{
    return (size_t)rand_r(&seed) % limit;
}

#define PICK(array) ((array)[below(sizeof(array) / sizeof((array)[0]))])

/* Adds one of the strange characters that servers accept in a name. */
static const char *strange(void)
{
    /* clang-format off */
    static const char *const all[] = {
        "\xe2\x80\xae", "\xe2\x80\xaa", "\xe2\x81\xa6", "\xe2\x81\xa9",
        "\xe2\x80\x8f", "\xd8\x9c", "\xe2\x80\x8b", "\xef\xbb\xbf",
        "\xe2\x80\xa8", "\xe2\x80\xa9", "\xc2\xa0", "\xc2\xad", "e\xcc\x81",
        "\xe6\xbc\xa2", "\xd7\xa9", "\xce\xa9", "%s%n%x", "\"", "\\", "\\x1B",
        "'", "`id`", "$(id)", ";", " ", "  ", "<b>", "&", "*", "?", "~",
        "--help", "-o", "{\"a\":1}", "..", "...", "0x", "null", ",", "|",
    };
    /* clang-format on */

    return PICK(all);
}

static void add_digits(char *text, size_t count, const char *digits)
{
    char *end = text + strlen(text);

    for (size_t i = 0; i < count; i++)
        *end++ = digits[below(strlen(digits))];
    *end = '\0';
}

#define HEX "0123456789abcdef"

static void add_number(char *name)
{
    static const char *const odd[] = {
        "0000000000",           "0000000001",          "2147483647",
        "-2147483648",          "2147483648",          "4294967295",
        "9999999999",           "9223372036854775807", "-000000001",
        "18446744073",          "00000000001",         "",
        "99999999999999999999",
    };

    if (below(3) == 0)
        (void)strcat(name, PICK(odd));
    else
        (void)sprintf(name + strlen(name), "%010u", (unsigned)below(5));
}

static void add_uuid(char *name)
{
    static const size_t groups[] = { 8, 4, 4, 4, 12 };

    for (size_t i = 0; i < 5; i++) {
        if (i > 0)
            (void)strcat(name, "-");
        add_digits(name, groups[i], HEX);
    }
}

/* Makes a name as Curator, kazoo, go-zookeeper, the C recipe and others do, or
 * nearly so. */
static void make_name(char name[1024])
{
    static const char *const markers[] = {
        "-lock-",    "lock-",  "__lock__", "__rlock__", "-__READ__",
        "-__WRIT__", "write-", "read-",    "__LOCK__",  "-lock",
    };

    name[0] = '\0';
    switch (below(9)) {
    case 0:
    case 1:
        (void)strcat(name, "_c_");
        add_uuid(name);
        (void)strcat(name, PICK(markers));
        break;
    case 2:
        (void)strcat(name, "_c_");
        add_digits(name, 32, HEX);
        (void)strcat(name, "-lock-");
        break;
    case 3:
        add_digits(name, 32, HEX);
        (void)strcat(name, PICK(markers));
        break;
    case 4:
        (void)strcat(name, below(2) == 0 ? "x-" : "x");
        add_digits(name, 1 + below(17), HEX "gz");
        (void)strcat(name, "-");
        break;
    case 5:
        (void)strcat(name, below(2) == 0 ? "ex" : "sh");
        break;
    case 6:
        (void)strcat(name, "holder");
        return;
    case 7:
        (void)strcat(name, strange());
        (void)strcat(name, PICK(markers));
        break;
    default:
        for (size_t i = below(30); i-- > 0;)
            (void)strcat(name, strange());
    }
    add_number(name);
    if (below(6) == 0)
        (void)strcat(name, strange());
}

/* An owner record as our clients write it, with hostile values. */
static size_t make_record(char *data)
{
    /* clang-format off */
    static const char *const values[] = {
        "\"\\u001b[2J\"", "\"\\u202e\\u2066\"", "\"a\\u0000b\"", "7", "-1",
        "9223372036854775807", "null", "[]", "\"\\r\\n\"", "\"\xe2\x80\xae\"",
        "\"\\u009b31m\"", "1e99", "\"\x7f\"", "{\"a\":{}}", "\"%s%n\"",
        "\"vm\"", "\"\\\"';id #\"", "\"\\ud800\"", "\"\xff\"", "true",
    };
    /* clang-format on */

    return (size_t)sprintf(
        data,
        "{\"host\":%s,\"pid\":%s,\"thread\":%s,\"tid\":%s,\"start\":%s,"
        "\"program\":%s,\"label\":%s,\"library\":\"zkrecipes%s\"}",
        PICK(values), PICK(values), PICK(values), PICK(values), PICK(values),
        PICK(values), PICK(values), below(4) == 0 ? strange() : " 0.1.0");
}

#define DATA_MAX 1000000

static size_t make_data(char data[DATA_MAX])
{
    static const char *const texts[] = {
        "__REVOKE__", "__REVOKE__ ", "10.0.0.1",
        "",           "hostA:123",   "\033]52;c;aGk=\a",
    };
    size_t size = below(600);

    switch (below(5)) {
    case 0:
        (void)strcpy(data, PICK(texts));
        return strlen(data);
    case 1:
        return make_record(data);
    case 2:
        if (below(20) == 0)
            size = DATA_MAX - 1;
        break;
    default:
        break;
    }
    for (size_t i = 0; i < size; i++) /* or only of what is not ASCII */
        data[i] = (char)(size % 3 == 0 ? 0x80 + below(0x40) : below(256));
    return size;
}

/* --- nodes --- */

static bool put(struct admin *a, const char *full, int flags)
{
    static char data[DATA_MAX];
    size_t size = make_data(data);

    return admin_create_bytes(a, full, data, size, flags) == ZOK;
}

static void make_lock(void)
{
    char *lock = locks[lock_count];
    char full[4096];
    char name[1024];

    if (below(2) == 0)
        make_name(name);
    else
        PRINT(name, "%s%zu", strange(), lock_count);
    (void)snprintf(lock, sizeof(locks[0]), "%s/%s", root, name);
    if (admin_create(admin, lock, "") != ZOK)
        return;
    lock_count++;
    for (size_t i = below(NODES_MAX); i-- > 0;) {
        bool ephemeral = below(4) > 0;

        make_name(name);
        PRINT(full, "%s/%s", lock, name);
        if (put(owners[below(OWNERS)], full, ephemeral ? ZOO_EPHEMERAL : 0) &&
            !ephemeral && below(2) == 0) {
            (void)strcat(full, "/lock-0000000000");
            (void)put(owners[0], full, 0);
        }
    }
}

static int setup(void)
{
    PRINT(root, "%s", new_path());
    lock_count = 0;
    return admin_create(admin, root, NULL);
}

static int teardown(void)
{
    return admin_delete_tree(admin, root);
}

FIXTURE(setup, teardown)

/* --- what must not come out --- */

/* Each line is one that may reach a terminal; a tab may, too. */
static void assert_harmless(int fd)
{
    size_t size = (size_t)lseek(fd, 0, SEEK_END);
    char *text = calloc(1, size + 1);
    char *rest = text;

    assert_non_null(text);
    assert_int_equal(pread(fd, text, size, 0), size);
    assert_int_equal(strlen(text), size);
    for (char *line; (line = strsep(&rest, "\n\t")) != NULL;) {
        if (!is_safe(line))
            fail_msg("not harmless: %s", line);
    }
    free(text);
}

/* --- the verbs --- */

struct look {
    const char *words;      /* a lock comes behind; '/': the root; '*': none */
    const char *definition; /* of JSON */
};

static const struct look looks[] = {
    { "ls /", NULL },
    { "ls -o wide /", NULL },
    { "ls -o json /", "document" },
    { "ls -o jsonl /", "line" },
    { "show", NULL },
    { "show -o wide", NULL },
    { "show --columns NODE,OWNER,STATE", NULL },
    { "show -o json", "document" },
    { "show -o jsonl --limit 3", "line" },
    { "check --held", NULL },
    { "check --free -o json", "document" },
    { "check --held-by vm -o jsonl", "line" },
    { "wait --held -w 0", NULL },
    { "deadlocks --confirm 0 /", NULL },
    { "deadlocks --possible --confirm 0 -o wide /", NULL },
    { "deadlocks --possible --confirm 0 -o json /", "document" },
    { "deadlocks --possible --confirm 0 -o jsonl /", "line" },
    { "doctor --confirm 0 --older 1ms /", NULL },
    { "doctor --confirm 0 -o wide /", NULL },
    { "doctor --confirm 0 --older 1ms -o json /", "document" },
    { "metrics /", NULL },
    { "watch --initial *", NULL },
    { "watch --initial -o wide *", NULL },
    { "watch --initial -o jsonl *", "line" },
    { "revoke -w 0", NULL },
    { "revoke -w 0 -o json", "document" },
    { "run -n --why \xe2\x80\xae ", NULL },
};

/* The arguments; the lock last. */
static void split(const char *words, const char *lock, const char *args[20])
{
    static char copy[256];
    char *rest = NULL;
    size_t n = 0;

    PRINT(copy, "%s", words);
    for (char *w = strtok_r(copy, " ", &rest); w != NULL && n < 14;
         w = strtok_r(NULL, " ", &rest))
        args[n++] = w;
    if (strcmp(args[n - 1], "*") == 0)
        n--;
    else if (strcmp(args[n - 1], "/") == 0)
        args[n - 1] = root;
    else
        args[n++] = lock;
    if (strcmp(args[0], "run") == 0) {
        args[n++] = "--";
        args[n++] = "true"; /* what a command writes is its own */
    }
    args[n] = NULL;
}

static void assert_look(const struct look *look, const char *lock)
{
    const char *args[20];

    split(look->words, lock, args);
    int code = strcmp(args[0], "watch") == 0 ? look_at_until(args, 100)
                                             : look_at(args);
    if (code >= 128 || code == EX_SOFTWARE)
        fail_msg("%s: exit code %d: %s", look->words, code, look_err);
    assert_harmless(look_out_fd);
    assert_harmless(look_err_fd);
    if (look->definition != NULL && look_out[0] != '\0')
        look_assert_schema(look->definition);
}

static long count_nodes(void)
{
    AUTO(text) answer = server_4lw(the_server, "srvr");
    const char *count = answer == NULL ? NULL : strstr(answer, "Node count: ");

    assert_non_null(count);
    return strtol(count + strlen("Node count: "), NULL, 10);
}

/* Of one of the holders; whatever the names, break deletes one node at most. */
static void assert_break(const char *lock)
{
    const char *const show[] = { "show", "-q", "--no-4lw", "-o",
                                 "json", lock, NULL };

    if (look_at(show) != 0)
        return;
    const char *token = look_jq(".items[0].holders | if . == [] then '' else "
                                ".[%zu %% length].token end",
                                below(1000));
    if (token[0] == '\0')
        return;
    const char *const args[] = { "break", "--yes", "--no-4lw", "--token",
                                 token,   lock,    NULL };
    long before = count_nodes();
    long expected = before - (look_at(args) == 0);
    assert_harmless(look_out_fd);
    assert_harmless(look_err_fd);
    if (count_nodes() != expected)
        fail_msg("break has deleted %ld nodes: %s", before - count_nodes(),
                 look_err);
}

/* --- rounds --- */

/* A failure is reported with the seed of its round. */
TEST(nothing_hostile_comes_out)
{
    int64_t end = now_ms() + test_number("ZKR_FUZZ_MS", 6000);
    size_t rounds = 0;
    size_t next = 0;

    while (now_ms() < end) {
        print_message("round %zu: ZKR_SEED=%u\n", ++rounds, seed);
        ok(admin_create(admin, textf("%s/a", root), ""));
        ok(admin_create(admin, textf("%s/a/lock-0000000000", root), ""));
        for (size_t i = 0; i < 2 * LOCKS_MAX && lock_count < LOCKS_MAX; i++)
            make_lock();
        assert_true(lock_count > 0);
        for (size_t i = 0; i < 12; i++)
            assert_look(&looks[next++ % (COUNT(looks))],
                        locks[below(lock_count)]);
        for (size_t i = 0; i < 2; i++)
            assert_break(locks[below(lock_count)]);
        assert_int_equal(teardown(), ZOK);
        assert_int_equal(setup(), ZOK);
    }
    print_message("%zu rounds\n", rounds);
}

/* Makes more children than the tool lists. Each number occurs twice. */
TEST(a_huge_directory_is_cut_with_a_note)
{
    size_t children = (size_t)test_number("ZKR_FUZZ_CHILDREN", 600);
    const char *limit = children > 10000 ? "10000" : "500";
    const char *const show[] = { "show",    "-o",  "json", "--no-4lw",
                                 "--limit", limit, root,   NULL };
    struct admin *owner;

    assert_int_equal(admin_open(server_hosts(the_server), &owner), ZOK);
    for (size_t i = 0; i < children; i++) {
        const char *node = textf("%s/x-%zx-%010zu", root, i, i / 2);

        ok(admin_create_bytes(owner, node, "", 0, ZOO_EPHEMERAL));
    }
    assert_int_equal(look_at(show), 0);
    assert_has(look_err, textf("only %s of %zu children are", limit, children));
    assert_harmless(look_out_fd);
    for (size_t i = 0; i < COUNT(looks); i++) {
        if (strstr(looks[i].words, "json") == NULL)
            assert_look(&looks[i], root);
    }
    admin_close(owner); /* and its nodes are gone */
}

static int begin(void)
{
    const char *text = getenv("ZKR_SEED");
    int rc = 0;

    seed = text != NULL ? (unsigned)strtoul(text, NULL, 10)
                        : (unsigned)time(NULL) ^ (unsigned)getpid() << 16;
    for (size_t i = 0; i < OWNERS; i++)
        rc |= admin_open(server_hosts(the_server), &owners[i]);
    return rc;
}

static int end(void)
{
    for (size_t i = 0; i < OWNERS; i++)
        admin_close(owners[i]);
    return 0;
}

GROUP(begin, end)
