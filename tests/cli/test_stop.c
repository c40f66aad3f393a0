/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the end of a verb that runs until a signal. */
#include "common/stop.h"

#include <signal.h>

#include <sys/wait.h>
#include <time.h>

#include "unit.h"

enum { LONG_MS = 3600000, SOON_S = 9 };

/* The signal came before the wait: the wait is over. The listener for signals
 * ends a process with 0 after a second. */
TEST(a_thread_that_was_asked_to_end_does_not_wait)
{
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        (void)alarm(60);
        stop_start();
        if (kill(getpid(), SIGTERM) != 0)
            _exit(1);
        while (stop_wait(10)) /* another thread takes the signal */
            continue;
        if (stop_wait(LONG_MS))
            _exit(2);
        stop_end();
        _exit(42);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 42);
}

/* A document that was being printed then is not whole, and 74 says so. Without
 * a signal it is the thread that ends which sets the limit. */
TEST(who_does_not_end_is_ended_after_a_second)
{
    for (int i = 0; i < 3; i++) {
        time_t since = time(NULL);
        int status;
        pid_t pid = fork();

        if (pid == 0) {
            if (i == 2)
                stop_soon();
            else
                stop_start();
            stop_printing(i == 1);
            if (i != 2)
                (void)kill(getpid(), SIGTERM);
            for (;;)
                (void)pause();
        }
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), i == 1 ? 74 : 0);
        assert_true(time(NULL) - since <= SOON_S);
    }
}
