/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the end of a log hook: when another one has been set, it is not
 * running and is not called any more. */
#include "unit.h"

#include <sched.h>
#include <semaphore.h>

#include <sys/wait.h>

#include "base/log.h"

/* Long enough for a call that does not wait to return first. */
#define TURNS 10000

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
    assert_int_equal(atomic_load(&lines), 2);
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
    int status = 1;

    if (pid == 0) {
        zkr_log_set(ZKR_LOG_ERROR, count, NULL);
        (void)write_line(NULL);
        _exit(atomic_load(&lines) == 2 ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
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
    }
    assert_int_equal(zkr__log_times(ZKR_LOG_ERROR, line), 1);
    zkr_log_set(ZKR_LOG_DEBUG, count, NULL); /* it has been told of none */
    assert_int_equal(zkr__log_times(ZKR_LOG_ERROR, line), 1);
}
