/* SPDX-License-Identifier: Apache-2.0 */
/* Waits for the lock: the outcome, signals, and the holder meanwhile. */
#include "run/run.h"

#include "model/scan.h"
#include "text/lock_fields.h"

#include <signal.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* --- who holds it, in one line --- */

enum run_holder {
    HOLDER_SAID,
    HOLDER_NONE,   /* nobody has it, or nothing can be said of it */
    HOLDER_SILENT, /* the servers do not answer */
};

enum { SAID_NOBODY = -1 }; /* no token */

/* The holder is read, and some of those behind it: so it is known whether we
 * are among them. */
enum { ANSWER_MS = 1000, READS = 4 };

/* Semaphores, whose nodes are a level below, and other locks on one path do not
 * exclude each other. */
static bool is_in_way(const struct zkr_participant *p, enum claim_kind kind)
{
    return p->kind != ZKR_PARTICIPANT_FOREIGN &&
           (strchr(p->name, '/') != NULL) == (kind == CLAIM_SEMAPHORE);
}

/* The queue as a claim that waits in it sees it. */
struct queue {
    size_t holders; /* 0 also when one is our own: that lock is not the one we
                       wait for */
    const struct contender *first;
    size_t waiting; /* before the first of our session; or, when somebody there
                       is not read, before nobody knows whom */
    bool unread;
};

/* Without a node of ours all contenders are before us. A contender of a
 * semaphore may have made its lease already: its turn counts. */
static struct queue look_at(const struct lock *lock, enum claim_kind kind,
                            int64_t session)
{
    struct queue q = { .holders = 0 };
    bool met = false;

    for (size_t i = 0; i < lock->count; i++) {
        const struct contender *c = &lock->items[i];
        bool ours = c->node->session_id == session;

        if (!is_in_way(c->node, kind))
            continue;
        if (c->node->holds && ours)
            return (struct queue){ .holders = 0 };
        if (c->node->holds && q.holders++ == 0)
            q.first = c;
        q.unread = q.unread || (!met && !node_is_read(c->node));
        met = met || ours;
        q.waiting += !met && !c->node->holds && !zkr__is_lease(c->node);
    }
    return q;
}

static void say(struct lockctl *ctl, const struct lock *lock, const char *what,
                const struct queue *q)
{
    char held[HELD_BY_MAX];
    char more[32] = "";

    if (q->holders > 1)
        (void)snprintf(more, sizeof(more), ", and %zu more", q->holders - 1);
    lockctl_say(ctl, "%s: %s%s; %zu waiting%s", what,
                held_by_word(lock, q->first, held), more, q->waiting,
                q->unread ? "" : " before us");
}

static enum run_holder say_holder_of(struct lockctl *ctl, const char *path,
                                     enum claim_kind kind, const char *what,
                                     int64_t *said)
{
    struct lock lock;
    int rc = lock_list(ctl->session, path, READS, ANSWER_MS, &lock);

    if (rc != ZKR_OK)
        return zkr_error_is_transient(rc) ? HOLDER_SILENT : HOLDER_NONE;
    struct queue q = look_at(&lock, kind, zkr_session_id(ctl->session));
    if (q.holders > 0 && q.first->node->token != *said)
        say(ctl, &lock, what, &q);
    if (q.holders > 0)
        *said = q.first->node->token;
    lock_done(&lock);
    return q.holders > 0 ? HOLDER_SAID : HOLDER_NONE;
}

/* Says who holds the lock that we wait for, and how many wait before us, after
 * `what`; unless that holder has the token `said`, which becomes that of the
 * holder. */
static enum run_holder say_holder(struct lockctl *ctl,
                                  const struct wanted *wanted, const char *what,
                                  int64_t *said)
{
    enum run_holder found = HOLDER_NONE;

    for (size_t i = 0; !ctl->quiet && found == HOLDER_NONE && i < wanted->count;
         i++)
        found = say_holder_of(ctl, wanted->paths[i], wanted->kind, what, said);
    return found;
}

/* --- the wait --- */

/* Before it is said who holds the lock, and said again. For a user at a
 * terminal we also look in between whether another one does. */
enum { PATIENCE_MS = 1000, AGAIN_MS = 30000, LOOK_MS = 5000 };

/* A wait, with what was said meanwhile. */
struct waiting {
    struct run *run;
    atomic_bool lost; /* the session was; that is not said yet */
    enum zkr_session_state_kind said_state;
    int64_t said_token; /* of the holder */
    int64_t said_ms;    /* when that was said, whichever it is */
};

/* Returns a signal that ends us, or 0. Others have no meaning yet, except those
 * with which a terminal stops us. */
static int fatal_signal(const struct run *run)
{
    struct signalfd_siginfo came[SIGNALS_MAX];
    size_t count = signals_read(&run->inherited, came);

    for (size_t i = 0; i < count; i++) {
        int sig = (int)came[i].ssi_signo;

        if (signals_is_fatal(sig))
            return sig;
        /* Of the last two: somebody of our job wants the terminal, which our
         * job has not. */
        if (sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU)
            (void)signals_stop_us();
    }
    return 0;
}

static void on_session(zkr_session *session,
                       const struct zkr_session_event *event, void *user)
{
    struct waiting *w = user;
    uint64_t one = 1;

    (void)session;
    if (event->state == ZKR_SESSION_LOST)
        atomic_store(&w->lost, true);
    (void)!write(w->run->event_fd, &one, sizeof(one));
}

/* Once for each change. The next session may be there before we have said that
 * the last one has ended. */
