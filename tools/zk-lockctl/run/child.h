/* SPDX-License-Identifier: Apache-2.0 */
/* The command, a process group, and its guard: a process between us and the
 * command, which is the parent of the command and of all that this leaves
 * behind, daemons too. It signals them for us, tells what becomes of them, and
 * kills them when we cannot. */
#pragma once

#include "run/guard.h"
#include "run/inherited.h"
#include "run/job.h"

/* Both of us see this. */
struct guard {
    struct deadline deadline; /* of the command */
    atomic_int command;       /* its process, and its group */
    atomic_int stopped_by;    /* the signal that has stopped it since */
    atomic_int status;        /* of the command, or GUARD_RUNS; */
    atomic_bool empty;        /* nothing is left; set before the status */
    atomic_bool refused;      /* a process of the command belongs to somebody
                                 whom we may not send signals */
};

enum { GUARD_RUNS = -1 };

/* What we ask for, through a socket; end of file: we are dead. A byte comes
 * back when it has changed something. */
struct guard_wish {
    int sig;  /* 0: that it ends, and leaves what is left alone */
    bool all; /* or to the group only */
};

/* The environment in which the command is started. */
struct guard_plan {
    char *const *argv;
    char *const *env;
    const struct inherited *inherited;
    const struct job_control *job;
    bool lend; /* the command gets the terminal */
};

struct child {
    bool ended;          /* the command itself has ended */
    int status;          /* as of waitpid(), then */
    int stopped_by;      /* the signal that stopped it, until a CONT */
    bool guard_killed;   /* the guard ended before the command */
    pid_t guard_pid;     /* 0: the guard has ended */
    int guard_fd;        /* readable when there may be news for child_reap() */
    int64_t since_ms;    /* no process of the command has begun before */
    struct guard *guard; /* NULL: the command was not started, or child_done()
                            was called */
};

/* 0 once it is executed; or the errno value that says why it is not, negative
 * when what failed was no exec. It must not outlive the deadline, an instant of
 * CLOCK_BOOTTIME; 0: none. */
int child_start(struct child *c, struct guard_plan *plan, int64_t deadline_ms);

/* Its process, which is its group, too. */
pid_t child_pid(const struct child *c);

/* To the process group; or to all that the command has started. Who gets a CONT
 * is no longer stopped. */
void child_signal(struct child *c, int sig, bool all);

/* Notes what has ended or stopped. Tells whether the command, or a process that
 * it has started, is left. */
bool child_reap(struct child *c);

/* Ends the guard; what is left goes on. */
void child_done(struct child *c);

/* -- guard.c -------------------------------------------------------------- */

/* The process, after guard_fork(). `error_fd` is closed when the command is
 * executed; or it gets an errno value before, as a negative number when it was
 * fork() that failed. */
_Noreturn void guard_run(struct guard *g, const struct guard_plan *plan, int fd,
                         int error_fd);

/* To the group of the command, and to children of the caller that are not in it
 * and have begun since that instant. Tells whether there was any. */
bool guard_signal_all(struct guard *g, int64_t since_ms, int sig);
