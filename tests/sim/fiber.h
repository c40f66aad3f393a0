/* SPDX-License-Identifier: Apache-2.0 */
/* Fibers: the threads of all simulated processes, on one real thread. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define FIBERS_MAX    256
#define PROCESSES_MAX 8
#define FIBER_NOBODY  (-1)

/* Runs when its turn comes, in the given process. Returns its number. */
int fiber_start(int process, void *(*main)(void *), void *arg);

/* The running fiber, or FIBER_NOBODY, and its process. */
extern int fiber_self;
int fiber_process(void);
void fiber_enter_process(int process); /* for upcalls, which no fiber makes */

/* Wait for a wake-up of `object`, or the instant: false when that has come. */
bool fiber_wait(const void *object, int64_t deadline);
void fiber_wake(const void *object);
void fiber_sleep(int64_t duration);
/* Looks again after each such step. */
#define FIBER_WHILE(condition, step)                                           \
    do {                                                                       \
        while (condition)                                                      \
            fiber_sleep(step);                                                 \
    } while (0)
/* Looks again whenever the object is woken. */
#define FIBER_UNTIL(condition, object)                                         \
    do {                                                                       \
        while (!(condition))                                                   \
            (void)fiber_wait(object, INT64_MAX);                               \
    } while (0)
void fiber_yield(void);
void fiber_join(int fiber);

/* Processes of which no fiber runs. */
extern bool fiber_stopped[PROCESSES_MAX];

/* Fibers that can run: their number, the next one to run, and a call that runs
 * it until it waits. */
int fibers_ready(void);
void fibers_run(int which);
/* Returns when the next wait times out. */
int64_t fibers_next(void);
int fibers_alive(void);
