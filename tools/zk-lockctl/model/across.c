/* SPDX-License-Identifier: Apache-2.0 */
/* Lists all locks below some paths, and finds the deadlocks among them. */
#include "model/across.h"

#include <stdlib.h>
#include <string.h>

#include "common/escape.h"
#include "common/now.h"
#include "common/words.h"

#define PAUSE_SAID_MS 5000

/* The paths as they are meant. False after an error was said. */
static bool parse(char *const *paths, size_t count,
                  char (*roots)[ZKR_PATH_MAX + 1], const char **ret_paths)
{
    for (size_t i = 0; i < count; i++) {
        if (!lockctl_parse_path(paths[i], roots[i], sizeof(roots[i])))
            return false;
        ret_paths[i] = roots[i];
    }
    return true;
}

int across_scan(struct lockctl *ctl, char *const *paths, int path_count,
                const struct scan_opts *opts, struct scan *ret_scan)
{
    static const char *const all[] = { "/" };
    size_t count = (size_t)path_count;
    char(*roots)[ZKR_PATH_MAX + 1] = calloc(count + 1, sizeof(*roots));
    const char **list = calloc(count + 1, sizeof(*list));
    int code = EX_USAGE;

    if (roots == NULL || list == NULL)
        code = lockctl_fail_error(ZKR_ENOMEM, "");
    else if (count == 0)
        code = scan_below(ctl, all, 1, opts, ret_scan);
    else if (parse(paths, count, roots, list))
        code = scan_below(ctl, list, count, opts, ret_scan);
    free(list);
    free(roots);
    return code;
}

static int find(struct across *a, const struct scan *before)
{
    if (deadlocks_find(a->scan.locks, a->scan.count,
                       before == NULL ? NULL : before->locks,
                       before == NULL ? 0 : before->count, &a->deadlocks))
        return 0;
    return lockctl_fail_error(ZKR_ENOMEM, "");
}

static void across_done(struct across *across)
{
    deadlocks_done(&across->deadlocks);
    scan_done(&across->scan);
}

void across_note_possible(const struct deadlocks *all, struct notes *notes)
{
    const struct deadlock_member *m;
    char who[WHO_MAX];
    char path[256];
    size_t first = 0;

    while (first < all->count && all->items[first].certain)
        first++;
    if (first == all->count)
        return;
    m = all->items[first].youngest;
    (void)escape_string(m->waits_lock->path, path, sizeof(path));
    notes_add(notes,
              "%zu possible deadlock%s, such as of %s at %s; threads of one "
              "program and elections look the same. See zk-lockctl deadlocks "
              "--possible",
              all->count - first, word_plural(all->count - first),
              contender_who(m->waits, who), path);
}

void across_pause(const struct lockctl *ctl, int64_t ms)
{
    char word[WORD_MAX];

    if (ms > PAUSE_SAID_MS)
        lockctl_say(ctl, "looking again in %s", word_age(ms, word));
    clock_sleep_ms(ms);
}

/* Exchanges the wanted locks with those of `again`. */
static void exchange(struct scan *scan, const bool *wanted, struct scan *again)
{
    size_t next = 0;
    size_t n = 0;

    for (size_t i = 0; i < scan->count; i++) {
        struct lock lock = scan->locks[i];

        if (wanted[i] && (next == again->count ||
                          strcmp(again->locks[next].path, lock.path) != 0)) {
            lock_done(&lock);
            continue;
        }
        if (wanted[i]) {
            lock = again->locks[next];
            again->locks[next++] = scan->locks[i];
        }
        scan->locks[n++] = lock;
    }
    scan->count = n;
    scan->at_ms = again->at_ms;
}

int across_again(struct lockctl *ctl, const struct scan_opts *opts,
                 const bool *wanted, struct scan *scan, struct scan *ret_before)
{
    int code = scan_some(ctl, scan, wanted, opts, ret_before);

    if (code == 0)
        exchange(scan, wanted, ret_before);
    return code;
}

/* A deadlock that was seen once may never have existed. In every lock of one
 * somebody waits, so the others are not listed again. */
static int confirm(struct lockctl *ctl, const struct across_opts *opts,
                   struct across *a)
{
    bool *wanted = calloc(a->scan.count + 1, sizeof(*wanted));
    struct scan before = { .count = 0 };
    int code;

    deadlocks_done(&a->deadlocks);
    if (wanted == NULL)
        return lockctl_fail_error(ZKR_ENOMEM, "");
    for (size_t i = 0; i < a->scan.count; i++)
        wanted[i] = a->scan.locks[i].waiters > 0;
    across_pause(ctl, opts->confirm_ms);
    code = across_again(ctl, &opts->scan, wanted, &a->scan, &before);
    if (code == 0)
        code = find(a, &before);
    scan_done(&before);
    free(wanted);
    return code;
}

/* They are the last. */
static void drop_possible(struct deadlocks *all)
{
    while (all->count > 0 && !all->items[all->count - 1].certain)
        free(all->items[--all->count].members);
}

/* Below those paths, or "/" without one. */
static int load(struct lockctl *ctl, char *const *paths, int path_count,
                const struct across_opts *opts, struct across *ret_across)
{
    struct across a = { .scan.count = 0 };
    int code = lockctl_connect(ctl);

    if (code == 0)
        code = across_scan(ctl, paths, path_count, &opts->scan, &a.scan);
    if (code == 0)
        code = find(&a, NULL);
    if (code == 0 && a.deadlocks.count > 0)
        code = confirm(ctl, opts, &a);
    if (code != 0) {
        across_done(&a);
        return code;
    }
    if (!opts->possible) {
        across_note_possible(&a.deadlocks, &a.scan.notes);
        drop_possible(&a.deadlocks);
    }
    if (a.deadlocks.cut)
        notes_add(&a.scan.notes, "only %zu deadlocks are told apart",
                  a.deadlocks.count);
    *ret_across = a;
    return 0;
}

int across_run(struct lockctl *ctl, const struct verb *verb, int argc,
               char **argv, across_print *print)
{
    struct across_opts opts = ACROSS_OPTS_INIT;
    struct across a;
    int code;

    if (!lockctl_parse(ctl, verb, &argc, &argv, &opts))
        return EX_USAGE;
    code = load(ctl, argv, argc, &opts, &a);
    if (code != 0)
        return code;
    code = scan_code(&a.scan, print(ctl, &a));
    if (code == 0 && a.deadlocks.count > 0 && a.deadlocks.items[0].certain)
        code = EX_NO;
    across_done(&a);
    return code;
}
