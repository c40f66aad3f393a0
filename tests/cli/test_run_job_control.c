/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the meaning of a stop of the command. */
#include <signal.h>

#include "run/job.h"
#include "texts.h"
#include "unit.h"

static const int all[] = { SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU };

#define NEXT(...) job_next(&(struct job_view){ __VA_ARGS__ })

/* Without a terminal any process may have sent the stop: that one will continue
 * the command. */
TEST(without_a_terminal_nothing_follows)
{
    assert_int_equal(NEXT(.signal = SIGSTOP), JOB_LEAVE);
    assert_int_equal(NEXT(.signal = SIGTSTP), JOB_LEAVE);
    assert_int_equal(NEXT(.signal = SIGTSTP, .told = true), JOB_LEAVE);
}

TEST(a_command_that_asks_gets_our_terminal)
{
    for (int lent = 0; lent <= 1; lent++) {
        assert_int_equal(NEXT(.signal = SIGTTIN, .ours = true, .lent = lent),
                         JOB_LEND);
        assert_int_equal(NEXT(.signal = SIGTTOU, .ours = true, .lent = lent),
                         JOB_LEND);
    }
}

TEST(a_command_that_asks_in_the_background_is_a_stopped_job)
{
    assert_int_equal(NEXT(.signal = SIGTTIN), JOB_STOP);
    assert_int_equal(NEXT(.signal = SIGTTOU, .lent = true), JOB_STOP);
}

/* The key ^Z or the command itself stops it: the shell wants its terminal
 * back. */
TEST(a_command_that_stops_with_the_terminal_is_a_stopped_job)
{
    assert_int_equal(NEXT(.signal = SIGSTOP, .has = true), JOB_STOP);
    assert_int_equal(NEXT(.signal = SIGTSTP, .has = true), JOB_STOP);
    assert_int_equal(NEXT(.signal = SIGSTOP, .has = true, .lent = true),
                     JOB_STOP);
}

TEST(the_key_for_stopping_is_passed_on_in_a_pipeline)
{
    assert_int_equal(NEXT(.signal = SIGTSTP, .ours = true), JOB_STOP);
    assert_int_equal(NEXT(.signal = SIGTSTP, .ours = true, .told = true),
                     JOB_STOP);
    assert_int_equal(NEXT(.signal = SIGSTOP, .ours = true, .told = true),
                     JOB_STOP);
}

/* top(1) in a pipeline catches TTOU and stops itself by SIGSTOP. */
TEST(a_stop_may_ask_for_the_terminal)
{
    assert_int_equal(NEXT(.signal = SIGSTOP, .ours = true), JOB_LEND);
    assert_int_equal(NEXT(.signal = SIGSTOP, .ours = true, .lent = true),
                     JOB_STOP); /* it had the terminal already */
}

/* The tool may have to send KILL, so it must not stop. */
TEST(while_it_should_end_no_job_stops)
{
    for (size_t i = 0; i < COUNT(all); i++) {
        for (int bits = 0; bits < 16; bits++) {
            struct job_view view = { .signal = all[i],
                                     .has = (bits & 1) != 0,
                                     .ours = (bits & 2) != 0,
                                     .lent = (bits & 4) != 0,
                                     .told = (bits & 8) != 0,
                                     .ending = true };

            assert_int_not_equal(job_next(&view), JOB_STOP);
        }
    }
    assert_int_equal(NEXT(.signal = SIGTTOU, .ours = true, .ending = true),
                     JOB_LEND);
}
