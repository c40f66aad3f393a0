/* SPDX-License-Identifier: Apache-2.0 */
/* run: holds a lock while a command runs. */
#include "verbs/verbs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/escape.h"
#include "common/one_signal.h"
#include "run/run.h"
#include "run/why.h"

enum {
    OPTION_WHY = OPTION_FIRST,
    OPTION_KILL_GRACE,
    OPTION_KILL_AFTER,
    OPTION_ON_SUSPEND,
    OPTION_ON_REVOKE,
    OPTION_STATUS_FILE,
    OPTION_SESSION_TIMEOUT,
    OPTION_SLOTS,
    OPTION_AND,
    OPTION_MAX_HOLD,
    OPTION_KEEP_DAEMONS,
    OPTION_WHY_COMMAND,
};

/* A command that cleans up after TERM has time for it, and one that ignores
 * TERM does not keep the lock. */
enum { KILL_AFTER_MS = 30000 };

/* Below the lowest, the lease has no room for the delays of a busy machine. */
enum { SESSION_TIMEOUT_MS = 10000, SESSION_TIMEOUT_LOWEST_MS = 1000 };

static const struct option long_options[] = {
    { "shared", no_argument, NULL, 's' },
    { "exclusive", no_argument, NULL, 'x' },
    { "slots", required_argument, NULL, OPTION_SLOTS },
    { "and", required_argument, NULL, OPTION_AND },
    { "nonblock", no_argument, NULL, 'n' },
    { "wait", required_argument, NULL, 'w' },
    { "conflict-exit-code", required_argument, NULL, 'E' },
    { "command", required_argument, NULL, 'c' },
    { "why", required_argument, NULL, OPTION_WHY },
    { "why-command", no_argument, NULL, OPTION_WHY_COMMAND },
    { "max-hold", required_argument, NULL, OPTION_MAX_HOLD },
    { "keep-daemons", no_argument, NULL, OPTION_KEEP_DAEMONS },
    { "kill-grace", required_argument, NULL, OPTION_KILL_GRACE },
    { "kill-after", required_argument, NULL, OPTION_KILL_AFTER },
    { "on-suspend", required_argument, NULL, OPTION_ON_SUSPEND },
    { "on-revoke", required_argument, NULL, OPTION_ON_REVOKE },
    { "status-file", required_argument, NULL, OPTION_STATUS_FILE },
    { "session-timeout", required_argument, NULL, OPTION_SESSION_TIMEOUT },
    { NULL, 0, NULL, 0 },
};

static int bad(const char *option, const char *want)
{
    return lockctl_fail(EX_USAGE, "%s: '%s' is not %s", option, optarg, want);
}

static int take_duration(const char *option, int64_t *ret_ms)
{
    return lockctl_parse_duration(optarg, ret_ms) ? 0
                                                  : bad(option, "a duration");
}

/* A failure of something that only informs does not keep a command from
 * running. */
static void take_why(const struct lockctl *ctl, struct run_opts *opts,
                     const char *option, const char *text)
{
    char shown[4 * ZKR_LABEL_MAX + 1];

    opts->wanted.label = opts->label;
    if (why_fit(text, opts->label))
        return;
    (void)escape_string(opts->label, shown, sizeof(shown));
    lockctl_say(ctl,
                "%s: others are shown one line of at most %d bytes: \"%s\"",
                option, ZKR_LABEL_MAX, shown);
}

/* All words of the command. More than fit into a label need not be there to see
 * that it is cut. */
static void take_why_command(const struct lockctl *ctl, struct run_opts *opts)
{
    char text[2 * ZKR_LABEL_MAX] = "";
    size_t used = 0;

    for (char **word = opts->argv; *word != NULL && used < sizeof(text); word++)
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s",
                                 used == 0 ? "" : " ", *word);
    take_why(ctl, opts, "--why-command", text);
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

    argv[2] = text;
    opts->argv = argv;
}

