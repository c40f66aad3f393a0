/* SPDX-License-Identifier: Apache-2.0 */
/* Polls on the monotonic clock, and reads counters from /proc/self. */
#include "wait.h"

#include <stddef.h>

#include <dirent.h>

int64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t boot_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t boot_ms(void)
{
    return boot_ns() / 1000000;
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

bool wait_until(bool (*condition)(void *), void *arg, int timeout_ms)
{
    return COMES(condition(arg), timeout_ms);
}

static int count_entries(const char *path)
{
    DIR *dir = opendir(path);
    const struct dirent *entry;
    int count = 0;

    if (dir == NULL)
        return -1;
    while ((entry = readdir(dir)) != NULL) {
        if (entry->d_name[0] != '.')
            count++;
    }
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
