/* SPDX-License-Identifier: Apache-2.0 */
/* Ends a command that was told to end and does not, and the processes that it
 * leaves behind. */
#include "run/run.h"

#include <signal.h>

enum { KILL_AGAIN_MS = 50 };

void run_signal_all(struct run *run, int sig)
{
    if (sig == SIGCONT)
        run->child.stopped_by = 0;
    child_signal_all(&run->child, sig);
}

void run_say_refused(struct run *run)
{
    if (!run->child.refused || run->refused)
        return;
    (void)lockctl_fail(EX_NOPERM,
                       "a process of the command belongs to another user: it "
                       "cannot be sent signals, and may outlive the lock");
    run->refused = true;
}

void run_told_to_end(struct run *run)
{
    run_signal_all(run, SIGCONT); /* or it could not act on TERM */
    if (run->kill_ms == 0 && run->opts.kill_after_ms >= 0)
        run->kill_ms = clock_boot_ms() + run->opts.kill_after_ms;
}

/* The command has not ended though it was told to. */
static int64_t end_command(struct run *run)
{
    int64_t now_ms = clock_boot_ms();

    if (run->kill_ms == 0)
        return INT64_MAX;
    if (now_ms < run->kill_ms)
        return run->kill_ms;
    run_signal_all(run, SIGKILL);
    if (!run->forced)
        lockctl_say(run->ctl,
                    "the command did not end within %lld ms of TERM: "
                    "KILL",
                    (long long)run->opts.kill_after_ms);
    run->forced = true;
    run->kill_ms = now_ms + KILL_AGAIN_MS;
    return run->kill_ms;
}

/* The command has ended, but processes that it has started have not. */
static int64_t end_rest(struct run *run)
{
    int64_t now_ms = clock_boot_ms();

    if (run->kill_rest_ms == 0) {
        if (run->ctl->verbose > 0)
            lockctl_say(run->ctl, "the command has left processes behind: "
                                  "TERM to them");
        run_signal_all(run, SIGTERM);
        run_signal_all(run, SIGCONT);
        run->kill_rest_ms = now_ms + run->policy.grace_ms;
    } else if (now_ms >= run->kill_rest_ms) {
        run_signal_all(run, SIGKILL);
        run->kill_rest_ms = now_ms + KILL_AGAIN_MS;
    }
    return run->kill_rest_ms;
}

int64_t run_see_to_end(struct run *run)
{
    if (run->killed) /* by the lease, again and again */
        return INT64_MAX;
    return run->child.ended ? end_rest(run) : end_command(run);
}
