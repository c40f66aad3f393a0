/* SPDX-License-Identifier: Apache-2.0 */
/* hold, release: keep locks for the shell that evaluates what hold prints. */
#include "verbs/verbs.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include <unistd.h>

#include "run/options.h"

static const char *const on_loss_words[] = { "term", "kill", "nothing", NULL };
static const int last_signals[] = { SIGTERM, SIGKILL, 0 };

/* clang-format off */
static const struct opt options[] = {
    LOCK_OPTIONS,
    WAIT_OPTIONS,
    { "why", .value = "TEXT", .type = OPT_TEXT, .at = AT(run_opts, why),
      .help = "shown to others, before the process id of the shell (the script with its arguments)" },
    HOLD_OPTIONS,
    { "on-loss", .value = "WHAT", .type = OPT_WORD, .words = on_loss_words, .at = AT(run_opts, on_loss),
      .help = "to the shell and what it has started, when the lock is lost: term, kill (after the grace), nothing (term)" },
    { "check", .type = OPT_ON, .at = AT(run_opts, check), .help = "is it still held? 0, or 79" },
    { .name = NULL },
};
/* clang-format on */

static int check_locks(struct run_opts *opts, int argc, char **argv)
{
    int code = run_check_locks(opts);

    if (code == 0 && opts->not_acquired_code == 0)
        return lockctl_fail(EX_USAGE, "-E 0: the shell would go on without "
                                      "the lock");
    if (code == 0 && argc > 0)
        return lockctl_fail(EX_USAGE,
                            "%s: hold takes no command; zk-lockctl run does",
                            argv[0]);
    return code;
}

/* The first words fail, until the rest is printed: so the shell does not go on
 * without the lock when this process is killed, also without the "|| echo exit
 * $?" of HOLD_IDIOM; which is a command of its own behind them. */
static int print_code(struct run *r, int argc, char **argv)
{
    static const char first[] = "false && :;\n";

    inherited_fill_standard();
    (void)!write(STDOUT_FILENO, first, strlen(first));
    int code = check_locks(&r->opts, argc, argv);
    if (code == 0)
        code = shell_find(&r->shell);
    if (code == 0) {
        r->opts.last = last_signals[r->opts.on_loss];
        if (r->opts.last == 0)
            r->opts.policy.grace_ms = 0;
        label_choose(&r->opts, r->shell.process.pid);
        code = hold_fork(r, run_all);
    }
    if (code != 0 && !r->holds)
        (void)printf("(exit %d);\n", code);
    return code;
}

static int hold(struct lockctl *ctl, int argc, char **argv)
{
    struct run r = { .ctl = ctl };
    int code = run_parse_options(ctl, verbs_find("hold"), CLAIM_MUTEX, &argc,
                                 &argv, &r.opts);

    if (code == 0 && r.opts.check)
        return desk_ask(ctl, false, (int)r.opts.wanted.count + argc,
                        r.opts.wanted.paths[0]);
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
    .options = options,
    .ends_at_argument = true,
    .lends_stdout = true,
    .help = "In a script: " HOLD_IDIOM "\n"
            "\n"
            "The lock is given back by zk-lockctl release, and when the shell "
            "ends. See\n"
            "zk-lockctl(1).\n",
    .run = hold,
};

static int release(struct lockctl *ctl, int argc, char **argv)
{
    char path[ZKR_PATH_MAX + 1] = "";

    return argc == 0 || lockctl_parse_path(argv[0], path, sizeof(path))
               ? desk_ask(ctl, true, argc, path)
               : EX_USAGE;
}

const struct verb verb_release = {
    .name = "release",
    .usage = "[LOCK]",
    .summary = "Give back a lock that hold keeps for the shell",
    .help = "LOCK may be left out where the shell has held one only. Exit\n"
            "code 79: the lock had been lost before. See zk-lockctl(1).\n",
    .run = release,
};
