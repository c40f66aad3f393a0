/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the owner record: JSON that always fits, whatever the names are. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <pthread.h>
#include <unistd.h>

#include <zkrecipes/session.h>
#include <zkrecipes/version.h>

#include "base/error.h"
#include "base/thread.h"
#include "lock/owner.h"
#include "unit.h"

/* The linker sends the library's calls here (--wrap): a test sets the host and
 * the clocks, or they are the real ones. */
static const char *fake_host;
static struct timespec fake_wall;
static struct timespec fake_boot;

int __real_gethostname(char *name, size_t len);
int __wrap_gethostname(char *name, size_t len);
int __real_clock_gettime(clockid_t clock, struct timespec *ts);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ts);

int __wrap_gethostname(char *name, size_t len)
{
    size_t fake_len;

    if (fake_host == NULL)
        return __real_gethostname(name, len);
    fake_len = strlen(fake_host);
    memcpy(name, fake_host, fake_len < len ? fake_len + 1 : len);
    return fake_len < len ? 0 : -1;
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *ts)
{
    if (fake_wall.tv_sec == 0 ||
        (clock != CLOCK_REALTIME && clock != CLOCK_BOOTTIME))
        return __real_clock_gettime(clock, ts);
    *ts = clock == CLOCK_REALTIME ? fake_wall : fake_boot;
    return 0;
}

struct fixture {
    char *program;
    char thread[16];
};

static struct fixture before;

static int keep_names(void)
{
    before.program = program_invocation_short_name;
    return pthread_getname_np(pthread_self(), before.thread,
                              sizeof(before.thread));
}

static int restore_names(void)
{
    fake_host = NULL;
    fake_wall = fake_boot = (struct timespec){ 0 };
    program_invocation_short_name = before.program;
    return pthread_setname_np(pthread_self(), before.thread);
}

FIXTURE(keep_names, restore_names)

/* A record, as it is read by others. */
static json_t *written_of(struct zkr__owner owner)
{
    struct {
        char data[ZKR__OWNER_MAX + 1];
        char guard[8];
    } buf;
    size_t len = 0;
    char start[ZKR__START_MAX];
    json_error_t error;
    json_t *json;

    zkr__owner_start(start);
    owner.start = start;
    memset(&buf, '#', sizeof(buf));
    assert_int_equal(zkr__owner_write(&owner, buf.data, &len), ZKR_OK);
    assert_true(len <= ZKR__OWNER_MAX);
    assert_int_equal(strlen(buf.data), len);
    assert_memory_equal(buf.guard, "########", 8);
    json = json_loads(buf.data, JSON_REJECT_DUPLICATES, &error);
    if (json == NULL)
        fail_msg("%s: %s", error.text, buf.data);
    assert_true(json_is_object(json));
    assert_null(strchr(buf.data, '\n'));
    return json;
}

static void assert_text(const json_t *json, const char *key, const char *text)
{
    const char *value = json_string_value(json_object_get(json, key));

    if (value == NULL || strcmp(value, text) != 0)
        fail_msg("%s is '%s', not '%s'", key, value == NULL ? "none" : value,
                 text);
}

static json_t *written(const char *label)
{
    return written_of(
        (struct zkr__owner){ .label = label, .thread = zkr__thread_me() });
}

/* The start as seconds since the epoch; it must be RFC 3339 in UTC. */
static time_t start_of(const json_t *json)
{
    const char *text = json_string_value(json_object_get(json, "start"));
    struct tm tm = { 0 };
    const char *end;

    assert_non_null(text);
    end = strptime(text, "%Y-%m-%dT%H:%M:%SZ", &tm);
    assert_non_null(end);
    assert_string_equal(end, "");
    assert_int_equal(strlen(text), strlen("2026-11-21T02:45:48Z"));
    return timegm(&tm);
}

