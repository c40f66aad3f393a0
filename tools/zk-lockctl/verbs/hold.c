/* SPDX-License-Identifier: Apache-2.0 */
/* hold: keeps locks for the shell that evaluates what it prints. */
#include "verbs/verbs.h"

#include <stdio.h>
#include <string.h>

#include <unistd.h>

#include "run/ask_holds.h"
#include "run/front.h"
#include "run/label.h"
#include "run/options.h"

static const struct option long_options[] = {
    { "shared", no_argument, NULL, 's' },
    { "exclusive", no_argument, NULL, 'x' },
    { "slots", required_argument, NULL, OPTION_SLOTS },
    { "and", required_argument, NULL, OPTION_AND },
    WAIT_OPTIONS,
    { "why", required_argument, NULL, OPTION_WHY },
    { "why-name", no_argument, NULL, OPTION_WHY_NAME },
    { "max-hold", required_argument, NULL, OPTION_MAX_HOLD },
    { "on-loss", required_argument, NULL, OPTION_ON_LOSS },
    { "on-revoke", required_argument, NULL, OPTION_ON_REVOKE },
    { "kill-grace", required_argument, NULL, OPTION_KILL_GRACE },
    { "session-timeout", required_argument, NULL, OPTION_SESSION_TIMEOUT },
    { "pid", required_argument, NULL, OPTION_PID },
    { "check", no_argument, NULL, OPTION_CHECK },
    { NULL, 0, NULL, 0 },
};

static int take_locks(struct run_opts *opts, int argc, char **argv)
{
    int code = run_parse_locks(opts, &argc, &argv);

    if (code == 0 && opts->not_acquired_code == 0)
        return lockctl_fail(EX_USAGE, "-E 0: the shell would go on without "
                                      "the lock");
    if (code == 0 && argc > 0)
        return lockctl_fail(EX_USAGE,
                            "%s: hold takes no command; zk-lockctl run does",
                            argv[0]);
    return code;
}

static int check(const struct lockctl *ctl, int argc, char **argv)
{
    struct question q = { .what = ASKED_CHECK };
    int code = ask_parse(ctl, argc, argv, &q);

    return code == 0 ? ask_holds(ctl, &q) : code;
}

static int keep(struct run *r)
{
    return run_all(r, run_keep);
}

static int start(struct run *r, struct keep *k, int argc, char **argv)
{
    int code = take_locks(&r->opts, argc, argv);

    if (code == 0)
        code = script_find(&k->script, r->opts.script_pid);
    if (code != 0)
        return code;
    label_of_script(r->ctl, &r->opts, &k->script);
    return front_fork(r, k, keep);
}

/* The first words fail, until the rest is printed: so the shell does not go on
 * without the lock when this process is killed, also without the "|| echo exit
 * $?" of HOLD_IDIOM; which is a command of its own behind them. */
static int print_code(struct run *r, int argc, char **argv)
{
    static const char first[] = "false && :;\n";
    struct keep k;
    int code;

    fds_fill_standard();
    (void)!write(STDOUT_FILENO, first, strlen(first));
    code = start(r, &k, argc, argv);
    if (code != 0 && r->keep == NULL)
        (void)printf("(exit %d);\n", code);
    return code;
}

static int hold(struct lockctl *ctl, int argc, char **argv)
{
    static const struct run_verb about = { &verb_hold, CLAIM_MUTEX,
                                           "+sx" WAIT_OPTIONS_SHORT,
                                           long_options };
    struct run r = { .ctl = ctl };
    int code = run_parse_options(ctl, &about, argc, argv, &r.opts);

    argc -= optind;
    argv += optind;
    if (code == 0 && r.opts.check)
        return check(ctl, argc, argv);
    if (isatty(STDOUT_FILENO))
        return code != 0
                   ? code
                   : lockctl_fail(EX_USAGE, "the output is for a shell, which "
                                            "holds the lock then: " HOLD_IDIOM);
    if (code == 0)
        return print_code(&r, argc, argv);
    (void)printf("(exit %d);\n", code);
    return code;
}

const struct verb verb_hold = {
    .name = "hold",
    .usage = "[OPTION]... LOCK [--and LOCK]...",
    .summary = "Hold a lock in a shell, which evaluates what this prints",
    .help =
        "In a script: " HOLD_IDIOM "\n"
        "\n"
        "  -s, --shared             the lock is a read/write lock: for "
        "reading\n"
        "  -x, --exclusive          the lock is a read/write lock: for "
        "writing\n"
        "                           (without either: a mutex)\n"
        "      --slots N            the lock is a semaphore: one of N slots\n"
        "      --and LOCK           this lock, too: all are held, or "
        "none\n" WAIT_OPTIONS_HELP
        "      --why TEXT           shown to others, before the process id of "
        "the\n"
        "                           shell (the script with its arguments)\n"
        "      --why-name           others are shown the name of the script "
        "only\n"
        "      --max-hold DURATION  give it back so long after the grant\n"
        "      --on-loss WHAT       to the shell and what it has started, when "
        "the lock\n"
        "                           is lost: term, kill (after the grace), "
        "nothing\n"
        "                           (term)\n"
        "      --on-revoke WHAT     when somebody asks for the lock: ignore "
        "or\n"
        "                           term (ignore)\n"
        "      --kill-grace DURATION\n"
        "                           between TERM and the end of the lease (the "
        "smaller\n"
        "                           of 5s and a tenth of the session timeout)\n"
        "      --session-timeout DURATION\n"
        "                           to ask of the servers (10s)\n"
        "      --pid PID            the process that holds it (the shell that "
        "reads\n"
        "                           the output)\n"
        "      --check              is it still held? 0, or 79\n"
        "\n"
        "The lock is given back by zk-lockctl release, and when the shell "
        "ends. See\n"
        "zk-lockctl(1).\n",
    .run = hold,
};
