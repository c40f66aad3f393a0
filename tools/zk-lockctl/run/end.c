/* SPDX-License-Identifier: Apache-2.0 */
/* Ends a command that was told to end and does not, and the processes that it
 * leaves behind. */
#include "run/end.h"

#include <signal.h>

#include "common/now.h"

enum { KILL_AGAIN_MS = 50 };

void end_signal_all(struct end *e, int sig)
{
    if (sig == SIGCONT)
        e->child->stopped_by = 0;
    child_signal_all(e->child, sig);
}

void end_say_refused(struct end *e)
{
    if (!e->child->refused || e->refused)
        return;
    (void)lockctl_fail(EX_NOPERM,
                       "a process of the command belongs to another user: it "
                       "cannot be sent signals, and may outlive the lock");
    e->refused = true;
}

void end_told(struct end *e)
{
    end_signal_all(e, SIGCONT); /* or it could not act on TERM */
    if (e->kill_ms == 0 && e->kill_after_ms >= 0)
        e->kill_ms = clock_boot_ms() + e->kill_after_ms;
}

/* The command has not ended though it was told to. */
static int64_t end_command(struct end *e)
{
    int64_t now_ms = clock_boot_ms();

    if (e->kill_ms == 0)
        return INT64_MAX;
    if (now_ms < e->kill_ms)
        return e->kill_ms;
    end_signal_all(e, SIGKILL);
    if (!e->forced)
        lockctl_say(e->ctl,
                    "the command did not end within %lld ms of TERM: "
                    "KILL",
                    (long long)e->kill_after_ms);
    e->forced = true;
    e->kill_ms = now_ms + KILL_AGAIN_MS;
    return e->kill_ms;
}

/* The command has ended, but processes that it has started have not. */
static int64_t end_rest(struct end *e)
{
    int64_t now_ms = clock_boot_ms();

    if (e->kill_rest_ms == 0) {
        if (e->ctl->verbose > 0)
            lockctl_say(e->ctl, "the command has left processes behind: "
                                "TERM to them");
        end_signal_all(e, SIGTERM);
        end_signal_all(e, SIGCONT);
        e->kill_rest_ms = now_ms + e->grace_ms;
    } else if (now_ms >= e->kill_rest_ms) {
        end_signal_all(e, SIGKILL);
        e->kill_rest_ms = now_ms + KILL_AGAIN_MS;
    }
    return e->kill_rest_ms;
}

int64_t end_see_to(struct end *e)
{
    return e->child->ended ? end_rest(e) : end_command(e);
}
