/* SPDX-License-Identifier: Apache-2.0 */
/* The guard: a process between us and the command, which is the parent of the
 * command and of all that this leaves behind, daemons too. It signals them for
 * us, and kills them when we cannot. */
#ifndef RUN_GUARD_H
#define RUN_GUARD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <sys/types.h>

#include "run/fds.h"
#include "run/signals.h"
#include "run/tty.h"

/* Both of us see this. */
struct guard {
    _Atomic int64_t deadline_ms; /* the command must not outlive this instant of
                                    CLOCK_BOOTTIME, unless a later one is given
                                    before; 0: none */
    atomic_int command;          /* its process, and its group */
    atomic_int stopped_by;       /* the signal that has stopped it since */
    atomic_int status;           /* of the command, or GUARD_RUNS; */
    atomic_bool empty;           /* nothing is left; set before the status */
    atomic_bool refused;         /* a process of the command belongs to somebody
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
    const struct fds *fds;
    const struct signals *signals;
    const struct tty *tty;
    bool lend; /* the command gets the terminal */
};

/* The process, after fork(). `error_fd` is closed when the command is executed;
 * or it gets an errno value before, as a negative number when it was fork()
 * that failed. */
_Noreturn void guard_run(struct guard *g, const struct guard_plan *plan, int fd,
                         int error_fd);

/* To the group of the command, and to children of the caller that are not in it
 * and have begun since that instant. Tells whether there was any. */
bool guard_signal_all(struct guard *g, int64_t since_ms, int sig);

#endif
