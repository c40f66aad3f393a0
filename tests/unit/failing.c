/* SPDX-License-Identifier: Apache-2.0 */
/* Makes calls of the library fail when a test says so. The linker sends all
 * calls of the library that may fail here (--wrap). */
#include "failing.h"

#include <dirent.h>
#include <jansson.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "unit.h"

static struct failing {
    bool counts;
    int calls;
    int next; /* the call that is to fail; 0: none */
    int apart;
    int error;
    const char *last;
} failing;
static long blocks;

void failing_start(int first, int apart, int error)
{
    failing = (struct failing){ true, .next = first, .apart = apart,
                                .error = error, .last = "nothing" };
    json_set_alloc_funcs(malloc, free); /* which the linker sends here */
}

int failing_stop(void)
{
    failing.counts = false;
    return failing.calls;
}

const char *failing_last(void)
{
    return failing.last;
}

long failing_blocks(void)
{
    return blocks;
}

int failing_descriptors(void)
{
    DIR *d = opendir("/proc/self/fd");
    int count = 0;

    assert_non_null(d);
    while (readdir(d) != NULL)
        count++;
    (void)closedir(d);
    return count;
}

static bool fails(const char *what)
{
    if (!failing.counts || ++failing.calls != failing.next)
        return false;
    failing.next = failing.apart == 0 ? 0 : failing.next + failing.apart;
    failing.last = what;
    errno = failing.error;
    return true;
}

/* A call that returns `wrong` when it fails. */
#define FAILING(type, name, wrong, parameters, ...)                            \
    WRAP(type, name, parameters)                                               \
    {                                                                          \
        return fails(#name) ? (wrong) : __real_##name(__VA_ARGS__);            \
    }

/* -- memory ---------------------------------------------------------------- */

static void *count(void *p)
{
    blocks += p != NULL;
    return p;
}

#define ALLOCATING(type, name, parameters, ...)                                \
    WRAP(type, name, parameters)                                               \
    {                                                                          \
        return fails(#name) ? NULL : count(__real_##name(__VA_ARGS__));        \
    }

ALLOCATING(void *, malloc, (size_t size), size)
ALLOCATING(void *, calloc, (size_t n, size_t size), n, size)
ALLOCATING(char *, strdup, (const char *text), text)
ALLOCATING(char *, strndup, (const char *text, size_t len), text, len)

/* In that case the contents of `text` must not be used. */
int __wrap_asprintf(char **text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
int __wrap_asprintf(char **text, const char *format, ...)
{
    va_list args;

    if (fails("asprintf")) {
        *text = (char *)(uintptr_t)1;
        return -1;
    }
    va_start(args, format);
    int len = vasprintf(text, format, args);
    va_end(args);
    blocks += len >= 0;
    return len;
}

WRAP(void, free, (void *p))
{
    blocks -= p != NULL;
    __real_free(p);
}

/* -- descriptors ----------------------------------------------------------- */

FAILING(int, open64, -1, (const char *path, int flags, ...), path, flags, 0666)
FAILING(int, openat64, -1, (int dir, const char *path, int flags, ...), dir,
        path, flags, 0666)
FAILING(FILE *, fopen64, NULL, (const char *path, const char *mode), path, mode)
FAILING(int, socket, -1, (int domain, int type, int protocol), domain, type,
        protocol)

/* The descriptor is closed all the same. */
#define CLOSING(name, wrong, parameters, arg)                                  \
    WRAP(int, name, parameters)                                                \
    {                                                                          \
        int rc = __real_##name(arg);                                           \
                                                                               \
        return fails(#name) ? (wrong) : rc;                                    \
    }

CLOSING(close, -1, (int fd), fd)
CLOSING(fclose, EOF, (FILE * f), f)

/* -- what is done with them ------------------------------------------------ */

FAILING(ssize_t, read, -1, (int fd, void *data, size_t size), fd, data,
        size > 7 ? 7 : size)

/* It never takes all bytes at once. */
FAILING(ssize_t, write, -1, (int fd, const void *data, size_t size), fd, data,
        size > 7 ? 7 : size)
FAILING(char *, fgets, NULL, (char *line, int size, FILE *f), line, size, f)

/* Syncing is skipped: disks are slow, and no machine crashes here. */
int __wrap_fsync(int fd);
int __wrap_fsync(int fd)
{
    return fails("fsync") ? -1 : 0;
}

FAILING(int, flock, -1, (int fd, int how), fd, how)
FAILING(int, fstat64, -1, (int fd, struct stat64 *s), fd, s)
FAILING(int, fstatat64, -1,
        (int dir, const char *path, struct stat64 *s, int flags), dir, path, s,
        flags)
FAILING(int, renameat, -1, (int from, const char *a, int to, const char *b),
        from, a, to, b)
FAILING(int, unlinkat, -1, (int dir, const char *path, int flags), dir, path,
        flags)
FAILING(int, connect, -1, (int fd, const struct sockaddr *to, socklen_t len),
        fd, to, len)
FAILING(int, poll, -1, (struct pollfd * fds, nfds_t n, int ms), fds, n, ms)
FAILING(int, getsockopt, -1,
        (int fd, int level, int name, void *value, socklen_t *len), fd, level,
        name, value, len)

/* -- the system ------------------------------------------------------------ */

WRAP(int, getaddrinfo,
     (const char *host, const char *port, const struct addrinfo *hints,
      struct addrinfo **info))
{
    int rc = fails("getaddrinfo") ? EAI_SYSTEM
                                  : __real_getaddrinfo(host, port, hints, info);

    blocks += rc == 0;
    return rc;
}

WRAP(void, freeaddrinfo, (struct addrinfo * info))
{
    blocks--;
    __real_freeaddrinfo(info);
}

FAILING(int, gethostname, -1, (char *name, size_t size), name, size)
