/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the command under the lock: signals, the lease, and its end. */
#include "run/run.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include <sys/wait.h>
#include <unistd.h>

enum { KILL_AGAIN_MS = 50 };

/* The command while it runs. */
struct running {
    struct run *run;
    enum zkr_grant_state_kind state; /* of the lock, as last said */
    bool killed;    /* KILL was sent because of the lease, or overdue */
    bool refused;   /* it was said that a signal was not allowed */
    bool forced;    /* KILL was sent as TERM was not enough */
    bool ends_rest; /* what the ended command has left behind was told to end */
    int64_t kill_ms; /* when who was told to end is killed; 0: nobody was */
};

/* -- its beginning -------------------------------------------------------- */

static int start_command(struct run *run)
{
    char **env = run_env_new(run);
    struct guard_plan plan = { .argv = run->opts.argv,
                               .env = env,
                               .inherited = &run->inherited,
                               .job = &run->job };
    int64_t deadline_ms = run_view_now(run).valid_until_ms;
    int error = env != NULL ? child_start(&run->turn.child, &plan, deadline_ms)
                            : -ENOMEM;

    free(env);
    if (error == 0)
        return 0;
    if (error < 0)
        return lockctl_fail(EX_RUN, "the command cannot be started: %s",
                            strerror(-error));
    return lockctl_fail(error == ENOENT ? EX_NOT_FOUND : EX_NOT_EXECUTABLE,
                        "%s: %s", run->opts.argv[0], strerror(error));
}

/* -- its end -------------------------------------------------------------- */

/* To all that the command has started. */
static void signal_all(struct running *c, int sig)
{
    child_signal(&c->run->turn.child, sig, true);
}

static void say_refused(struct running *c)
{
    if (c->refused || !atomic_load(&c->run->turn.child.guard->refused))
        return;
    (void)lockctl_fail(EX_NOPERM,
                       "a process of the command belongs to another user: it "
                       "cannot be sent signals, and may outlive the lock");
    c->refused = true;
}

/* What follows a TERM that was sent. */
static void note_told(struct running *c)
{
    signal_all(c, SIGCONT); /* or it could not act on TERM */
    if (c->kill_ms == 0 && c->run->opts.kill_after_ms >= 0)
        c->kill_ms = clock_boot_ms() + c->run->opts.kill_after_ms;
}

/* The command has ended, but processes that it has started have not. */
static void tell_rest(struct running *c)
{
    if (c->run->ctl->verbose > 0)
        lockctl_say(c->run->ctl, "the command has left processes behind: "
                                 "TERM to them");
    signal_all(c, SIGTERM);
    signal_all(c, SIGCONT);
    c->kill_ms = clock_boot_ms() + c->run->opts.policy.grace_ms;
    c->ends_rest = true;
}

/* Sends KILL where TERM is not enough; returns when to look again. The lease
 * kills again and again by itself. */
static int64_t see_to_end(struct running *c)
{
    if (c->killed)
        return INT64_MAX;
    if (c->run->turn.child.ended && !c->ends_rest)
        tell_rest(c);
    if (c->kill_ms == 0)
        return INT64_MAX;
    if (clock_boot_ms() < c->kill_ms)
        return c->kill_ms;
    signal_all(c, SIGKILL);
    if (!c->ends_rest && !c->forced)
        lockctl_say(c->run->ctl,
                    "the command did not end within %lld ms of TERM: "
                    "KILL",
                    (long long)c->run->opts.kill_after_ms);
    c->forced = true;
    c->kill_ms = clock_boot_ms() + KILL_AGAIN_MS;
    return c->kill_ms;
}

/* -- the lease ------------------------------------------------------------ */

static void say_state(struct running *c, const struct policy_view *view)
{
    struct run *run = c->run;

    if (view->state == c->state)
        return;
    if (view->state == ZKR_GRANT_SUSPENDED)
        lockctl_say(run->ctl,
                    "no answer from the servers; the lock is ours for another "
                    "%lld ms",
                    (long long)(view->valid_until_ms - view->now_ms));
    if (view->state == ZKR_GRANT_HELD)
        lockctl_say(run->ctl, "the servers answer; the lock is still ours");
    c->state = view->state;
}

/* The lease of one that the guard has killed may have been proven since. */
static void say_lost(const struct run *run, const struct policy_view *view)
{
    char why[WHY_LOST_MAX];

    (void)lockctl_fail(EX_LOST, "LOCK LOST: %s; the command is killed",
                       policy_is_ours(view)
                           ? "zk-lockctl did not run until the lease was over"
                           : run_why_lost(run, why));
}

static void say_end(const struct run *run, enum policy_action action,
                    const struct policy_view *view)
{
    int64_t left_ms = view->valid_until_ms - POLICY_LEAD_MS - view->now_ms;
    bool overdue = run_is_overdue(run, view);

    if (action == POLICY_SEND_TERM)
        (void)lockctl_fail(overdue ? EX_OVERDUE : EX_LOST,
                           "%s: TERM to the command, KILL in %lld ms",
                           overdue ? "--max-hold is over"
                                   : "the lock is in danger",
                           (long long)left_ms);
    else if (overdue)
        (void)lockctl_fail(EX_OVERDUE,
                           "--max-hold is over; the command is killed");
    else
        say_lost(run, view);
}

