/* SPDX-License-Identifier: Apache-2.0 */
/* The killer: a process beside the one that keeps a lock for a shell. It tells
 * the shell when that cannot, because it was killed, stopped, or is stuck. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <sys/types.h>

/* Both run in the killer, which keeps the standard descriptors and that one.
 * The end comes when we are dead; and once, which is `late`, when a deadline
 * passes. */
struct killer_way {
    void (*begin)(void);
    void (*end)(void *arg, bool late);
    void *arg;
    int fd;
};

/* Both of us see this. */
struct killer {
    atomic_bool watches;         /* somebody works under the lock */
    _Atomic int64_t deadline_ms; /* nobody may do so after this instant of
                                    CLOCK_BOOTTIME, unless a later one is given
                                    before; 0: none */
    atomic_bool late; /* a deadline has passed, and the killer has acted */
    pid_t pid;
    int fd; /* our end of a pipe: it is closed when we are dead */
    struct killer_way way;
};

/* A child of ours, which no signal to our group hits. While there is one thread
 * only. NULL, with errno, on failure. */
struct killer *killer_start(const struct killer_way *way);
/* Ends it. NULL is allowed. */
void killer_dismiss(struct killer *k);