static void say_session(struct waiting *w)
{
    struct run *run = w->run;
    enum zkr_session_state_kind state = zkr_session_state(run->ctl->session);
    char why[LOCKCTL_WHY_MAX];

    if (atomic_exchange(&w->lost, false)) {
        lockctl_say(run->ctl, "the servers have ended the session; waiting at "
                              "the end of the queue");
        w->said_state = ZKR_SESSION_LOST;
    }
    if (state == w->said_state)
        return;
    if (state == ZKR_SESSION_SUSPENDED)
        lockctl_say(run->ctl,
                    "the servers do not answer; waiting for them, too. The "
                    "place in the queue is kept for the session timeout, "
                    "%u ms%s",
                    zkr_session_timeout_ms(run->ctl->session),
                    lockctl_why(run->ctl, why));
    else if (state == ZKR_SESSION_RECONNECTED)
        lockctl_say(run->ctl, "the servers answer; still waiting");
    w->said_state = state;
}

/* Returns how long to wait before it is called again. */
static int say_waiting(struct waiting *w)
{
    struct run *run = w->run;
    int64_t now_ms = clock_now_ms();
    char why[LOCKCTL_WHY_MAX];
    bool is_due = now_ms - w->said_ms >= AGAIN_MS;

    if (is_due) {
        w->said_token = SAID_NOBODY;
        w->said_ms = now_ms;
    }
    if (lockctl_is_connected(run->ctl) &&
        say_holder(run->ctl, &run->opts.wanted, "waiting", &w->said_token) ==
            HOLDER_SILENT &&
        is_due)
        lockctl_say(run->ctl, "waiting: the servers do not answer%s",
                    lockctl_why(run->ctl, why));
    return isatty(STDERR_FILENO) ? LOOK_MS : AGAIN_MS;
}

/* Waits until the claim has its outcome, or until that time. Returns the signal
 * that ended us, or 0. */
static int await(struct waiting *w, int64_t end_ms)
{
    struct run *run = w->run;
    int64_t say_ms = clock_boot_ms() + PATIENCE_MS;
    int ended_by = 0;

    while (!atomic_load(&run->claim.done)) {
        run_sleep(run, say_ms < end_ms ? say_ms : end_ms, -1);
        if (ended_by == 0) {
            ended_by = fatal_signal(run);
            if (ended_by != 0)
                claim_cancel(&run->claim, ZKR_ECANCELED);
        }
        if (clock_boot_ms() >= end_ms) {
            claim_cancel(&run->claim, ZKR_ETIMEDOUT);
            end_ms = INT64_MAX; /* once: its outcome may take a while */
        }
        if (clock_boot_ms() >= say_ms)
            say_ms = say_waiting(w) + clock_boot_ms();
        say_session(w);
    }
    return ended_by;
}

static int not_acquired(struct run *run)
{
    int error = run->claim.error;
    enum run_holder holder = HOLDER_SILENT;
    int64_t said = SAID_NOBODY;
    char why[LOCKCTL_WHY_MAX];

    if (error != ZKR_EBUSY && error != ZKR_ETIMEDOUT)
        return lockctl_fail_error(error, run->claim.detail);
    if (lockctl_is_connected(run->ctl))
        holder = say_holder(run->ctl, &run->opts.wanted, "not acquired", &said);
    if (holder == HOLDER_SILENT)
        lockctl_say(run->ctl, "not acquired: the servers do not answer%s",
                    lockctl_why(run->ctl, why));
    if (holder == HOLDER_NONE)
        lockctl_say(run->ctl, "not acquired: %s", zkr_strerror(error));
    return run->opts.not_acquired_code;
}

static void note_grants(struct run *run)
{
    run->session_id = zkr_session_id(run->ctl->session);
    if (run->ctl->verbose > 0)
        lockctl_say(run->ctl, "acquired after %lld ms, token %lld",
                    (long long)run->wait_ms,
                    (long long)zkr_grant_token(run->claim.grants[0]));
}

/* Other claims have a limit of their own. */
static int64_t campaign_end(const struct run_opts *opts, int64_t since_ms)
{
    return opts->wanted.kind == CLAIM_LEADER && opts->wait_ms > 0
               ? since_ms + opts->wait_ms
               : INT64_MAX;
}

int run_wait(struct run *run)
{
    const struct run_opts *opts = &run->opts;
    int64_t since_ms = clock_boot_ms();
    struct waiting w = { .run = run,
                         .said_state = zkr_session_state(run->ctl->session),
                         .said_token = SAID_NOBODY,
                         .said_ms = -AGAIN_MS };
    zkr_listener *listener = NULL;
    int code = run_refuse(run);

    if (code != MAY_CLAIM)
        return code;
    int error =
        zkr_session_listen(run->ctl->session, on_session, &w, &listener);
    run->claim.wanted = &opts->wanted;
    run->claim.event_fd = run->event_fd;
    if (error == ZKR_OK)
        error = claim_start(&run->claim, run->ctl->session, opts->wait_ms);
    if (error != ZKR_OK) {
        zkr_listener_free(listener);
        return lockctl_fail_zkr(error);
    }
    int ended_by = await(&w, campaign_end(opts, since_ms));
    zkr_listener_free(listener);
    run->wait_ms = clock_boot_ms() - since_ms;
    if (run->claim.error == ZKR_OK)
        note_grants(run);
    run->interrupted = ended_by == SIGINT;
    if (ended_by != 0)
        return EX_SIGNALED + ended_by;
    return run->claim.error == ZKR_OK ? 0 : not_acquired(run);
}
