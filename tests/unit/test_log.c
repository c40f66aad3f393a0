/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the log: a hook that was replaced by another one is not running and
 * is not called any more; and of what the library reads in the client's. */
#include "unit.h"

#include <sched.h>
#include <semaphore.h>

#include "base/clock.h"
#include "base/log.h"
#include "zk/fault.h"

#define TURNS 10000 /* a call that does not wait returns before */
static int64_t later_s;

WRAP(int64_t, zkr__clock_now, (void))
{
    return __real_zkr__clock_now() + later_s * 1000 * ZKR__MS;
}

static sem_t is_inside, may_return;
static atomic_bool has_returned;
static atomic_int lines;

static void count(enum zkr_log_level level, const char *message, void *user)
{
    (void)atomic_fetch_add(&lines, 1);
}

static void stay(enum zkr_log_level level, const char *message, void *user)
{
    count(level, message, user);
    (void)sem_post(&is_inside);
    while (sem_wait(&may_return) != 0)
        ;
    for (int i = 0; i < TURNS; i++)
        (void)sched_yield();
    atomic_store(&has_returned, true);
}

static void *write_line(void *unused)
{
    zkr__log(ZKR_LOG_ERROR, "a line");
    return NULL;
}

static void *replace(void *ret_had_returned)
{
    zkr__log_use(&(struct zkr__log_hook){ count, NULL, ZKR_LOG_ERROR });
    (void)write_line(NULL); /* this thread has been in a hook before */
    zkr__log_use(NULL);
    zkr_log_set(ZKR_LOG_DEBUG, count, NULL);
    *(bool *)ret_had_returned = atomic_load(&has_returned);
    return NULL;
}

static int setup(void)
{
    atomic_store(&lines, 0);
    atomic_store(&has_returned, false);
    return sem_init(&is_inside, 0, 0) + sem_init(&may_return, 0, 0);
}

static int silence(void)
{
    zkr_log_set(ZKR_LOG_ERROR, NULL, NULL);
    return 0;
}

FIXTURE(setup, silence)

static pthread_t enter_hook(void)
{
    zkr_log_set(ZKR_LOG_ERROR, stay, NULL);
    pthread_t writer = thread_start(write_line, NULL);
    while (sem_wait(&is_inside) != 0)
        ;
    return writer;
}

TEST(a_hook_that_was_replaced_is_not_running)
{
    pthread_t writer = enter_hook();
    bool had_returned = false;
    pthread_t replacer = thread_start(replace, &had_returned);

    AWAIT(zkr__log_wanted(ZKR_LOG_DEBUG)); /* until the new one is there */
    (void)write_line(NULL);                /* the new one waits for nobody */
    assert_int_equal(atomic_load(&lines), 3);
    (void)sem_post(&may_return);
    thread_join(replacer);
    assert_true(had_returned);
    thread_join(writer);
}

static void end_itself(enum zkr_log_level level, const char *message,
                       void *user)
{
    count(level, message, user);
    zkr_log_set(ZKR_LOG_ERROR, NULL, NULL);
    zkr_log_set(ZKR_LOG_ERROR, user == NULL ? NULL : count, NULL);
}

TEST(a_hook_ends_itself)
{
    zkr_log_set(ZKR_LOG_ERROR, end_itself, NULL);
    (void)write_line(NULL);
    (void)write_line(NULL);
    assert_int_equal(atomic_load(&lines), 1);
    zkr_log_set(ZKR_LOG_ERROR, end_itself, &lines);
    (void)write_line(NULL);
    (void)write_line(NULL);
    assert_int_equal(atomic_load(&lines), 3);
}

/* The child has no thread that would return. */
TEST(a_child_of_a_process_with_a_thread_in_the_hook_goes_on)
{
    pthread_t writer = enter_hook();
    pid_t pid = fork();

    if (pid == 0) {
        zkr_log_set(ZKR_LOG_ERROR, count, NULL);
        (void)write_line(NULL);
        _exit(atomic_load(&lines) == 2 ? 0 : 1);
    }
    assert_int_equal(exit_status(pid), 0);
    (void)sem_post(&may_return);
    thread_join(writer);
}

