/* SPDX-License-Identifier: Apache-2.0 */
/* Shares the desk of a hold, memory without a file that would be left behind,
 * and reads it for the shell. The kernel opens the descriptors of a process for
 * its user only. */
#include "run/desk.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/now.h"

/* A release may wait for servers. */
enum { RELEASE_MS = 60000 };

static struct desk *map(int fd)
{
    void *at = mmap(NULL, sizeof(struct desk), PROT_READ | PROT_WRITE,
                    MAP_SHARED, fd, 0);

    return at == MAP_FAILED ? NULL : at;
}

struct desk *desk_new(int64_t session, const struct wanted *wanted)
{
    int fd = memfd_create("zk-lockctl hold", MFD_CLOEXEC);
    struct desk *d = NULL;

    if (fd >= 0 && ftruncate(fd, sizeof(*d)) == 0)
        d = map(fd);
    if (d == NULL) {
        (void)close(fd);
        return NULL;
    }
    d->self = (struct around_item){ session, (uint32_t)getpid(), (uint32_t)fd };
    d->wanted = *wanted;
    atomic_store(&d->release, DESK_KEPT);
    return d;
}

/* Another version of the tool has a desk of another size. */
static bool is_desk(int fd)
{
    struct stat st;

    return fstat(fd, &st) == 0 && st.st_size == sizeof(struct desk);
}

struct desk *desk_open(const struct around_item *hold)
{
    struct desk *d = NULL;
    char name[48];
    int fd;

    (void)snprintf(name, sizeof(name), "/proc/%u/fd/%u", hold->pid, hold->fd);
    fd = open(name, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    if (is_desk(fd))
        d = map(fd);
    (void)close(fd);
    if (d == NULL || memcmp(&d->self, hold, sizeof(*hold)) == 0)
        return d;
    desk_close(d);
    return NULL;
}

void desk_close(struct desk *desk)
{
    if (desk != NULL)
        (void)munmap(desk, sizeof(*desk));
}

/* -- questions ------------------------------------------------------------ */

static int is_over(void)
{
    return lockctl_fail(EX_LOST,
                        "the lock is not held any more: it was given back "
                        "before, or the process that kept it was killed");
}

static int is_silent(void)
{
    return lockctl_fail(EX_LOST,
                        "the process that keeps the lock does not answer");
}

static int tell(const struct lockctl *ctl, int code, const char *text,
                const char *well)
{
    if (code == 0 && ctl->verbose > 0)
        lockctl_say(ctl, "%s", well);
    return code == 0 ? 0 : lockctl_fail(code, "%s", text);
}

static int check(const struct lockctl *ctl, const struct desk *d)
{
    int code = atomic_load(&d->check);

    if (code == 0 && clock_boot_ms() >= atomic_load(&d->valid_until_ms))
        return is_silent();
    return tell(ctl, code, d->text, "the lock is held");
}

/* The lock is given back, and its process has ended: what is started after this
 * finds nobody. */
static int release(const struct lockctl *ctl, const struct desk *d)
{
    int pidfd = (int)syscall(SYS_pidfd_open, d->self.pid, 0);
    struct pollfd ended = { .fd = pidfd, .events = POLLIN };

    if (pidfd >= 0) {
        (void)syscall(SYS_pidfd_send_signal, pidfd, DESK_RELEASE, NULL, 0);
        (void)poll(&ended, 1, RELEASE_MS);
        (void)close(pidfd);
    }
    int code = atomic_load(&d->release);
    if (code == DESK_KEPT)
        return pidfd >= 0 && ended.revents == 0 ? is_silent() : is_over();
    return tell(ctl, code, d->text, "the lock is given back");
}

static bool is_of(const struct desk *d, const char *path)
{
    for (size_t i = 0; i < d->wanted.count; i++) {
        if (strcmp(d->wanted.paths[i], path) == 0)
            return true;
    }
    return false;
}

/* The newest of a lock; NULL: none. `ret_ended` counts holds that are over: the
 * environment names these, too, and not their locks. Without a path any will
 * do. */
static struct desk *find(const struct around *around, const char *path,
                         size_t *ret_holds, size_t *ret_ended)
{
    struct desk *found = NULL;

    for (size_t i = around->count; i > 0; i--) {
        const struct around_item *hold = &around->items[i - 1];
        struct desk *d = hold->pid == 0 ? NULL : desk_open(hold);

        *ret_holds += hold->pid != 0;
        *ret_ended += hold->pid != 0 && d == NULL;
        if (d != NULL && found == NULL && (path[0] == '\0' || is_of(d, path)))
            found = d;
        else
            desk_close(d);
    }
    return found;
}

static int ask(const struct lockctl *ctl, bool releases, const char *path)
{
    struct around around;
    size_t holds = 0;
    size_t ended = 0;
    int code;

    around_read(&around, getenv(AROUND_VARIABLE));
    struct desk *d = find(&around, path, &holds, &ended);
    if (holds == 0)
        code = lockctl_fail(EX_NO, "no lock is held for this shell: "
                                   "$" AROUND_VARIABLE " names none");
    else if (holds > 1 && path[0] == '\0')
        code = lockctl_fail(EX_USAGE, "this shell has held several locks: "
                                      "name the one that is meant");
    else if (d != NULL)
        code = releases ? release(ctl, d) : check(ctl, d);
    else if (ended > 0)
        code = is_over();
    else
        code = lockctl_fail(EX_NO, "%s is not held for this shell", path);
    desk_close(d);
    return code;
}

int desk_ask(const struct lockctl *ctl, bool release, int locks,
             const char *path)
{
    if (locks > 1)
        return lockctl_fail(EX_USAGE, "more than one lock; see --help");
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        if (ctl->settings[i] != NULL || ctl->context != NULL)
            return lockctl_fail(EX_USAGE, "no server is asked: options that "
                                          "name an ensemble mean nothing here");
    }
    return ask(ctl, release, path);
}

