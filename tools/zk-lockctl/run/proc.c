/* SPDX-License-Identifier: Apache-2.0 */
#include "run/proc.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fcntl.h>
#include <unistd.h>

struct proc_stat {
    long parent;
    long long start; /* in ticks since the boot */
};

enum { STAT_MAX = 1024 };

size_t proc_read(pid_t pid, const char *what, char *text, size_t size)
{
    char name[48];

    text[0] = '\0';
    (void)snprintf(name, sizeof(name), "/proc/%d/%s", (int)pid, what);
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    ssize_t n = read(fd, text, size - 1);
    (void)close(fd);
    text[n > 0 ? n : 0] = '\0';
    return n > 0 ? (size_t)n : 0;
}

/* "PID (NAME) STATE PPID ... START ..."; the name may have anything. The parent
 * is the fourth field, the start the 22nd. */
static bool read_stat(pid_t pid, struct proc_stat *ret)
{
    static const char format[] =
        ") %*c %ld %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
        "%*s %*s %*s %lld";
    char text[STAT_MAX];

    (void)proc_read(pid, "stat", text, sizeof(text));
    const char *end = strrchr(text, ')');
    return end != NULL && sscanf(end, format, &ret->parent, &ret->start) == 2;
}

pid_t proc_parent(pid_t pid)
{
    struct proc_stat stat;

    return read_stat(pid, &stat) ? (pid_t)stat.parent : 0;
}

int64_t proc_start_ms(pid_t pid)
{
    struct proc_stat stat;

    return read_stat(pid, &stat) ? stat.start * 1000 / sysconf(_SC_CLK_TCK)
                                 : -1;
}

bool proc_is_below(pid_t pid, pid_t root)
{
    do
        pid = proc_parent(pid);
    while (pid > 0 && pid != root);
    return pid == root;
}

void proc_each(bool (*fn)(pid_t pid, void *arg), void *arg)
{
    DIR *dir = opendir("/proc");
    struct dirent *entry;

    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        pid_t pid = (pid_t)atoi(entry->d_name); /* 0: no process */

        if (pid > 0 && !fn(pid, arg))
            break;
    }
    if (dir != NULL)
        (void)closedir(dir);
}
