/* SPDX-License-Identifier: Apache-2.0 */
/* Makes calls of the tool fail when a test says so, and counts their memory and
 * descriptors.
 */
#include "faulty_calls.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fcntl.h>
#include <unistd.h>

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

void *faulty_malloc(size_t size)
{
    return counted(malloc(size));
}

void *failing_malloc(size_t size)
{
    return fails(ENOMEM) ? NULL : faulty_malloc(size);
}

void *faulty_calloc(size_t count, size_t size)
{
    return counted(calloc(count, size));
}

void *faulty_realloc(void *p, size_t size)
{
    void *grown = realloc(p, size);

    return p == NULL ? counted(grown) : grown;
}

char *faulty_strdup(const char *text)
{
    return counted(strdup(text));
}

char *faulty_strndup(const char *text, size_t len)
{
    return counted(strndup(text, len));
}

void faulty_free(void *p)
{
    if (p != NULL)
        (void)atomic_fetch_sub(&blocks, 1);
    free(p);
}

/* The tool never creates a file with it, so no mode follows. */
int faulty_open(const char *path, int flags, ...)
{
    return fails(EMFILE) ? -1 : open(path, flags);
}

ssize_t faulty_read(int fd, void *data, size_t size)
{
    if (faulty_piece != 0 && size > faulty_piece)
        size = faulty_piece;
    return fails(EIO) ? -1 : read(fd, data, size);
}

int faulty_stat(const char *path, struct stat *st)
{
    return fails(EACCES) ? -1 : stat(path, st);
}

int faulty_fstat(int fd, struct stat *st)
{
    return fails(EIO) ? -1 : fstat(fd, st);
}

int faulty_socket(int family, int type, int protocol)
{
    return fails(EMFILE) ? -1 : socket(family, type, protocol);
}

int faulty_connect(int fd, const struct sockaddr *address, socklen_t size)
{
    return fails(ECONNREFUSED) ? -1 : connect(fd, address, size);
}

int faulty_poll(struct pollfd *fds, nfds_t count, int timeout)
{
    return fails(ENOMEM) ? -1 : poll(fds, count, timeout);
}

ssize_t faulty_recv(int fd, void *data, size_t size, int flags)
{
    return fails(ECONNRESET) ? -1 : recv(fd, data, size, flags);
}

ssize_t faulty_send(int fd, const void *data, size_t size, int flags)
{
    return fails(EPIPE) ? -1 : send(fd, data, size, flags);
}

int faulty_getaddrinfo(const char *host, const char *port,
                       const struct addrinfo *hints, struct addrinfo **ret_all)
{
    return fails(ENOMEM) ? EAI_MEMORY : getaddrinfo(host, port, hints, ret_all);
}

int faulty_pthread_create(pthread_t *thread, const pthread_attr_t *attr,
                          void *(*start)(void *), void *arg)
{
    return fails(EAGAIN) ? EAGAIN : pthread_create(thread, attr, start, arg);
}

void faulty_bzero(void *data, size_t size)
{
    if (data == faulty_auth_at)
        faulty_auth_at = NULL;
    explicit_bzero(data, size);
}

int faulty_session_open(const char *hosts, const struct zkr_session_opts *opts,
                        zkr_open_fn fn, void *user, zkr_session **ret_session)
{
    (void)hosts;
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
