/* SPDX-License-Identifier: Apache-2.0 */
/* ls: lists all locks at and below a path. */
#include "verbs/verbs.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "model/scan.h"
#include "text/lock_fields.h"

struct filter {
    bool held;
    bool waiting;
    int dialect;        /* -1: any */
    const char *holder; /* HOST[:PID]; NULL: any */
    const char *match;  /* a pattern for the path; NULL: any */
    int64_t older_ms;   /* held at least so long; 0: any */
};

struct order {
    struct scan_opts scan;
    struct filter filter;
    int sort;
};
static struct order order = { .scan = { .timeout_ms = 60000, .barriers = true },
                              .filter.dialect = -1 };

static const char *const dialects[] = { "zkrecipes", "curator",  "kazoo",
                                        "go",        "c-recipe", "zk-ruby",
                                        "other",     "mixed",    NULL };

enum { SORT_PATH, SORT_HELD, SORT_WAITERS, SORT_LONGEST };
static const char *const sorts[] = { "path", "held", "waiters", "longest",
                                     NULL };
/* clang-format off */
#define AT(member) offsetof(struct lock, member)
static const struct field sorted_by[] = {
    [SORT_PATH] = { .type = FIELD_PATH, .at = AT(path) },
    [SORT_HELD] = { .type = FIELD_MS, .at = AT(held_ms) },
    [SORT_WAITERS] = { .type = FIELD_COUNT, .at = AT(waiters) },
    [SORT_LONGEST] = { .type = FIELD_MS, .at = AT(longest_wait_ms) },
};
#undef AT
/* clang-format on */

/* clang-format off */
#define AT(member) offsetof(struct order, member)
static const struct opt options[] = {
    { "held", .type = OPT_ON, .at = AT(filter.held), .help = "those that somebody holds" },
    { "waiting", .type = OPT_ON, .at = AT(filter.waiting), .help = "those that somebody waits for" },
    { "dialect", .value = "NAME", .type = OPT_WORD, .at = AT(filter.dialect), .words = dialects,
      .help = "of zkrecipes, curator, kazoo, go, c-recipe, zk-ruby, other, mixed" },
    { "holder", .value = "HOST[:PID]", .type = OPT_TEXT, .at = AT(filter.holder),
      .help = "those with a holder that says that it is that process" },
    { "older", .value = "DURATION", .type = OPT_MS, .max = INT64_MAX, .at = AT(filter.older_ms),
      .help = "those that may have been held for so long" },
    { "match", .value = "PATTERN", .type = OPT_TEXT, .at = AT(filter.match),
      .help = "those whose path is like that, with * and ?" },
    { "sort", .value = "COLUMN", .type = OPT_WORD, .words = sorts, .at = AT(sort),
      .help = "by path, or the most first: held, waiters, longest (path)" },
    SCAN_LIMIT(AT(scan.limit)),
    SCAN_WITHIN(AT(scan.timeout_ms)),
    { .name = NULL },
};
#undef AT
/* clang-format on */

static bool passes(const struct lock *lock, const struct filter *filter)
{
    return (!filter->held || lock->holders > 0) &&
           (!filter->waiting || lock->waiters > 0) &&
           (filter->match == NULL ||
            fnmatch(filter->match, lock->path, 0) == 0) &&
           ((filter->older_ms == 0 && filter->holder == NULL) ||
            lock_is_held_by(lock, filter->holder, filter->older_ms)) &&
           (filter->dialect < 0 ||
            strcmp(dialects[filter->dialect],
                   zkr__dialect_name(lock->dialect)) == 0);
}

static int by_column(const void *a, const void *b, void *sort)
{
    int first = field_compare(&sorted_by[*(int *)sort], a, b);

    return first != 0 ? first : field_compare(&sorted_by[SORT_PATH], a, b);
}

static void apply(struct scan *scan, const struct filter *filter, int sort)
{
    size_t n = 0;

    for (size_t i = 0; i < scan->count; i++) {
        if (passes(&scan->locks[i], filter))
            scan->locks[n++] = scan->locks[i];
        else
            lock_done(&scan->locks[i]);
    }
    scan->count = n;
    if (n > 0)
        qsort_r(scan->locks, n, sizeof(*scan->locks), by_column, &sort);
}

/* Only a table for people is whole without the waits. */
static uint32_t reads(const struct lockctl *ctl, int sort)
{
    return ctl->format == FORMAT_TABLE && ctl->columns == NULL &&
                   sort != SORT_LONGEST
               ? SCAN_HOLDERS
               : SCAN_NEXT;
}

static int ls(struct lockctl *ctl, int argc, char **argv)
{
    const char *root = argv[0];
    struct scan scan;
    int code = lockctl_connect(ctl);

    (void)argc;
    order.scan.reads = reads(ctl, order.sort);
    if (code == 0)
        code = scan_below(ctl, &root, 1, &order.scan, &scan);
    if (code != 0)
        return code;
    apply(&scan, &order.filter, order.sort);
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
