/* SPDX-License-Identifier: Apache-2.0 */
/* The work under the lock, of a command or of a shell: signals, the lease, and
 * its end. */
#include "run/run.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sys/wait.h>
#include <unistd.h>

#include "common/words.h"

enum { KILL_AGAIN_MS = 50 };

/* The work while it goes on. */
struct work {
    struct run *run;
    struct child *child;
    enum zkr_grant_state_kind state; /* of the lock, as last said */
    bool killed;                     /* KILL was sent because of the lease */
    bool refused;   /* it was said that a signal was not allowed */
    bool forced;    /* KILL was sent as TERM was not enough */
    bool ends_rest; /* what the ended command has left behind was told to end */
    bool given_back; /* the shell has asked for that */
    int64_t kill_ms; /* when who was told to end is killed; 0: nobody was */
};

/* -- what is said --------------------------------------------------------- */

/* The desk tells it later, so it has the time. */
static void note_on_desk(struct desk *desk, const char *text)
{
    char at[WORD_MAX];

    (void)snprintf(desk->text, sizeof(desk->text), "at %s: %s",
                   word_time(clock_wall_ms(), at), text);
}

int run_tell(const struct run *run, int code, const char *format, ...)
{
    bool told = run->holds && run->worked;
    char text[WHY_LOST_MAX + LOCKCTL_WHY_MAX];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    if (told)
        shell_speak(&run->shell);
    if (code == 0)
        lockctl_say(run->ctl, "%s", text);
    else
        (void)lockctl_fail(code, "%s", text);
    if (told)
        shell_silence();
    if (told && code != 0)
        note_on_desk(run->desk, text);
    return code;
}

/* Who is sent a signal, as the end of a sentence. */
static const char *whom(const struct work *w, int sig)
{
    return w->run->holds    ? shell_whom(sig)
           : sig == SIGKILL ? "; KILL to the command"
                            : "; TERM to the command";
}

static void say_refused(struct work *w)
{
    if (w->refused || !atomic_load(&w->child->guard->refused))
        return;
    w->refused = true;
    (void)run_tell(w->run, EX_NOPERM,
                   "a process of the command belongs to another user: it "
                   "cannot be sent signals, and may outlive the lock");
}

/* A shell is told of losses only. */
static void say_state(struct work *w, const struct policy_view *view)
{
    char why[LOCKCTL_WHY_MAX];

    if (view->state == w->state || w->run->holds)
        return;
    if (view->state == ZKR_GRANT_SUSPENDED)
        (void)run_tell(w->run, 0,
                       "no answer from the servers; the lock is ours for "
                       "another %lld ms%s",
                       (long long)(view->valid_until_ms - view->now_ms),
                       lockctl_why(w->run->ctl, why));
    if (view->state == ZKR_GRANT_HELD)
        (void)run_tell(w->run, 0, "the servers answer; the lock is still ours");
    w->state = view->state;
}

/* The lease of one that the guard has killed may have been proven since. */
static void say_end(const struct work *w, int sig, enum policy_action action,
                    const struct policy_view *view)
{
    char why[WHY_LOST_MAX];
    char cause[LOCKCTL_WHY_MAX];

    if (action == POLICY_SEND_TERM)
        (void)run_tell(w->run, EX_LOST,
                       "%sno answer from the servers, and the lease ends in "
                       "%lld ms%s%s",
                       w->run->holds ? "LOCK LOST: " : "",
                       (long long)(view->valid_until_ms - view->now_ms),
                       lockctl_why(w->run->ctl, cause), whom(w, sig));
    else
        (void)run_tell(w->run, EX_LOST, "LOCK LOST: %s%s",
                       policy_is_ours(view) ? "zk-lockctl did not run until "
                                              "the lease was over"
                                            : run_why_lost(w->run, why),
                       whom(w, sig));
}

/* -- its end -------------------------------------------------------------- */

/* TERM to all, and what follows. A stopped command could not act on it. */
static void tell_all(struct work *w)
{
    child_signal(w->child, SIGTERM, true);
    if (w->run->holds)
        return;
    child_signal(w->child, SIGCONT, true);
    if (w->kill_ms == 0)
        w->kill_ms = clock_boot_ms() + w->run->opts.kill_after_ms;
}

/* The command has ended, but processes that it has started have not. */
static void tell_rest(struct work *w)
{
    if (w->run->ctl->verbose > 0)
        (void)run_tell(w->run, 0,
                       "the command has left processes behind: TERM to them");
    tell_all(w);
    w->kill_ms = clock_boot_ms() + w->run->opts.policy.grace_ms;
    w->ends_rest = true;
}

