/* SPDX-License-Identifier: Apache-2.0 */
/* The shell for which a lock is held: a process that ran before us, and that
 * the lock must not outlive, with all that it has started. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <sys/types.h>

/* How a script holds a lock. It ends without it in all cases, also when the
 * tool cannot be started, or does not come to print anything. */
#define HOLD_IDIOM "eval \"$(zk-lockctl hold LOCK || echo exit $?)\""

struct process {
    pid_t pid;
    int fd; /* a pidfd, which is readable when it has ended */
};

struct shell {
    struct process process;
    struct process *started; /* what it has started, as far as it is known */
    size_t count;
};

/* The shell above us that reads our stdout, or our parent when stdout is no
 * pipe. 0, or an exit code after an error was said. */
int shell_find(struct shell *s);
/* Looks again, as a shell that starts a pipeline has its pipes for a while. 0,
 * or an exit code after an error was said. */
int shell_check(const struct shell *s);

bool shell_has_ended(const struct shell *s);
/* Tells whether something lives that was known, also of an ended shell. */
bool shell_has_left(struct shell *s);

/* To it and all that it has started, with a CONT behind it; not to us, nor to
 * our parent. What a trap for TERM starts gets no TERM. 0: to nobody. */
void shell_signal(struct shell *s, int sig);
/* "; TERM to the shell and what it has started": the end of a sentence. */
const char *shell_whom(int sig);

/* From now on nothing of ours keeps a reader of its output waiting, or a
 * terminal open. */
void shell_let_go(void);
/* Speak where it speaks, until shell_silence(). Before it is sent a signal,
 * because there is no way to its stderr afterwards. */
void shell_speak(const struct shell *s);
void shell_silence(void);
