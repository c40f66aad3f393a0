/* SPDX-License-Identifier: Apache-2.0 */
/* The shell for which a lock is held: a process that ran before us, and that
 * the lock must not outlive. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sys/types.h>

/* How a script holds a lock. It ends without it in all cases, also when the
 * tool cannot be started, or does not come to print anything. */
#define HOLD_IDIOM "eval \"$(zk-lockctl hold LOCK || echo exit $?)\""

struct script {
    pid_t pid;
    int fd;     /* a pidfd, which is readable when it has ended */
    bool reads; /* it was found as the reader of our stdout */
};

/* The process with that number; 0: the shell above us that reads our stdout,
 * or our parent when stdout is no pipe. 0, or an exit code after an error was
 * said. */
int script_find(struct script *s, pid_t pid);
/* Looks again, as a shell that starts a pipeline has its pipes for a while. 0,
 * or an exit code after an error was said. */
int script_check(const struct script *s);

/* Processes that it has started, by number and pidfd. */
struct started {
    struct process {
        pid_t pid;
        pid_t group;
        int fd;
        int64_t told_ms; /* by script_signal_all() */
    } * items;
    size_t count;
    pid_t group;      /* of the shell */
    int64_t since_ms; /* the beginning of the last script_signal_all() */
    int64_t told_ms;  /* when that call told the shell, before all others */
};

bool script_has_ended(const struct script *s);
/* To it and all that it has started, but not to us; `started` has those that
 * are known from before, also where the shell has ended since. `reaper` gets
 * the children of those who end. What a trap for TERM has started by then gets
 * no TERM. */
void script_signal_all(const struct script *s, struct started *started,
                       pid_t reaper, int sig);
/* Tells whether one of them lives. */
bool started_live(struct started *started);
void started_free(struct started *started);

/* From now on nothing of ours keeps a reader of its output waiting, or a
 * terminal open. */
void script_let_go(void);
/* Speak where it speaks, until script_silence(). Before it is sent a signal,
 * because there is no way to its stderr afterwards. */
void script_speak(const struct script *s);
void script_silence(void);