/* Sends KILL where TERM is not enough; returns when to look again. The lease
 * kills again and again by itself. */
static int64_t see_to_end(struct work *w)
{
    if (w->run->holds)
        return w->child->ended ? clock_boot_ms() + KILL_AGAIN_MS : INT64_MAX;
    if (w->killed)
        return INT64_MAX;
    if (w->child->ended && !w->ends_rest)
        tell_rest(w);
    if (w->kill_ms == 0)
        return INT64_MAX;
    if (clock_boot_ms() < w->kill_ms)
        return w->kill_ms;
    child_signal(w->child, SIGKILL, true);
    if (!w->ends_rest && !w->forced)
        (void)run_tell(w->run, 0,
                       "the command did not end within %lld ms of TERM: KILL",
                       (long long)w->run->opts.kill_after_ms);
    w->forced = true;
    w->kill_ms = clock_boot_ms() + KILL_AGAIN_MS;
    return w->kill_ms;
}

/* -- the lease ------------------------------------------------------------ */

/* Notes why the work is ended, and says so: of a command before TERM and before
 * KILL, to a shell once. */
static void note_ending(struct work *w, enum policy_action action, int sig,
                        const struct policy_view *view)
{
    bool said = w->run->holds ? atomic_load(&w->child->guard->told) : w->killed;

    w->run->lost = true;
    if (!said)
        say_end(w, sig, action, view);
    w->killed = w->killed || action == POLICY_SEND_KILL;
    if (!w->run->holds)
        return;
    atomic_store(&w->run->desk->check, EX_LOST);
    atomic_store(&w->child->guard->told, true);
}

/* The guard acts when we do not run at the end of the lease; it has told a
 * shell. */
static void obey_guard(struct work *w, const struct policy_view *view)
{
    struct guard *g = w->child->guard;

    if (view->valid_until_ms != 0)
        atomic_store(&g->deadline_ms, view->valid_until_ms);
    if (!w->run->holds)
        return;
    atomic_store(&w->run->desk->valid_until_ms, view->valid_until_ms);
    if (!atomic_load(&g->missed) || w->run->lost)
        return;
    w->run->lost = true;
    note_on_desk(w->run->desk, "LOCK LOST: the process that kept it did not "
                               "run until the lease was over");
    atomic_store(&w->run->desk->check, EX_LOST);
}

/* A shell is told before it gets a signal: it may have no stderr then. A
 * command gets the signal first: a reader of our stderr may be slow. */
static void end_work(struct work *w, enum policy_action action,
                     const struct policy_view *view)
{
    int last = w->run->opts.last;
    int sig = action == POLICY_SEND_TERM && last != 0 ? SIGTERM : last;
    bool told = atomic_load(&w->child->guard->told);

    if (w->run->holds)
        note_ending(w, action, sig, view);
    if (sig == SIGKILL)
        child_signal(w->child, SIGKILL, true);
    else if (sig != 0 && (!w->run->holds || !told))
        tell_all(w);
    if (w->run->holds)
        return;
    say_state(w, view);
    note_ending(w, action, sig, view);
}

/* Does what the lease demands, and returns when to look again. What may still
 * be ours is kept while the shell lives, also after a loss. */
static int64_t obey_policy(struct work *w, const struct policy_view *view)
{
    struct run *run = w->run;
    struct policy_plan plan = policy_next(&run->opts.policy, view);

    obey_guard(w, view);
    if (plan.action == POLICY_NOTHING) {
        say_state(w, view);
        return plan.wake_ms;
    }
    end_work(w, plan.action, view);
    if (plan.action == POLICY_SEND_TERM)
        return plan.wake_ms;
    return w->run->holds && run->opts.last != SIGKILL
               ? INT64_MAX
               : view->now_ms + KILL_AGAIN_MS;
}

static void obey_revoke(struct work *w)
{
    struct run *run = w->run;

    if (!run_is_asked(run))
        return;
    if (run->opts.on_revoke == REVOKE_IGNORE) {
        (void)run_tell(run, 0, "somebody asks for the lock%s; ignored",
                       run->reason);
        return;
    }
    run->revoked = true;
    (void)run_tell(run, EX_REVOKED, "somebody asks for the lock%s%s",
                   run->reason, whom(w, SIGTERM));
    tell_all(w);
}

/* -- signals to us -------------------------------------------------------- */

/* All of a job stop, when a key says so, or when one of them wants the terminal
 * and the shell has it. Where nobody would continue us, nobody stops. */
static void stop_with_job(struct work *w, int sig)
{
    if (!signals_stop_us() && sig == SIGTSTP)
        child_signal(w->child, SIGCONT, false);
}

