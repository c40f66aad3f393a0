/* SPDX-License-Identifier: Apache-2.0 */
/* The worker is a command that we start, or a shell: it works under the lock.
 * Its guard is a process of ours. The guard signals the worker for us, and ends
 * it when we cannot, because we were killed, are stopped, or are stuck. The
 * guard of a command is between us and the command: the parent of it and of all
 * that it leaves behind, daemons too. */
#pragma once

#include <stdatomic.h>

#include "run/inherited.h"
#include "run/shell.h"

/* Both of us see this. */
struct guard {
    _Atomic int64_t deadline_ms; /* nobody may work under the lock after this
                                    instant of CLOCK_BOOTTIME, unless a later
                                    one is given before; 0: none does */
    atomic_bool missed;          /* it has passed, and the guard has acted */
    atomic_bool told;            /* whoever works knows that the lock is lost */
    atomic_int command;          /* its process */
    bool joined;                 /* it is in our group, not in one of its own */
    atomic_int status;           /* of the command, or GUARD_RUNS; */
    atomic_bool empty;           /* nothing is left; set before the status */
    atomic_bool refused;         /* a process of the command belongs to somebody
                                    whom we may not send signals */
};

enum { GUARD_RUNS = -1, GUARD_AGAIN_MS = 10 };

/* What we ask for, through a socket; end of file: we are dead. A byte comes
 * back when it has changed something. */
struct guard_wish {
    int sig;  /* 0: that it ends, and leaves what is left alone */
    bool all; /* or to the command, with its group if it has one */
};

/* Who works, and how it ends when the lease does. */
struct guard_plan {
    struct shell *shell; /* NULL: a command, that is started with these: */
    char *const *argv;
    char *const *env;
    const struct inherited *inherited;
    pid_t group; /* that it joins; 0: it gets one of its own */
    int last; /* the signal at the end of the lease; 0: none. KILL is sent until
                 nothing is left */
};

struct child {
    bool ended;        /* the command itself has ended, or the shell */
    int status;        /* as of waitpid(), then */
    bool guard_killed; /* the guard ended before the command */
    pid_t guard_pid;   /* 0: the guard has ended */
    int guard_fd;      /* our end of the socket */
    int news_fd; /* readable when there may be news for child_reap(); or -1 */
    int64_t since_ms;    /* no process of the command has begun before */
    struct shell *shell; /* NULL: a command */
    struct guard *guard; /* NULL: the command was not started, or child_done()
                            was called */
};

/* 0 once the command is executed, or the guard of the shell is there; or the
 * errno value that says why it is not, negative when what failed was no exec.
 * It must not outlive the deadline. */
int child_start(struct child *c, const struct guard_plan *plan,
                int64_t deadline_ms);

/* To the command, with its group if it has one; or to all that the command or
 * the shell has started. */
void child_signal(struct child *c, int sig, bool all);

/* Notes what has ended. Tells whether the command, the shell, or a
 * process that it has started and that was told to end, is left. */
bool child_reap(struct child *c);

/* Ends the guard; what is left goes on. */
void child_done(struct child *c);

/* -- guard.c -------------------------------------------------------------- */

/* As fork(). No signal stops the guard or ends it, and it is in a process group
 * of its own, so that a signal to ours does not hit it; but in our session,
 * because the kernel does not let a command stop by a key when its parent is in
 * another one. */
pid_t guard_fork(void);

/* The process, after guard_fork(). `error_fd` is closed when the command is
 * executed; or it gets an errno value before, as a negative number when it was
 * fork() that failed. */
_Noreturn void guard_run(struct guard *g, const struct guard_plan *plan, int fd,
                         int error_fd);

/* To all of a shell; or to the command, with its group, and to processes below
 * the caller that are not in it and have begun since that instant. Tells
 * whether there was any. */
bool guard_signal_all(struct guard *g, struct shell *shell, int64_t since_ms,
                      int sig);
