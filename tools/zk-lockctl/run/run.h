/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a run, and the functions that its parts share. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/lockctl.h"
#include "common/now.h"
#include "run/child.h"
#include "run/claiming.h"
#include "run/desk.h"
#include "run/policy.h"

enum {
    EX_RUN = 125, /* before the command was started */
    EX_NOT_EXECUTABLE = 126,
    EX_NOT_FOUND = 127,
    EX_SIGNALED = 128, /* and the number of the signal */
};

enum on_revoke { REVOKE_IGNORE, REVOKE_TERM };

struct run_opts {
    struct wanted wanted; /* its label: NULL, or here: */
    char label[ZKR_LABEL_MAX + 1];
    const char *why;       /* as given; NULL: not */
    int64_t wait_ms;       /* 0: try once; -1: no limit */
    int not_acquired_code; /* -E */
    int lost_code;         /* --lost-exit-code */
    char **argv;           /* the command; NULL: of a shell that holds */
    const char *text;      /* the command of -c; NULL: without */
    struct policy policy;  /* its grace is -1 until the default is known */
    int64_t kill_after_ms; /* from TERM to KILL */
    enum on_revoke on_revoke;
    bool keep_daemons;
    int64_t timeout_asked_ms; /* of the session; 0: did not matter */
    /* of hold */
    int on_loss; /* what happens to the shell when the lock is lost */
    int last;    /* the signal at the end of the lease; 0: it has to ask */
    bool check;
};

/* A reason is at most 128 bytes. */
enum { REASON_SHOWN_MAX = 128 + 8 };

struct run {
    struct lockctl *ctl;
    struct run_opts opts;
    bool joins; /* the command is in our process group: there is a terminal */
    struct inherited inherited;
    struct around around; /* the runs and holds around ours */
    int event_fd; /* the claim, the session or a grant has something to tell */
    int timer_fd;

    /* Of hold, which keeps the locks for a shell, in a process of its own,
     * until the shell ends or gives them back. */
    bool holds;
    struct shell shell;
    int front_fd;      /* a pipe to the process in the foreground */
    struct desk *desk; /* NULL: the locks are not acquired */

    struct claim claim;
    struct child child;
    int64_t session_id; /* through which they are held */
    int64_t wait_ms;    /* for the grants */
    atomic_bool revoke_asked;
    char reason[REASON_SHOWN_MAX]; /* of that: ", "TEXT""; "": none */
    bool worked;                   /* the command, or a shell, has begun */
    bool revoked;                  /* TERM was sent because of that */
    bool lost;        /* TERM or KILL was sent because of the lease, or it was
                         lost before we saw it */
    bool interrupted; /* SIGINT ended the waiting */
};

/* turn.c: the claim, the command, the release; the exit code. */
int run_all(struct run *run);

/* Until then, or until there is a signal, an event, or that descriptor (-1:
 * none) is readable. */
void run_sleep(const struct run *run, int64_t wake_ms, int fd);

/* waiting.c: 0 when the lock is ours, or an exit code after it was said why it
 * is not. */
int run_wait(struct run *run);

/* recipe.c: an exit code after it was said that the claim would wait for a run
 * around this one, which waits for this one; or that another recipe is in use
 * at the path, or a semaphore of another number of slots. MAY_CLAIM: nothing
 * like that is known. It costs a request for each lock, and some more for a
 * semaphore. */
enum { MAY_CLAIM = -1 };
int run_refuse(const struct run *run);
/* The node of a run around us that such a claim would wait for now, although
 * that run waits for our end. Of a semaphore: when runs around us have as many
 * leases as there are slots. NULL: none. Pure. */
const struct zkr_participant *run_waits_for(const struct around *around,
                                            const struct zkr_participants *list,
                                            const struct wanted *wanted);

/* work.c: from the start of the command until nothing of it is left; or until
 * the shell gives the locks back. 0, or an exit code when it did not begin. */
int run_work(struct run *run);
/* Until when the locks are ours. */
struct policy_view run_view_now(const struct run *run);
/* Says an error, or with the code 0 a remark, where the user of the locks reads
 * it; while a command runs no remark that would have to wait for a reader.
 * Returns the code. */
int run_tell(const struct run *run, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* env.c: our environment and ZKLOCK_PATH and so on, which are overwritten by
 * the next call; to be freed. NULL when out of memory. */
char **run_env_new(const struct run *run);

/* hold.c: the process in the foreground waits with the user until another one
 * keeps the locks, and has printed the code for the shell. Calls `fn` in a
 * process in the background, where `run` holds; it ends when this one does
 * before the locks are acquired. Returns in both, with the exit code. */
int hold_fork(struct run *run, int fn(struct run *run));
/* The locks are acquired: starts the guard of the shell, and prints the code.
 * 0, or an exit code after an error was said. */
int hold_begin(struct run *run);
