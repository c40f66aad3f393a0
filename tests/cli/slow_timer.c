/* SPDX-License-Identifier: Apache-2.0 */
/* A preloaded library that makes timerfd_settime() slow for zk-lockctl: things
 * happen between the request for the lock and the wait for it. */
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { SLOW_S = 2 };

int timerfd_settime(int fd, int flags, const struct itimerspec *value,
                    struct itimerspec *old)
{
    struct timespec pause = { .tv_sec = SLOW_S };

    (void)nanosleep(&pause, NULL);
    return (int)syscall(SYS_timerfd_settime, fd, flags, value, old);
}
