/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the data of nodes: the owner record, JSON that always fits, whatever
 * the names are; what is read of it; and numbers, those of Java, byte for byte,
 * and nothing else. */
#include <jansson.h>

#include <zkrecipes/session.h>

#include "base/thread.h"
#include "lock/rival.h"
#include "protocol/number.h"
#include "protocol/owner.h"
#include "unit.h"

/* The linker sends the library's calls here (--wrap): a test sets the host and
 * the clocks, or they are the real ones. */
static const char *fake_host;
static struct timespec fake_wall;
static struct timespec fake_boot;

WRAP(int, gethostname, (char *name, size_t len))
{
    if (fake_host == NULL)
        return __real_gethostname(name, len);
    size_t fake_len = strlen(fake_host);
    memcpy(name, fake_host, fake_len < len ? fake_len + 1 : len);
    return fake_len < len ? 0 : -1;
}

WRAP(int, clock_gettime, (clockid_t clock, struct timespec *ts))
{
    if (fake_wall.tv_sec == 0 ||
        (clock != CLOCK_REALTIME && clock != CLOCK_BOOTTIME))
        return __real_clock_gettime(clock, ts);
    *ts = clock == CLOCK_REALTIME ? fake_wall : fake_boot;
    return 0;
}

static struct {
    char *program;
    char thread[16];
} before;
static json_t *json; /* the record of the test, as it is read by others */

static int keep_names(void)
{
    before.program = program_invocation_short_name;
    return pthread_getname_np(pthread_self(), before.thread,
                              sizeof(before.thread));
}

static int restore_names(void)
{
    json_decref(json);
    json = NULL;
    fake_host = NULL;
    fake_wall = fake_boot = (struct timespec){ 0 };
    program_invocation_short_name = before.program;
    return pthread_setname_np(pthread_self(), before.thread);
}

FIXTURE(keep_names, restore_names)

static void write_of(struct zkr__owner owner)
{
    struct {
        char data[ZKR__OWNER_MAX + 1];
        char guard[8];
    } buf;
    size_t len = 0;
    char start[ZKR__START_MAX];

    json_decref(json);
    json = NULL;
    zkr__owner_start(start);
    owner.start = start;
    memset(&buf, '#', sizeof(buf));
    ok(zkr__owner_write(&owner, buf.data, &len));
    assert_true(len <= ZKR__OWNER_MAX);
    assert_int_equal(strlen(buf.data), len);
    assert_memory_equal(buf.guard, "########", 8);
    json = json_loads(buf.data, JSON_REJECT_DUPLICATES, NULL);
    if (!json_is_object(json))
        fail_msg("no record: %s", buf.data);
    assert_null(strchr(buf.data, '\n'));
}

static void assert_text(const char *key, const char *text)
{
    const char *value = json_string_value(json_object_get(json, key));

    if (value == NULL || strcmp(value, text) != 0)
        fail_msg("%s is '%s', not '%s'", key, value == NULL ? "none" : value,
                 text);
}

#define ASSERT_NUMBER(key, number)                                             \
    assert_int_equal(json_integer_value(json_object_get(json, key)), number)

static void write_with(const char *label)
{
    write_of((struct zkr__owner){ .label = label, .thread = zkr__thread_me() });
}

/* The start as seconds since the epoch; it must be RFC 3339 in UTC. */
static time_t start_of(void)
{
    const char *text = json_string_value(json_object_get(json, "start"));
    struct tm tm = { 0 };

    assert_non_null(text);
    const char *end = strptime(text, "%Y-%m-%dT%H:%M:%SZ", &tm);
    assert_non_null(end);
    assert_string_equal(end, "");
    assert_int_equal(strlen(text), strlen("2026-11-21T02:45:48Z"));
    return timegm(&tm);
}

