/* All locks below some paths, and the deadlocks among them. */
#include "across.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guard.h"

static const struct option options[] = {
    ACROSS_OPTIONS,
    { "certain", no_argument, NULL, ACROSS_CERTAIN },
    { NULL, 0, NULL, 0 },
};

static bool read_number(const char *option, uint32_t *ret_number)
{
    int64_t value;

    if (!lockctl_parse_count(optarg, &value)) {
        (void)lockctl_fail(EX_USAGE, "%s: '%s' is not a number from 1 on",
                           option, optarg);
        return false;
    }
    *ret_number = (uint32_t)value;
    return true;
}

static bool read_duration(const char *option, int64_t *ret_ms)
{
    if (lockctl_parse_duration(optarg, ret_ms) && *ret_ms <= INT32_MAX)
        return true;
    (void)lockctl_fail(EX_USAGE, "%s: '%s' is not a duration", option, optarg);
    return false;
}

bool across_take(int option, struct across_opts *opts)
{
    int64_t ms = 0;

    switch (option) {
    case ACROSS_CONFIRM:
        return read_duration("--confirm", &opts->confirm_ms);
    case ACROSS_CERTAIN:
        opts->certain = true;
        return true;
    case ACROSS_DEPTH:
        return read_number("--depth", &opts->scan.depth);
    case ACROSS_LIMIT:
        return read_number("--limit", &opts->scan.limit);
    case ACROSS_WITHIN:
        if (!read_duration("--within", &ms))
            return false;
        opts->scan.timeout_ms = ms > 0 ? (uint32_t)ms : 1;
        return true;
    default:
        return false;
    }
}

int across_read(struct lockctl *ctl, const struct verb *verb, int argc,
                char **argv, struct across_opts *opts)
{
    int option;

    *opts =
        (struct across_opts){ .scan.timeout_ms = 60000, .confirm_ms = 1000 };
    while ((option = lockctl_option(ctl, verb, argc, argv, "", options)) !=
           -1) {
        if (!across_take(option, opts))
            return EX_USAGE;
    }
    return 0;
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct lock *)a)->path,
                  ((const struct lock *)b)->path);
}

/* Takes the locks of `more`. */
static bool append(struct scan *scan, struct scan *more)
{
    struct lock *grown =
        realloc(scan->locks, (scan->count + more->count + 1) * sizeof(*grown));

    if (grown == NULL)
        return false;
    scan->locks = grown;
    if (more->count > 0)
        memcpy(grown + scan->count, more->locks,
               more->count * sizeof(*more->locks));
    scan->count += more->count;
    more->count = 0;
    for (size_t i = 0; i < more->notes.count; i++)
        notes_add(&scan->notes, "%s", more->notes.texts[i]);
    return true;
}

/* One path may be below another. */
static void sort(struct scan *scan)
{
    size_t n = 0;

    if (scan->count == 0)
        return;
    qsort(scan->locks, scan->count, sizeof(*scan->locks), by_path);
    for (size_t i = 1; i < scan->count; i++) {
        if (by_path(&scan->locks[n], &scan->locks[i]) == 0)
            lock_done(&scan->locks[i]);
        else
            scan->locks[++n] = scan->locks[i];
    }
    scan->count = n + 1;
}

static int scan_one(struct lockctl *ctl, const char *path,
                    const struct scan_opts *opts, struct scan *scan)
{
    char root[ZKR_PATH_MAX + 1];
    struct scan more;
    bool done;
    int code;

    if (!lockctl_parse_path(path, root, sizeof(root)))
        return EX_USAGE;
    code = scan_below(ctl->session, root, opts, &more);
    if (code != 0)
        return code;
    if (scan->count == 0)
        scan->at_ms = more.at_ms;
    done = append(scan, &more);
    scan_done(&more);
    return done ? 0 : lockctl_fail_error(ZKR_ENOMEM, "");
}

int across_scan(struct lockctl *ctl, char *const *paths, int path_count,
                const struct scan_opts *opts, struct scan *ret_scan)
{
    struct scan scan = { .count = 0 };
    int code = 0;

    if (path_count == 0)
        code = scan_one(ctl, "/", opts, &scan);
    for (int i = 0; i < path_count && code == 0; i++)
        code = scan_one(ctl, paths[i], opts, &scan);
    if (code != 0) {
        scan_done(&scan);
        return code;
    }
    sort(&scan);
    *ret_scan = scan;
    return 0;
}

static int find(struct across *a, const struct scan *before)
{
    if (deadlocks_find(a->scan.locks, a->scan.count,
                       before == NULL ? NULL : before->locks,
                       before == NULL ? 0 : before->count, &a->deadlocks))
        return 0;
    return lockctl_fail_error(ZKR_ENOMEM, "");
}

/* What was seen once may never have been. */
static int confirm(struct lockctl *ctl, char *const *paths, int path_count,
                   const struct across_opts *opts, struct across *a)
{
    struct scan before = a->scan;
    int code;

    deadlocks_done(&a->deadlocks);
    a->scan = (struct scan){ .count = 0 };
    guard_sleep_ms(opts->confirm_ms);
    code = across_scan(ctl, paths, path_count, &opts->scan, &a->scan);
    if (code == 0)
        code = find(a, &before);
    scan_done(&before);
    return code;
}

/* They are the last. */
static void drop_possible(struct deadlocks *all)
{
    while (all->count > 0 && !all->items[all->count - 1].certain)
        free(all->items[--all->count].members);
}

int across_load(struct lockctl *ctl, char *const *paths, int path_count,
                const struct across_opts *opts, struct across *ret_across)
{
    struct across a = { .scan.count = 0 };
    int code = lockctl_connect(ctl);

    if (code == 0)
        code = across_scan(ctl, paths, path_count, &opts->scan, &a.scan);
    if (code == 0)
        code = find(&a, NULL);
    if (code == 0 && a.deadlocks.count > 0)
        code = confirm(ctl, paths, path_count, opts, &a);
    if (code != 0) {
        across_done(&a);
        return code;
    }
    if (opts->certain)
        drop_possible(&a.deadlocks);
    if (a.deadlocks.cut)
        notes_add(&a.scan.notes, "only %zu deadlocks are told apart",
                  a.deadlocks.count);
    *ret_across = a;
    return 0;
}

void across_done(struct across *across)
{
    deadlocks_done(&across->deadlocks);
    scan_done(&across->scan);
}