static int take_on_suspend(enum on_suspend *ret_on_suspend)
{
    static const char *const words[] = { [SUSPEND_CONTINUE] = "continue",
                                         [SUSPEND_TERM] = "term",
                                         [SUSPEND_PAUSE] = "pause" };

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcmp(optarg, words[i]) == 0) {
            *ret_on_suspend = (enum on_suspend)i;
            return 0;
        }
    }
    return bad("--on-suspend", "continue, term or pause");
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
        take_why(ctl, opts, "--why", optarg);
        return 0;
    case OPTION_WHY_COMMAND:
        opts->why_command = true;
        return 0;
    case OPTION_MAX_HOLD:
        return take_max_hold(&opts->max_hold_ms);
    case OPTION_KEEP_DAEMONS:
        opts->keep_daemons = true;
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
    default:
        return EX_USAGE;
    }
}

/* LOCK [--and LOCK]... */
static int take_locks(struct run_opts *opts, int *argc, char ***argv)
{
    int code;

    if (*argc == 0)
        return lockctl_fail(EX_USAGE, "no lock; see zk-lockctl run --help");
    code = take_lock(&opts->wanted, (*argv)[0]);
    *argc -= 1;
    *argv += 1;
    while (code == 0 && *argc > 0 && strcmp((*argv)[0], "--and") == 0) {
        if (*argc == 1)
            return lockctl_fail(EX_USAGE, "--and: no lock");
        code = take_lock(&opts->wanted, (*argv)[1]);
        *argc -= 2;
        *argv += 2;
    }
    return code;
}

/* The locks, and then [--] COMMAND..., or nothing after -c, or -c TEXT. */
static int take_arguments(struct run_opts *opts, int argc, char **argv)
{
    int code = take_locks(opts, &argc, &argv);

    if (code != 0)
        return code;
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
        return lockctl_fail(EX_USAGE, "no command; see zk-lockctl run --help");
    opts->argv = argv;
    return 0;
}

/* Others see the name of the command only; its arguments may be secret. */
static void take_default_why(struct run_opts *opts)
{
    const char *slash = strrchr(opts->argv[0], '/');

    (void)why_fit(slash != NULL ? slash + 1 : opts->argv[0], opts->label);
    opts->wanted.label = opts->label[0] == '\0' ? NULL : opts->label;
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

static int parse(struct lockctl *ctl, struct run_opts *opts, int argc,
                 char **argv)
{
    int option;
    int code;

    *opts = (struct run_opts){ .wait_ms = -1,
                               .not_acquired_code = EX_TEMPFAIL,
                               .grace_ms = -1,
                               .kill_after_ms = KILL_AFTER_MS };
    while ((option = lockctl_option(ctl, &verb_run, argc, argv,
                                    "+sxnw:E:c:", long_options)) != -1) {
        code = take_option(ctl, opts, option);
        if (code != 0)
            return code;
    }
    if (ctl->session_timeout_ms == 0)
        ctl->session_timeout_ms = SESSION_TIMEOUT_MS;
    code = take_arguments(opts, argc - optind, argv + optind);
    if (code == 0 && opts->wanted.slots != 0)
        code = want_slots(&opts->wanted);
    if (code == 0 && opts->wanted.label == NULL) {
        if (opts->why_command)
            take_why_command(ctl, opts);
        else
            take_default_why(opts);
    }
    return code;
}

/* A socket must not become our stdin, stdout or stderr. The command finds them
 * closed as we did. */
static void fill_standard_descriptors(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) < 0)
            (void)open("/dev/null", O_RDWR | O_CLOEXEC);
    }
}

/* Does what must be done before there are other threads. */
static int prepare(struct run *run)
{
    fill_standard_descriptors();
    run->inherited = fds_note();
    run->killer = killer_start();
    run->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    run->timer_fd = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
    if (run->inherited == NULL || run->killer == NULL || run->event_fd < 0 ||
        run->timer_fd < 0 || !child_adopt_orphans())
        return lockctl_fail(EX_RUN, "cannot prepare: %s", strerror(errno));
    tty_open(&run->tty);
    return run_status_check(run->opts.status_file);
}

static int command_code(const struct child *c)
{
    return WIFSIGNALED(c->status) ? EX_SIGNALED + WTERMSIG(c->status)
                                  : WEXITSTATUS(c->status);
}

/* A confirmed release proves nothing: the library reports the same for a
 * session that is over. The lease at the end of the command is a proof. */