/* What sscanf() takes for an item is one when it is written in the same way. */
void around_read(struct around *a, const char *text)
{
    char written[AROUND_TEXT_MAX];

    a->count = 0;
    for (const char *at = text; at != NULL && a->count < AROUND_MAX;) {
        struct around_item *item = &a->items[a->count++];
        uint64_t session = 0;

        *item = (struct around_item){ .session = 0 };
        (void)sscanf(at, "0x%16" SCNx64 "-%8" SCNx32 "-%8" SCNx32, &session,
                     &item->pid, &item->fd);
        item->session = (int64_t)session;
        at = strchr(at, ' ');
        if (at != NULL)
            at++;
    }
    around_write(a, written);
    if (text == NULL || strcmp(text, written) != 0 || around_has(a, 0))
        a->count = 0;
}

void around_write(const struct around *a, char text[AROUND_TEXT_MAX])
{
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < a->count; i++) {
        const struct around_item *item = &a->items[i];

        used += (size_t)sprintf(text + used, "%s0x%" PRIx64, i == 0 ? "" : " ",
                                (uint64_t)item->session);
        if (item->pid != 0)
            used += (size_t)sprintf(text + used, "-%" PRIx32 "-%" PRIx32,
                                    item->pid, item->fd);
    }
}

bool around_has(const struct around *a, int64_t session)
{
    for (size_t i = 0; i < a->count; i++) {
        if (a->items[i].session == session)
            return true;
    }
    return false;
}

void around_add(struct around *a, struct around_item item)
{
    if (a->count == AROUND_MAX)
        around_remove(a, 0);
    a->items[a->count++] = item;
}

void around_remove(struct around *a, size_t i)
{
    a->count--;
    (void)memmove(a->items + i, a->items + i + 1,
                  (a->count - i) * sizeof(a->items[0]));
}
