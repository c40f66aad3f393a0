/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a file so that its readers see all of it, or nothing. */
#include "common/whole_file.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

bool write_all(int fd, const char *text, size_t size)
{
    while (size > 0) {
        ssize_t n = write(fd, text, size);

        if (n < 0 && errno != EINTR)
            return false;
        if (n > 0) {
            text += n;
            size -= (size_t)n;
        }
    }
    return true;
}

/* Which of stdout and stderr is that file, open for writing; or -1. */
static int find_ours(const struct stat *st)
{
    struct stat ours;

    for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fstat(fd, &ours) == 0 && ours.st_dev == st->st_dev &&
            ours.st_ino == st->st_ino && (fcntl(fd, F_GETFL) & O_ACCMODE) != 0)
            return fd;
    }
    return -1;
}

/* Whether it is to be written to, and not replaced; then by which descriptor,
 * a new one, or -1. */
static bool is_in_place(const char *file, int *ret_fd)
{
    struct stat st;
    int ours;

    if (stat(file, &st) != 0)
        return false;
    ours = find_ours(&st);
    if (ours < 0 && S_ISREG(st.st_mode))
        return false;
    *ret_fd = ours < 0 ? open(file, O_WRONLY | O_CLOEXEC | O_NOCTTY)
                       : fcntl(ours, F_DUPFD_CLOEXEC, 0);
    return true;
}

/* The file that is to be replaced, behind all links; NULL on an error. A link
 * to nothing is one. */
static char *target_of(const char *file, char target[PATH_MAX])
{
    struct stat st;

    if (lstat(file, &st) != 0) {
        if (errno != ENOENT)
            return NULL; /* it may be a link */
    } else if (S_ISLNK(st.st_mode)) {
        return realpath(file, target);
    }
    if (snprintf(target, PATH_MAX, "%s", file) < PATH_MAX)
        return target;
    errno = ENAMETOOLONG;
    return NULL;
}

static int open_beside(const char *target, char temporary[PATH_MAX])
{
    if (snprintf(temporary, PATH_MAX, "%s.XXXXXX", target) < PATH_MAX)
        return mkostemp(temporary, O_CLOEXEC);
    errno = ENAMETOOLONG;
    return -1;
}

/* It gets the mode of the file that it replaces, or of any new file. */
static bool set_mode(int fd, const char *target)
{
    mode_t mask = umask(0);
    struct stat st;

    (void)umask(mask);
    return fchmod(fd, stat(target, &st) == 0 ? st.st_mode & 0777
                                             : 0666 & ~mask) == 0;
}

static int replace(const char *target, const char *text, size_t size)
{
    char temporary[PATH_MAX];
    int fd = open_beside(target, temporary);
    int error = 0;

    if (fd < 0)
        return errno;
    if (!write_all(fd, text, size) || !set_mode(fd, target) || fsync(fd) != 0)
        error = errno;
    if (close(fd) != 0 && error == 0)
        error = errno;
    if (error == 0 && rename(temporary, target) != 0)
        error = errno;
    if (error != 0)
        (void)unlink(temporary);
    return error;
}

int whole_file_write(const char *file, const char *text, size_t size)
{
    char target[PATH_MAX];
    int error = 0;
    int fd;

    if (!is_in_place(file, &fd))
        return target_of(file, target) == NULL ? errno
                                               : replace(target, text, size);
    if (fd < 0 || !write_all(fd, text, size))
        error = errno;
    if (fd >= 0)
        (void)close(fd);
    return error;
}

int whole_file_check(const char *file)
{
    char target[PATH_MAX];
    char temporary[PATH_MAX];
    struct stat st;
    int fd;

    if (stat(file, &st) == 0 && (!S_ISREG(st.st_mode) || find_ours(&st) >= 0))
        return 0;
    if (target_of(file, target) == NULL)
        return errno;
    fd = open_beside(target, temporary);
    if (fd < 0)
        return errno;
    (void)close(fd);
    return unlink(temporary) == 0 ? 0 : errno;
}
