/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the command lines of the verbs that hold a lock. */
#include "run/options.h"

#include <stdlib.h>
#include <string.h>

#include "run/label.h"

/* A command that cleans up after TERM has time for it, and one that ignores
 * TERM does not keep the lock. */
enum { KILL_AFTER_MS = 30000 };

/* Below the lowest, the lease has no room for the delays of a busy machine. */
enum { SESSION_TIMEOUT_MS = 10000, SESSION_TIMEOUT_LOWEST_MS = 1000 };

static int bad(const char *option, const char *want)
{
    return lockctl_fail(EX_USAGE, "%s: '%s' is not %s", option, optarg, want);
}

static int take_duration(const char *option, int64_t *ret_ms)
{
    return lockctl_parse_duration(optarg, ret_ms) ? 0
                                                  : bad(option, "a duration");
}

static int take_max_hold(int64_t *ret_ms)
{
    int code = take_duration("--max-hold", ret_ms);

    return code == 0 && *ret_ms == 0 ? bad("--max-hold", "more than 0") : code;
}

static int take_kill_after(int64_t *ret_ms)
{
    if (strcmp(optarg, "never") != 0)
        return take_duration("--kill-after", ret_ms);
    *ret_ms = -1;
    return 0;
}

static int take_code(int *ret_code)
{
    char *end;
    long code = strtol(optarg, &end, 10);

    if (end == optarg || *end != '\0' || code < 0 || code > 255)
        return bad("-E", "an exit code, 0 to 255");
    *ret_code = (int)code;
    return 0;
}

/* The command is given after the lock, or as text for a shell. */
static void take_shell_command(struct run_opts *opts, char *text)
{
    static char *argv[] = { "/bin/sh", "-c", NULL, NULL };

    opts->text = argv[2] = text;
    opts->argv = argv;
}

static int take_on_suspend(enum on_suspend *ret_on_suspend)
{
    static const char *const words[] = {
        [SUSPEND_CONTINUE] = "continue", [SUSPEND_TERM] = "term"
    };

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcmp(optarg, words[i]) == 0) {
            *ret_on_suspend = (enum on_suspend)i;
            return 0;
        }
    }
    return bad("--on-suspend", "continue or term");
}

static int take_on_revoke(bool *ret_term)
{
    *ret_term = strcmp(optarg, "term") == 0;
    return *ret_term || strcmp(optarg, "ignore") == 0
               ? 0
               : bad("--on-revoke", "ignore or term");
}

static int take_session_timeout(struct lockctl *ctl, uint32_t *ret_asked)
{
    int64_t ms;

    if (!lockctl_parse_duration(optarg, &ms) ||
        ms < SESSION_TIMEOUT_LOWEST_MS || ms > ZKR_SESSION_TIMEOUT_MAX_MS)
        return bad("--session-timeout", "a duration between 1s and 24h");
    ctl->session_timeout_ms = *ret_asked = (uint32_t)ms;
    return 0;
}

static int take_on_loss(enum on_loss *ret_on_loss)
{
    static const char *const words[] = {
        [LOSS_TERM] = "term", [LOSS_KILL] = "kill", [LOSS_NOTHING] = "nothing"
    };

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcmp(optarg, words[i]) == 0) {
            *ret_on_loss = (enum on_loss)i;
            return 0;
        }
    }
    return bad("--on-loss", "term, kill or nothing");
}

static int take_pid(pid_t *ret_pid)
{
    int64_t pid;

    if (!lockctl_parse_count(optarg, &pid))
        return bad("--pid", "the number of a process");
    *ret_pid = (pid_t)pid;
    return 0;
}

static int take_slots(uint32_t *ret_slots)
{
    int64_t slots;

    if (!lockctl_parse_count(optarg, &slots) || slots > ZKR_SEMAPHORE_MAX)
        return bad("--slots", "a number from 1 to 10000");
    *ret_slots = (uint32_t)slots;
    return 0;
}

static int take_lock(struct wanted *wanted, const char *name)
{
    if (wanted->count == GRANTS_MAX)
        return lockctl_fail(EX_USAGE, "--and: more than %d locks", GRANTS_MAX);
    return lockctl_parse_path(name, wanted->paths[wanted->count++],
                              sizeof(wanted->paths[0]))
               ? 0
               : EX_USAGE;
}