/* Notes why the command is ended, and says so once. */
static void note_ending(struct running *c, enum policy_action action,
                        const struct policy_view *view)
{
    struct run *run = c->run;

    if (run_is_overdue(run, view))
        run->turn.overdue = true;
    else
        run->turn.lost = true;
    if (!c->killed)
        say_end(run, action, view);
    c->killed = c->killed || action == POLICY_SEND_KILL;
}

/* Does what the lease demands, and returns when to look again. It acts first
 * and speaks then: a reader of stderr may be slow. */
static int64_t obey_policy(struct running *c, const struct policy_view *view)
{
    struct run *run = c->run;
    struct policy_plan plan = policy_next(&run->opts.policy, view);

    if (view->valid_until_ms != 0)
        atomic_store(&run->turn.child.guard->deadline.at_ms,
                     view->valid_until_ms);
    if (plan.action != POLICY_NOTHING)
        signal_all(c, plan.action == POLICY_SEND_KILL ? SIGKILL : SIGTERM);
    if (plan.action == POLICY_SEND_TERM)
        note_told(c);
    say_state(c, view);
    if (plan.action != POLICY_NOTHING)
        note_ending(c, plan.action, view);
    return plan.action == POLICY_SEND_KILL ? view->now_ms + KILL_AGAIN_MS
                                           : plan.wake_ms;
}

/* Nothing is left of the command. The guard has killed it if we could not in
 * time. */
static void note_end(struct running *c)
{
    struct child *child = &c->run->turn.child;
    struct policy_view view = run_view_now(c->run);

    if (atomic_load(&child->guard->deadline.missed) && !c->killed &&
        WIFSIGNALED(child->status) && WTERMSIG(child->status) == SIGKILL)
        note_ending(c, POLICY_SEND_KILL, &view);
}

static void pass_on(struct running *c, int sig)
{
    struct run *run = c->run;
    struct child *child = &run->turn.child;

    if (sig == SIGCONT) {
        job_continue(&run->job, child);
        return;
    }
    if (sig == SIGTTIN || sig == SIGTTOU) {
        job_share_terminal(&run->job, child, sig);
        return;
    }
    if (sig == SIGTSTP)
        run->job.told_to_stop = true;
    if (sig == SIGTERM || sig == SIGINT || sig == SIGQUIT)
        run->turn.told_to_end = true;
    child_signal(child, sig, false);
    if (sig == SIGTERM)
        note_told(c);
    else if (signals_is_fatal(sig))
        child_signal(child, SIGCONT, false); /* or it could not */
}

static void pass_all_on(struct running *c, const sigset_t *arrived)
{
    for (int sig = 1; sig < SIGRTMIN; sig++) {
        if (sig != SIGCHLD && sigismember(arrived, sig) == 1)
            pass_on(c, sig);
    }
}

static void obey_revoke(struct running *c)
{
    struct run *run = c->run;

    if (!run_is_asked(run))
        return;
    if (run->opts.on_revoke == REVOKE_IGNORE) {
        lockctl_say(run->ctl, "somebody asks for the lock%s; ignored",
                    run->turn.reason);
        return;
    }
    lockctl_say(run->ctl, "somebody asks for the lock%s: TERM to the command",
                run->turn.reason);
    run->turn.revoked = true;
    signal_all(c, SIGTERM);
    note_told(c);
}

/* Tells whether processes that the command has left behind may work on. */
static bool may_stay(const struct run *run)
{
    return run->opts.keep_daemons && !run->turn.lost && !run->turn.overdue &&
           !run->turn.revoked;
}

static void watch_command(struct running *c)
{
    struct run *run = c->run;
    struct child *child = &run->turn.child;

    for (;;) {
        struct policy_view view;
        sigset_t arrived;
        int64_t wake_ms;
        int64_t end_ms;
        bool left;

        /* Read before the command is looked at: what the guard tells later
         * makes a descriptor readable again, so we do not sleep. */
        signals_collect(&run->inherited, &arrived);
        /* We may be stopped at any moment. After the signals: a CONT that is
         * passed on came before this look at the lease. Before the look: a
         * command that ends while we are stopped is not killed. */
        view = run_view_now(run);
        left = child_reap(child);
        say_refused(c);
        if (child->ended) {
            job_end(&run->job, child);
            if (may_stay(run) || !left) {
                note_end(c);
                return;
            }
        }
        wake_ms = obey_policy(c, &view);
        pass_all_on(c, &arrived);
        obey_revoke(c);
        if (!child->ended)
            job_stop(&run->job, child, c->kill_ms != 0);
        end_ms = see_to_end(c);
        (void)run_sleep(run, end_ms < wake_ms ? end_ms : wake_ms,
                        run->inherited.signal_fd, child->guard_fd);
    }
}

int run_command(struct run *run)
{
    struct running c = { .run = run, .state = ZKR_GRANT_HELD };
    int code = run_check_lease(run);

    if (code == 0)
        run_listen(run);
    if (code == 0)
        code = start_command(run);
    if (code == 0) {
        run->job.told_to_stop = false;
        watch_command(&c);
        if (run->turn.child.guard_killed)
            (void)lockctl_fail(EX_SIGNALED + SIGKILL,
                               "the guard of the command was killed, and the "
                               "command with it");
        child_done(&run->turn.child);
    }
    grants_listen(&run->turn.grants, NULL, NULL);
    return code;
}
