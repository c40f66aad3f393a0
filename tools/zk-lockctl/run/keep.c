/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps locks for a shell: it says on its desk how they are, tells the shell of
 * their loss, and gives them back. Signals do not end it: the shell would not
 * know. */
#include "run/keep.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sys/signalfd.h>
#include <unistd.h>

#include "common/shell.h"
#include "common/whole_file.h"
#include "common/words.h"
#include "run/label.h"
#include "run/proc.h"
#include "run/shell_holds.h"

enum { KILL_AGAIN_MS = 50 };

struct keeper {
    struct run *run;
    const struct script *script;
    char name[ZKR_LABEL_MAX + 1]; /* of the shell */
    struct started started;       /* what was told to end */
    struct desk *desk;            /* NULL: in the guard */
    int release_fd;               /* for DESK_RELEASE */
    bool given_back;
    bool unsure;   /* it was given back, but the servers have not said so */
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

    run_env_free(env);
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
    holds_add(&k->run->holds, &k->desk->id);
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
    fds_close(k->run->inherited);
    atomic_store(&k->run->killer->watches, true);
    front_go_on(k->run->keep->front_fd);
    return 0;
}

/* -- the end of a hold ---------------------------------------------------- */

static void note_loss(struct keeper *k, const char *now, const char *later)
{
    char at[WORD_MAX];

    (void)snprintf(k->why, sizeof(k->why), "LOCK LOST: %s", now);
    (void)snprintf(k->desk->text, sizeof(k->desk->text), "LOCK LOST at %s: %s",
                   word_time(clock_wall_ms(), at), later);
    atomic_store(&k->desk->check, EX_LOST);
}

/* An end that is no loss. */
static void note_end(struct keeper *k, const char *now, const char *later)
{
    char at[WORD_MAX];

    (void)snprintf(k->why, sizeof(k->why), "%s", now);
    (void)snprintf(k->desk->text, sizeof(k->desk->text), "%s at %s", later,
                   word_time(clock_wall_ms(), at));
}

/* A confirmed release proves nothing, see give_back() of a command: the lease
 * does. */
