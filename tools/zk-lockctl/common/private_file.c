/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a file that no other user can have written, or read. */
#include "common/private_file.h"

#include <errno.h>
#include <string.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* NULL, or what is wrong with it. The owner could change the mode. */
static const char *find_fault(int fd, enum private_from from)
{
    struct stat st;

    if (fd < 0 || fstat(fd, &st) != 0)
        return strerror(errno);
    if (!S_ISREG(st.st_mode) && !S_ISFIFO(st.st_mode))
        return "neither a file nor a pipe";
    if (S_ISFIFO(st.st_mode) && from == PRIVATE_READ)
        return NULL;
    if (from == PRIVATE_READ && (st.st_mode & 077) != 0)
        return "others may read it; chmod 600";
    if ((st.st_mode & 022) != 0)
        return "others may write it; chmod go-w";
    if (st.st_uid != geteuid() && st.st_uid != 0)
        return "it belongs to somebody else";
    return NULL;
}

static const char *read_all(int fd, char *text, size_t size)
{
    size_t used = 0;
    ssize_t n = 1;

    while (n > 0 && used < size) {
        n = read(fd, text + used, size - used);
        used += n > 0 ? (size_t)n : 0;
    }
    if (n < 0)
        return strerror(errno);
    if (used == size)
        return "it is too long";
    text[used] = '\0';
    return strlen(text) == used ? NULL : "it has a byte 0";
}

const char *private_file_read(const char *path, enum private_from from,
                              char *text, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    const char *fault = find_fault(fd, from);

    if (fault == NULL)
        fault = read_all(fd, text, size);
    if (fd >= 0)
        (void)close(fd);
    if (fault != NULL)
        explicit_bzero(text, size);
    return fault;
}
