/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps locks for a shell: it says on its desk how they are, tells the shell of
 * their loss, and gives them back. Signals do not end it: the shell would not
 * know. */
#include "run/keep.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sys/signalfd.h>
#include <unistd.h>

#include "common/shell.h"
#include "common/whole_file.h"
#include "common/words.h"
#include "run/desk.h"
#include "run/label.h"
#include "run/proc.h"

enum { KILL_AGAIN_MS = 50 };

struct keeper {
    struct run *run;
    const struct script *script;
    char name[ZKR_LABEL_MAX + 1]; /* of the shell */
    struct started started;       /* what was told to end */
    struct desk *desk;            /* NULL: in the guard */
    int release_fd;               /* for DESK_RELEASE */
    bool given_back;
    bool is_guard; /* of a keeper that lives */
    bool done;
    char why[WHY_LOST_MAX + 64]; /* the sentence of its end */
};

/* -- the code for the shell ----------------------------------------------- */

/* export NAME='VALUE'; for each variable that tells of a lock. A newline alone
 * would not end a command when the quotes around "$(...)" are missing. */
static bool write_exports(FILE *code, char *const *env)
{
    for (; *env != NULL; env++) {
        size_t len = strcspn(*env, "=");
        char *value;

        if (strncmp(*env, "ZKLOCK_", strlen("ZKLOCK_")) != 0)
            continue;
        value = shell_quote(*env + len + 1);
        if (value == NULL)
            return false;
        (void)fprintf(code, "export %.*s=%s;\n", (int)len, *env, value);
        free(value);
    }
    (void)fputs(":;\n", code);
    return true;
}

/* What is not whole is not printed. */
static int print_code(const struct run *run)
{
    char *text = NULL;
    size_t size = 0;
    FILE *code = open_memstream(&text, &size);
    char **env = run_env_new(run);
    bool written = code != NULL && env != NULL && write_exports(code, env);
    int result = 0;

    free(env);
    if (code != NULL && fclose(code) != 0)
        written = false;
    if (!written)
        result = lockctl_fail(EX_RUN, "out of memory");
    else if (!write_all(STDOUT_FILENO, text, size))
        result = lockctl_fail(EX_IOERR, "cannot write the output");
    free(text);
    return result;
}

static int take_release(struct keeper *k)
{
    sigset_t set;

    (void)sigemptyset(&set);
    (void)sigaddset(&set, DESK_RELEASE);
    k->release_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    k->desk = desk_new(k->run->turn.session_id, &k->run->opts.wanted);
    if (k->release_fd < 0 || k->desk == NULL)
        return lockctl_fail(EX_RUN, "no memory to share: %s", strerror(errno));
    ids_add(&k->run->holds, k->desk->id);
    return 0;
}

/* The shell goes on when the front has ended, which waits for the last line. */
static int hand_over(struct keeper *k)
{
    int code = take_release(k);

    if (code == 0)
        code = script_check(k->script);
    if (code == 0)
        code = print_code(k->run);
    if (code != 0)
        return code;
    script_let_go();
    inherited_close(&k->run->inherited);
    atomic_store(&k->run->killer->watches, true);
    front_go_on(k->run->keep->front_fd);
    return 0;
}

/* -- the end of a hold ---------------------------------------------------- */

/* The sentence of an end, as it is said now, and as the desk tells it later. */
static void __attribute__((format(printf, 3, 5), format(printf, 4, 5)))
note_end(struct keeper *k, bool lost, const char *now, const char *later, ...)
{
    char text[WHY_LOST_MAX];
    char at[WORD_MAX];
    va_list args;

    va_start(args, later);
    (void)vsnprintf(text, sizeof(text), now, args);
    va_end(args);
    (void)snprintf(k->why, sizeof(k->why), "%s%s", lost ? "LOCK LOST: " : "",
                   text);
    va_start(args, later);
    (void)vsnprintf(text, sizeof(text), later, args);
    va_end(args);
    (void)word_time(clock_wall_ms(), at);
    (void)snprintf(k->desk->text, sizeof(k->desk->text), "%s at %s%s%s",
                   lost ? "LOCK LOST" : text, at, lost ? ": " : "",
                   lost ? text : "");
    if (!lost)
        return;
    k->run->turn.lost = true;
    atomic_store(&k->desk->check, EX_LOST);
}