TEST(record_says_who_we_are)
{
    static char program[] = "worker";

    program_invocation_short_name = program;
    ok(pthread_setname_np(pthread_self(), "shard 3"));
    fake_host = "db-7.example";
    write_with("nightly report");
    assert_text("host", "db-7.example");
    ASSERT_NUMBER("pid", getpid());
    assert_text("thread", "shard 3");
    ASSERT_NUMBER("tid", gettid());
    assert_text("program", "worker");
    assert_text("label", "nightly report");
    assert_text("library", "zkrecipes " ZKR_VERSION_STRING);
    assert_non_null(json_object_get(json, "start"));
    assert_int_equal(json_object_size(json), 8);
}

TEST(record_without_a_label_says_the_rest)
{
    char host[256] = "";

    write_with(NULL);
    ok(gethostname(host, sizeof(host) - 1));
    assert_text("host", host);
    assert_null(json_object_get(json, "label"));
    assert_int_equal(json_object_size(json), 7);
    time_t now = time(NULL);
    assert_in_range(start_of(), now - 600, now + 1);
}

TEST(label_is_kept_as_it_is)
{
    static const char *const labels[] = {
        "\"},{\"pid\":1",       "back\\slash",      "</script>", "%s%n%d",
        "gr\xc3\xbc\xc3\x9f-e", "\xf0\x9f\x98\x80", "",          "'; DROP",
    };

    for (size_t i = 0; i < COUNT(labels); i++) {
        write_with(labels[i]);
        assert_text("label", labels[i]);
    }
}

/* A process id together with the start names one process, so all records of a
 * process have to agree. The seconds of the two clocks were once subtracted,
 * and the difference depended on which clock had just reached the next
 * second. */
TEST(start_does_not_depend_on_when_it_is_asked)
{
    fake_wall = (struct timespec){ 1700000000, 900000000 };
    fake_boot = (struct timespec){ 500000, 100000000 };
    write_with(NULL);
    time_t start = start_of();
    fake_wall = (struct timespec){ 1700000001, 300000000 }; /* 0.4 s later */
    fake_boot = (struct timespec){ 500000, 500000000 };
    write_with(NULL);
    assert_int_equal(start_of(), start);
}

static char *many(char c, int count)
{
    char *text = (char *)(uintptr_t)textf("%*s", count, "");

    return memset(text, c, (size_t)count);
}

TEST(longest_label_fits)
{
    static char program[] = "a-program-with-quite-a-long-name-as-they-have";
    const char *label = many('x', ZKR_LABEL_MAX);

    program_invocation_short_name = program;
    fake_host = many('h', 64);
    write_with(label);
    assert_text("label", label);
    assert_text("program", program);
    assert_int_equal(json_object_size(json), 8);
}

/* Each character of each name becomes two in JSON. The members that identify
 * the holder are kept. */
TEST(nastiest_names_fit)
{
    const char *claim = "5a5bbc38-73ea-4b5a-9f73-96e8c4c6a436";
    const char *label = many('"', ZKR_LABEL_MAX);

    program_invocation_short_name = many('"', 199);
    fake_host = many('\\', 64);
    ok(pthread_setname_np(pthread_self(), "\\\\\\\\\\\\\\\"\"\"\"\""));
    write_with(label);
    assert_text("label", label);
    assert_text("host", fake_host);
    ASSERT_NUMBER("pid", getpid());
    ASSERT_NUMBER("tid", gettid());
    (void)start_of();
    /* With a claim there was no room for the label and the host: every acquire
     * of an unfair mutex failed for want of memory. */
    write_of((struct zkr__owner){ .label = label,
                                  .claim = claim,
                                  .within = INT64_MIN,
                                  .thread = zkr__thread_me() });
    assert_text("label", label);
    assert_text("claim", claim);
    assert_text("within", "0x8000000000000000");
    (void)start_of();
}

TEST(nothing_is_dropped_that_fits)
{
    size_t longest = 0;

    program_invocation_short_name = many('"', 63);
    fake_host = many('\\', 64);
    for (int i = 1; i <= ZKR_LABEL_MAX; i++) {
        write_with(many('x', i));
        size_t len = json_dumpb(json, NULL, 0, JSON_COMPACT);
        longest = len > longest ? len : longest;
    }
    assert_int_equal(longest, ZKR__OWNER_MAX);
    write_of((struct zkr__owner){ .limit = 5 });
    ASSERT_NUMBER("limit", 5);
}