static void give_back(struct keeper *k)
{
    static const char why[] =
        "it was not provably ours any more when it was given back";
    struct run *run = k->run;
    bool in_time = clock_boot_ms() < grants_valid_until(&run->turn.grants);
    int rc;

    if (k->given_back)
        return;
    k->given_back = true;
    if (!run->turn.lost)
        atomic_store(&k->desk->check, EX_OVERDUE);
    atomic_store(&run->killer->deadline_ms, 0);
    rc = claim_release(run->turn.claim, &run->turn.grants);
    atomic_store(&run->killer->watches, false);
    k->unsure = rc != ZKR_OK && rc != ZKR_ELOST;
    if (run->turn.lost || (in_time && rc != ZKR_ELOST))
        return;
    run->turn.lost = true;
    note_loss(k, why, why);
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

static void note_silence(struct keeper *k, int64_t left_ms)
{
    char now[WHY_LOST_MAX];
    char later[WHY_LOST_MAX];

    (void)snprintf(now, sizeof(now),
                   "the servers do not answer, and the lease ends in %lld ms",
                   (long long)left_ms);
    (void)snprintf(later, sizeof(later),
                   "the servers did not answer, and the lease was to end %lld "
                   "ms later",
                   (long long)left_ms);
    note_loss(k, now, later);
}

static void note_why(struct keeper *k, bool overdue, enum policy_action action,
                     const struct policy_view *view)
{
    char buffer[WHY_LOST_MAX];
    const char *why;

    if (overdue) {
        note_end(k, "--max-hold is over", "--max-hold was over");
    } else if (action == POLICY_SEND_TERM) {
        note_silence(k, view->valid_until_ms - view->now_ms);
    } else {
        why = run_why_lost(k->run, buffer);
        note_loss(k, why, why);
    }
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
    bool *ended = overdue ? &run->turn.overdue : &run->turn.lost;
    bool kill = action == POLICY_SEND_KILL && run->opts.on_loss == LOSS_KILL;
    int sig = run->opts.on_loss == LOSS_NOTHING ? 0 : kill ? SIGKILL : SIGTERM;

    if (!*ended) {
        *ended = true;
        note_why(k, overdue, action, view);
        tell_script(k, overdue ? EX_OVERDUE : EX_LOST, sig);
    } else if (kill) {
        signal_all(k, SIGKILL);
    }
    if (overdue && action == POLICY_SEND_KILL && !(kill && is_anybody_left(k)))
        give_back(k);
}

static const char not_running[] =
    "the process that kept it did not run until the lease was over";

/* The guard tells the loss when we do not run at the end of the lease. After we
 * have told it, only a KILL is left to do. */
static void obey_guard(struct keeper *k)
{
    struct run *run = k->run;
    int64_t until_ms = grants_valid_until(&run->turn.grants);

    if (!run->turn.lost && atomic_load(&run->killer->late)) {
        run->turn.lost = true;
        note_loss(k, not_running, not_running);
    }
    atomic_store(&run->killer->deadline_ms,
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
    plan = policy_next(&run->policy, &view);
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
    char now[WHY_LOST_MAX];
    char later[WHY_LOST_MAX];

    if (k->given_back || !run_is_asked(k->run))
        return;
    if (k->run->opts.on_revoke == REVOKE_IGNORE) {
        script_speak(k->script);
        lockctl_say(k->run->ctl, "somebody asks for the lock%s; ignored",
                    k->run->turn.reason);
        script_silence();
        return;
    }
    k->run->turn.revoked = true;
    (void)snprintf(now, sizeof(now), "somebody asks for the lock%s",
                   k->run->turn.reason);
    (void)snprintf(later, sizeof(later), "somebody asked for the lock%s",
                   k->run->turn.reason);
    note_end(k, now, later);
    tell_script(k, EX_REVOKED, SIGTERM);
}

/* -- when we cannot ------------------------------------------------------- */

/* In the guard, when we were killed, or are stopped. The servers keep the lock
 * for us until the session times out, but nobody would tell the shell when that
 * is over. */
static void end_orphan(void *arg, bool late)
{
    static const int signals[] = {
        [LOSS_TERM] = SIGTERM, [LOSS_KILL] = SIGKILL, [LOSS_NOTHING] = 0
    };
    struct run *run = arg;
    struct keeper k = { .run = run,
                        .script = &run->keep->script,
                        .is_guard = late };

    if (script_has_ended(k.script))
        return;
    script_name(k.script, k.name);
    (void)snprintf(k.why, sizeof(k.why), "LOCK LOST: %s",
                   late ? not_running : "the process that kept it was killed");
    tell_script(&k, EX_LOST, signals[run->opts.on_loss]);
    started_free(&k.started);
}

struct killer *run_keep_guard(struct run *run)
{
    struct killer_way way = { script_let_go, end_orphan, run,
                              run->keep->script.fd };

    return killer_start(&way);
}

/* -- a release ------------------------------------------------------------ */

/* Who has asked for it waits for our end. */
static void release(struct keeper *k)
{
    int code;

    (void)obey_lease(k); /* as of now */
    give_back(k);
    k->done = true;
    code = run_code(k->run, k->unsure ? EX_TEMPFAIL : 0);
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
    if (k->desk != NULL)
        give_back(k);
    started_free(&k->started);
    return code;
}

int run_keep(struct run *run)
{
    struct keeper k = { .run = run, .script = &run->keep->script };
    int code;

    script_name(k.script, k.name);
    if (run->opts.on_loss == LOSS_NOTHING)
        run->policy.grace_ms = 0;
    code = run_wait(run);
    if (run->turn.grants.count == 0)
        return code;
    return keep(&k);
}
