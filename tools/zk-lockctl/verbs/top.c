/* SPDX-License-Identifier: Apache-2.0 */
/* top: shows the locks as they are now, on a screen. */
#include "verbs/verbs.h"

#include <string.h>
#include <unistd.h>

#include "top/top.h"

static struct top_opts t = {
    .ask_servers = true,
    .view = { .sort = TOP_LONGEST, .interval_ms = 2000 },
};

/* In the order of enum top_key. */
static const char *const sorts[] = { "lock",  "kind", "state",   "holder",
                                     "held",  "wait", "longest", "grants",
                                     "token", NULL };

static int take_match(const struct opt *o, void *at, const char *value)
{
    size_t room = sizeof(((struct top_view *)NULL)->filter);

    (void)o;
    if (strlen(value) >= room)
        return lockctl_fail(EX_USAGE, "--match: the text is too long");
    (void)strcpy(at, value);
    return 0;
}

/* clang-format off */
#define AT(member) offsetof(struct top_opts, member)
static const struct opt options[] = {
    { "interval", .value = "DURATION", .type = OPT_MS, .at = AT(view.interval_ms),
      .min = TOP_INTERVAL_MIN_MS, .max = TOP_INTERVAL_MAX_MS, .help = "look so often (2s)" },
    { "sort", .value = "COLUMN", .type = OPT_WORD, .at = AT(view.sort), .words = sorts,
      .help = "lock, kind, state, holder, held, wait, longest, grants, token (longest)" },
    { "reverse", .type = OPT_ON, .at = AT(view.reversed), .help = "the other way round" },
    { "match", .value = "TEXT", .type = OPT_CALL, .at = AT(view.filter), .take = take_match,
      .help = "locks and holders with this text" },
    { "read-only", .type = OPT_ON, .at = AT(view.read_only),
      .help = "no keys that ask holders or break locks" },
    { "no-4lw", .type = OPT_OFF, .at = AT(ask_servers),
      .help = "do not ask the servers for cons, dump and wchp while a queue is on the screen" },
    { .name = NULL },
};
#undef AT
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
    static struct opening opening; /* the session ends after this verb */
    int code;

    (void)argc;
    t.ctl = ctl;
    t.root = argv[0];
    if (!has_screen(ctl))
        return top_has_no_screen();
    code = lockctl_connect_later(ctl, &opening);
    return code == 0 ? top_live(&t, &opening) : code;
}

const struct verb verb_top = {
    .name = "top",
    .usage = "[OPTION]... [PATH]",
    .summary = "Watch the locks at and below a path on a screen",
    .options = options,
    .into = &t,
    .takes = TAKES_PATH,
    .help =
        "Keys: arrows move, Enter shows a queue, / filters, s sorts, r\n"
        "reverses, o lists owners, Space looks now, + and - change the\n"
        "interval, R asks the holder to give the lock back, K breaks it by\n"
        "its token, ? is the help, q goes back and at last ends it.\n",
    .run = top,
};
