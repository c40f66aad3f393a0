/* SPDX-License-Identifier: Apache-2.0 */
/* Looks at locks again and again, and compares each look with the one
 * before. */
#include "model/looks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/escape.h"
#include "common/lockctl.h"

enum { NOTES_MAX = 100 };

static void free_views(struct view *views, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        lock_done(&views[i].lock);
        free(views[i].held_from_ms);
    }
    free(views);
}

/* --- one look --- */

struct look_at {
    struct view *views;
    size_t count;
    size_t room;
};

static bool add_lock(struct look_at *look, struct lock *lock)
{
    if (look->count == look->room) {
        size_t room = look->room * 2 + 16;
        struct view *grown = realloc(look->views, room * sizeof(*grown));

        if (grown == NULL)
            return false;
        look->views = grown;
        look->room = room;
    }
    look->views[look->count++] = (struct view){ .lock = *lock };
    *lock = (struct lock){ .path = NULL };
    return true;
}

/* Each once. */
static void say_note(struct looks *l, const char *text)
{
    size_t before = l->notes.count;

    if (before < NOTES_MAX)
        notes_add(&l->notes, "%s", text);
    if (l->notes.count > before)
        lockctl_say(l->ctl, "note: %s", text);
}

static void note_cut(struct looks *l, const struct lock *lock)
{
    char path[256];
    char text[512];

    (void)escape_string(lock->path, path, sizeof(path));
    (void)snprintf(text, sizeof(text),
                   "%s: contenders far behind in the queue are not seen", path);
    if (lock->cut)
        say_note(l, text);
}

/* A lock that does not exist is empty; one that may not be read any more has an
 * error. Returns an error of the library. */
static int look_at_one(struct looks *l, const char *path, struct look_at *look)
{
    struct zkr_participants_opts opts = lock_opts(SCAN_ALL);
    struct lock lock;
    int rc = lock_list(l->ctl->session, path, &opts, &lock);

    if (rc == ZKR_ZNONODE || (rc == ZKR_ZNOAUTH && l->at_ms != 0)) {
        lock = (struct lock){ .path = strdup(path),
                              .error = rc == ZKR_ZNOAUTH ? rc : ZKR_OK,
                              .longest_wait_ms = -1,
                              .at_ms = clock_wall_ms() };
        rc = lock.path == NULL ? ZKR_ENOMEM : ZKR_OK;
    }
    if (rc == ZKR_OK)
        note_cut(l, &lock);
    if (rc == ZKR_OK && !add_lock(look, &lock)) {
        lock_done(&lock);
        rc = ZKR_ENOMEM;
    }
    return rc;
}

static int fail(const struct looks *l, int rc)
{
    if (!l->failing)
        return lockctl_fail_zkr(rc);
    return rc == ZKR_ENOMEM ? EX_SOFTWARE : EX_UNAVAILABLE;
}

static int look_at_named(struct looks *l, struct look_at *look)
{
    for (size_t i = 0; i < l->path_count; i++) {
        int rc = look_at_one(l, l->paths[i], look);

        if (rc != ZKR_OK)
            return fail(l, rc);
    }
    return 0;
}

static int by_path(const void *a, const void *b)
{
    const struct view *x = a;
    const struct view *y = b;

    return strcmp(x->lock.path, y->lock.path);
}

static struct view *find(struct view *views, size_t count, char *path)
{
    struct view wanted = { .lock = { .path = path } };

    return count == 0 ? NULL
                      : bsearch(&wanted, views, count, sizeof(*views), by_path);
}

/* A lock that was not found need not be gone: the search may have been cut. */
static int look_at_missing(struct looks *l, struct look_at *look)
{
    size_t found = look->count;

    for (size_t i = 0; i < l->count; i++) {
        const struct lock *lock = &l->views[i].lock;
        int rc = ZKR_OK;

        if (lock->count > 0 && find(look->views, found, lock->path) == NULL)
            rc = look_at_one(l, lock->path, look);
        if (rc != ZKR_OK)
            return fail(l, rc);
    }
    return 0;
}

static int look_at_all(struct looks *l, struct look_at *look)
{
    struct scan_opts opts = { .timeout_ms = (uint32_t)l->ctl->timeout_ms };
    struct scan scan;
    int code = scan_below(l->ctl->session, "/", &opts, &scan);
    bool added = true;

    if (code != 0)
        return code;
    for (size_t i = 0; added && i < scan.count; i++) {
        if (scan.locks[i].error == ZKR_OK)
            added = add_lock(look, &scan.locks[i]);
    }
    for (size_t i = 0; i < scan.notes.count; i++)
        say_note(l, scan.notes.texts[i]);
    scan_done(&scan);
    return added ? look_at_missing(l, look) : fail(l, ZKR_ENOMEM);
}

static void tell_resync(const struct looks *l, int64_t at_ms, event_fn *tell,
                        void *user)
{
    struct event event = { .kind = EVENT_RESYNC,
                           .at_ms = at_ms,
                           .waited_ms = -1,
                           .held_ms = -1,
                           .since_ms = l->at_ms };

    tell(&event, user);
}

static bool tell_one(struct looks *l, struct view *after, event_fn *tell,
                     void *user)
{
    /* A lock that is new did not exist at the last look. */
    struct view none = { .lock = { .at_ms = l->at_ms } };
    struct view *before = find(l->views, l->count, after->lock.path);

    if (before == NULL && l->at_ms != 0)
        before = &none;
    if (before != NULL && after->lock.error != ZKR_OK) {
        struct view unknown = *after;

        *after = *before;
        *before = unknown;
        return true;
    }
    return events_between(before, after, tell, user);
}

int looks_next(struct looks *l, bool initial, event_fn *tell, void *user)
{
    struct look_at look = { .views = NULL };
    int64_t at_ms = clock_wall_ms();
    bool first = l->at_ms == 0;
    bool told = true;
    int code =
        l->paths == NULL ? look_at_all(l, &look) : look_at_named(l, &look);

    if (code != 0) {
        l->failing = true;
        free_views(look.views, look.count);
        return code;
    }
    if (look.count > 0)
        qsort(look.views, look.count, sizeof(*look.views), by_path);
    if (l->failing && !first)
        tell_resync(l, at_ms, tell, user);
    for (size_t i = 0; told && i < look.count; i++)
        told =
            tell_one(l, &look.views[i], first && !initial ? NULL : tell, user);
    free_views(l->views, l->count);
    l->views = look.views;
    l->count = look.count;
    l->at_ms = at_ms;
    l->failing = false;
    return told ? 0 : lockctl_fail_error(ZKR_ENOMEM, "");
}

bool looks_are_over(const struct looks *l, int code)
{
    return code == EX_SOFTWARE || lockctl_is_over(l->ctl);
}

void looks_done(struct looks *l)
{
    free_views(l->views, l->count);
    notes_done(&l->notes);
    *l = (struct looks){ .ctl = NULL };
}
