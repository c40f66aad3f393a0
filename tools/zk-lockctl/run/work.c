/* SPDX-License-Identifier: Apache-2.0 */
/* The work under the lock, of a command or of a shell: signals, the lease, and
 * its end. */
#include "run/run.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/words.h"
#include "protocol/owner.h"

/* A question that only makes the words about a loss, or about a request, better
 * may take LIVES_MS. */
enum { KILL_AGAIN_MS = 50, LIVES_MS = 300 };

enum { WHY_LOST_MAX = ZKR_PATH_MAX + 64 + REASON_SHOWN_MAX };

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

/* -- until when the locks are ours, and why no more
 * ---------------------------- */

/* All of them are ours as long as each is. The states are in the order in which
 * they get worse. */
struct policy_view run_view_now(const struct run *run)
{
    const struct claim *c = &run->claim;
    struct policy_view view = { .state = ZKR_GRANT_HELD,
                                .valid_until_ms =
                                    c->count == 0 ? 0 : INT64_MAX };

    for (size_t i = 0; i < c->count; i++) {
        int64_t until_ms = zkr_grant_valid_until(c->grants[i]);
        enum zkr_grant_state_kind state = zkr_grant_state(c->grants[i]);

        if (until_ms < view.valid_until_ms)
            view.valid_until_ms = until_ms;
        if (state > view.state)
            view.state = state;
    }
    view.now_ms = clock_boot_ms();
    return view;
}

static bool is_deleted(zkr_grant *grant)
{
    enum zkr_loss loss = zkr_grant_loss(grant);

    return loss == ZKR_LOSS_DELETED || loss == ZKR_LOSS_REVOKED;
}

/* Why a lock is lost, as a part of a sentence. */
static const char *why_lost(const struct run *run, char why[WHY_LOST_MAX])
{
    zkr_grant *grant = claim_lost(&run->claim);

    if (grant == NULL)
        return "the lease ran out without an answer from the servers";
    /* The node of a session that has ended goes first; an answer of the leader
     * shows that it has not ended. */
    bool lives = is_deleted(grant) &&
                 zkr_session_sync(run->ctl->session, LIVES_MS) == ZKR_OK;
    if (!is_deleted(grant))
        return "the servers have ended the session";
    (void)snprintf(why, WHY_LOST_MAX, "%s, %s%s",
                   lives ? "somebody has deleted its node"
                         : "its node has gone",
                   zkr_grant_node(grant), run->reason);
    return why;
}

/* -- what is said --------------------------------------------------------- */

/* The desk tells it later, so it has the time. */
static void note_on_desk(struct desk *desk, const char *text)
{
    char at[WORD_MAX];

    (void)snprintf(desk->text, sizeof(desk->text), "at %s: %s",
                   word_time(clock_wall_ms(), at), text);
}

/* A reader of our stderr may be slow: while we waited for it, the guard would
 * end the command with the lease that it knows. */
static bool may_remark(const struct run *run)
{
    struct pollfd said = { .fd = STDERR_FILENO, .events = POLLOUT };

    return run->child.guard == NULL || poll(&said, 1, 0) != 0;
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
    if (code != 0)
        (void)lockctl_fail(code, "%s", text);
    else if (may_remark(run))
        lockctl_say(run->ctl, "%s", text);
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
                                            : why_lost(w->run, why),
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
    tell_all(w);
    if (w->run->ctl->verbose > 0)
        (void)run_tell(w->run, 0,
                       "the command has left processes behind: TERM to them");
    w->kill_ms = clock_boot_ms() + w->run->opts.policy.grace_ms;
    w->ends_rest = true;
}

/* Sends KILL where TERM is not enough, and again and again, also when the lease
 * has been proven since; returns when to look again. */
