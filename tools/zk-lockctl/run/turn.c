/* SPDX-License-Identifier: Apache-2.0 */
/* A turn: from the wait for the lock to its release, and what is before and
 * after it. */
#include "run/run.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/stop.h"

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

void run_sleep(const struct run *run, int64_t wake_ms, int fd)
{
    struct pollfd fds[] = { { .fd = run->event_fd, .events = POLLIN },
                            { .fd = run->timer_fd, .events = POLLIN },
                            { .fd = run->inherited.signal_fd,
                              .events = POLLIN },
                            { .fd = fd, .events = POLLIN } };
    struct itimerspec when = { .it_value = { .tv_sec = wake_ms / 1000,
                                             .tv_nsec =
                                                 wake_ms % 1000 * 1000000 } };
    uint64_t count;

    (void)timerfd_settime(run->timer_fd, TFD_TIMER_ABSTIME, &when, NULL);
    (void)poll(fds, 4, -1);
    for (int i = 0; i < 2; i++) {
        if (fds[i].revents != 0)
            (void)!read(fds[i].fd, &count, sizeof(count));
    }
}

/* --- connecting: no longer than the user waits, and not in silence --- */

/* Until the user is told why there is no connection yet; and how long the
 * library takes to find out. */
enum { PATIENCE_MS = 1000, WHY_MS = 500 };

/* The grace must fit into what is left of the lease when TERM is due. */
static int set_policy(struct run *run)
{
    int64_t timeout_ms = zkr_session_timeout_ms(run->ctl->session);
    int64_t longest_ms = policy_longest_grace_ms(timeout_ms);
    int64_t grace_ms = run->opts.policy.grace_ms;

    if (grace_ms > longest_ms)
        return lockctl_fail(
            EX_USAGE,
            "--kill-grace %lld ms is too long: the servers grant a session "
            "timeout of %lld ms, and a sixth of it, %lld ms, is what the lease "
            "has to spare; --session-timeout %lldms would do, if the servers "
            "grant it",
            (long long)grace_ms, (long long)timeout_ms, (long long)longest_ms,
            (long long)grace_ms * 6);
    if (grace_ms < 0)
        run->opts.policy.grace_ms = policy_default_grace_ms(timeout_ms);
    return 0;
}

/* It takes no longer than the user waits; but a user who waits 100 ms for the
 * lock does not mean that a server must answer in that time. */
static void set_connecting(struct run *run)
{
    struct lockctl *ctl = run->ctl;
    int64_t wait_ms = run->opts.wait_ms;
    int64_t longest_ms =
        wait_ms - WHY_MS > PATIENCE_MS ? wait_ms - WHY_MS : PATIENCE_MS;

    ctl->patience_ms = PATIENCE_MS;
    ctl->connect_once = wait_ms == 0;
    ctl->connect_timeout_ms = ctl->timeout_ms;
    if (!ctl->timeout_given) /* one server may be silent: then the next */
        ctl->connect_timeout_ms += (int64_t)ctl->session_timeout_ms;
    if (wait_ms > 0 && longest_ms < ctl->connect_timeout_ms)
        ctl->connect_timeout_ms = longest_ms;
}

/* The servers bound what they grant. */
static void say_session_timeout(const struct run *run)
{
    uint32_t granted_ms = zkr_session_timeout_ms(run->ctl->session);

    if (run->opts.timeout_asked_ms != 0 &&
        run->opts.timeout_asked_ms != granted_ms)
        lockctl_say(run->ctl,
                    "--session-timeout: the servers grant %u ms, not %lld ms",
                    granted_ms, (long long)run->opts.timeout_asked_ms);
}

/* Their variables stay in the environment of a shell. */
static void forget_ended_holds(struct run *run)
{
    for (size_t i = run->around.count; i > 0; i--) {
        const struct around_item *item = &run->around.items[i - 1];
        struct desk *desk = item->pid == 0 ? NULL : desk_open(item);
        bool ended = desk == NULL || atomic_load(&desk->release) != DESK_KEPT;

        desk_close(desk);
        if (item->pid != 0 && ended)
            around_remove(&run->around, i - 1);
    }
}

static int connect_run(struct run *run)
{
    int64_t since_ms = clock_boot_ms();
    int code = lockctl_settle(run->ctl);

    if (code != 0)
        return code;
    set_connecting(run);
    around_read(&run->around, getenv(AROUND_VARIABLE));
    forget_ended_holds(run);
    run->ctl->proves_leases = true;
    if (run->around.count > 0)
        run->ctl->within = run->around.items[run->around.count - 1].session;
    code = lockctl_connect(run->ctl);
    if (code == 0 && run->opts.wait_ms > 0) {
        run->opts.wait_ms -= clock_boot_ms() - since_ms;
        if (run->opts.wait_ms < 0)
            run->opts.wait_ms = 0;
    }
    if (code == 0)
        say_session_timeout(run);
    if (code == 0)
        code = set_policy(run);
    /* Until now a signal may simply end us, because nothing is held. */
    if (code == 0 && inherited_take_signals(&run->inherited,
                                            run->holds ? DESK_RELEASE : 0) != 0)
        code = lockctl_fail(EX_RUN, "cannot take signals: %s", strerror(errno));
    return code;
}

/* --- the turn --- */

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
    struct policy_view view = run_view_now(run);
    bool in_time = view.now_ms < view.valid_until_ms;
    int rc = run->lost && !run->holds ? ZKR_OK : claim_release(&run->claim);

    if (run->worked && !run->lost && (!in_time || rc == ZKR_ELOST)) {
        run->lost = true;
        (void)run_tell(run, EX_LOST,
                       "LOCK LOST: it was not provably ours any more when %s",
                       run->holds ? "it was given back" : "the command ended");
    } else if (rc == ZKR_EPENDING) {
        (void)run_tell(run, run->holds ? EX_TEMPFAIL : 0,
                       "the servers do not say that the lock is given back; it "
                       "may stay taken for the session timeout, %u ms",
                       zkr_session_timeout_ms(run->ctl->session));
    } else if (rc != ZKR_OK && rc != ZKR_ELOST) {
        (void)run_tell(run, EX_TEMPFAIL, "%s%s", zkr_error_detail(),
                       lockctl_advice(rc));
    }
    return rc == ZKR_OK || rc == ZKR_ELOST;
}

/* The exit code for why the turn has ended, or another one. */
static int turn_code(const struct run *run, int otherwise)
{
    return run->lost      ? run->opts.lost_code
           : run->revoked ? EX_REVOKED
                          : otherwise;
}

static int take_turn(struct run *run)
{
    int code = run_wait(run); /* 0 also by -E 0 */

    if (run->claim.count == 0)
        return code;
    if (code == 0)
        code = run_work(run);
    bool given_back = give_back(run);
    if (!run->worked)
        return code;
    if (!run->holds)
        return turn_code(run, command_code(&run->child));
    code = turn_code(run, given_back ? 0 : EX_TEMPFAIL);
    atomic_store(&run->desk->release, code);
    return code;
}

int run_all(struct run *run)
{
    int code = prepare(run);

    if (code == 0) {
        code = connect_run(run);
        if (code == 0)
            code = take_turn(run);
    }
    claim_done(&run->claim);
    inherited_done(&run->inherited);
    /* This must not be mistaken for a command that has exited with this
     * number. */
    if (code == EX_SIGNALED + SIGINT &&
        (run->interrupted || WIFSIGNALED(run->child.status))) {
        lockctl_disconnect(run->ctl);
        signal_obey(SIGINT); /* a shell that runs a script would go on to its
                                next line after an exit status */
    }
    return code;
}