/* Session ids begin with the number of a server: from 128 on they are < 0. */
TEST(the_session_around_is_named_when_there_is_one)
{
    write_of((struct zkr__owner){ .within = 0x10000a1b2c30001 });
    assert_text("within", "0x10000a1b2c30001");
    write_of((struct zkr__owner){ .within = -1 });
    assert_text("within", "0xffffffffffffffff");
    write_with(NULL);
    assert_null(json_object_get(json, "within"));
}

static const struct {
    const char *name;
    char program[8];
    const char *thread;
    const char *host;
} no_names[] = {
    { "that are not text", "caf\xe9", "a\x1b[31m", "\xff\xfe" },
    { "that are empty", "", "", "" },
};

TEST_ROWS(names_become_a_question_mark, no_names, row)
{
    char program[sizeof(row->program)];

    memcpy(program, row->program, sizeof(program));
    program_invocation_short_name = program;
    ok(pthread_setname_np(pthread_self(), row->thread));
    fake_host = row->host;
    write_with("label");
    assert_text("host", "?");
    assert_text("thread", "?");
    assert_text("program", "?");
}

struct from_thread {
    char data[ZKR__OWNER_MAX + 1];
    pid_t tid;
};

static void *write_there(void *arg)
{
    struct from_thread *t = arg;
    struct zkr__owner owner = { .start = "now" };
    size_t len;

    (void)pthread_setname_np(pthread_self(), "another one");
    owner.thread = zkr__thread_me();
    t->tid = gettid();
    ok(zkr__owner_write(&owner, t->data, &len));
    return NULL;
}

TEST(record_is_of_the_calling_thread)
{
    struct from_thread t = { "", 0 };

    thread_join(thread_start(write_there, &t));
    json = json_loads(t.data, 0, NULL);
    assert_non_null(json);
    assert_text("thread", "another one");
    ASSERT_NUMBER("tid", t.tid);
    assert_int_not_equal(t.tid, gettid());
}

/* An event loop starts many claims from one thread, which waits for none of
 * them. When they looked like one owner, tools reported a deadlock. */
TEST(record_of_no_thread_names_none)
{
    write_of((struct zkr__owner){ .thread = NULL });
    assert_null(json_object_get(json, "limit"));
    assert_null(json_object_get(json, "thread"));
    assert_null(json_object_get(json, "tid"));
    ASSERT_NUMBER("pid", getpid());
}

static struct zkr__known_owner known;

/* The text is in a block of its size: ASan sees a read behind it. */
static void read_text(const char *text)
{
    size_t size = strlen(text);
    char *copy = malloc(size > 0 ? size : 1);

    assert_non_null(copy);
    (void)memcpy(copy, text, size);
    zkr__owner_read(&known, copy, size);
    free(copy);
}

/* What is missing is empty. */
TEST(our_record_is_read)
{
    read_text("{\"host\":\"vm\",\"pid\":4194303,\"thread\":\"peek\","
              "\"start\":\"2026-11-21T03:55:47Z\",\"program\":\"peek\","
              "\"label\":\"close the books\",\"limit\":5,\"asked\":false,"
              "\"library\":\"zkrecipes 0.1.0\",\"tid\":4194304}");
    assert_true(known.is_record);
    assert_string_equal(known.library, "zkrecipes 0.1.0");
    assert_int_equal(known.limit, 5);
    assert_false(known.is_asked);
    assert_string_equal(known.host, "vm");
    assert_int_equal(known.pid, 4194303);
    assert_int_equal(known.tid, 4194304);
    assert_string_equal(known.thread, "peek");
    assert_string_equal(known.program, "peek");
    assert_string_equal(known.label, "close the books");
    assert_string_equal(known.start, "2026-11-21T03:55:47Z");
    read_text("{\"library\":\"zkrecipes 9\",\"pid\":\"x\",\"host\":[1]}");
    assert_true(known.is_record);
    assert_string_equal(known.host, "");
    assert_int_equal(known.pid, 0);
}