TEST(record_says_who_we_are)
{
    static char program[] = "worker";
    json_t *json;

    program_invocation_short_name = program;
    assert_int_equal(pthread_setname_np(pthread_self(), "shard 3"), 0);
    fake_host = "db-7.example";
    json = written("nightly report");
    assert_text(json, "host", "db-7.example");
    assert_int_equal(json_integer_value(json_object_get(json, "pid")),
                     getpid());
    assert_text(json, "thread", "shard 3");
    assert_int_equal(json_integer_value(json_object_get(json, "tid")),
                     gettid());
    assert_text(json, "program", "worker");
    assert_text(json, "label", "nightly report");
    assert_text(json, "library", "zkrecipes " ZKR_VERSION_STRING);
    assert_non_null(json_object_get(json, "start"));
    assert_int_equal(json_object_size(json), 8);
    json_decref(json);
}

TEST(real_host_is_told)
{
    char host[256] = "";
    json_t *json = written(NULL);

    assert_int_equal(gethostname(host, sizeof(host) - 1), 0);
    assert_text(json, "host", host);
    json_decref(json);
}

TEST(label_is_left_out_when_there_is_none)
{
    json_t *json = written(NULL);

    assert_null(json_object_get(json, "label"));
    assert_int_equal(json_object_size(json), 7);
    json_decref(json);
}

TEST(label_is_kept_as_it_is)
{
    static const char *const labels[] = {
        "\"},{\"pid\":1",       "back\\slash",      "</script>", "%s%n%d",
        "gr\xc3\xbc\xc3\x9f-e", "\xf0\x9f\x98\x80", "",          "'; DROP",
    };

    for (size_t i = 0; i < COUNT(labels); i++) {
        json_t *json = written(labels[i]);

        assert_text(json, "label", labels[i]);
        json_decref(json);
    }
}

TEST(start_is_when_this_process_started)
{
    json_t *json = written(NULL);
    time_t start = start_of(json);
    time_t now = time(NULL);

    assert_in_range(start, now - 600, now + 1);
    json_decref(json);
}

/* A process id together with the start names one process, so all records of a
 * process have to agree. The seconds of the two clocks were once subtracted,
 * and the difference depended on which clock had just reached the next
 * second. */
TEST(start_does_not_depend_on_when_it_is_asked)
{
    json_t *one;
    json_t *other;

    fake_wall = (struct timespec){ 1700000000, 900000000 };
    fake_boot = (struct timespec){ 500000, 100000000 };
    one = written(NULL);
    fake_wall = (struct timespec){ 1700000001, 300000000 }; /* 0.4 s later */
    fake_boot = (struct timespec){ 500000, 500000000 };
    other = written(NULL);
    assert_int_equal(start_of(one), start_of(other));
    json_decref(one);
    json_decref(other);
}

TEST(longest_label_fits)
{
    static char program[] = "a-program-with-quite-a-long-name-as-they-have";
    char label[ZKR_LABEL_MAX + 1];
    json_t *json;

    program_invocation_short_name = program;
    fake_host =
        "a-host-with-a-name-of-sixty-four-characters-0123456789.example.c";
    memset(label, 'x', ZKR_LABEL_MAX);
    label[ZKR_LABEL_MAX] = '\0';
    json = written(label);
    assert_text(json, "label", label);
    assert_text(json, "program", program);
    assert_int_equal(json_object_size(json), 8);
    json_decref(json);
}

/* Each character of each name becomes two in JSON. The members that identify
 * the holder are kept. */
TEST(nastiest_names_fit)
{
    static char program[200];
    char label[ZKR_LABEL_MAX + 1];
    char host[65];
    json_t *json;

    memset(label, '"', ZKR_LABEL_MAX);
    label[ZKR_LABEL_MAX] = '\0';
    memset(host, '\\', 64);
    host[64] = '\0';
    memset(program, '"', sizeof(program) - 1);
    program_invocation_short_name = program;
    fake_host = host;
    assert_int_equal(
        pthread_setname_np(pthread_self(), "\\\\\\\\\\\\\\\"\"\"\"\""), 0);
    json = written(label);
    assert_text(json, "label", label);
    assert_text(json, "host", host);
    assert_int_equal(json_integer_value(json_object_get(json, "pid")),
                     getpid());
    assert_int_equal(json_integer_value(json_object_get(json, "tid")),
                     gettid());
    (void)start_of(json);
    json_decref(json);
}

