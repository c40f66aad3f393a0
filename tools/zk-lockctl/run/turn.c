/* SPDX-License-Identifier: Apache-2.0 */
/* A turn: from the wait for the lock to its release, and what is before and
 * after all turns. */
#include "run/run.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/one_signal.h"
static bool prepare_for_command(struct run *run)
{
    job_open(&run->job);
    return prctl(PR_SET_CHILD_SUBREAPER, 1) == 0; /* see child_reap() */
}

/* Does what must be done before there are other threads. */
static int prepare(struct run *run)
{
    inherited_fill_standard();
    run->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    run->timer_fd = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
    if (inherited_note(&run->inherited) != 0 || run->event_fd < 0 ||
        run->timer_fd < 0 ||
        !(run->keep == NULL ? prepare_for_command(run)
                            : (run->killer = killer_start(run)) != NULL))
        return lockctl_fail(EX_RUN, "cannot prepare: %s", strerror(errno));
    return run_status_check(run->opts.status_file);
}

static int command_code(const struct child *c)
{
    return WIFSIGNALED(c->status) ? EX_SIGNALED + WTERMSIG(c->status)
                                  : WEXITSTATUS(c->status);
}

int run_release(struct run *run, bool *ret_proven)
{
    bool in_time = clock_boot_ms() < grants_valid_until(&run->turn.grants);
    int rc = claim_release(run->turn.claim);

    *ret_proven = in_time && rc != ZKR_ELOST;
    return rc;
}

static void give_back(struct run *run)
{
    bool proven = true;
    int rc = run->turn.lost ? ZKR_OK : run_release(run, &proven);

    run->turn.held_ms = clock_boot_ms() - run->turn.granted_ms;
    if (run->turn.child.ended && !proven) {
        run->turn.lost = true;
        (void)lockctl_fail(EX_LOST, "LOCK LOST: it was not provably ours any "
                                    "more when the command ended");
    } else if (rc == ZKR_EPENDING) {
        lockctl_say(run->ctl,
                    "the servers do not say that the lock is given back; it "
                    "may stay taken for the session timeout, %u ms",
                    zkr_session_timeout_ms(run->ctl->session));
    } else if (rc != ZKR_OK && rc != ZKR_ELOST) {
        (void)lockctl_fail_zkr(rc);
    }
}

int run_code(const struct run *run, int otherwise)
{
    return run->turn.lost      ? run->opts.lost_code
           : run->turn.overdue ? EX_OVERDUE
           : run->turn.revoked ? EX_REVOKED
                               : otherwise;
}

int run_turn(struct run *run)
{
    int code = run_wait(run); /* 0 also by -E 0 */

    if (run->turn.grants.count > 0) {
        if (code == 0)
            code = run_command(run);
        give_back(run);
    }
    if (!run->turn.child.ended)
        return code;
    return run_code(run, command_code(&run->turn.child));
}

void run_begin_again(struct run *run)
{
    claim_free(run->turn.claim);
    run->turn = (struct turn){ .claim = NULL };
    run->opts.policy.terminated = false;
}

static void clean_up(struct run *run)
{
    claim_free(run->turn.claim);
    killer_dismiss(run->killer);
    inherited_done(&run->inherited);
}

int run_all(struct run *run, int turns(struct run *run))
{
    int code = prepare(run);

    if (code == 0) {
        code = run_connect(run);
        if (code == 0)
            code = turns(run);
        if (run_status_write(run, code) != 0 && code == 0)
            code = EX_CANTCREAT;
    }
    clean_up(run);
    /* This must not be mistaken for a command that has exited with this
     * number. */
    if (code == EX_SIGNALED + SIGINT &&
        (run->turn.interrupted || WIFSIGNALED(run->turn.child.status))) {
        lockctl_disconnect(run->ctl);
        signal_obey(SIGINT); /* a shell that runs a script would go on to its
                                next line after an exit status */
    }
    return code;
}