static void give_back(struct run *run)
{
    int rc = run->lost ? ZKR_OK : grants_release(&run->grants);

    run->held_ms = clock_boot_ms() - run->granted_ms;
    if (run->lost)
        return;
    if (run->child.ended && (rc == ZKR_ELOST || !run->ended_in_time)) {
        run->lost = true;
        (void)lockctl_fail(EX_LOST, "LOCK LOST: it was not provably ours any "
                                    "more when the command ended");
    } else if (rc == ZKR_EPENDING) {
        lockctl_say(run->ctl,
                    "the servers do not say that the lock is given back; it "
                    "may stay taken for the session timeout, %u ms",
                    zkr_session_timeout_ms(run->ctl->session));
    } else if (rc != ZKR_OK && rc != ZKR_ELOST) {
        (void)lockctl_fail_zkr(rc);
    }
}

static int run_locked(struct run *run)
{
    int code = run_wait(run); /* 0 also by -E 0 */

    if (run->grants.count > 0) {
        if (code == 0)
            code = run_hold(run);
        give_back(run);
    }
    if (!run->child.ended)
        return code;
    return run->lost      ? EX_LOST
           : run->overdue ? EX_OVERDUE
           : run->revoked ? EX_REVOKED
                          : command_code(&run->child);
}

static void clean_up(struct run *run)
{
    grants_free(&run->grants);
    killer_dismiss(run->killer);
    fds_free(run->inherited);
}

static int run(struct lockctl *ctl, int argc, char **argv)
{
    struct run r = { .ctl = ctl };
    int code = parse(ctl, &r.opts, argc, argv);

    if (code != 0)
        return code;
    code = prepare(&r);
    if (code == 0) {
        code = run_connect(&r);
        if (code == 0)
            code = run_locked(&r);
        if (run_status_write(&r, code) != 0 && code == 0)
            code = EX_CANTCREAT;
    }
    clean_up(&r);
    /* This must not be mistaken for a command that has exited with this
     * number. */
    if (code == EX_SIGNALED + SIGINT &&
        (r.interrupted || WIFSIGNALED(r.child.status))) {
        lockctl_disconnect(ctl);
        signal_obey(SIGINT); /* a shell that runs a script would go on to its
                                next line after an exit status */
    }
    return code;
}

const struct verb verb_run = {
    .name = "run",
    .usage = "[OPTION]... LOCK [--and LOCK]... [--] COMMAND [ARGUMENT]...",
    .summary = "Hold a lock while a command runs",
    .help =
        "  -s, --shared             the lock is a read/write lock: for "
        "reading\n"
        "  -x, --exclusive          the lock is a read/write lock: for "
        "writing\n"
        "                           (without either: a mutex)\n"
        "      --slots N            the lock is a semaphore: one of N slots\n"
        "      --and LOCK           this lock, too: all are held, or none\n"
        "  -n, --nonblock           do not wait\n"
        "  -w, --wait DURATION      wait so long (500ms, 10s, 2m, 1h)\n"
        "  -E, --conflict-exit-code CODE\n"
        "                           when not acquired (75)\n"
        "  -c, --command TEXT       run /bin/sh -c TEXT\n"
        "      --why TEXT           shown to others (the name of COMMAND)\n"
        "      --why-command        what is shown is all of COMMAND\n"
        "      --max-hold DURATION  the command must have ended so long after "
        "the grant\n"
        "      --keep-daemons       leave processes alone that COMMAND leaves "
        "behind\n"
        "      --kill-grace DURATION\n"
        "                           between TERM and KILL (the smaller of 5s "
        "and\n"
        "                           a tenth of the session timeout)\n"
        "      --kill-after DURATION|never\n"
        "                           KILL when TERM was passed on and the "
        "command has\n"
        "                           not ended since (30s)\n"
        "      --on-suspend WHAT    when the servers do not answer: continue,\n"
        "                           term or pause (continue)\n"
        "      --on-revoke WHAT     when somebody asks for the lock: ignore "
        "or\n"
        "                           term (ignore)\n"
        "      --status-file FILE   what happened, as JSON\n"
        "      --session-timeout DURATION\n"
        "                           to ask of the servers (10s)\n"
        "\n"
        "The command is dead before anybody else can hold the lock: it gets "
        "TERM\n"
        "and KILL before the lease ends. See zk-lockctl(1).\n",
    .run = run,
};
