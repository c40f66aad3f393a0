/* SPDX-License-Identifier: Apache-2.0 */
/* The file of a fence: locked, read, and replaced as a whole.
 *
 * The lock is on a file of its own, which stays when the fence is replaced. It
 * has text in it once the fence has been created: without this text, a fence
 * that is missing could not be told from one that is new. */
#include "fence/fence_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"

#define POLL_MIN_MS 1
#define POLL_MAX_MS 20

struct zkr__fence_file {
    char *path;       /* for errors */
    const char *name; /* at its end; in `dir`, as the next two */
    char *lock_name;
    char *new_name;
    int dir;
    int lock;
};

static int fail(const struct zkr__fence_file *f, const char *what)
{
    return zkr__fail(ZKR_ESYSTEM, "fence '%.300s': %s: %s", f->path, what,
                     strerror(errno));
}

static int damaged(const struct zkr__fence_file *f, const char *what)
{
    return zkr__fail(ZKR_EDAMAGED, "fence '%.300s': %s", f->path, what);
}

/* -- reading and writing -------------------------------------------------- */

static bool write_all(int fd, const char *text, size_t len)
{
    while (len > 0) {
        ssize_t n = write(fd, text, len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return false;
        text += n;
        len -= (size_t)n;
    }
    return fsync(fd) == 0;
}

static bool write_file(int dir, const char *name, const char *text, size_t len)
{
    int fd = openat(
        dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);

    if (fd < 0)
        return false;
    bool good = write_all(fd, text, len);
    int saved = errno;
    if (close(fd) != 0 && good)
        return false;
    errno = saved;
    return good;
}

int zkr__fence_file_write(struct zkr__fence_file *f,
                          const struct zkr__fence_record *record)
{
    char text[ZKR__FENCE_TEXT_MAX];
    size_t len = zkr__fence_record_format(record, text);

    if (write_file(f->dir, f->new_name, text, len) &&
        renameat(f->dir, f->new_name, f->dir, f->name) == 0)
        return fsync(f->dir) == 0 ? ZKR_OK : fail(f, "cannot sync");
    int rc = fail(f, "cannot write");
    (void)unlinkat(f->dir, f->new_name, 0);
    return rc;
}

static ssize_t read_all(int fd, char *text, size_t size)
{
    size_t len = 0;
    ssize_t n;

    do {
        n = read(fd, text + len, size - len);
        if (n > 0)
            len += (size_t)n;
    } while ((n > 0 && len < size) || (n < 0 && errno == EINTR));
    return n < 0 ? -1 : (ssize_t)len;
}

int zkr__fence_file_read(struct zkr__fence_file *f,
                         struct zkr__fence_record *ret_record)
{
    char text[ZKR__FENCE_TEXT_MAX];
    int fd = openat(f->dir, f->name, O_RDONLY | O_CLOEXEC);

    if (fd < 0 && errno == ENOENT)
        return damaged(f, "it was there before, and is gone");
    if (fd < 0)
        return fail(f, "cannot open");
    ssize_t len = read_all(fd, text, sizeof(text));
    if (len < 0) {
        int rc = fail(f, "cannot read");

        (void)close(fd);
        return rc;
    }
    (void)close(fd);
    if (!zkr__fence_record_parse(text, (size_t)len, ret_record))
        return damaged(f, "it is not what was written");
    return ZKR_OK;
}

/* -- the lock ------------------------------------------------------------- */

static bool try_flock(int fd, int how)
{
    int rc;

    do
        rc = flock(fd, how);
    while (rc != 0 && errno == EINTR);
    return rc == 0;
}

static bool wait_flock(int fd, int64_t deadline)
{
    int64_t pause = POLL_MIN_MS * ZKR__MS;

    if (deadline == ZKR__NEVER)
        return try_flock(fd, LOCK_EX);
    while (!try_flock(fd, LOCK_EX | LOCK_NB)) {
        int64_t now = zkr__clock_now();
        int64_t until = now + pause < deadline ? now + pause : deadline;
        struct timespec instant = zkr__clock_timespec(until);

        if (errno != EWOULDBLOCK)
            return false;
        if (now >= deadline) {
            errno = EWOULDBLOCK;
            return false;
        }
        (void)clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &instant, NULL);
        if (pause < POLL_MAX_MS * ZKR__MS)
            pause *= 2;
    }
    return true;
}

/* Tells whether the file that we have locked is the one that others will
 * lock. */
