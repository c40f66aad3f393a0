/* SPDX-License-Identifier: Apache-2.0 */
/* Ends a verb that runs until SIGINT or SIGTERM, also while it waits. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* From here on the two signals end no wait but stop_wait(); what is ignored
 * stays so. One second after a signal the process ends as it is, unless
 * stop_end() was called: with 0, or with EX_IOERR between stop_printing(true)
 * and (false), when nobody takes the output. False: no memory. */
bool stop_start(void);
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
 * main() explains. */
int stop_flush(void);
