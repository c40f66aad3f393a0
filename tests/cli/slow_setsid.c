/* SPDX-License-Identifier: Apache-2.0 */
/* A preloaded library that makes setsid() late for zk-lockctl: what it starts
 * stays in its process group for a while. */
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { LATE_S = 2 };

pid_t setsid(void)
{
    struct timespec pause = { .tv_sec = LATE_S };

    (void)nanosleep(&pause, NULL);
    return (pid_t)syscall(SYS_setsid);
}
