/* SIGINT and SIGTERM for a verb that goes on until it is told to end. */
#ifndef COMMON_STOP_H
#define COMMON_STOP_H

#include <stdbool.h>
#include <stdint.h>

/* From here on the two signals end no wait but stop_wait(); what is ignored
 * stays so. One second after a signal the process ends as it is, unless
 * stop_end() was called: with 0, or with EX_IOERR between stop_printing(true)
 * and (false), when nobody takes the output. False: no memory. */
bool stop_start(void);
void stop_end(void);

/* Sleep; false as soon as it is time to end. */
bool stop_wait(int64_t duration_ms);

void stop_printing(bool printing);

#endif
