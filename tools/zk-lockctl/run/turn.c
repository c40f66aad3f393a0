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
#include "run/keep.h"

static bool prepare_for_command(struct run *run)
{
    tty_open(&run->tty);
    return prctl(PR_SET_CHILD_SUBREAPER, 1) == 0; /* see child_reap() */
}

static bool prepare_to_keep(struct run *run)
{
    run->killer = run_keep_guard(run);
    return run->killer != NULL;
}

/* Does what must be done before there are other threads. */
static int prepare(struct run *run)
{
    fds_fill_standard();
    run->inherited = fds_note();
    run->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    run->timer_fd = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
    if (run->inherited == NULL || run->event_fd < 0 || run->timer_fd < 0 ||
        !(run->keep == NULL ? prepare_for_command(run) : prepare_to_keep(run)))
        return lockctl_fail(EX_RUN, "cannot prepare: %s", strerror(errno));
    return run_status_check(run->opts.status_file);
}

static int command_code(const struct child *c)
{
    return WIFSIGNALED(c->status) ? EX_SIGNALED + WTERMSIG(c->status)
                                  : WEXITSTATUS(c->status);
}

/* A confirmed release proves nothing: the library reports the same for a
 * session that is over. The lease at the end of the command is a proof. */
static void give_back(struct run *run)
{
    int rc = run->turn.lost ? ZKR_OK
                            : claim_release(run->turn.claim, &run->turn.grants);

    run->turn.held_ms = clock_boot_ms() - run->turn.granted_ms;
    if (run->turn.lost)
        return;
    if (run->turn.child.ended &&
        (rc == ZKR_ELOST || !run->turn.ended_in_time)) {
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

static void forget(struct run *run)
{
    grants_free(&run->turn.grants);
    claim_free(run->turn.claim);
}

void run_begin_again(struct run *run)
{
    forget(run);
    run->turn = (struct turn){ .claim = NULL };
    run->policy.terminated = false;
}

static void clean_up(struct run *run)
{
    forget(run);
    killer_dismiss(run->killer);
    fds_free(run->inherited);
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