static void note_loss(struct keeper *k, const char *why)
{
    note_end(k, true, "%s", "%s", why);
}

/* Tells whether the servers have said that it is given back. */
static bool give_back(struct keeper *k)
{
    struct run *run = k->run;
    bool proven;
    int rc;

    k->given_back = true;
    if (!run->turn.lost)
        atomic_store(&k->desk->check, EX_OVERDUE);
    atomic_store(&run->killer->deadline.at_ms, 0);
    rc = run_release(run, &proven);
    atomic_store(&run->killer->watches, false);
    if (!run->turn.lost && !proven)
        note_loss(k, "it was not provably ours any more when it was given "
                     "back");
    return rc == ZKR_OK || rc == ZKR_ELOST;
}

/* An orphan of the shell goes where we went as an orphan of `hold`. */
static void signal_all(struct keeper *k, int sig)
{
    pid_t parent = getppid();

    script_signal_all(k->script, &k->started,
                      k->is_guard ? proc_parent(parent) : parent, sig);
}

/* Speaks first, because a shell that has ended has no stderr; a slow reader of
 * that does not keep us. */
static void tell_script(struct keeper *k, int code, int sig)
{
    script_speak(k->script);
    (void)lockctl_fail(code, "%s%s%s%s", k->why,
                       sig == 0         ? ""
                       : sig == SIGKILL ? "; KILL to "
                                        : "; TERM to ",
                       sig == 0 ? "" : k->name,
                       sig == 0 ? "" : " and what it has started");
    script_silence();
    if (sig != 0)
        signal_all(k, sig);
}

static void note_why(struct keeper *k, bool overdue, enum policy_action action,
                     const struct policy_view *view)
{
    char buffer[WHY_LOST_MAX];

    if (overdue)
        note_end(k, false, "--max-hold is over", "--max-hold was over");
    else if (action == POLICY_SEND_TERM)
        note_end(k, true,
                 "the servers do not answer, and the lease ends in %lld ms",
                 "the servers did not answer, and the lease was to end %lld ms "
                 "later",
                 (long long)(view->valid_until_ms - view->now_ms));
    else
        note_loss(k, run_why_lost(k->run, buffer));
}

/* KILL takes effect when the machine gets to it. */
static bool is_anybody_left(struct keeper *k)
{
    return !script_has_ended(k->script) || started_live(&k->started);
}

/* Once for a loss, and once for the end by --max-hold; then only what
 * --on-loss=kill asks for. */
static void end_hold(struct keeper *k, enum policy_action action,
                     const struct policy_view *view)
{
    struct run *run = k->run;
    bool overdue = run_is_overdue(run, view);
    bool kill = action == POLICY_SEND_KILL && run->opts.on_loss == LOSS_KILL;
    int sig = run->opts.on_loss == LOSS_NOTHING ? 0 : kill ? SIGKILL : SIGTERM;

    if (overdue ? !run->turn.overdue : !run->turn.lost) {
        run->turn.overdue = run->turn.overdue || overdue;
        note_why(k, overdue, action, view);
        tell_script(k, overdue ? EX_OVERDUE : EX_LOST, sig);
    } else if (kill) {
        signal_all(k, SIGKILL);
    }
    if (overdue && action == POLICY_SEND_KILL && !(kill && is_anybody_left(k)))
        (void)give_back(k);
}

static const char not_running[] =
    "the process that kept it did not run until the lease was over";

/* The guard tells the loss when we do not run at the end of the lease. After we
 * have told it, only a KILL is left to do. */
static void obey_guard(struct keeper *k)
{
    struct run *run = k->run;
    int64_t until_ms = grants_valid_until(&run->turn.grants);

    if (!run->turn.lost && atomic_load(&run->killer->deadline.missed))
        note_loss(k, not_running);
    atomic_store(&run->killer->deadline.at_ms,
                 run->turn.lost && run->opts.on_loss != LOSS_KILL ? 0
                                                                  : until_ms);
    atomic_store(&k->desk->valid_until_ms, until_ms);
}

/* What may still be ours is kept while the shell lives, also after a loss.
 * Returns when to look again. */
