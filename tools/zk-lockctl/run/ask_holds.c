/* SPDX-License-Identifier: Apache-2.0 */
/* Looks after a lock that is kept for the shell that has started us. Its
 * environment names all holds, and also those that have ended. */
#include "run/desk.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sys/syscall.h>
#include <unistd.h>

#include "common/escape.h"
#include "common/now.h"
#include "run/proc.h"

/* A release may wait for servers. */
enum { RELEASE_MS = 60000 };

static int not_held(size_t holds, const char *wanted, bool all_have_a_desk)
{
    char path[ZKR_PATH_MAX + 1];

    (void)escape_string(wanted, path, sizeof(path));
    if (holds == 0)
        return lockctl_fail(EX_NO, "no lock is held for this shell: "
                                   "$" HOLDS_VARIABLE " names none");
    if (all_have_a_desk)
        return lockctl_fail(EX_NO, "%s is not held for this shell", path);
    return lockctl_fail(EX_LOST,
                        "%s is not held any more: it was given back before, or "
                        "the process that kept it was killed",
                        wanted[0] == '\0' ? "the lock" : path);
}

static int tell(const struct lockctl *ctl, int code, const char *text,
                const char *well)
{
    if (code == 0 && ctl->verbose > 0)
        lockctl_say(ctl, "%s", well);
    return code == 0 ? 0 : lockctl_fail(code, "%s", text);
}

static int is_silent(void)
{
    return lockctl_fail(EX_LOST,
                        "the process that keeps the lock does not answer");
}

static int check(const struct lockctl *ctl, const struct desk *d)
{
    int code = atomic_load(&d->check);

    if (code == 0 && (proc_is_stopped(d->keeper) ||
                      clock_boot_ms() >= atomic_load(&d->valid_until_ms)))
        return is_silent();
    return tell(ctl, code, d->text, "the lock is held");
}

/* The lock is given back, and its process has ended: what is started after this
 * finds nobody. */
static int release(const struct lockctl *ctl, const struct desk *d)
{
    int pidfd = (int)syscall(SYS_pidfd_open, d->keeper, 0);
    struct pollfd ended = { .fd = pidfd, .events = POLLIN };
    int code;

    if (pidfd >= 0) {
        (void)syscall(SYS_pidfd_send_signal, pidfd, DESK_RELEASE, NULL, 0);
        (void)poll(&ended, 1, RELEASE_MS);
        (void)close(pidfd);
    }
    code = atomic_load(&d->release);
    if (code == DESK_KEPT && pidfd >= 0 && ended.revents == 0)
        return is_silent();
    if (code == DESK_KEPT)
        return not_held(1, "", false);
    return tell(ctl, code, d->text, "the lock is given back");
}

/* The older ones are told which hold was released: if the process of a newer
 * one ended otherwise, its lock was lost. */
static void note_release(struct desk *const *desks, size_t released)
{
    for (size_t i = 0; i < released; i++) {
        if (desks[i] != NULL &&
            !ids_have(&desks[i]->released, desks[released]->id))
            ids_add(&desks[i]->released, desks[released]->id);
    }
}

static bool is_ours(const struct desk *d, const char *path)
{
    for (size_t i = 0; i < d->count; i++) {
        if (strcmp(d->paths[i], path) == 0)
            return true;
    }
    return false;
}

/* Returns the index of the hold that is meant; -1: none. Without a path it is
 * the newest, if all that are newer have been released. */
static int find(const struct ids *holds, struct desk *const *desks,
                const char *path)
{
    int i = (int)holds->count - 1;

    while (i >= 0 &&
           (desks[i] == NULL || (path[0] != '\0' && !is_ours(desks[i], path))))
        i--;
    if (path[0] != '\0' || i < 0)
        return i;
    for (size_t newer = (size_t)i + 1; newer < holds->count; newer++) {
        if (!ids_have(&desks[i]->released, holds->items[newer]))
            return -1;
    }
    return i;
}

static int ask(const struct lockctl *ctl, bool releases, const char *path)
{
    struct desk *desks[IDS_MAX];
    struct ids holds;
    bool all_have_a_desk = path[0] != '\0';
    int code;
    int i;

    ids_read(&holds, getenv(HOLDS_VARIABLE), id_is_hold);
    for (size_t k = 0; k < holds.count; k++) {
        desks[k] = desk_open(holds.items[k]);
        all_have_a_desk = all_have_a_desk && desks[k] != NULL;
    }
    i = find(&holds, desks, path);
    if (i < 0)
        code = not_held(holds.count, path, all_have_a_desk);
    else
        code = releases ? release(ctl, desks[i]) : check(ctl, desks[i]);
    if (i >= 0 && releases)
        note_release(desks, (size_t)i);
    for (size_t k = 0; k < holds.count; k++)
        desk_close(desks[k]);
    return code;
}

int ask_holds(const struct lockctl *ctl, bool release, int argc, char **argv)
{
    char path[ZKR_PATH_MAX + 1] = "";

    if (argc > 1)
        return lockctl_fail(EX_USAGE, "more than one lock; see --help");
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        if (ctl->settings[i] != NULL || ctl->context != NULL)
            return lockctl_fail(EX_USAGE, "no server is asked: options that "
                                          "name an ensemble mean nothing here");
    }
    return argc == 0 || lockctl_parse_path(argv[0], path, sizeof(path))
               ? ask(ctl, release, path)
               : EX_USAGE;
}
