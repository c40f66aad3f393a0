/* The clock of the lease. */
#ifndef RUN_CLOCK_H
#define RUN_CLOCK_H

#include <stdint.h>

#include <time.h>

/* Milliseconds of CLOCK_BOOTTIME, which counts the time that the machine is
 * suspended. */
static inline int64_t run_boot_ms(void)
{
    struct timespec ts;

    (void)clock_gettime(CLOCK_BOOTTIME, &ts);
    return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

#endif
