/* SPDX-License-Identifier: Apache-2.0 */
/* A preloaded library that makes kill() slow for zk-lockctl: the effects of the
 * signal happen while the tool is still sending it. */
#include <signal.h>
#include <time.h>

#include <sys/syscall.h>
#include <unistd.h>

enum { SLOW_MS = 200 };

int kill(pid_t pid, int sig)
{
    struct timespec pause = { .tv_nsec = SLOW_MS * 1000000L };
    int rc = (int)syscall(SYS_kill, pid, sig);

    if (rc == 0)
        (void)nanosleep(&pause, NULL);
    return rc;
}
