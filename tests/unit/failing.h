/* Calls of the library that fail when a test says so: the n-th of all that it
 * makes, whichever that is. */
#ifndef UNIT_FAILING_H
#define UNIT_FAILING_H

#include <stdbool.h>

/* From now on, until failing_stop(), count calls; the one with that number,
 * from 1, and those that follow it at that distance (0: none), fail with that
 * errno. */
void failing_start(int first, int apart, int error);
/* Returns how many calls there were. */
int failing_stop(void);
/* The name of the last that has failed; "nothing" if none. */
const char *failing_last(void);

/* Memory and address lists that the library has and has not given back. */
long failing_blocks(void);
/* Descriptors of this process. */
int failing_descriptors(void);

#endif
