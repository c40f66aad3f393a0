/* SPDX-License-Identifier: Apache-2.0 */
/* Waits until one lock may have changed. */
#include "model/changes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/now.h"
#include "protocol/parts.h"

enum {
    PAUSE_MS = 100,    /* the least time between two lists */
    TICK_MS = 500,     /* to see whether there is a connection */
    CHECK_MS = 300000, /* a watch may be used up without a word: client.h */
};

struct changes {
    const struct lockctl *ctl;
    zkr_watch *watches[ZKR__PARTS];
    int fd; /* an eventfd, which is readable after a change */
};

static void on_change(int error, const struct zkr_reply *reply,
                      enum zkr_watch_why why, void *user)
{
    const struct changes *c = user;

    (void)error;
    (void)reply;
    (void)why;
    (void)eventfd_write(c->fd, 1);
}

static int watch_one(struct changes *c, const char *path, const char *part,
                     zkr_watch **ret_watch)
{
    char full[ZKR_PATH_MAX + 1];
    int length =
        snprintf(full, sizeof(full), "%s%s%s", path,
                 part[0] == '\0' || strcmp(path, "/") == 0 ? "" : "/", part);
    int rc;

    if (length > ZKR_PATH_MAX)
        return ZKR_OK; /* then it cannot exist */
    rc = zkr_session_watch(c->ctl->session, full, ZKR_WATCH_CHILDREN, on_change,
                           c, ret_watch);
    return rc == ZKR_OK ? zkr_watch_set_pause(*ret_watch, PAUSE_MS) : rc;
}

int changes_start(const struct lockctl *ctl, const char *path,
                  struct changes **ret_changes)
{
    struct changes *c = calloc(1, sizeof(*c));
    int rc = ZKR_OK;

    if (c == NULL)
        return lockctl_fail_zkr(ZKR_ENOMEM);
    c->ctl = ctl;
    c->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (c->fd < 0)
        rc = ZKR_ENOMEM;
    for (size_t i = 0; rc == ZKR_OK && i < ZKR__PARTS; i++)
        rc = watch_one(c, path, zkr__part_dirs[i], &c->watches[i]);
    if (rc == ZKR_OK) {
        *ret_changes = c;
        return 0;
    }
    changes_end(c);
    return lockctl_fail_zkr((int)rc);
}

void changes_end(struct changes *c)
{
    if (c == NULL)
        return;
    for (size_t i = 0; i < ZKR__PARTS; i++)
        zkr_watch_free(c->watches[i]);
    if (c->fd >= 0)
        (void)close(c->fd);
    free(c);
}

/* Returns false when the time is over first. */
static bool wait_for_one(const struct changes *c, int64_t end_ms)
{
    struct pollfd pollfd = { .fd = c->fd, .events = POLLIN };
    int64_t left;

    while ((left = end_ms - clock_now_ms()) > 0) {
        if (poll(&pollfd, 1, (int)(left < TICK_MS ? left : TICK_MS)) > 0)
            return true;
        if (!lockctl_is_connected(c->ctl))
            return false;
    }
    return false;
}

void changes_wait(struct changes *c, int64_t duration_ms)
{
    int64_t now_ms = clock_now_ms();
    int64_t end_ms =
        now_ms +
        (duration_ms >= 0 && duration_ms < CHECK_MS ? duration_ms : CHECK_MS);
    eventfd_t count;

    if (!wait_for_one(c, end_ms))
        return;
    clock_sleep_ms(end_ms - clock_now_ms() < PAUSE_MS ? end_ms - clock_now_ms()
                                                      : PAUSE_MS);
    (void)eventfd_read(c->fd, &count);
}
