/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the meaning of a stop of the command. */
#include <signal.h>

#include "run/job.h"
#include "texts.h"
#include "unit.h"

static const int all[] = { SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU };

/* clang-format off */
static const struct {
    const char *name;
    enum job_step step;
    struct job_view view;
} stops[] = {
    /* any process may have sent the stop: that one will continue the command */
    { "without a terminal", JOB_LEAVE, { .signal = SIGSTOP } },
    { "without a terminal, a key", JOB_LEAVE, { .signal = SIGTSTP } },
    { "without a terminal, as told", JOB_LEAVE, { .signal = SIGTSTP, .told = true } },
    { "it asks to read, and we have it", JOB_LEND, { .signal = SIGTTIN, .ours = true } },
    { "it asks to write", JOB_LEND, { .signal = SIGTTOU, .ours = true } },
    { "it asks again to read", JOB_LEND, { .signal = SIGTTIN, .ours = true, .lent = true } },
    { "it asks again to write", JOB_LEND, { .signal = SIGTTOU, .ours = true, .lent = true } },
    { "in the background it asks to read", JOB_STOP, { .signal = SIGTTIN } },
    { "in the background it asks to write", JOB_STOP, { .signal = SIGTTOU, .lent = true } },
    /* the key ^Z or the command itself: the shell wants its terminal back */
    { "it stops with the terminal", JOB_STOP, { .signal = SIGSTOP, .has = true } },
    { "by the key", JOB_STOP, { .signal = SIGTSTP, .has = true } },
    { "with a terminal that was lent", JOB_STOP, { .signal = SIGSTOP, .has = true, .lent = true } },
    { "the key in a pipeline", JOB_STOP, { .signal = SIGTSTP, .ours = true } },
    { "the key was passed on", JOB_STOP, { .signal = SIGTSTP, .ours = true, .told = true } },
    { "it stops itself for the key", JOB_STOP, { .signal = SIGSTOP, .ours = true, .told = true } },
    /* top(1) in a pipeline catches TTOU and stops itself by SIGSTOP */
    { "a stop that asks for the terminal", JOB_LEND, { .signal = SIGSTOP, .ours = true } },
    { "it had the terminal already", JOB_STOP, { .signal = SIGSTOP, .ours = true, .lent = true } },
    { "it asks while it should end", JOB_LEND, { .signal = SIGTTOU, .ours = true, .ending = true } },
};
/* clang-format on */

TEST_ROWS(what_follows_a_stop, stops, stop)
{
    assert_int_equal(job_next(&stop->view), stop->step);
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
}