static int64_t obey_lease(struct keeper *k)
{
    struct run *run = k->run;
    struct policy_view view = run_view_now(run);
    struct policy_plan plan;

    if (k->given_back)
        return INT64_MAX;
    obey_guard(k);
    plan = policy_next(&run->opts.policy, &view);
    if (plan.action == POLICY_NOTHING)
        return plan.wake_ms;
    end_hold(k, plan.action, &view);
    obey_guard(k);
    if (plan.action != POLICY_SEND_KILL)
        return plan.wake_ms;
    return run->opts.on_loss == LOSS_KILL ? view.now_ms + KILL_AGAIN_MS
                                          : INT64_MAX;
}

static void obey_revoke(struct keeper *k)
{
    struct run *run = k->run;

    if (k->given_back || !run_is_asked(run))
        return;
    if (run->opts.on_revoke == REVOKE_IGNORE) {
        script_speak(k->script);
        lockctl_say(run->ctl, "somebody asks for the lock%s; ignored",
                    run->turn.reason);
        script_silence();
        return;
    }
    run->turn.revoked = true;
    note_end(k, false, "somebody asks for the lock%s",
             "somebody asked for the lock%s", run->turn.reason);
    tell_script(k, EX_REVOKED, SIGTERM);
}

/* -- when we cannot ------------------------------------------------------- */

/* The servers keep the lock for us until the session times out, but nobody
 * would tell the shell when that is over. */
void keep_end_orphan(const struct run *run, bool late)
{
    static const int signals[] = {
        [LOSS_TERM] = SIGTERM, [LOSS_KILL] = SIGKILL, [LOSS_NOTHING] = 0
    };
    struct keeper k = { .script = &run->keep->script, .is_guard = late };

    if (script_has_ended(k.script))
        return;
    script_name(k.script, k.name);
    (void)snprintf(k.why, sizeof(k.why), "LOCK LOST: %s",
                   late ? not_running : "the process that kept it was killed");
    tell_script(&k, EX_LOST, signals[run->opts.on_loss]);
    started_free(&k.started);
}

/* -- a release ------------------------------------------------------------ */

/* Who has asked for it waits for our end. */
static void release(struct keeper *k)
{
    bool sure;
    int code;

    (void)obey_lease(k); /* as of now */
    sure = k->given_back || give_back(k);
    k->done = true;
    code = run_code(k->run, sure ? 0 : EX_TEMPFAIL);
    if (code == EX_TEMPFAIL)
        (void)snprintf(k->desk->text, sizeof(k->desk->text),
                       "the servers do not say that the lock is given back; it "
                       "may stay taken for the session timeout, %u ms",
                       zkr_session_timeout_ms(k->run->ctl->session));
    atomic_store(&k->desk->release, code);
}

/* -- the loop ------------------------------------------------------------- */

/* Tells whether processes that the ended shell has started are to be killed
 * yet. */
static bool must_see_to_end(struct keeper *k)
{
    return k->run->opts.on_loss == LOSS_KILL &&
           (k->run->turn.lost || k->run->turn.overdue) &&
           started_live(&k->started);
}

static void sleep_until(struct keeper *k, int64_t wake_ms)
{
    bool ended = script_has_ended(k->script);

    k->done = ended && !must_see_to_end(k);
    if (k->done)
        return;
    if (ended && wake_ms > clock_boot_ms() + KILL_AGAIN_MS)
        wake_ms = clock_boot_ms() + KILL_AGAIN_MS;
    if (run_sleep(k->run, wake_ms, k->release_fd, ended ? -1 : k->script->fd))
        release(k);
}

static int keep(struct keeper *k)
{
    int code = run_check_lease(k->run);

    if (code == 0)
        code = hand_over(k);
    if (code == 0)
        run_listen(k->run);
    while (code == 0 && !k->done) {
        int64_t wake_ms = obey_lease(k);

        obey_revoke(k);
        sleep_until(k, wake_ms);
    }
    grants_listen(&k->run->turn.grants, NULL, NULL);
    if (k->desk != NULL && !k->given_back)
        (void)give_back(k);
    started_free(&k->started);
    return code;
}

int run_keep(struct run *run)
{
    struct keeper k = { .run = run, .script = &run->keep->script };
    int code;

    script_name(k.script, k.name);
    if (run->opts.on_loss == LOSS_NOTHING)
        run->opts.policy.grace_ms = 0;
    code = run_wait(run);
    if (run->turn.grants.count == 0)
        return code;
    return keep(&k);
}
