/* SPDX-License-Identifier: Apache-2.0 */
/* Shares the desk of a hold: memory without a file that would be left behind.
 * The kernel opens the descriptors of a process for its user only. */
#include "run/desk.h"

#include <stdio.h>
#include <string.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

static struct desk *map(int fd)
{
    void *at = mmap(NULL, sizeof(struct desk), PROT_READ | PROT_WRITE,
                    MAP_SHARED, fd, 0);

    return at == MAP_FAILED ? NULL : at;
}

static bool fill(struct desk *b, int fd, int64_t session,
                 const struct wanted *wanted)
{
    struct hold hold = { session, (uint32_t)getpid(), (uint32_t)fd, 0 };

    if (getrandom(&hold.number, sizeof(hold.number), 0) != sizeof(hold.number))
        return false;
    hold_write(&hold, b->id);
    b->keeper = getpid();
    b->count = wanted->count;
    (void)memcpy(b->paths, wanted->paths, sizeof(b->paths));
    atomic_store(&b->valid_until_ms, INT64_MAX);
    atomic_store(&b->release, DESK_KEPT);
    return true;
}

struct desk *desk_new(int64_t session, const struct wanted *wanted)
{
    int fd = memfd_create("zk-lockctl hold", MFD_CLOEXEC);
    struct desk *b = NULL;

    if (fd >= 0 && ftruncate(fd, sizeof(*b)) == 0)
        b = map(fd);
    if (b != NULL && fill(b, fd, session, wanted))
        return b;
    desk_close(b);
    if (fd >= 0)
        (void)close(fd);
    return NULL;
}

/* Another version of the tool has a desk of another size. */
static bool is_desk(int fd)
{
    struct stat st;

    return fstat(fd, &st) == 0 && st.st_size == sizeof(struct desk);
}

struct desk *desk_open(const char *id)
{
    struct desk *b = NULL;
    struct hold hold;
    char name[48];
    int fd;

    if (!hold_read(&hold, id))
        return NULL;
    (void)snprintf(name, sizeof(name), "/proc/%u/fd/%u", hold.pid, hold.fd);
    fd = open(name, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    if (is_desk(fd))
        b = map(fd);
    (void)close(fd);
    if (b == NULL || strcmp(b->id, id) == 0)
        return b;
    desk_close(b);
    return NULL;
}

void desk_close(struct desk *desk)
{
    if (desk != NULL)
        (void)munmap(desk, sizeof(*desk));
}
