/* SPDX-License-Identifier: Apache-2.0 */
/* The side of the test: the file, and the environment. */
#include "wall_clock.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

static int8_t *days_of;

bool wall_clock_start(const char *library, const char *dir)
{
    char path[PATH_MAX];

    (void)snprintf(path, sizeof(path), "%s/wall-clock", dir);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || ftruncate(fd, WALL_CLOCK_PIDS) != 0)
        return false;
    days_of =
        mmap(NULL, WALL_CLOCK_PIDS, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    (void)close(fd);
    return days_of != MAP_FAILED && setenv(WALL_CLOCK_FILE, path, 1) == 0 &&
           setenv("LD_PRELOAD", library, 1) == 0;
}

void wall_clock_set(pid_t pid, int days)
{
    if (pid > 0 && pid < WALL_CLOCK_PIDS)
        days_of[pid] = (int8_t)days;
}

int64_t wall_clock_true(int64_t time_ms, int64_t near_ms)
{
    const int64_t day_ms = INT64_C(1000) * WALL_CLOCK_DAY;
    int64_t ahead = time_ms - near_ms + 128 * day_ms + day_ms / 2;

    return time_ms - (ahead / day_ms - 128) * day_ms;
}
