/* What the locks of a soak protect. */
#include "resource.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* The highest token of all, and of those who wrote. */
struct fence {
    int64_t seen;
    int64_t written;
};

static int open_in(const char *dir, const char *name, int lock, int flags)
{
    char path[PATH_MAX];

    (void)snprintf(path, sizeof(path), "%s/%s-%d", dir, name, lock);
    return open(path, O_RDWR | O_CLOEXEC | flags, 0600);
}

static void die(const char *what)
{
    perror(what);
    abort();
}

bool resource_open(struct resource *r, const char *dir, int lock, bool fenced)
{
    r->counter = open_in(dir, "counter", lock, 0);
    r->store = open_in(dir, "store", lock, 0);
    r->fenced = fenced;
    return r->counter >= 0 && r->store >= 0;
}

void resource_close(struct resource *r)
{
    (void)close(r->counter);
    (void)close(r->store);
}

bool resource_create(const char *dir, int lock)
{
    const struct fence fence = { 0, 0 };
    struct resource r = {
        .counter = open_in(dir, "counter", lock, O_CREAT | O_EXCL),
        .store = open_in(dir, "store", lock, O_CREAT | O_EXCL),
    };
    bool good = r.counter >= 0 && r.store >= 0 &&
                write(r.store, &fence, sizeof(fence)) == sizeof(fence) &&
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

static void lock_store(const struct resource *r, short type)
{
    struct flock whole = { .l_type = type, .l_whence = SEEK_SET };

    if (fcntl(r->store, F_SETLKW, &whole) != 0)
        die("fcntl");
}

static void append(const struct resource *r, struct access access)
{
    if (lseek(r->store, 0, SEEK_END) < 0 ||
        write(r->store, &access, sizeof(access)) != sizeof(access))
        die("store");
}

/* As rwlock.h asks of a resource. */
static bool pass(struct fence *f, bool writes, int64_t token)
{
    if (token < (writes ? f->seen : f->written))
        return false;
    if (token > f->seen)
        f->seen = token;
    if (writes)
        f->written = token;
    return true;
}

static bool access_locked(const struct resource *r, bool writes, int64_t token)
{
    struct fence fence;

    if (pread(r->store, &fence, sizeof(fence), 0) != sizeof(fence))
        die("store");
    if (!pass(&fence, writes, token) && r->fenced)
        return false;
    if (pwrite(r->store, &fence, sizeof(fence), 0) != sizeof(fence))
        die("store");
    append(r, (struct access){ token, writes });
    return true;
}

bool resource_access(const struct resource *r, bool writes, int64_t token)
{
    bool accepted;

    lock_store(r, F_WRLCK);
    accepted = access_locked(r, writes, token);
    lock_store(r, F_UNLCK);
    return accepted;
}

struct access *resource_accepted(const struct resource *r, size_t *ret_count)
{
    struct stat st;
    struct access *all;
    size_t size;

    if (fstat(r->store, &st) != 0)
        die("store");
    size = (size_t)st.st_size - sizeof(struct fence);
    all = malloc(size + 1);
    if (all == NULL ||
        pread(r->store, all, size, sizeof(struct fence)) != (ssize_t)size)
        die("store");
    *ret_count = size / sizeof(*all);
    return all;
}
