/* SPDX-License-Identifier: Apache-2.0 */
/* To be preloaded: moves the wall clock of a program, while it runs, by the
 * number of nanoseconds that is the content of the file $WALL_CLOCK. Monotonic
 * clocks stay, as when an administrator sets the time.
 *
 * It takes no memory and looks up no symbol: Redis's allocator asks for the
 * time before it is ready, which ends libfaketime in a recursion.
 */
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

static _Atomic(const _Atomic int64_t *) offset;

static int64_t read_offset(void)
{
    static const _Atomic int64_t none;
    const _Atomic int64_t *found = atomic_load(&offset);

    if (found == NULL) {
        const char *path = getenv("WALL_CLOCK");
        int fd = path != NULL ? open(path, O_RDONLY | O_CLOEXEC) : -1;
        void *map = mmap(NULL, sizeof(*found), PROT_READ, MAP_SHARED, fd, 0);

        found = map != MAP_FAILED ? map : &none;
        atomic_store(&offset, found);
        if (fd >= 0)
            (void)close(fd);
    }
    return *found;
}

int clock_gettime(clockid_t clock, struct timespec *ts)
{
    int rc = (int)syscall(SYS_clock_gettime, clock, ts);

    if (rc == 0 &&
        (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
        int64_t ns = ts->tv_nsec + read_offset() % 1000000000 + 1000000000;

        ts->tv_sec += read_offset() / 1000000000 + ns / 1000000000 - 1;
        ts->tv_nsec = ns % 1000000000;
    }
    return rc;
}

int gettimeofday(struct timeval *restrict tv, void *restrict zone)
{
    struct timespec ts;

    (void)zone;
    (void)clock_gettime(CLOCK_REALTIME, &ts);
    tv->tv_sec = ts.tv_sec;
    tv->tv_usec = ts.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *ret_seconds)
{
    struct timespec ts;

    (void)clock_gettime(CLOCK_REALTIME, &ts);
    if (ret_seconds != NULL)
        *ret_seconds = ts.tv_sec;
    return ts.tv_sec;
}
