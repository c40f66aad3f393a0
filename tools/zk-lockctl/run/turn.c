/* SPDX-License-Identifier: Apache-2.0 */
/* A turn: from the wait for the lock to its release, and what is before and
 * after it. */
#include "run/hold.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/one_signal.h"

/* Keys and the shell then see one job, of us and the command. */
static bool has_terminal(void)
{
    int fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);

    return fd >= 0 && close(fd) == 0;
}

/* Does what must be done before there are other threads. */
static int prepare(struct run *run)
{
    inherited_fill_standard();
    run->joins = has_terminal();
    run->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    run->timer_fd = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
    if (inherited_note(&run->inherited) != 0 || run->event_fd < 0 ||
        run->timer_fd < 0 ||
        prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) /* see child_reap() */
        return lockctl_fail(EX_RUN, "cannot prepare: %s", strerror(errno));
    return 0;
}

static int command_code(const struct child *c)
{
    return WIFSIGNALED(c->status) ? EX_SIGNALED + WTERMSIG(c->status)
                                  : WEXITSTATUS(c->status);
}

/* Of a command that has lost its locks the end of the session gives them back.
 * Tells whether the servers have said that they are given back. A confirmed
 * release proves no more: the library reports the same for a session that is
 * over. The lease is a proof that they were ours until then. */
static bool give_back(struct run *run)
{
    struct turn *turn = &run->turn;
    bool in_time = clock_boot_ms() < grants_valid_until(&turn->grants);
    int rc =
        turn->lost && run->hold == NULL ? ZKR_OK : claim_release(turn->claim);

    if (turn->worked && !turn->lost && (!in_time || rc == ZKR_ELOST)) {
        turn->lost = true;
        (void)run_tell(run, EX_LOST,
                       "LOCK LOST: it was not provably ours any more when %s",
                       run->hold != NULL ? "it was given back"
                                         : "the command ended");
    } else if (rc == ZKR_EPENDING) {
        (void)run_tell(run, run->hold != NULL ? EX_TEMPFAIL : 0,
                       "the servers do not say that the lock is given back; it "
                       "may stay taken for the session timeout, %u ms",
                       zkr_session_timeout_ms(run->ctl->session));
    } else if (rc != ZKR_OK && rc != ZKR_ELOST) {
        (void)lockctl_fail_zkr(rc);
    }
    return rc == ZKR_OK || rc == ZKR_ELOST;
}

/* The exit code for why the turn has ended, or another one. */
static int turn_code(const struct run *run, int otherwise)
{
    return run->turn.lost      ? run->opts.lost_code
           : run->turn.revoked ? EX_REVOKED
                               : otherwise;
}

static int take_turn(struct run *run)
{
    int code = run_wait(run); /* 0 also by -E 0 */
    bool given_back;

    if (run->turn.grants.count == 0)
        return code;
    if (code == 0)
        code = run_work(run);
    given_back = give_back(run);
    if (!run->turn.worked)
        return code;
    if (run->hold == NULL)
        return turn_code(run, command_code(&run->turn.child));
    code = turn_code(run, given_back ? 0 : EX_TEMPFAIL);
    atomic_store(&run->hold->desk->release, code);
    return code;
}

static void clean_up(struct run *run)
{
    claim_free(run->turn.claim);
    inherited_done(&run->inherited);
}

int run_all(struct run *run)
{
    int code = prepare(run);

    if (code == 0) {
        code = run_connect(run);
        if (code == 0)
            code = take_turn(run);
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
