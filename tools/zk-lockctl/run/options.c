/* SPDX-License-Identifier: Apache-2.0 */
#include "run/options.h"
#include "common/escape.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/proc.h"

/* A command that cleans up after TERM has time for it, and one that ignores
 * TERM does not keep the lock. */
enum { KILL_AFTER_MS = 30000 };

enum { SESSION_TIMEOUT_MS = 10000 };

const char *const on_revoke_words[] = {
    [REVOKE_IGNORE] = "ignore", [REVOKE_TERM] = "term", NULL
};

/* A wait of nothing; of this and --wait the later counts. */
int run_take_nonblock(const struct opt *o, void *at, const char *value)
{
    (void)o;
    (void)value;
    *(int64_t *)at = 0;
    return 0;
}

int run_take_code(const struct opt *o, void *at, const char *value)
{
    char *end;
    long code = strtol(value, &end, 10);

    if (end == value || *end != '\0' || code < 0 || code > 255)
        return opt_fail(o, value, "an exit code, 0 to 255");
    *(int *)at = (int)code;
    return 0;
}

int run_take_lock(const struct opt *o, void *at, const char *value)
{
    struct wanted *wanted = at;

    (void)o;
    if (wanted->count == GRANTS_MAX)
        return lockctl_fail(EX_USAGE, "--and: more than %d locks", GRANTS_MAX);
    return lockctl_parse_path(value, wanted->paths[wanted->count++],
                              sizeof(wanted->paths[0]))
               ? 0
               : EX_USAGE;
}

/* The command is given after the lock, or as text for a shell. */
static int take_command(struct run_opts *opts, int argc, char **argv)
{
    static char *shell[] = { "/bin/sh", "-c", NULL, NULL };

    if (opts->text != NULL && argc > 0)
        return lockctl_fail(EX_USAGE, "-c, and also a command");
    if (opts->text == NULL && argc == 0)
        return lockctl_fail(EX_USAGE, "no command; see --help");
    shell[2] = (char *)(uintptr_t)opts->text;
    opts->argv = argc > 0 ? argv : shell;
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

/* getopt_long() skips the first word, so the second call begins at the lock. */
int run_parse_options(struct lockctl *ctl, const struct verb *verb,
                      enum claim_kind kind, int *argc, char ***argv,
                      struct run_opts *opts)
{
    *opts = (struct run_opts){ .wanted = { .kind = kind },
                               .wait_ms = -1,
                               .not_acquired_code = EX_TEMPFAIL,
                               .lost_code = EX_LOST,
                               .last = SIGKILL,
                               .policy = { .grace_ms = -1 },
                               .kill_after_ms = KILL_AFTER_MS };
    int code = lockctl_parse(ctl, verb, argc, argv, opts);
    if (code == 0 && *argc > 0) {
        code = run_take_lock(NULL, &opts->wanted, (*argv)[0]);
        if (code == 0)
            code = lockctl_parse(ctl, verb, argc, argv, opts);
    }
    ctl->session_timeout_ms = opts->timeout_asked_ms != 0
                                  ? (uint32_t)opts->timeout_asked_ms
                                  : SESSION_TIMEOUT_MS;
    return code;
}

int run_check_locks(struct run_opts *opts)
{
    if (opts->wanted.count == 0)
        return lockctl_fail(EX_USAGE, "no lock; see --help");
    return opts->wanted.slots != 0 ? want_slots(&opts->wanted) : 0;
}

int run_parse(struct lockctl *ctl, const struct verb *verb,
              enum claim_kind kind, int argc, char **argv,
              struct run_opts *opts)
{
    int code = run_parse_options(ctl, verb, kind, &argc, &argv, opts);

    if (code == 0)
        code = run_check_locks(opts);
    if (code == 0)
        code = take_command(opts, argc, argv);
    if (code == 0)
        label_choose(opts, 0);
    return code;
}

void why_fit(const char *text, const char *end, char label[ZKR_LABEL_MAX + 1])
{
    escape_label(text, label, ZKR_LABEL_MAX + 1 - strlen(end));
    (void)strcat(label, end);
}

/* More than fits into a label need not be there to see that it is cut. */
enum { COMMAND_MAX = 2 * ZKR_LABEL_MAX };

/* The words become one text, with blanks between; each has an end. */
static void join(char *text, size_t size)
{
    for (size_t i = 0; i + 1 < size; i++) {
        if (text[i] == '\0')
            text[i] = ' ';
    }
}

static void read_command(char *const *argv, char text[COMMAND_MAX])
{
    size_t used = 0;

    for (; *argv != NULL && used < COMMAND_MAX; argv++)
        used += (size_t)snprintf(text + used, COMMAND_MAX - used, "%s%s",
                                 used == 0 ? "" : " ", *argv);
}

void label_choose(struct run_opts *opts, pid_t shell)
{
    char command[COMMAND_MAX] = "";
    const char *text = opts->why != NULL ? opts->why : command;
    char end[16] = "";

    if (shell != 0) {
        join(command, proc_read(shell, "cmdline", command, sizeof(command)));
        (void)snprintf(end, sizeof(end), " (%d)", (int)shell);
    } else if (opts->text != NULL) {
        (void)snprintf(command, sizeof(command), "%s", opts->text);
    } else {
        read_command(opts->argv, command);
    }
    why_fit(text, end, opts->label);
    opts->wanted.label = opts->label[0] == '\0' ? NULL : opts->label;
}
