/* SPDX-License-Identifier: Apache-2.0 */
/* ls: lists all locks at and below a path. */
#include "verbs/verbs.h"

#include <fnmatch.h>
#include <string.h>

#include "common/grow.h"
#include "model/scan.h"
#include "text/lock_fields.h"

struct order {
    struct scan_opts scan;
    /* only locks that are */
    bool held;
    bool waiting;
    int dialect;        /* -1: any */
    const char *holder; /* HOST[:PID]; NULL: any */
    const char *match;  /* a pattern for the path; NULL: any */
    int64_t older_ms;   /* held at least so long; 0: any */
    int sort;
};
static struct order order = { .scan = { .timeout_ms = 60000, .barriers = true },
                              .dialect = -1 };

static const char *const dialects[] = { "zkrecipes", "curator",  "kazoo",
                                        "go",        "c-recipe", "zk-ruby",
                                        "other",     "mixed",    NULL };

enum { SORT_PATH, SORT_HELD, SORT_WAITERS, SORT_LONGEST };
static const char *const sorts[] = { "path", "held", "waiters", "longest",
                                     NULL };
/* clang-format off */
static const struct field sorted_by[] = {
    [SORT_PATH] = { .type = FIELD_PATH, .at = AT(lock, path) },
    [SORT_HELD] = { .type = FIELD_MS, .at = AT(lock, held_ms) },
    [SORT_WAITERS] = { .type = FIELD_COUNT, .at = AT(lock, waiters) },
    [SORT_LONGEST] = { .type = FIELD_MS, .at = AT(lock, longest_wait_ms) },
};

static const struct opt options[] = {
    { "held", .type = OPT_ON, .at = AT(order, held), .help = "those that somebody holds" },
    { "waiting", .type = OPT_ON, .at = AT(order, waiting), .help = "those that somebody waits for" },
    { "dialect", .value = "NAME", .type = OPT_WORD, .at = AT(order, dialect), .words = dialects,
      .help = "of zkrecipes, curator, kazoo, go, c-recipe, zk-ruby, other, mixed" },
    { "holder", .value = "HOST[:PID]", .type = OPT_TEXT, .at = AT(order, holder),
      .help = "those with a holder that says that it is that process" },
    { "older", .value = "DURATION", .type = OPT_MS, .max = INT64_MAX, .at = AT(order, older_ms),
      .help = "those that may have been held for so long" },
    { "match", .value = "PATTERN", .type = OPT_TEXT, .at = AT(order, match),
      .help = "those whose path is like that, with * and ?" },
    { "sort", .value = "COLUMN", .type = OPT_WORD, .words = sorts, .at = AT(order, sort),
      .help = "by path, or the most first: held, waiters, longest (path)" },
    SCAN_LIMIT(AT(order, scan.limit)),
    SCAN_WITHIN(AT(order, scan.timeout_ms)),
    { .name = NULL },
};
/* clang-format on */

static bool passes(const struct lock *lock)
{
    return (!order.held || lock->holders > 0) &&
           (!order.waiting || lock->waiters > 0) &&
           (order.match == NULL || fnmatch(order.match, lock->path, 0) == 0) &&
           ((order.older_ms == 0 && order.holder == NULL) ||
            lock_is_held_by(lock, order.holder, order.older_ms)) &&
           (order.dialect < 0 || strcmp(dialects[order.dialect],
                                        zkr__dialect_name(lock->dialect)) == 0);
}

static int by_column(const void *a, const void *b)
{
    int first = field_compare(&sorted_by[order.sort], a, b);

    return first != 0 ? first : field_compare(&sorted_by[SORT_PATH], a, b);
}

static void apply(struct scan *scan)
{
    size_t n = 0;

    for (size_t i = 0; i < scan->count; i++) {
        if (passes(&scan->locks[i]))
            scan->locks[n++] = scan->locks[i];
        else
            lock_done(&scan->locks[i]);
    }
    scan->count = n;
    sort_array(scan->locks, n, sizeof(*scan->locks), by_column);
}

/* Only a table for people is whole without the waits. */
static uint32_t reads(const struct lockctl *ctl)
{
    return ctl->format == FORMAT_TABLE && ctl->columns == NULL &&
                   order.sort != SORT_LONGEST
               ? SCAN_HOLDERS
               : SCAN_NEXT;
}

static int ls(struct lockctl *ctl, int argc, char **argv)
{
    const char *root = argv[0];
    struct scan scan;
    int code = lockctl_connect(ctl);

    (void)argc;
    order.scan.reads = reads(ctl);
    if (code == 0)
        code = scan_below(ctl, &root, 1, &order.scan, &scan);
    if (code != 0)
        return code;
    apply(&scan);
    code = locks_print(ctl, scan.locks, scan.count, scan.at_ms, &scan.notes);
    if (scan.count == 0 && scan.denied == 0)
        lockctl_say(ctl, scan.missing ? "no locks: the path does not exist"
                                      : "no locks");
    code = scan_code(&scan, code);
    scan_done(&scan);
    return code;
}

const struct verb verb_ls = {
    .name = "ls",
    .usage = "[OPTION]... [PATH]",
    .summary = "List the locks at and below a path",
    .options = options,
    .kinds = (const struct kind *const[]){ &lock_kind, NULL },
    .into = &order,
    .takes = TAKES_PATH,
    .run = ls,
};