static int64_t see_to_end(struct work *w)
{
    if (w->run->holds)
        return w->child->ended ? clock_boot_ms() + KILL_AGAIN_MS : INT64_MAX;
    if (w->killed) {
        child_signal(w->child, SIGKILL, true);
        return clock_boot_ms() + KILL_AGAIN_MS;
    }
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

/* -- a request for the locks
 * --------------------------------------------------- */

static void on_written(int error, const struct zkr_reply *reply, void *user)
{
    (void)error;
    (void)reply;
    (void)user;
}

/* The request has replaced the record, by which others know whose the lock is:
 * it is written again, with a mark and the reason. When that fails they know
 * less. */
static void write_record(const struct run *run, zkr_grant *grant,
                         const char *reason)
{
    const char *record = zkr_grant_record(grant);
    json_t *json = json_loads(record, 0, NULL);
    char *text = NULL;

    (void)json_object_set_new(json, "asked", json_true());
    if (reason[0] != '\0')
        (void)json_object_set_new(json, "reason", json_string(reason));
    if (json != NULL)
        text = json_dumps(json, JSON_COMPACT);
    if (text != NULL)
        (void)!zkr_session_set_async(run->ctl->session, zkr_grant_node(grant),
                                     text, strlen(text), -1,
                                     run->ctl->timeout_ms, on_written, NULL);
    free(text);
    json_decref(json);
}

/* Reads the request in one of the nodes; false: there is none. */
static bool read_request(const struct run *run, zkr_grant *grant,
                         struct zkr__known_owner *owner)
{
    struct zkr_reply *reply = NULL;
    int rc = zkr_session_get(run->ctl->session, zkr_grant_node(grant), LIVES_MS,
                             &reply);

    if (rc == ZKR_OK)
        zkr__owner_read(owner, reply->data, reply->len);
    zkr_reply_free(reply);
    return rc == ZKR_OK && owner->is_asked && !owner->is_record;
}

/* Tells whether somebody has asked for the lock since; run->reason says why.
 * Where the request is to be ignored, the record comes back to its node. */
static bool is_asked(struct run *run)
{
    bool ignored = run->opts.on_revoke == REVOKE_IGNORE;
    struct zkr__known_owner owner;

    if (!atomic_exchange(&run->revoke_asked, false))
        return false;
    run->reason[0] = '\0'; /* of an earlier request */
    for (size_t i = 0; i < run->claim.count; i++) {
        if (!read_request(run, run->claim.grants[i], &owner))
            continue;
        if (owner.reason[0] != '\0')
            (void)snprintf(run->reason, sizeof(run->reason), ", \"%s\"",
                           owner.reason);
        if (ignored)
            write_record(run, run->claim.grants[i], owner.reason);
    }
    return true;
}

static void obey_revoke(struct work *w)
{
    struct run *run = w->run;

    if (!is_asked(run))
        return;
    if (run->opts.on_revoke == REVOKE_IGNORE) {
        (void)run_tell(run, 0, "somebody asks for the lock%s; ignored",
                       run->reason);
        return;
    }
    run->revoked = true;
    if (!run->holds) /* as in end_work() */
        tell_all(w);
    (void)run_tell(run, EX_REVOKED, "somebody asks for the lock%s%s",
                   run->reason, whom(w, SIGTERM));
    if (run->holds)
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
        struct signalfd_siginfo came[SIGNALS_MAX];

        /* Read before the command is looked at: what the guard tells later
         * makes a descriptor readable again, so we do not sleep. */
        size_t count = signals_read(&run->inherited, came);
        /* We may be stopped at any moment. After the signals: a CONT that is
         * passed on came before this look at the lease. Before the look: a
         * command that ends while we are stopped is not killed. */
        struct policy_view view = run_view_now(run);
        bool left = child_reap(w->child);
        say_refused(w);
        if (is_over(w, left))
            return;
        int64_t wake_ms = obey_policy(w, &view);
        obey_signals(w, came, count);
        obey_revoke(w);
        int64_t end_ms = see_to_end(w);
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

static void on_grant(zkr_grant *grant, const struct zkr_grant_event *event,
                     void *user)
{
    struct run *run = user;
    uint64_t one = 1;

    (void)grant;
    if (event->kind == ZKR_GRANT_REVOKE_REQUESTED)
        atomic_store(&run->revoke_asked, true);
    (void)!write(run->event_fd, &one, sizeof(one));
}

/* 0, or an exit code after it was said that the lease is too short to begin. */
static int check_lease(const struct run *run)
{
    struct policy_view view = run_view_now(run);
    struct policy policy = run->opts.policy;

    if (policy_next(&policy, &view).action == POLICY_NOTHING)
        return 0;
    return lockctl_fail(EX_RUN, "the lock was granted, but its lease is too "
                                "short to begin");
}

int run_work(struct run *run)
{
    struct work w = { .run = run,
                      .child = &run->child,
                      .state = ZKR_GRANT_HELD };
    int code = check_lease(run);

    if (code == 0)
        claim_listen(&run->claim, on_grant, run);
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
