/* SPDX-License-Identifier: Apache-2.0 */
/* Starts the command as a process group below its guard, and has that signal it
 * and tell what becomes of it. */
#ifndef RUN_CHILD_H
#define RUN_CHILD_H

#include <stdbool.h>
#include <stdint.h>

#include <sys/types.h>

#include "run/guard.h"

struct child {
    pid_t pid;  /* of the command, and its process group; 0: not started */
    bool ended; /* the command itself has ended */
    bool
        left; /* the command, or a process that it has started, has not ended */
    int status;     /* as of waitpid(), then */
    int stopped_by; /* the signal that stopped it, until child_continue() */
    bool refused;   /* a process of the command belongs to somebody whom we may
                       not send signals */
    struct guard *guard;
    pid_t guard_pid;   /* 0: the guard has ended */
    bool guard_killed; /* the guard ended before the command */
    int guard_fd;      /* readable when there may be news for child_reap() */
    int64_t since_ms;  /* no process of the command has begun before */
};

/* 0 once it is executed, or the errno value that says why it is not: then
 * `ret_step` is what failed, "fork" or "exec". The deadline is as of
 * child_set_deadline(). */
int child_start(struct child *c, struct guard_plan *plan, int64_t deadline_ms,
                const char **ret_step);

/* It must not outlive this instant of CLOCK_BOOTTIME; 0: none. */
void child_set_deadline(const struct child *c, int64_t deadline_ms);

/* To the process group; or to all that the command has started. */
void child_signal(const struct child *c, int sig);
void child_signal_all(const struct child *c, int sig);
void child_continue(struct child *c);

/* Notes what has ended or stopped. */
void child_reap(struct child *c);

/* Ends the guard; what is left goes on. */
void child_done(struct child *c);

#endif
