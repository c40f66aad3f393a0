/* SPDX-License-Identifier: Apache-2.0 */
/* A preloaded library that kills zk-lockctl hold when it has just printed all
 * of the code for the shell. */
#include <signal.h>
#include <string.h>

#include <sys/syscall.h>
#include <unistd.h>

ssize_t write(int fd, const void *buf, size_t n)
{
    ssize_t written = (ssize_t)syscall(SYS_write, fd, buf, n);

    if (fd == STDOUT_FILENO && written > 2 &&
        memcmp((const char *)buf + written - 2, "}\n", 2) == 0)
        (void)raise(SIGKILL);
    return written;
}
