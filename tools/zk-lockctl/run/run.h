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
#include "run/ids.h"
#include "run/killer.h"
#include "run/policy.h"

enum {
    EX_RUN = 125, /* before the command was started */
    EX_NOT_EXECUTABLE = 126,
    EX_NOT_FOUND = 127,
    EX_SIGNALED = 128, /* and the number of the signal */
};

enum on_revoke { REVOKE_IGNORE, REVOKE_TERM };

/* What happens to the shell that holds a lock when that is lost. */
enum on_loss {
    LOSS_TERM,    /* TERM to it and all that it has started */
    LOSS_KILL,    /* and KILL at the end of the lease */
    LOSS_NOTHING, /* it has to ask */
};

struct run_opts {
    struct wanted wanted; /* its label: NULL, or here: */
    char label[ZKR_LABEL_MAX + 1];
    const char *why;       /* as given; NULL: not */
    bool why_name;         /* the label is the name of the program only */
    int64_t wait_ms;       /* 0: try once; -1: no limit */
    int not_acquired_code; /* -E */
    int lost_code;         /* --lost-exit-code */
    char **argv;           /* the command; NULL: of a shell that holds */
    const char *text;      /* the command of -c; NULL: without */
    struct policy policy;  /* its grace is -1 until the default is known */
    int64_t kill_after_ms; /* from TERM to KILL; -1: never */
    enum on_revoke on_revoke;
    int64_t max_hold_ms; /* 0: no limit */
    bool keep_daemons;
    bool restart;
    const char *status_file;
    int64_t timeout_asked_ms; /* of the session; 0: did not matter */
    /* of hold */
    enum on_loss on_loss;
    uint32_t script_pid; /* 0: to be found */
    bool check;
};

/* A reason is at most 128 bytes, each of which may become four. */
enum { REASON_SHOWN_MAX = 4 * 128 + 8 };

struct keep;

/* From the wait for the locks to their release. */
struct turn {
    struct child child;
    struct claim *claim; /* of which they are: */
    struct grants grants;
    int64_t session_id; /* through which they are held */
    int64_t granted_ms; /* BOOTTIME; 0: never */
    int64_t limit_ms;   /* the end by --max-hold; INT64_MAX: none */
    int64_t wait_ms;    /* for the grants */
    int64_t held_ms;

    atomic_bool revoke_asked;
    char reason[REASON_SHOWN_MAX]; /* of that: ", "TEXT"", escaped; "": none */
    bool revoked;                  /* TERM was sent because of that */
    bool lost;        /* TERM or KILL was sent because of the lease, or it was
                         lost before we saw it */
    bool overdue;     /* TERM or KILL was sent because of --max-hold */
    bool interrupted; /* SIGINT ended the waiting */
    bool told_to_end; /* TERM, INT or QUIT came to us */
};

struct run {
    struct lockctl *ctl;
    struct run_opts opts;
    struct killer *killer;   /* of hold; NULL: a command runs under the lock */
    const struct keep *keep; /* likewise */
    struct inherited inherited;
    struct job_control job;
    struct ids around; /* the sessions of runs around ours */
    struct ids holds;  /* of the shell that has started us */
    int event_fd; /* the claim, the session or a grant has something to tell */
    int timer_fd;
    struct turn turn; /* the present one */
};

/* connect.c: 0, or an exit code after it was said why not. */
int run_connect(struct run *run);

/* turn.c: `turns` takes one turn or more, between what must be done before and
 * after; the exit code. */
int run_all(struct run *run, int turns(struct run *run));
/* The claim, the command, the release; the exit code. */
int run_turn(struct run *run);
/* Gives the locks back, as zkr_grant_release(), and tells whether they were
 * provably ours until then. A confirmed release proves nothing: the library
 * reports the same for a session that is over. The lease is a proof. */
int run_release(struct run *run, bool *ret_proven);
/* The exit code for why the turn has ended, or another one. */
int run_code(const struct run *run, int otherwise);
/* Before another turn: as before the first. */
void run_begin_again(struct run *run);

/* waiting.c: 0 when the lock is ours, or an exit code after it was said why it
 * is not. */
int run_wait(struct run *run);
/* Waits so long: 0, or the exit code when a signal has ended that. */
int run_pause(struct run *run, int64_t ms);

/* recipe.c: tells whether the claim would wait for a run around this one, which
 * waits for this one; or another recipe is in use at the path, or a semaphore
 * of another number of slots. Then it has said so, and sets the exit code. It
 * costs a request for each lock, and some more for a semaphore. */
bool run_is_futile(const struct run *run, int *ret_code);
/* The node of a run around us that such a claim would wait for now, although
 * that run waits for our end. Of a semaphore: when runs around us have as many
 * leases as there are slots. NULL: none. Pure. */
const struct zkr_participant *run_waits_for(const struct ids *around,
                                            const struct zkr_participants *list,
                                            const struct wanted *wanted);

/* time_left.c: until when the locks are ours, with --max-hold as an earlier
 * end. */
struct policy_view run_view_now(const struct run *run);
/* Tells whether the time of --max-hold is over, while the lease runs. */
bool run_is_overdue(const struct run *run, const struct policy_view *view);
/* 0, or an exit code after it was said that the lease is too short to begin. */
int run_check_lease(const struct run *run);
/* Tells whether somebody has asked for the lock since; run->reason says why.
 * Where the request is to be ignored, the record comes back to its node. */
bool run_is_asked(struct run *run);
/* The grants wake us through the event from now on. */
void run_listen(struct run *run);
/* Why a lock is lost, as a part of a sentence, escaped. */
enum { WHY_LOST_MAX = ZKR_PATH_MAX + 64 + REASON_SHOWN_MAX };
const char *run_why_lost(const struct run *run, char why[WHY_LOST_MAX]);
/* Until then, or until there is an event, or one of these descriptors (-1:
 * none) is readable. Tells whether that is the first of them. */
bool run_sleep(const struct run *run, int64_t wake_ms, int fd, int other_fd);

/* command.c: from the start of the command until nothing of it is left. 0, or
 * an exit code when it could not be started. */
int run_command(struct run *run);

enum run_holder {
    HOLDER_SAID,
    HOLDER_NONE,   /* nobody has it, or nothing can be said of it */
    HOLDER_SILENT, /* the servers do not answer */
};

enum { SAID_NOBODY = -1 }; /* no token */

/* say_holder.c: who holds the lock that we wait for, and how many wait before
 * us, on stderr, after `what`; unless that holder has the token `said`, which
 * becomes that of the holder. */
enum run_holder run_say_holder(struct lockctl *ctl, const struct wanted *wanted,
                               const char *what, int64_t *said);

/* status.c: 0, or an exit code after an error was said. */
int run_status_check(const char *file);
int run_status_write(const struct run *run, int exit_code);

/* env.c: our environment and ZKLOCK_PATH and so on, which are overwritten by
 * the next call; to be freed. NULL when out of memory. */
char **run_env_new(const struct run *run);