static int check_place(const struct zkr__fence_file *f)
{
    struct stat ours;
    struct stat there = { 0 };

    if (fstat(f->lock, &ours) != 0 ||
        (fstatat(f->dir, f->lock_name, &there, AT_SYMLINK_NOFOLLOW) != 0 &&
         errno != ENOENT))
        return fail(f, "cannot look at its lock file");
    if (ours.st_dev == there.st_dev && ours.st_ino == there.st_ino)
        return ZKR_OK;
    return damaged(f, "its lock file was removed while it was open");
}

int zkr__fence_file_lock(struct zkr__fence_file *f, int64_t deadline)
{
    if (!wait_flock(f->lock, deadline)) {
        if (errno != EWOULDBLOCK)
            return fail(f, "cannot lock");
        return zkr__fail(ZKR_ETIMEDOUT,
                         "fence '%.300s': another process is in "
                         "a section",
                         f->path);
    }
    int rc = check_place(f);
    if (rc != ZKR_OK)
        zkr__fence_file_unlock(f);
    return rc;
}

void zkr__fence_file_unlock(struct zkr__fence_file *f)
{
    (void)try_flock(f->lock, LOCK_UN);
}

/* -- opening -------------------------------------------------------------- */

void zkr__fence_file_close(struct zkr__fence_file *f)
{
    if (f->lock >= 0)
        (void)close(f->lock);
    if (f->dir >= 0)
        (void)close(f->dir);
    free(f->path);
    free(f->lock_name);
    free(f->new_name);
    free(f);
}

static char *with_suffix(const char *name, const char *suffix)
{
    char *text;

    return asprintf(&text, "%s%s", name, suffix) < 0 ? NULL : text;
}

/* Finds the directory of the file, and its name there. */
static int split(struct zkr__fence_file *f, const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t dir_len = slash == NULL ? 0 : (size_t)(slash + 1 - path);
    char *dir = strndup(path, dir_len);

    f->path = strdup(path);
    f->lock_name = with_suffix(path + dir_len, ".lock");
    f->new_name = with_suffix(path + dir_len, ".new");
    if (dir == NULL || f->path == NULL || f->lock_name == NULL ||
        f->new_name == NULL) {
        free(dir);
        return zkr__no_memory("fence", NULL);
    }
    f->name = f->path + dir_len;
    f->dir =
        open(dir[0] == '\0' ? "." : dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free(dir);
    if (f->dir < 0)
        return fail(f, "cannot open its directory");
    f->lock = openat(f->dir, f->lock_name,
                     O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    return f->lock < 0 ? fail(f, "cannot open its lock file") : ZKR_OK;
}

static bool is_prepared(const struct zkr__fence_file *f)
{
    struct stat lock;

    return fstat(f->lock, &lock) == 0 && lock.st_size > 0;
}

/* The text goes into the lock file last, when the fence file exists. */
static int prepare(struct zkr__fence_file *f)
{
    static const char text[] = "lock of a fence of zkrecipes, do not remove\n";
    struct zkr__fence_record record = { 0, 0, 0 };
    struct stat there;
    int rc;

    if (is_prepared(f)) /* somebody else has just created it */
        return ZKR_OK;
    if (fstatat(f->dir, f->name, &there, 0) == 0)
        rc = zkr__fence_file_read(f, &record);
    else
        rc = errno == ENOENT ? zkr__fence_file_write(f, &record)
                             : fail(f, "cannot look at it");
    if (rc == ZKR_OK &&
        (!write_all(f->lock, text, strlen(text)) || fsync(f->dir) != 0))
        rc = fail(f, "cannot write its lock file");
    return rc;
}

/* Reading needs no lock. */
static int prepare_and_read(struct zkr__fence_file *f)
{
    struct zkr__fence_record record;
    int rc = ZKR_OK;

    if (!is_prepared(f)) {
        rc = zkr__fence_file_lock(f, ZKR__NEVER);
        if (rc == ZKR_OK)
            rc = prepare(f);
        zkr__fence_file_unlock(f);
    }
    return rc == ZKR_OK ? zkr__fence_file_read(f, &record) : rc;
}

int zkr__fence_file_open(const char *path, struct zkr__fence_file **ret_file)
{
    struct zkr__fence_file *f = calloc(1, sizeof(*f));

    if (f == NULL)
        return zkr__no_memory("fence", NULL);
    f->dir = -1;
    f->lock = -1;
    int rc = split(f, path);
    if (rc == ZKR_OK)
        rc = prepare_and_read(f);
    if (rc != ZKR_OK)
        zkr__fence_file_close(f);
    else
        *ret_file = f;
    return rc;
}
