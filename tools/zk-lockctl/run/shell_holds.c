/* SPDX-License-Identifier: Apache-2.0 */
/* Lists the holds of a shell, and shares the desk of each: memory without a
 * file that would be left behind. The kernel opens the descriptors of a process
 * for its user only. */
#include "run/shell_holds.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

/* -- the list ------------------------------------------------------------- */

bool hold_is(const struct hold *a, const struct hold *b)
{
    return a->session == b->session && a->pid == b->pid && a->fd == b->fd &&
           a->number == b->number;
}

bool holds_have(const struct holds *h, const struct hold *hold)
{
    for (size_t i = 0; i < h->count; i++) {
        if (hold_is(&h->items[i], hold))
            return true;
    }
    return false;
}

void holds_add(struct holds *h, const struct hold *hold)
{
    if (h->count == HOLDS_MAX)
        holds_remove(h, 0);
    h->items[h->count++] = *hold;
}

void holds_remove(struct holds *h, size_t i)
{
    h->count--;
    (void)memmove(&h->items[i], &h->items[i + 1],
                  (h->count - i) * sizeof(h->items[0]));
}

static size_t write_one(const struct hold *hold, char text[HOLD_TEXT_MAX])
{
    return (size_t)snprintf(text, HOLD_TEXT_MAX,
                            "0x%" PRIx64 "-%" PRIx32 "-%" PRIx32 "-%" PRIx64,
                            hold->session, hold->pid, hold->fd, hold->number);
}

/* What sscanf() takes for an id is one when it is written in the same way. */
static bool read_one(const char *text, size_t len, struct hold *ret)
{
    char copy[HOLD_TEXT_MAX];
    char written[HOLD_TEXT_MAX];

    if (len >= sizeof(copy))
        return false;
    (void)memcpy(copy, text, len);
    copy[len] = '\0';
    return sscanf(copy, "0x%16" SCNx64 "-%8" SCNx32 "-%8" SCNx32 "-%16" SCNx64,
                  &ret->session, &ret->pid, &ret->fd, &ret->number) == 4 &&
           write_one(ret, written) == len && strcmp(copy, written) == 0;
}

void holds_read(struct holds *h, const char *text)
{
    h->count = 0;
    while (text != NULL && text[0] != '\0') {
        size_t len = strcspn(text, " ");
        struct hold hold;

        if (!read_one(text, len, &hold)) {
            h->count = 0;
            return;
        }
        holds_add(h, &hold);
        text += len + (text[len] == ' ' ? 1 : 0);
    }
}

void holds_write(const struct holds *h, char text[HOLDS_TEXT_MAX])
{
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < h->count; i++) {
        if (i > 0)
            text[used++] = ' ';
        used += write_one(&h->items[i], text + used);
    }
}

/* -- desks ---------------------------------------------------------------- */

static struct desk *map(int fd)
{
    void *at = mmap(NULL, sizeof(struct desk), PROT_READ | PROT_WRITE,
                    MAP_SHARED, fd, 0);

    return at == MAP_FAILED ? NULL : at;
}

static bool fill(struct desk *b, int fd, int64_t session,
                 const struct wanted *wanted)
{
    b->id = (struct hold){ .session = (uint64_t)session,
                           .pid = (uint32_t)getpid(),
                           .fd = (uint32_t)fd };
    b->count = wanted->count;
    (void)memcpy(b->paths, wanted->paths, sizeof(b->paths));
    atomic_store(&b->valid_until_ms, INT64_MAX);
    atomic_store(&b->release, DESK_KEPT);
    return getrandom(&b->id.number, sizeof(b->id.number), 0) ==
           sizeof(b->id.number);
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

struct desk *desk_open(const struct hold *hold)
{
    struct desk *b = NULL;
    char name[48];
    int fd;

    (void)snprintf(name, sizeof(name), "/proc/%u/fd/%u", hold->pid, hold->fd);
    fd = open(name, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    if (is_desk(fd))
        b = map(fd);
    (void)close(fd);
    if (b == NULL || hold_is(&b->id, hold))
        return b;
    desk_close(b);
    return NULL;
}

void desk_close(struct desk *desk)
{
    if (desk != NULL)
        (void)munmap(desk, sizeof(*desk));
}
