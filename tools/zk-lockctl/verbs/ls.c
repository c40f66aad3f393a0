/* SPDX-License-Identifier: Apache-2.0 */
/* ls: lists all locks at and below a path. */
#include "verbs/verbs.h"

#include <string.h>

#include "model/scan.h"
#include "text/lock_fields.h"

struct filter {
    bool held;
    bool waiting;
    int dialect; /* -1: any */
};

struct order {
    struct scan_opts scan;
    struct filter filter;
};

static const char *const dialects[] = { "zkrecipes", "curator",  "kazoo",
                                        "go",        "c-recipe", "zk-ruby",
                                        "other",     "mixed",    NULL };

/* clang-format off */
#define AT(member) offsetof(struct order, member)
static const struct opt options[] = {
    { "held", .type = OPT_ON, .at = AT(filter.held), .help = "those that somebody holds" },
    { "waiting", .type = OPT_ON, .at = AT(filter.waiting), .help = "those that somebody waits for" },
    { "dialect", .value = "NAME", .type = OPT_WORD, .at = AT(filter.dialect), .words = dialects,
      .help = "of zkrecipes, curator, kazoo, go, c-recipe, zk-ruby, other, mixed" },
    { "empty", .type = OPT_ON, .at = AT(scan.empty),
      .help = "also empty directories, which may be locks" },
    SCAN_DEPTH(AT(scan.depth)),
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
           (filter->dialect < 0 ||
            strcmp(dialects[filter->dialect],
                   zkr__dialect_name(lock->dialect)) == 0);
}

static void apply(struct scan *scan, const struct filter *filter)
{
    size_t n = 0;

    for (size_t i = 0; i < scan->count; i++) {
        if (passes(&scan->locks[i], filter))
            scan->locks[n++] = scan->locks[i];
        else
            lock_done(&scan->locks[i]);
    }
    scan->count = n;
}

/* Only a table for people is whole without the waits. */
static uint32_t reads(const struct lockctl *ctl)
{
    return ctl->format == FORMAT_TABLE && ctl->columns == NULL ? SCAN_HOLDERS
                                                               : SCAN_NEXT;
}

static int list(struct lockctl *ctl, const char *root,
                const struct scan_opts *opts, const struct filter *filter)
{
    struct scan scan;
    int code = lockctl_connect(ctl);

    if (code == 0)
        code = scan_below(ctl, &root, 1, opts, &scan);
    if (code != 0)
        return code;
    apply(&scan, filter);
    code = locks_print(ctl, scan.locks, scan.count, scan.at_ms, &scan.notes);
    if (scan.count == 0 && scan.denied == 0)
        lockctl_say(ctl, scan.missing ? "no locks: the path does not exist"
                                      : "no locks");
    code = scan_code(&scan, code);
    scan_done(&scan);
    return code;
}

static int ls(struct lockctl *ctl, int argc, char **argv)
{
    struct order order = { .scan = { .timeout_ms = 60000, .barriers = true },
                           .filter.dialect = -1 };
    char root[ZKR_PATH_MAX + 1] = "/";

    if (!lockctl_parse(ctl, &verb_ls, &argc, &argv, &order) ||
        !lockctl_take_root(&verb_ls, argc, argv, root))
        return EX_USAGE;
    order.scan.reads = reads(ctl);
    return list(ctl, root, &order.scan, &order.filter);
}

const struct verb verb_ls = {
    .name = "ls",
    .usage = "[OPTION]... [PATH]",
    .summary = "List the locks at and below a path",
    .options = options,
    .run = ls,
};
