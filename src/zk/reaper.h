/* The reaper: what may never return is called on a thread of its own, and
 * waited for no longer than the caller likes. */
#ifndef ZKR__REAPER_H
#define ZKR__REAPER_H

#include <stdbool.h>
#include <stdint.h>

/* Call it, and return what it returns; false at the deadline, if it has not
 * returned: then it is stuck, until it does. If the system has no thread for
 * it, it is called here, however long it takes. */
bool zkr__reaper_run(bool (*call)(void *), void *arg, int64_t deadline);

/* How many calls are stuck, in this process. */
unsigned zkr__reaper_stuck(void);

#endif