TEST(the_longest_names_are_read)
{
    const char *x = many('x', 255);

    read_text(textf("{\"library\":\"zkrecipes\",\"host\":\"%s\",\"thread\":"
                    "\"%.15s\",\"program\":\"%.63s\",\"label\":\"%.128s\","
                    "\"start\":\"%.30s\",\"reason\":\"%.128s\"}",
                    x, x, x, x, x, x));
    assert_int_equal(strlen(known.host), 255);
    assert_int_equal(strlen(known.thread), 15);
    assert_int_equal(strlen(known.program), 63);
    assert_int_equal(strlen(known.label), ZKR_LABEL_MAX);
    assert_int_equal(strlen(known.start), 30);
    assert_int_equal(strlen(known.reason), ZKR__REVOKE_REASON_MAX);
}

TEST(the_session_around_is_read)
{
    static const struct {
        const char *text;
        int64_t session;
    } cases[] = {
        { "\"0x10000a1b2c30001\"", 0x10000a1b2c30001 },
        { "\"0xffffffffffffffff\"", -1 },
        { "\"0x8000000000000000\"", INT64_MIN },
        { "\"0x10000000000000000\"", 0 },
        { "\"0x\"", 0 },
        { "\"0x1 \"", 0 },
        { "\"-0x1\"", 0 },
        { "\"17\"", 0 },
        { "\"1017\"", 0 },
        { "17", 0 },
        { "null", 0 },
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        read_text(textf("{\"library\":\"zkrecipes 9\",\"within\":%s}",
                        cases[i].text));
        assert_true(known.is_record);
        assert_int_equal(known.within, cases[i].session);
    }
}

TEST(other_data_is_no_record)
{
    static const char *const others[] = {
        "",         "{",
        "{}",       "[]",
        "null",     "{\"library\":\"zk\"}",
        "hostA",    "{\"library\":\"zkrecipes\"} x",
        "10.1.2.3", " {\"library\":\"zkrecipes\"}",
        "}",        "{\"library\":\"zkrecipes\",\"a\":1,\"a\":1}",
    };

    for (size_t i = 0; i < COUNT(others); i++) {
        read_text(others[i]);
        assert_false(known.is_record);
    }
    zkr__owner_read(&known, NULL, 0);
    assert_false(known.is_record);
}

/* jansson limits the depth; a text longer than a record is not parsed. */
TEST(deep_and_long_data_is_no_record)
{
    char *deep = many('[', 100000);

    (void)memcpy(deep, "{\"library\":", 11);
    read_text(deep);
    assert_false(known.is_record);
    deep[1000] = '\0';
    read_text(deep);
    assert_false(known.is_record);
    for (int more = 0; more < 2; more++) {
        (void)snprintf(deep, 2000, "{\"library\":\"zkrecipes 9\"%*s",
                       ZKR__OWNER_READ_MAX - 24 + more, "}");
        read_text(deep);
        assert_int_equal(known.is_record, more == 0);
    }
}

TEST(a_request_is_exactly_one)
{
    static const char *const texts[] = { "__REVOKE__",   "__revoke__",
                                         "__REVOKE__ ",  "__REVOKE_",
                                         "__REVOKE__ x", "__REVOKE__: " };

    for (size_t i = 0; i < COUNT(texts); i++) {
        read_text(texts[i]);
        assert_int_equal(known.is_asked, i == 0);
    }
    read_text("{\"library\":\"zkrecipes 1\",\"label\":\"x\",\"asked\":true}");
    assert_true(known.is_asked && known.is_record);
    assert_string_equal(known.label, "x");
    assert_string_equal(known.reason, "");
}

