/* SPDX-License-Identifier: Apache-2.0 */
#include "model/across.h"

#include <stdlib.h>

#include "common/grow.h"
#include "common/now.h"
#include "common/words.h"

static void judge(struct lockctl *ctl, const struct across_opts *opts,
                  const struct scan *look, struct across *a)
{
    bool first = look == &a->scan;

    deadlocks_done(&a->deadlocks);
    a->deadlocks =
        deadlocks_find(look->locks, look->count, first ? NULL : a->scan.locks,
                       first ? 0 : a->scan.count);
    for (size_t i = 0; i < a->deadlocks.count; i++) {
        struct deadlock *d = &a->deadlocks.items[i];

        d->age_ms = look->at_ms > d->since ? look->at_ms - d->since : 0;
    }
    if (opts->judge != NULL)
        opts->judge(ctl, look, a);
}

static void across_done(struct across *a)
{
    deadlocks_done(&a->deadlocks);
    findings_done(&a->findings);
    scan_done(&a->scan);
    scan_done(&a->again);
}

static void note_possible(const struct deadlocks *all, struct notes *notes)
{
    char who[WHO_MAX];
    size_t first = 0;

    while (first < all->count && all->items[first].certain)
        first++;
    if (first == all->count)
        return;
    const struct deadlock_member *m = all->items[first].youngest;
    notes_add(notes,
              "%zu possible deadlock%s, such as of %s at %s; threads of one "
              "program and elections look the same. See zk-lockctl deadlocks "
              "--possible",
              all->count - first, word_plural(all->count - first),
              contender_who(m->waits, who), m->waits->path);
}

/* It has a finding; or there are deadlocks, and somebody waits for it: every
 * lock of a deadlock is such a one. */
static bool is_suspect(const struct across *a, const struct lock *lock)
{
    bool found = a->deadlocks.count > 0 && lock->waiters > 0;

    for (size_t i = 0; i < a->findings.count && !found; i++)
        found = a->findings.items[i].path == lock->path;
    return found;
}

/* The second look is at the suspects of the first one only, each by itself.
 * Those that have gone are missing. */
static int look_again(struct lockctl *ctl, const struct across_opts *opts,
                      struct across *a)
{
    const char **paths = enough(calloc(a->scan.count + 1, sizeof(*paths)));
    struct scan_opts alone = opts->scan;
    size_t count = 0;

    for (size_t i = 0; i < a->scan.count; i++) {
        if (is_suspect(a, &a->scan.locks[i]))
            paths[count++] = a->scan.locks[i].path;
    }
    alone.alone = true;
    clock_sleep_ms(opts->confirm_ms);
    int code = scan_below(ctl, paths, count, &alone, &a->again);
    free(paths);
    for (size_t i = 0; code == 0 && i < a->again.notes.count; i++)
        notes_add(&a->scan.notes, "%s", a->again.notes.texts[i]);
    if (code == 0) {
        a->scan.at_ms = a->again.at_ms;
        judge(ctl, opts, &a->again, a);
    }
    return code;
}

/* They are the last. */
static void drop_possible(struct deadlocks *all)
{
    while (all->count > 0 && !all->items[all->count - 1].certain)
        free(all->items[--all->count].members);
}

/* Below those paths, or "/" without one. */
static int look(struct lockctl *ctl, int argc, char **argv,
                const struct across_opts *opts, struct across *a)
{
    int code = lockctl_connect(ctl);

    if (code == 0)
        code = scan_below(ctl, (const char *const *)argv,
                          argc == 0 ? 1 : (size_t)argc, &opts->scan, &a->scan);
    if (code == 0)
        judge(ctl, opts, &a->scan, a);
    if (a->deadlocks.count + a->findings.count > 0)
        code = look_again(ctl, opts, a);
    if (code != 0)
        return code;
    if (!opts->possible) {
        note_possible(&a->deadlocks, &a->scan.notes);
        drop_possible(&a->deadlocks);
    }
    if (a->deadlocks.cut)
        notes_add(&a->scan.notes, "only %zu deadlocks are told apart",
                  a->deadlocks.count);
    return 0;
}

static bool has_found(const struct across *a)
{
    return a->findings.count > 0 ||
           (a->deadlocks.count > 0 && a->deadlocks.items[0].certain);
}

int across_run(struct lockctl *ctl, int argc, char **argv,
               const struct across_opts *opts, across_print *print)
{
    struct across a = { .blind = false };
    int code = look(ctl, argc, argv, opts, &a);

    if (code == 0) {
        code = scan_code(&a.scan, print(ctl, &a));
        if (code == 0)
            code = has_found(&a) ? EX_NO : a.blind ? EX_UNSEEN : 0;
    }
    across_done(&a);
    return code;
}
