/* A process beside us that kills the command when we cannot: after SIGKILL,
 * while stopped, or stuck. */
#ifndef RUN_GUARD_H
#define RUN_GUARD_H

#include <stdint.h>

#include <sys/types.h>

struct guard;

/* A child of ours. While there is one thread only. NULL, with errno, on
 * failure. */
struct guard *guard_start(void);

/* This group must not outlive us, */
void guard_watch(struct guard *g, pid_t group);
/* ... nor this instant of CLOCK_BOOTTIME, unless a later one is given before.
 */
void guard_set_deadline(struct guard *g, int64_t deadline_ms);

/* Nothing is left to guard. NULL is allowed. */
void guard_dismiss(struct guard *g);

#endif