TEST(a_request_may_have_a_reason)
{
    char all[ZKR__OWNER_READ_MAX] = "__REVOKE__: the disk \"a\"";

    read_text(all);
    assert_true(known.is_asked && !known.is_record);
    assert_string_equal(known.reason, "the disk \"a\"");
    memset(all + 12, 'x', 500);
    read_text(all);
    assert_int_equal(strlen(known.reason), ZKR__REVOKE_REASON_MAX);
    read_text("{\"library\":\"zkrecipes 1\",\"asked\":true,\"reason\":\"y\"}");
    assert_true(known.is_asked && known.is_record);
    assert_string_equal(known.reason, "y");
}

TEST(only_a_session_owns_an_ephemeral_node)
{
    assert_true(zkr__owner_is_session(0x10000a1b2c30001));
    assert_true(zkr__owner_is_session((int64_t)0xfe00000000000001));
    assert_false(zkr__owner_is_session(0));
    assert_false(zkr__owner_is_session(INT64_MIN)); /* a container */
    assert_false(zkr__owner_is_session((int64_t)0xff00000000001388)); /* TTL */
}

/* Of a rival people are told what its record has. */
TEST(a_rival_is_told_as_far_as_it_is_known)
{
    static const struct {
        const char *data;
        const char *text;
    } rows[] = {
        { "{\"library\":\"zkrecipes 9\",\"host\":\"h\",\"label\":\"l\"}",
          " (session 0x1f, host 'h', label 'l')" },
        { "{\"library\":\"zkrecipes 9\",\"pid\":7}",
          " (session 0x1f, pid '7')" },
        { "anna", " (session 0x1f, who says 'anna')" },
        { "", " (session 0x1f)" },
    };
    char text[ZKR__RIVAL_MAX];

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct zkr__rival *rival = zkr__rival_copy(
            &(struct zkr__zk_reply){ .data = rows[i].data,
                                     .data_len = strlen(rows[i].data),
                                     .stat.ephemeral_owner = 0x1f });

        zkr__rival_describe(rival, text);
        assert_string_equal(text, rows[i].text);
        free(rival);
    }
}

struct row {
    int64_t number;
    size_t size;
    const char *data;
};

static const struct row rows[] = {
    { 0, 8, "\0\0\0\0\0\0\0\0" },
    { 7, 4, "\0\0\0\7" },
    { -1, 4, "\xff\xff\xff\xff" },
    { -1, 8, "\xff\xff\xff\xff\xff\xff\xff\xff" },
    { INT32_MAX, 4, "\x7f\xff\xff\xff" },
    { INT32_MIN, 4, "\x80\0\0\0" },
    { INT64_C(0x0102030405060708), 8, "\1\2\3\4\5\6\7\x8" },
    { INT64_MAX, 8, "\x7f\xff\xff\xff\xff\xff\xff\xff" },
    { INT64_MIN, 8, "\x80\0\0\0\0\0\0\0" },
};

TEST(numbers_are_those_of_java)
{
    for (size_t i = 0; i < COUNT(rows); i++) {
        char data[ZKR__NUMBER_MAX];
        int64_t number = 1;

        zkr__number_format(data, rows[i].number, rows[i].size);
        assert_memory_equal(data, rows[i].data, rows[i].size);
        assert_true(
            zkr__number_parse(data, rows[i].size, rows[i].size, &number));
        assert_true(number == rows[i].number);
        assert_true(zkr__number_fits(number, rows[i].size));
    }
    assert_false(zkr__number_fits(INT64_C(1) + INT32_MAX, 4));
    assert_false(zkr__number_fits(INT64_C(-1) + INT32_MIN, 4));
}

TEST(other_lengths_are_no_numbers)
{
    const char data[16] = { 1 };
    int64_t number = 5;

    for (size_t len = 1; len < sizeof(data); len++) {
        assert_int_equal(zkr__number_parse(data, len, 8, &number), len == 8);
        assert_int_equal(zkr__number_parse(data, len, 4, &number), len == 4);
    }
    assert_true(zkr__number_parse(NULL, 0, 8, &number));
    assert_true(number == 0);
}
