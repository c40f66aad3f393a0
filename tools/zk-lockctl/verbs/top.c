/* SPDX-License-Identifier: Apache-2.0 */
/* top: shows the locks as they are now, on a screen. */
#include "verbs/verbs.h"

#include <unistd.h>

#include "top/top.h"

static struct top t = {
    .sort = TOP_LONGEST,
};

/* In the order of enum top_key. */
static const char *const sorts[] = { "lock",   "kind", "dialect", "state",
                                     "holder", "held", "wait",    "longest",
                                     "token",  NULL };

/* clang-format off */
static const struct opt options[] = {
    { "sort", .value = "COLUMN", .type = OPT_WORD, .at = AT(top, sort), .words = sorts,
      .help = "lock, kind, dialect, state, holder, held, wait, longest, token (longest)" },
    { "reverse", .type = OPT_ON, .at = AT(top, reversed), .help = "the other way round" },
    { "read-only", .type = OPT_ON, .at = AT(top, read_only),
      .help = "no keys that ask holders or break locks" },
    { .name = NULL },
};
/* clang-format on */

/* A format for programs, and columns, are of what is printed. */
static bool has_screen(const struct lockctl *ctl)
{
    return ctl->columns == NULL &&
           (ctl->format == FORMAT_TABLE || ctl->format == FORMAT_WIDE) &&
           isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1;
}

static int top(struct lockctl *ctl, int argc, char **argv)
{
    (void)argc;
    t.ctl = ctl;
    t.root = argv[0];
    if (!has_screen(ctl))
        return top_has_no_screen();
    int code = lockctl_connect(ctl);
    return code == 0 ? top_live(&t) : code;
}

const struct verb verb_top = {
    .name = "top",
    .usage = "[OPTION]... [PATH]",
    .summary = "Watch the locks at and below a path on a screen",
    .options = options,
    .into = &t,
    .takes = TAKES_PATH,
    .help = top_keys,
    .run = top,
};
