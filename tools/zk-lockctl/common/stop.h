/* SPDX-License-Identifier: Apache-2.0 */
/* Ends a verb that runs until SIGINT or SIGTERM, also while it waits. */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* From here on the two signals end no wait but stop_wait(); what is ignored
 * stays so. One second after a signal the process ends as it is, unless
 * stop_end() was called: with 0, or with EX_IOERR between stop_printing(true)
 * and (false), when nobody takes the output. */
void stop_start(void);
void stop_end(void);
/* The process ends so after one second, without a signal. */
void stop_soon(void);

/* Sleep; false as soon as it is time to end. */
bool stop_wait(int64_t duration_ms);
/* The present sleep ends, or the next, if there is none now. From any
 * thread. */
void stop_wake(void);

void stop_printing(bool printing);
/* Write what was printed, after stop_printing(true); 0, or EX_IOERR, which
 * main() explains. Without a reader of the pipe it ends the process, as a write
 * does, also when nothing was printed; where SIGPIPE is ignored, EX_IOERR. */
int stop_flush(void);

/* Adds the signal to the set, unless it was ignored when we were started
 * (nohup): then it stays ignored. */
void signal_add(sigset_t *set, int sig);

/* Does what the signal does by default, although it is blocked: the process
 * ends, or stops. It is unblocked afterwards. */
void signal_obey(int sig);
