/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the latch that keeps the client's io thread from ending a session.
 */
#include <signal.h>

#include "unit.h"
#include "zk/zk_latch.h"

/* The line as the client writes it, in both places. */
static const char connects[] =
    "2026-11-21 02:45:48,496:3582(0x7fbd):ZOO_INFO@check_events@2999: "
    "initiated connection to server 127.0.0.1:2181";
static const char connects_at_once[] =
    "2026-11-21 02:45:48,496:3582(0x7fbd):ZOO_INFO@zookeeper_interest@2611: "
    "Initiated connection to server 127.0.0.1:2181";

static atomic_int passed;

static void *io_main(void *line)
{
    zkr__latch_on_log(line);
    (void)atomic_fetch_add(&passed, 1);
    return NULL;
}

TEST(a_connecting_thread_waits_while_it_is_shut)
{
    static char other[] = "...:ZOO_ERROR@handle_socket_error_msg@2048: Socket";
    atomic_store(&passed, 0);
    zkr__latch_shut();
    pthread_t thread = thread_start(io_main, (char *)connects);
    thread_join(thread_start(io_main, other));
    for (int i = 0; i < 50; i++) /* for something not to happen */
        pass_a_moment();
    assert_int_equal(atomic_load(&passed), 1);
    zkr__latch_open();
    thread_join(thread);
    assert_int_equal(atomic_load(&passed), 2);
}

static bool has_answered(struct zkr__latch *latch)
{
    zkr__latch_shut();
    bool it_has = zkr__latch_has_answered(latch);
    zkr__latch_open();
    return it_has;
}

static void answered(struct zkr__latch *latch, unsigned connection)
{
    zkr__latch_shut();
    zkr__latch_answered(latch, connection);
    zkr__latch_open();
}

static void *own_main(void *arg)
{
    zkr__latch_own(arg);
    zkr__latch_on_log(connects_at_once);
    return NULL;
}

TEST(each_connection_has_to_answer)
{
    struct zkr__latch latch = { 0 }, other = { 0 };

    assert_false(has_answered(&latch));
    answered(&latch, 0); /* the first, of which nobody kept count */
    answered(&other, 0);
    assert_true(has_answered(&latch));
    thread_join(thread_start(own_main, &latch)); /* connects again */
    assert_false(has_answered(&latch));
    assert_true(has_answered(&other));
    answered(&latch, 0); /* too late */
    assert_false(has_answered(&latch));
    answered(&latch, 1);
    assert_true(has_answered(&latch));
}

static atomic_bool is_shut;

static void *shut_and_wait(void *forked)
{
    zkr__latch_shut();
    atomic_store(&is_shut, true);
    AWAIT(atomic_load((atomic_bool *)forked));
    zkr__latch_open();
    return NULL;
}

/* Otherwise no session that it opens would ever connect. */
TEST(a_child_finds_the_latch_open)
{
    atomic_bool forked = false;
    int status = 0;

    pthread_t thread = thread_start(shut_and_wait, &forked);
    AWAIT(atomic_load(&is_shut));
    pid_t pid = fork();
    if (pid == 0) { /* no exit: a leak checker would count */
        (void)alarm(5);
        zkr__latch_on_log(connects);
        (void)raise(SIGKILL);
    }
    atomic_store(&forked, true);
    thread_join(thread);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(WTERMSIG(status), SIGKILL);
}
