/* SPDX-License-Identifier: Apache-2.0 */
/* The killer: a process beside the one that keeps a lock for a shell. It tells
 * the shell when that cannot, because it was killed, stopped, or is stuck. */
#ifndef RUN_KILLER_H
#define RUN_KILLER_H

#include <stdbool.h>
#include <stdint.h>

#include <sys/types.h>

struct killer;

/* Both run in the killer, which keeps the standard descriptors and that one.
 * The end comes when we are dead; and once, which is `late`, when a deadline
 * passes. */
struct killer_way {
    void (*begin)(void);
    void (*end)(void *arg, bool late);
    void *arg;
    int fd;
};

/* A child of ours, which no signal to our group hits any more. While there is
 * one thread only. NULL, with errno, on failure. */
struct killer *killer_start(const struct killer_way *way);

/* From now on, or no more, somebody works under the lock. */
void killer_watch(struct killer *k, bool watch);
/* Nobody may do so after this instant of CLOCK_BOOTTIME, unless a later one is
 * given before. */
void killer_set_deadline(struct killer *k, int64_t deadline_ms);
/* Tells whether a deadline has passed, and the killer has acted. */
bool killer_was_late(struct killer *k);

/* Ends it. NULL is allowed. */
void killer_dismiss(struct killer *k);

#endif