static void pass_on(struct work *w, int sig, bool by_terminal)
{
    struct run *run = w->run;

    if (!run->joins || !by_terminal)
        child_signal(w->child, sig, false);
    if (signals_is_fatal(sig))
        child_signal(w->child, SIGCONT, false); /* or it could not */
    if (sig == SIGTERM && w->kill_ms == 0)
        w->kill_ms = clock_boot_ms() + run->opts.kill_after_ms;
    if (run->joins && (sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU))
        stop_with_job(w, sig);
}

/* Those of a shell are not for it: it would not know. */
static void obey_signals(struct work *w, const struct signalfd_siginfo *came,
                         size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int sig = (int)came[i].ssi_signo;

        if (w->run->holds)
            w->given_back = w->given_back || sig == DESK_RELEASE;
        else if (sig != SIGCHLD)
            pass_on(w, sig, came[i].ssi_code == SI_KERNEL);
    }
}

/* -- all ------------------------------------------------------------------ */

/* Tells whether processes that the command has left behind may work on. */
static bool may_stay(const struct run *run)
{
    return run->opts.keep_daemons && !run->lost && !run->revoked;
}

/* Notes the end of a command that the guard has killed, if we could not in
 * time. */
static void note_end(struct work *w)
{
    struct policy_view view = run_view_now(w->run);

    if (atomic_load(&w->child->guard->missed) && !w->killed &&
        WIFSIGNALED(w->child->status) && WTERMSIG(w->child->status) == SIGKILL)
        note_ending(w, POLICY_SEND_KILL, SIGKILL, &view);
}

/* What an ended shell has started is to be killed yet, with --on-loss=kill. */
static bool is_over(struct work *w, bool left)
{
    struct run *run = w->run;

    if (w->run->holds) {
        bool kills = run->opts.last == SIGKILL && run->lost;

        return w->given_back || (w->child->ended && !(kills && left));
    }
    return w->child->ended && (may_stay(run) || !left);
}

static void watch(struct work *w)
{
    struct run *run = w->run;

    for (;;) {
        struct policy_view view;
        struct signalfd_siginfo came[SIGNALS_MAX];
        size_t count;
        int64_t wake_ms;
        int64_t end_ms;
        bool left;

        /* Read before the command is looked at: what the guard tells later
         * makes a descriptor readable again, so we do not sleep. */
        count = signals_read(&run->inherited, came);
        /* We may be stopped at any moment. After the signals: a CONT that is
         * passed on came before this look at the lease. Before the look: a
         * command that ends while we are stopped is not killed. */
        view = run_view_now(run);
        left = child_reap(w->child);
        say_refused(w);
        if (is_over(w, left))
            return;
        wake_ms = obey_policy(w, &view);
        obey_signals(w, came, count);
        obey_revoke(w);
        end_ms = see_to_end(w);
        if (!w->given_back)
            run_sleep(run, end_ms < wake_ms ? end_ms : wake_ms,
                      w->child->news_fd);
    }
}

static int start_command(struct run *run)
{
    char **env = run_env_new(run);
    struct guard_plan plan = { .argv = run->opts.argv,
                               .env = env,
                               .inherited = &run->inherited,
                               .group = run->joins ? getpgrp() : 0,
                               .last = SIGKILL };
    int64_t deadline_ms = run_view_now(run).valid_until_ms;
    int error =
        env != NULL ? child_start(&run->child, &plan, deadline_ms) : -ENOMEM;

    free(env);
    if (error == 0)
        return 0;
    if (error < 0)
        return lockctl_fail(EX_RUN, "the command cannot be started: %s",
                            strerror(-error));
    return lockctl_fail(error == ENOENT ? EX_NOT_FOUND : EX_NOT_EXECUTABLE,
                        "%s: %s", run->opts.argv[0], strerror(error));
}

int run_work(struct run *run)
{
    struct work w = { .run = run,
                      .child = &run->child,
                      .state = ZKR_GRANT_HELD };
    int code = run_check_lease(run);

    if (code == 0)
        run_listen(run);
    if (code == 0)
        code = run->holds ? hold_begin(run) : start_command(run);
    if (code == 0) {
        run->worked = true;
        watch(&w);
        if (!run->holds)
            note_end(&w);
        if (w.child->guard_killed)
            (void)lockctl_fail(EX_SIGNALED + SIGKILL,
                               "the guard of the command was killed, and the "
                               "command with it");
    }
    if (w.child->guard != NULL)
        child_done(w.child);
    claim_listen(&run->claim, NULL, NULL);
    return code;
}
