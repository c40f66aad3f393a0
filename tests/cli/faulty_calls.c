/* SPDX-License-Identifier: Apache-2.0 */
/* Makes calls of the tool fail when a test says so, and counts their memory and
 * descriptors.
 */
#include "faulty_calls.h"

#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <zkrecipes/zkrecipes.h>

#include "unit.h"
#include "wait.h"

char faulty_auth[2048];
const void *faulty_auth_at;
size_t faulty_piece;

static atomic_long fails_at; /* 0: none */
static atomic_long calls;
static atomic_bool has_failed;
static atomic_long blocks;

static bool fails(int error)
{
    if (atomic_load(&fails_at) == 0 ||
        atomic_fetch_add(&calls, 1) + 1 != atomic_load(&fails_at))
        return false;
    atomic_store(&has_failed, true);
    errno = error;
    return true;
}

bool faulty_has_failed(void)
{
    return atomic_load(&has_failed);
}

long faulty_each(void (*scene)(void))
{
    long n = 0;

    do {
        long blocks_before = atomic_load(&blocks);
        int fds_before = count_fds();

        atomic_store(&calls, 0);
        atomic_store(&has_failed, false);
        atomic_store(&fails_at, ++n);
        scene();
        atomic_store(&fails_at, 0);
        if (atomic_load(&blocks) != blocks_before || count_fds() != fds_before)
            fail_msg("call %ld: %ld blocks and %d descriptors are left", n,
                     atomic_load(&blocks) - blocks_before,
                     count_fds() - fds_before);
    } while (atomic_load(&has_failed));
    return n;
}

static void *counted(void *p)
{
    if (p != NULL)
        (void)atomic_fetch_add(&blocks, 1);
    return p;
}

/* The calls of the tool are renamed to these. */
#define COUNTED(type, call, params, args)                                      \
    type faulty_##call params;                                                 \
    type faulty_##call params                                                  \
    {                                                                          \
        return counted(call args);                                             \
    }
#define FAULTY(type, call, error, failed, params, args)                        \
    type faulty_##call params;                                                 \
    type faulty_##call params                                                  \
    {                                                                          \
        return fails(error) ? failed : call args;                              \
    }

/* clang-format off */
COUNTED(void *, malloc, (size_t size), (size))
COUNTED(void *, calloc, (size_t count, size_t size), (count, size))
COUNTED(char *, strdup, (const char *text), (text))
COUNTED(char *, strndup, (const char *text, size_t len), (text, len))
/* The tool never creates a file with it, so no mode follows. */
FAULTY(int, open, EMFILE, -1, (const char *path, int flags, ...), (path, flags))
FAULTY(int, stat, EACCES, -1, (const char *path, struct stat *st), (path, st))
FAULTY(int, fstat, EIO, -1, (int fd, struct stat *st), (fd, st))
FAULTY(int, socket, EMFILE, -1, (int family, int type, int protocol), (family, type, protocol))
FAULTY(int, connect, ECONNREFUSED, -1, (int fd, const struct sockaddr *to, socklen_t size), (fd, to, size))
FAULTY(int, poll, ENOMEM, -1, (struct pollfd *fds, nfds_t count, int timeout), (fds, count, timeout))
FAULTY(ssize_t, recv, ECONNRESET, -1, (int fd, void *data, size_t size, int flags), (fd, data, size, flags))
FAULTY(ssize_t, send, EPIPE, -1, (int fd, const void *data, size_t size, int flags), (fd, data, size, flags))
FAULTY(int, getaddrinfo, ENOMEM, EAI_MEMORY, (const char *host, const char *port, const struct addrinfo *hints, struct addrinfo **ret_all), (host, port, hints, ret_all))
FAULTY(int, pthread_create, EAGAIN, EAGAIN, (pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *arg), (thread, attr, start, arg))
/* clang-format on */

void *failing_malloc(size_t size)
{
    return fails(ENOMEM) ? NULL : faulty_malloc(size);
}

void *faulty_realloc(void *p, size_t size);
void *faulty_realloc(void *p, size_t size)
{
    void *grown = realloc(p, size);

    return p == NULL ? counted(grown) : grown;
}

void faulty_free(void *p)
{
    if (p != NULL)
        (void)atomic_fetch_sub(&blocks, 1);
    free(p);
}

ssize_t faulty_read(int fd, void *data, size_t size);
ssize_t faulty_read(int fd, void *data, size_t size)
{
    if (faulty_piece != 0 && size > faulty_piece)
        size = faulty_piece;
    return fails(EIO) ? -1 : read(fd, data, size);
}

void faulty_bzero(void *data, size_t size);
void faulty_bzero(void *data, size_t size)
{
    if (data == faulty_auth_at)
        faulty_auth_at = NULL;
    explicit_bzero(data, size);
}

__typeof__(zkr_session_open_async) faulty_session_open;
int faulty_session_open(const char *hosts, const struct zkr_session_opts *opts,
                        zkr_open_fn fn, void *user, zkr_session **ret_session)
{
    if (fails(ENOMEM))
        return ZKR_ENOMEM;
    (void)snprintf(faulty_auth, sizeof(faulty_auth), "%s %s",
                   opts->auth_scheme == NULL ? "" : opts->auth_scheme,
                   opts->auth == NULL ? "" : opts->auth);
    faulty_auth_at = opts->auth_scheme;
    *ret_session = NULL;
    fn(ZKR_OK, user);
    return ZKR_OK;
}
