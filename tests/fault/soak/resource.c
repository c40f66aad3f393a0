/* SPDX-License-Identifier: Apache-2.0 */
/* The resources that the locks of a soak protect. */
#include "resource.h"

#include <limits.h>
#include <pthread.h>

#include <sys/stat.h>

#include "scope.h"
#include "soak.h"

static void make_path(char path[static PATH_MAX], const char *dir,
                      const char *name, int lock)
{
    (void)snprintf(path, PATH_MAX, "%s/%s-%d", dir, name, lock);
}

static int open_in(const char *dir, const char *name, int lock, int flags)
{
    char path[PATH_MAX];

    make_path(path, dir, name, lock);
    return open(path, O_RDWR | O_CLOEXEC | flags, 0600);
}

bool resource_open(struct resource *r, const char *dir, int lock, bool fenced)
{
    char path[PATH_MAX];

    r->counter = open_in(dir, "counter", lock, 0);
    r->store = open_in(dir, "store", lock, 0);
    r->fence = NULL;
    make_path(path, dir, "fence", lock);
    if (fenced && zkr_fence_new(OPTS(fence, .file = path), &r->fence) != ZKR_OK)
        return false;
    return r->counter >= 0 && r->store >= 0;
}

void resource_close(struct resource *r)
{
    (void)close(r->counter);
    (void)close(r->store);
    zkr_fence_free(r->fence);
}

bool resource_create(const char *dir, int lock)
{
    struct resource r = {
        .counter = open_in(dir, "counter", lock, O_CREAT | O_EXCL),
        .store = open_in(dir, "store", lock, O_CREAT | O_EXCL),
    };
    bool good = r.counter >= 0 && r.store >= 0 &&
                ftruncate(r.counter, sizeof(int64_t)) == 0;

    resource_close(&r);
    return good;
}

int64_t resource_read(const struct resource *r)
{
    int64_t value;

    if (pread(r->counter, &value, sizeof(value), 0) != sizeof(value))
        die("counter");
    return value;
}

void resource_write(const struct resource *r, int64_t value)
{
    if (pwrite(r->counter, &value, sizeof(value), 0) != sizeof(value))
        die("counter");
}

/* A lock of fcntl belongs to the process: this one is between its threads. */
static pthread_mutex_t threads = PTHREAD_MUTEX_INITIALIZER;

static void lock_store(const struct resource *r, short type)
{
    struct flock whole = { .l_type = type, .l_whence = SEEK_SET };

    if (fcntl(r->store, F_SETLKW, &whole) != 0)
        die("fcntl");
}

/* As rwlock.h asks of a resource. */
bool resource_access(const struct resource *r, bool writes, int64_t token,
                     uint64_t handoff)
{
    const struct access access = { token, writes };
    int rc = ZKR_OK;

    pthread_mutex_lock(&threads);
    lock_store(r, F_WRLCK);
    if (r->fence != NULL)
        rc = writes ? zkr_fence_accept(r->fence, token, handoff)
                    : zkr_fence_accept_shared(r->fence, token);
    if (rc != ZKR_OK && rc != ZKR_ESTALE)
        die("fence");
    if (rc == ZKR_OK &&
        (lseek(r->store, 0, SEEK_END) < 0 ||
         write(r->store, &access, sizeof(access)) != sizeof(access)))
        die("store");
    lock_store(r, F_UNLCK);
    pthread_mutex_unlock(&threads);
    return rc == ZKR_OK;
}

struct access *resource_accepted(const struct resource *r, size_t *ret_count)
{
    struct stat st;

    if (fstat(r->store, &st) != 0)
        die("store");
    size_t size = (size_t)st.st_size;
    struct access *all = malloc(size + 1);
    if (all == NULL || pread(r->store, all, size, 0) != (ssize_t)size)
        die("store");
    *ret_count = size / sizeof(*all);
    return all;
}
