/* SPDX-License-Identifier: Apache-2.0 */
/* Starts the command as a process group, signals it, and finds its
 * descendants. */
#ifndef RUN_CHILD_H
#define RUN_CHILD_H

#include <stdbool.h>

#include <sys/types.h>

#include "run/fds.h"
#include "run/killer.h"
#include "run/signals.h"
#include "run/tty.h"

struct child {
    pid_t pid;      /* of the command, and its process group; 0: not started */
    bool ended;     /* the command itself; others may be left */
    int status;     /* as of waitpid(), then */
    int stopped_by; /* the signal that stopped it, until child_continue() */
};

/* The environment in which the command is started. */
struct child_plan {
    char *const *argv;
    char *const *env;
    const struct fds *fds;
    const struct signals *signals;
    const struct tty *tty;
    struct killer *killer; /* watches it from before it is executed */
};

/* Orphans among our descendants become our children from now on. Children that
 * we have already are not of the command. Once; false with errno. */
bool child_adopt_orphans(void);

/* 0 once it is executed, or the errno value that says why it is not: then
 * `ret_step` is what failed, "fork" or "exec". */
int child_start(struct child *c, const struct child_plan *plan,
                const char **ret_step);

/* To the process group. */
void child_signal(const struct child *c, int sig);
/* To the group and to orphans that have left it. False when a process of the
 * command belongs to somebody whom we may not send signals. */
bool child_signal_all(const struct child *c, int sig);
void child_continue(struct child *c);

/* Notes which children have ended or stopped. */
void child_reap(struct child *c);

/* Tells whether any process is left that the command has started. Returns true
 * also when that cannot be known. */
bool child_has_descendants(void);

#endif
