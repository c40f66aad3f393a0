/* A process beside us that kills the command when we cannot, as we were killed,
 * stopped, or are stuck. */
#ifndef RUN_REAPER_H
#define RUN_REAPER_H

#include <stdint.h>

#include <sys/types.h>

struct reaper;

/* A child of ours. While there is one thread only. NULL, with errno, on
 * failure. */
struct reaper *reaper_start(void);

/* This group must not outlive us, */
void reaper_watch(struct reaper *g, pid_t group);
/* ... nor this instant of CLOCK_BOOTTIME, unless a later one is given before.
 */
void reaper_set_deadline(struct reaper *g, int64_t deadline_ms);

/* Nothing is left to reaper. NULL is allowed. */
void reaper_dismiss(struct reaper *g);

#endif
