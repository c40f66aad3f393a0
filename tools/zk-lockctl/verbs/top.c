/* SPDX-License-Identifier: Apache-2.0 */
/* top: shows the locks as they are now, on a screen or as tables. */
#include "verbs/verbs.h"

#include <stdio.h>
#include <unistd.h>

#include "top/top.h"

enum {
    OPTION_INTERVAL = OPTION_FIRST,
    OPTION_COUNT,
    OPTION_ONCE,
    OPTION_SORT,
    OPTION_REVERSE,
    OPTION_MATCH,
    OPTION_READ_ONLY,
    OPTION_NO_4LW,
};

static const struct option options[] = {
    { "interval", required_argument, NULL, OPTION_INTERVAL },
    { "count", required_argument, NULL, OPTION_COUNT },
    { "once", no_argument, NULL, OPTION_ONCE },
    { "sort", required_argument, NULL, OPTION_SORT },
    { "reverse", no_argument, NULL, OPTION_REVERSE },
    { "match", required_argument, NULL, OPTION_MATCH },
    { "read-only", no_argument, NULL, OPTION_READ_ONLY },
    { "no-4lw", no_argument, NULL, OPTION_NO_4LW },
    { NULL, 0, NULL, 0 },
};

static bool take_interval(struct top_opts *t, const char *text)
{
    if (lockctl_parse_duration(text, &t->view.interval_ms) &&
        t->view.interval_ms >= TOP_INTERVAL_MIN_MS &&
        t->view.interval_ms <= TOP_INTERVAL_MAX_MS)
        return true;
    (void)lockctl_fail(EX_USAGE,
                       "--interval: '%s' is not a duration from %dms to 1h",
                       text, TOP_INTERVAL_MIN_MS);
    return false;
}

static bool take_sort(struct top_opts *t, const char *text)
{
    if (top_key_read(text, &t->view.sort))
        return true;
    (void)lockctl_fail(EX_USAGE,
                       "--sort: choose from lock, kind, state, holder, held, "
                       "wait, longest, grants, token");
    return false;
}

static bool take_match(struct top_opts *t, const char *text)
{
    int len = snprintf(t->view.filter, sizeof(t->view.filter), "%s", text);

    if (len >= 0 && (size_t)len < sizeof(t->view.filter))
        return true;
    (void)lockctl_fail(EX_USAGE, "--match: the text is too long");
    return false;
}

static bool take(struct top_opts *t, int option)
{
    switch (option) {
    case OPTION_INTERVAL:
        return take_interval(t, optarg);
    case OPTION_COUNT:
        return lockctl_take_count("--count", &t->count);
    case OPTION_ONCE:
        t->count = 1;
        return true;
    case OPTION_SORT:
        return take_sort(t, optarg);
    case OPTION_REVERSE:
        t->view.reversed = true;
        return true;
    case OPTION_MATCH:
        return take_match(t, optarg);
    case OPTION_READ_ONLY:
        t->view.read_only = true;
        return true;
    case OPTION_NO_4LW:
        t->ask_servers = false;
        return true;
    default:
        return false;
    }
}

static int read_options(struct top_opts *t, int argc, char **argv)
{
    int option;

    while ((option = lockctl_option(t->ctl, &verb_top, argc, argv, "",
                                    options)) != -1) {
        if (!take(t, option))
            return EX_USAGE;
    }
    if (t->ctl->format == FORMAT_DOT)
        return lockctl_fail(EX_USAGE, "top: -o dot is for deadlocks");
    if (t->ctl->format == FORMAT_JSON && t->count != 1)
        return lockctl_fail(EX_USAGE, "top: -o json is for --once; without "
                                      "end there is -o jsonl");
    if (argc - optind > 1)
        return lockctl_fail(EX_USAGE,
                            "top: one path; see zk-lockctl top --help");
    if (argc > optind &&
        !lockctl_parse_path(argv[optind], t->root, sizeof(t->root)))
        return EX_USAGE;
    return 0;
}

/* A user who asks for a number of looks, for columns or for a format for
 * programs wants tables, also on a terminal. */
static bool wants_screen(const struct top_opts *t)
{
    return t->count == 0 && t->ctl->columns == NULL &&
           (t->ctl->format == FORMAT_TABLE || t->ctl->format == FORMAT_WIDE) &&
           isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1;
}

/* The screen is there before the servers are; tables wait for them. */
static int top(struct lockctl *ctl, int argc, char **argv)
{
    struct top_opts t = {
        .ctl = ctl,
        .root = "/",
        .ask_servers = true,
        .view = { .sort = TOP_LONGEST, .interval_ms = 2000 },
    };
    static struct opening opening; /* the session ends after this verb */
    bool on_screen = false;
    int code = read_options(&t, argc, argv);

    if (code == 0 && wants_screen(&t)) {
        code = lockctl_connect_later(ctl, &opening);
        if (code == 0)
            code = top_live(&t, &opening, &on_screen);
        if (code != 0 || on_screen)
            return code;
        lockctl_disconnect(ctl);
        lockctl_say(ctl, "this terminal cannot show a screen");
    }
    if (code == 0)
        code = lockctl_connect(ctl);
    return code == 0 ? top_print(&t) : code;
}

const struct verb verb_top = {
    .name = "top",
    .usage = "[OPTION]... [PATH]",
    .summary = "Watch the locks at and below a path on a screen",
    .help =
        "  --interval DURATION  look so often (2s)\n"
        "  --sort COLUMN        lock, kind, state, holder, held, wait,\n"
        "                       longest, grants, token (longest)\n"
        "  --reverse            the other way round\n"
        "  --match TEXT         locks and holders with this text\n"
        "  --once               one table, and the end\n"
        "  --count N            N tables\n"
        "  --read-only          no keys that ask holders or break locks\n"
        "  --no-4lw             do not ask the servers for cons, dump and\n"
        "                       wchp while a queue is on the screen\n"
        "\n"
        "Keys: arrows move, Enter shows a queue, / filters, s sorts, r\n"
        "reverses, Space looks now, + and - change the interval, R asks the\n"
        "holder to give the lock back, K breaks it by its token, ? is the\n"
        "help, q goes back and at last ends it.\n"
        "\n"
        "Without a terminal, and with --once, --count, --columns, -o json\n"
        "or jsonl, it prints one table after the other.\n",
    .run = top,
};
