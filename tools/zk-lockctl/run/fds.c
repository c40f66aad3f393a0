/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the descriptors that we were started with: the command gets no others.
 * The sockets of the ZooKeeper client are not close-on-exec, nor can we make
 * them so: it opens new ones whenever it likes. */
#include "run/fds.h"

#include <dirent.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include <fcntl.h>
#include <linux/close_range.h>
#include <unistd.h>

struct fds {
    size_t count;
    unsigned sorted[];
};

static int compare(const void *a, const void *b)
{
    unsigned x = *(const unsigned *)a;
    unsigned y = *(const unsigned *)b;

    return (x > y) - (x < y);
}

static struct fds *add(struct fds *fds, unsigned fd)
{
    struct fds *bigger = realloc(fds, offsetof(struct fds, sorted) +
                                          (fds->count + 1) * sizeof(unsigned));

    if (bigger == NULL) {
        free(fds);
        return NULL;
    }
    bigger->sorted[bigger->count++] = fd;
    return bigger;
}

void fds_fill_standard(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) < 0)
            (void)open("/dev/null", O_RDWR | O_CLOEXEC);
    }
}

struct fds *fds_note(void)
{
    DIR *dir = opendir("/proc/self/fd");
    struct fds *fds = dir != NULL ? calloc(1, sizeof(*fds)) : NULL;
    struct dirent *entry;

    while (fds != NULL && (entry = readdir(dir)) != NULL) {
        int fd = atoi(entry->d_name);
        int flags = fd > 2 && fd != dirfd(dir) ? fcntl(fd, F_GETFD) : -1;

        if (flags != -1 && (flags & FD_CLOEXEC) == 0)
            fds = add(fds, (unsigned)fd);
    }
    if (dir != NULL)
        (void)closedir(dir);
    if (fds != NULL)
        qsort(fds->sorted, fds->count, sizeof(unsigned), compare);
    return fds;
}

void fds_free(struct fds *fds)
{
    free(fds);
}

void fds_close(const struct fds *fds)
{
    for (size_t i = 0; i < fds->count; i++)
        (void)close((int)fds->sorted[i]);
}

int fds_close_others_on_exec(const struct fds *fds)
{
    unsigned from = 3;

    for (size_t i = 0; i < fds->count; i++) {
        unsigned fd = fds->sorted[i];

        if (fd > from && close_range(from, fd - 1, CLOSE_RANGE_CLOEXEC) != 0)
            return -1;
        from = fd + 1;
    }
    return close_range(from, ~0U, CLOSE_RANGE_CLOEXEC);
}
