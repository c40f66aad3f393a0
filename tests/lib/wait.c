/* SPDX-License-Identifier: Apache-2.0 */
/* Polls on the monotonic clock, and reads counters from /proc/self. */
#include "wait.h"

#include <dirent.h>

int64_t clock_ns(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t now_ms(void)
{
    return clock_ns(CLOCK_MONOTONIC) / 1000000;
}

int64_t boot_ns(void)
{
    return clock_ns(CLOCK_BOOTTIME);
}

int64_t boot_ms(void)
{
    return boot_ns() / 1000000;
}

int64_t real_ms(void)
{
    return clock_ns(CLOCK_REALTIME) / 1000000;
}

void sleep_ms(int duration_ms)
{
    struct timespec pause = { .tv_sec = duration_ms / 1000,
                              .tv_nsec = duration_ms % 1000 * 1000000L };

    nanosleep(&pause, NULL);
}

void wait_init(pthread_cond_t *condition)
{
    pthread_condattr_t attr;

    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &attr);
    pthread_condattr_destroy(&attr);
}

struct timespec wait_deadline(int timeout_ms)
{
    int64_t ms = now_ms() + timeout_ms;

    return (struct timespec){ .tv_sec = (time_t)(ms / 1000),
                              .tv_nsec = (long)(ms % 1000) * 1000000L };
}

static int count_entries(const char *path)
{
    DIR *dir = opendir(path);
    int count = 0;

    if (dir == NULL)
        return -1;
    for (const struct dirent *e; (e = readdir(dir)) != NULL;)
        count += e->d_name[0] != '.';
    closedir(dir);
    return count;
}

int count_threads(void)
{
    return count_entries("/proc/self/task");
}

int count_fds(void)
{
    int count = count_entries("/proc/self/fd");

    /* The descriptor that read the directory was in the list as well. */
    return count < 0 ? -1 : count - 1;
}
