/* SPDX-License-Identifier: Apache-2.0 */
/* The test and its clients write records into the files of a directory. */
#include "records.h"

#include <inttypes.h>

#include <sys/mman.h>
#include <sys/stat.h>

#include "scope.h"
#include "test.h"
#include "wait.h"

static int open_file(const char *path, int flags)
{
    int fd = open(path, O_CREAT | O_CLOEXEC | flags, 0600);

    if (fd < 0)
        die(path);
    return fd;
}

void *map_file(const char *path, size_t size)
{
    int fd = open_file(path, O_RDWR);
    void *map = MAP_FAILED;

    if (ftruncate(fd, (off_t)size) == 0)
        map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED)
        die(path);
    (void)close(fd);
    return map;
}

struct board *board_open(const char *dir)
{
    return map_file(textf("%s/board", dir), sizeof(struct board));
}

/* -- journals ------------------------------------------------------------- */

static const char *journal_path(const char *dir, int worker, int generation,
                                int thread)
{
    return textf("%s/journal-%d.%d.%d", dir, worker, generation, thread);
}

int journal_create(const char *dir, int worker, int generation, int thread)
{
    return open_file(journal_path(dir, worker, generation, thread),
                     O_WRONLY | O_APPEND | O_EXCL);
}

void journal_write(int journal, char kind, int64_t a, int64_t b, int64_t c)
{
    char line[128];
    int size = snprintf(line, sizeof(line),
                        "%c %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 "\n",
                        kind, boot_ns(), a, b, c);

    if (write(journal, line, (size_t)size) != size)
        abort();
}

struct note *journal_read(const char *dir, int worker, int generation,
                          int thread, size_t *ret_count)
{
    FILE *file = fopen(journal_path(dir, worker, generation, thread), "re");
    struct note *notes = NULL;
    size_t count = 0;
    struct note n;

    if (file == NULL)
        return NULL;
    while (fscanf(file, " %c %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64,
                  &n.kind, &n.at, &n.a, &n.b, &n.c) == 5) {
        PUSH(notes, count, n);
    }
    (void)fclose(file);
    *ret_count = count;
    return notes;
}

/* -- resources ------------------------------------------------------------ */

struct resource resource_open(const char *dir, int lock, bool fenced)
{
    struct resource r = {
        .counter = open_file(textf("%s/counter-%d", dir, lock), O_RDWR),
        .store = open_file(textf("%s/store-%d", dir, lock), O_RDWR),
    };
    const char *file = textf("%s/fence-%d", dir, lock);

    if (fenced && zkr_fence_new(OPTS(fence, .file = file), &r.fence) != ZKR_OK)
        die(file);
    return r;
}

void resource_close(struct resource *r)
{
    (void)close(r->counter);
    (void)close(r->store);
    zkr_fence_free(r->fence);
}

/* A lock of fcntl belongs to the process: this one is between its threads. */
static pthread_mutex_t threads = PTHREAD_MUTEX_INITIALIZER;

/* As rwlock.h asks of a resource. */
bool resource_access(const struct resource *r, bool writes, int64_t token,
                     uint64_t handoff)
{
    const struct judge_access access = { .shared = !writes, .token = token };
    struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
    int rc = ZKR_OK;

    pthread_mutex_lock(&threads);
    if (fcntl(r->store, F_SETLKW, &whole) != 0)
        die("fcntl");
    if (r->fence != NULL)
        rc = writes ? zkr_fence_accept(r->fence, token, handoff)
                    : zkr_fence_accept_shared(r->fence, token);
    if (rc != ZKR_OK && rc != ZKR_ESTALE)
        die("fence");
    if (rc == ZKR_OK &&
        (lseek(r->store, 0, SEEK_END) < 0 ||
         write(r->store, &access, sizeof(access)) != sizeof(access)))
        die("store");
    whole.l_type = F_UNLCK;
    if (fcntl(r->store, F_SETLKW, &whole) != 0)
        die("fcntl");
    pthread_mutex_unlock(&threads);
    return rc == ZKR_OK;
}

struct judge_access *resource_accepted(const struct resource *r,
                                       size_t *ret_count)
{
    struct stat st;

    if (fstat(r->store, &st) != 0)
        die("store");
    size_t size = (size_t)st.st_size;
    struct judge_access *all = malloc(size + 1);
    if (all == NULL || pread(r->store, all, size, 0) != (ssize_t)size)
        die("store");
    *ret_count = size / sizeof(*all);
    return all;
}