/* Regression: one dead server made twelve lines a second. */
TEST(a_line_that_comes_again_is_told_once)
{
    const char *const line = ":ZOO_ERROR@f@1: late by 7ms";

    zkr_log_set(ZKR_LOG_DEBUG, count, NULL);
    assert_int_equal(zkr__log_times(ZKR_LOG_ERROR, line), 1);
    assert_int_equal(zkr__log_times(ZKR_LOG_ERROR, line), 0);
    assert_int_equal(
        zkr__log_times(ZKR_LOG_ERROR, ":ZOO_ERROR@f@1: late by 1234ms"), 0);
    assert_int_equal(zkr__log_times(ZKR_LOG_DEBUG, line), 1);
    for (int i = 0; i < 100; i++) { /* more than are kept */
        assert_int_equal(
            zkr__log_times(ZKR_LOG_ERROR, textf(":ZOO_ERROR@f@1: %d", i)), 1);
        if (i == 29)
            assert_int_equal(zkr__log_times(ZKR_LOG_ERROR, line), 0);
    }
    assert_int_equal(zkr__log_times(ZKR_LOG_ERROR, line), 1);
    zkr_log_set(ZKR_LOG_DEBUG, count, NULL); /* it has been told of none */
    assert_int_equal(zkr__log_times(ZKR_LOG_ERROR, line), 1);
    for (int i = 0; i < 2; i++) {
        later_s += 30;
        assert_int_equal(zkr__log_times(ZKR_LOG_ERROR, line), 0);
        later_s += 31;
        assert_int_equal(zkr__log_times(ZKR_LOG_ERROR, line), 2);
    }
}

#define HEAD "2026-11-28 02:45:48,496:3582(0x7fbd):ZOO_ERROR@f@1335: "
#define AT   HEAD "Socket 10.0.0.1:2181 zk retcode=-4, errno="

static const struct row {
    const char *name;
    const char *line;
    const char *server; /* "before:1": it names none */
    const char *text;
    enum zkr_cause cause;
} rows[] = {
    { "refused",
      AT "111(Connection refused): server refused to accept the client",
      "10.0.0.1:2181", "", ZKR_CAUSE_REFUSED },
    { "silent",
      AT "110(Connection timed out): connection to 10.0.0.1:2181 timed out "
         "(exceeded timeout by 0ms)",
      "10.0.0.1:2181", "", ZKR_CAUSE_SILENT },
    { "hung up",
      AT "112(Host is down): failed while receiving a server response",
      "10.0.0.1:2181", "", ZKR_CAUSE_HUNG_UP },
    { "reset", AT "104(Connection reset by peer): failed while receiving",
      "10.0.0.1:2181", "", ZKR_CAUSE_HUNG_UP },
    { "broken", AT "32(Broken pipe): failed while flushing send queue",
      "10.0.0.1:2181", "", ZKR_CAUSE_HUNG_UP },
    { "another error", AT "113(No route to host): connect() call failed",
      "10.0.0.1:2181", "No route to host", ZKR_CAUSE_UNREACHABLE },
    { "the end", AT "116(Stale file handle): sessionId=0x1 has expired.",
      "10.0.0.1:2181", "", ZKR_CAUSE_EXPIRED },
    { "no name", HEAD "getaddrinfo: Name or service not known\n", "before:1",
      "", ZKR_CAUSE_NAME },
    { "an expired certificate",
      AT "0(Success): error in ssl connect: certificate has expired",
      "10.0.0.1:2181", "", ZKR_CAUSE_CERTIFICATE_EXPIRED },
    { "the certificate of another",
      AT "0(Success): error in ssl connect: IP address mismatch",
      "10.0.0.1:2181", "", ZKR_CAUSE_CERTIFICATE_HOST },
    { "a handshake", AT "0(Success): error in ssl connect: unknown ca",
      "10.0.0.1:2181", "unknown ca", ZKR_CAUSE_TLS },
    { "a handshake, by Debian's client", AT "0(Success): error in ssl connect",
      "10.0.0.1:2181", "", ZKR_CAUSE_TLS },
    { "a password", HEAD "SASL authentication failed. rc=-115", "before:1", "",
      ZKR_CAUSE_CREDENTIALS },
    { "a login", AT "13(Permission denied): the login is refused (-115)",
      "10.0.0.1:2181", "", ZKR_CAUSE_CREDENTIALS },
    { "an attempt", HEAD "Initiated connection to server 10.0.0.2:2181",
      "10.0.0.2:2181", "", ZKR_CAUSE_NONE },
    { "none", HEAD "session establishment complete", "before:1", "",
      ZKR_CAUSE_NONE },
    { "cut", HEAD "Socket 10.0.0.1:2181", "before:1", "", ZKR_CAUSE_NONE },
};

/* Regression: why there was no connection stood in the log at most. */
TEST_ROWS(a_line_tells_of_a_fault, rows, row)
{
    struct zkr__zk_fault fault = { .server = "before:1", .text = "before" };

    assert_int_equal(zkr__fault_read(row->line, &fault),
                     row->cause != ZKR_CAUSE_NONE);
    assert_int_equal(fault.cause, row->cause);
    assert_string_equal(fault.server, row->server);
    assert_string_equal(fault.text,
                        row->cause != ZKR_CAUSE_NONE ? row->text : "before");
}
