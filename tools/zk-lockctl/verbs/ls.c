/* SPDX-License-Identifier: Apache-2.0 */
/* ls: lists all locks at and below a path. */
#include "verbs/verbs.h"

#include <string.h>

#include "model/scan.h"
#include "text/rows.h"

enum {
    OPTION_DEPTH = OPTION_FIRST,
    OPTION_EMPTY,
    OPTION_HELD,
    OPTION_WAITING,
    OPTION_DIALECT,
    OPTION_LIMIT,
    OPTION_WITHIN,
};

static const struct option options[] = {
    { "depth", required_argument, NULL, OPTION_DEPTH },
    { "empty", no_argument, NULL, OPTION_EMPTY },
    { "held", no_argument, NULL, OPTION_HELD },
    { "waiting", no_argument, NULL, OPTION_WAITING },
    { "dialect", required_argument, NULL, OPTION_DIALECT },
    { "limit", required_argument, NULL, OPTION_LIMIT },
    { "within", required_argument, NULL, OPTION_WITHIN },
    { NULL, 0, NULL, 0 },
};

struct filter {
    bool held;
    bool waiting;
    const char *dialect;
};

static bool take(int option, struct scan_opts *scan, struct filter *filter)
{
    switch (option) {
    case OPTION_DEPTH:
        return lockctl_take_count("--depth", &scan->depth);
    case OPTION_LIMIT:
        return lockctl_take_count("--limit", &scan->limit);
    case OPTION_WITHIN:
        return scan_take_within(scan);
    case OPTION_EMPTY:
        scan->empty = true;
        return true;
    case OPTION_HELD:
        filter->held = true;
        return true;
    case OPTION_WAITING:
        filter->waiting = true;
        return true;
    case OPTION_DIALECT:
        filter->dialect = optarg;
        if (zkr__dialect_is_name(optarg))
            return true;
        (void)lockctl_fail(EX_USAGE,
                           "--dialect: '%s' is not a dialect; see "
                           "zk-lockctl ls --help",
                           optarg);
        return false;
    default:
        return false;
    }
}

static bool passes(const struct lock *lock, const struct filter *filter)
{
    return (!filter->held || lock->holders > 0) &&
           (!filter->waiting || lock->waiters > 0) &&
           (filter->dialect == NULL ||
            strcmp(filter->dialect, zkr__dialect_name(lock->dialect)) == 0);
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
        code = scan_below(ctl->session, root, opts, &scan);
    if (code != 0)
        return code;
    apply(&scan, filter);
    code = rows_print(ctl, scan.locks, scan.count, scan.at_ms, &scan.notes);
    if (scan.count == 0 && scan.denied == 0)
        lockctl_say(ctl, scan.missing ? "no locks: the path does not exist"
                                      : "no locks");
    code = scan_code(&scan, code);
    scan_done(&scan);
    return code;
}

static int ls(struct lockctl *ctl, int argc, char **argv)
{
    struct scan_opts opts = { .timeout_ms = 60000, .barriers = true };
    struct filter filter = { .held = false };
    char root[ZKR_PATH_MAX + 1] = "/";
    int option;

    while ((option = lockctl_option(ctl, &verb_ls, argc, argv, "", options)) !=
           -1) {
        if (!take(option, &opts, &filter))
            return EX_USAGE;
    }
    opts.reads = reads(ctl);
    if (argc - optind > 1)
        return lockctl_fail(EX_USAGE, "ls: one path; see zk-lockctl ls --help");
    if (argc > optind && !lockctl_parse_path(argv[optind], root, sizeof(root)))
        return EX_USAGE;
    return list(ctl, root, &opts, &filter);
}

const struct verb verb_ls = {
    .name = "ls",
    .usage = "[OPTION]... [PATH]",
    .summary = "List the locks at and below a path",
    .help = "  --held             those that somebody holds\n"
            "  --waiting          those that somebody waits for\n"
            "  --dialect NAME     of zkrecipes, curator, kazoo, go, c-recipe,\n"
            "                     zk-ruby, other, mixed\n"
            "  --empty            also empty directories, which may be locks\n"
            "  --depth N          look into N levels of directories (32)\n"
            "  --limit N          list no more than N locks (10000)\n"
            "  --within DURATION  search no longer than that (60s)\n",
    .run = ls,
};