/* With a claim there was no room for the label and the host: every acquire of
 * an unfair mutex failed for want of memory. */
TEST(nastiest_names_fit_beside_a_claim)
{
    const char *claim = "5a5bbc38-73ea-4b5a-9f73-96e8c4c6a436";
    char label[ZKR_LABEL_MAX + 1];
    char host[65];
    json_t *json;

    memset(label, '"', ZKR_LABEL_MAX);
    label[ZKR_LABEL_MAX] = '\0';
    memset(host, '\\', 64);
    host[64] = '\0';
    fake_host = host;
    json = written_of((struct zkr__owner){ .label = label,
                                           .claim = claim,
                                           .within = INT64_MIN,
                                           .thread = zkr__thread_me() });
    assert_text(json, "label", label);
    assert_text(json, "claim", claim);
    assert_text(json, "within", "0x8000000000000000");
    (void)start_of(json);
    json_decref(json);
}

/* Session ids begin with the number of a server: from 128 on they are negative.
 */
TEST(the_session_around_is_named_when_there_is_one)
{
    json_t *json =
        written_of((struct zkr__owner){ .within = 0x10000a1b2c30001 });

    assert_text(json, "within", "0x10000a1b2c30001");
    json_decref(json);
    json = written_of((struct zkr__owner){ .within = -1 });
    assert_text(json, "within", "0xffffffffffffffff");
    json_decref(json);
    json = written(NULL);
    assert_null(json_object_get(json, "within"));
    json_decref(json);
}

TEST(names_that_are_not_text_become_a_question_mark)
{
    static char program[] = "caf\xe9";
    json_t *json;

    program_invocation_short_name = program;
    assert_int_equal(pthread_setname_np(pthread_self(), "a\x1b[31m"), 0);
    fake_host = "\xff\xfe";
    json = written("label");
    assert_text(json, "host", "?");
    assert_text(json, "thread", "?");
    assert_text(json, "program", "?");
    json_decref(json);
}

TEST(empty_names_become_a_question_mark)
{
    static char program[] = "";
    json_t *json;

    program_invocation_short_name = program;
    assert_int_equal(pthread_setname_np(pthread_self(), ""), 0);
    fake_host = "";
    json = written("label");
    assert_text(json, "host", "?");
    assert_text(json, "thread", "?");
    assert_text(json, "program", "?");
    json_decref(json);
}

struct from_thread {
    char data[ZKR__OWNER_MAX + 1];
    pid_t tid;
    int rc;
};

static void *write_there(void *arg)
{
    struct from_thread *t = arg;
    struct zkr__owner owner = { .start = "now" };
    size_t len;

    (void)pthread_setname_np(pthread_self(), "another one");
    owner.thread = zkr__thread_me();
    t->tid = gettid();
    t->rc = zkr__owner_write(&owner, t->data, &len);
    return NULL;
}

TEST(record_is_of_the_calling_thread)
{
    struct from_thread t = { "", 0, -1 };
    pthread_t thread;
    json_t *json;

    assert_int_equal(pthread_create(&thread, NULL, write_there, &t), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(t.rc, ZKR_OK);
    json = json_loads(t.data, 0, NULL);
    assert_non_null(json);
    assert_text(json, "thread", "another one");
    assert_int_equal(json_integer_value(json_object_get(json, "tid")), t.tid);
    assert_int_not_equal(t.tid, gettid());
    json_decref(json);
}

/* An event loop starts many claims from one thread, which waits for none of
 * them. When they looked like one owner, tools reported a deadlock. */
TEST_WITH(record_of_no_thread_names_none, NULL, NULL)
{
    json_t *json = written_of((struct zkr__owner){ .thread = NULL });

    assert_null(json_object_get(json, "thread"));
    assert_null(json_object_get(json, "tid"));
    assert_int_equal(json_integer_value(json_object_get(json, "pid")),
                     getpid());
    json_decref(json);
}