static int take_option(struct lockctl *ctl, struct run_opts *opts, int option)
{
    switch (option) {
    case 's':
        opts->wanted.kind = CLAIM_READ;
        return 0;
    case 'x':
        opts->wanted.kind = CLAIM_WRITE;
        return 0;
    case 'n':
        opts->wait_ms = 0;
        return 0;
    case 'w':
        return take_duration("-w", &opts->wait_ms);
    case 'E':
        return take_code(&opts->not_acquired_code);
    case 'c':
        take_shell_command(opts, optarg);
        return 0;
    case OPTION_WHY:
        opts->why = optarg;
        return 0;
    case OPTION_WHY_NAME:
        opts->why_name = true;
        return 0;
    case OPTION_MAX_HOLD:
        return take_max_hold(&opts->max_hold_ms);
    case OPTION_KEEP_DAEMONS:
        opts->keep_daemons = true;
        return 0;
    case OPTION_RESTART:
        opts->restart = true;
        return 0;
    case OPTION_KILL_GRACE:
        return take_duration("--kill-grace", &opts->grace_ms);
    case OPTION_KILL_AFTER:
        return take_kill_after(&opts->kill_after_ms);
    case OPTION_ON_SUSPEND:
        return take_on_suspend(&opts->on_suspend);
    case OPTION_ON_REVOKE:
        return take_on_revoke(&opts->term_on_revoke);
    case OPTION_STATUS_FILE:
        opts->status_file = optarg;
        return 0;
    case OPTION_SESSION_TIMEOUT:
        return take_session_timeout(ctl, &opts->timeout_asked_ms);
    case OPTION_SLOTS:
        return take_slots(&opts->wanted.slots);
    case OPTION_AND:
        return take_lock(&opts->wanted, optarg);
    case OPTION_ON_LOSS:
        return take_on_loss(&opts->on_loss);
    case OPTION_PID:
        return take_pid(&opts->script_pid);
    case OPTION_CHECK:
        opts->check = true;
        return 0;
    default:
        return EX_USAGE;
    }
}

/* [--] COMMAND..., or nothing after -c, or -c TEXT. */
static int take_command(struct run_opts *opts, int argc, char **argv)
{
    if (opts->argv == NULL && argc == 2 && strcmp(argv[0], "-c") == 0) {
        take_shell_command(opts, argv[1]);
        return 0;
    }
    if (argc > 0 && strcmp(argv[0], "--") == 0) {
        argc--;
        argv++;
    } else if (argc > 0 && argv[0][0] == '-') {
        return lockctl_fail(EX_USAGE,
                            "%s: options stand before the lock; put -- before "
                            "a command of that name",
                            argv[0]);
    }
    if (opts->argv != NULL)
        return argc == 0 ? 0 : lockctl_fail(EX_USAGE, "-c, and also a command");
    if (argc == 0)
        return lockctl_fail(EX_USAGE, "no command; see --help");
    opts->argv = argv;
    return 0;
}

static int want_slots(struct wanted *wanted)
{
    if (wanted->kind != CLAIM_MUTEX)
        return lockctl_fail(EX_USAGE,
                            "--slots is for a semaphore; -s and -x are for a "
                            "read/write lock");
    wanted->kind = CLAIM_SEMAPHORE;
    return 0;
}

int run_parse_options(struct lockctl *ctl, const struct run_verb *v, int argc,
                      char **argv, struct run_opts *opts)
{
    int option;
    int code;

    *opts = (struct run_opts){ .wanted = { .kind = v->kind },
                               .wait_ms = -1,
                               .not_acquired_code = EX_TEMPFAIL,
                               .grace_ms = -1,
                               .kill_after_ms = KILL_AFTER_MS };
    while ((option = lockctl_option(ctl, v->verb, argc, argv, v->short_options,
                                    v->long_options)) != -1) {
        code = take_option(ctl, opts, option);
        if (code != 0)
            return code;
    }
    if (ctl->session_timeout_ms == 0)
        ctl->session_timeout_ms = SESSION_TIMEOUT_MS;
    return 0;
}

int run_parse_locks(struct run_opts *opts, int *argc, char ***argv)
{
    int code;

    if (*argc == 0)
        return lockctl_fail(EX_USAGE, "no lock; see --help");
    code = take_lock(&opts->wanted, (*argv)[0]);
    *argc -= 1;
    *argv += 1;
    while (code == 0 && *argc > 0 && opts->wanted.kind != CLAIM_LEADER &&
           strcmp((*argv)[0], "--and") == 0) {
        if (*argc == 1)
            return lockctl_fail(EX_USAGE, "--and: no lock");
        code = take_lock(&opts->wanted, (*argv)[1]);
        *argc -= 2;
        *argv += 2;
    }
    if (code == 0 && opts->wanted.slots != 0)
        code = want_slots(&opts->wanted);
    return code;
}

int run_parse(struct lockctl *ctl, const struct run_verb *v, int argc,
              char **argv, struct run_opts *opts)
{
    int code = run_parse_options(ctl, v, argc, argv, opts);

    argc -= optind;
    argv += optind;
    if (code == 0)
        code = run_parse_locks(opts, &argc, &argv);
    if (code == 0)
        code = take_command(opts, argc, argv);
    if (code != 0)
        return code;
    label_of_command(ctl, opts);
    return 0;
}
