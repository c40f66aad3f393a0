/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the command lines of the verbs that hold a lock. */
#ifndef RUN_OPTIONS_H
#define RUN_OPTIONS_H

#include "run/run.h"

/* The options of any of them. */
enum {
    OPTION_WHY = OPTION_FIRST,
    OPTION_WHY_NAME,
    OPTION_MAX_HOLD,
    OPTION_KEEP_DAEMONS,
    OPTION_KILL_GRACE,
    OPTION_KILL_AFTER,
    OPTION_ON_SUSPEND,
    OPTION_ON_REVOKE,
    OPTION_STATUS_FILE,
    OPTION_SESSION_TIMEOUT,
    OPTION_SLOTS,
    OPTION_AND,
    OPTION_RESTART,
    OPTION_ON_LOSS,
    OPTION_PID,
    OPTION_CHECK,
};

/* Those that are about the wait. */
/* clang-format off */
#define WAIT_OPTIONS_SHORT "nw:E:"
#define WAIT_OPTIONS                                                           \
    { "nonblock", no_argument, NULL, 'n' },                                    \
    { "wait", required_argument, NULL, 'w' },                                  \
    { "conflict-exit-code", required_argument, NULL, 'E' }
/* clang-format on */
#define WAIT_OPTIONS_HELP                                                      \
    "  -n, --nonblock           do not wait\n"                                 \
    "  -w, --wait DURATION      wait so long (500ms, 10s, 2m, 1h)\n"           \
    "  -E, --conflict-exit-code CODE\n"                                        \
    "                           when not acquired (75)\n"

/* Those that are about the command, which each verb with a command has. */
/* clang-format off */
#define RUN_OPTIONS                                                            \
    { "command", required_argument, NULL, 'c' },                               \
    { "why", required_argument, NULL, OPTION_WHY },                            \
    { "why-name", no_argument, NULL, OPTION_WHY_NAME },                        \
    { "max-hold", required_argument, NULL, OPTION_MAX_HOLD },                  \
    { "keep-daemons", no_argument, NULL, OPTION_KEEP_DAEMONS },                \
    { "kill-grace", required_argument, NULL, OPTION_KILL_GRACE },              \
    { "kill-after", required_argument, NULL, OPTION_KILL_AFTER },              \
    { "on-suspend", required_argument, NULL, OPTION_ON_SUSPEND },              \
    { "on-revoke", required_argument, NULL, OPTION_ON_REVOKE },                \
    { "status-file", required_argument, NULL, OPTION_STATUS_FILE },            \
    { "session-timeout", required_argument, NULL, OPTION_SESSION_TIMEOUT }
/* clang-format on */

/* Their text in help. */
#define RUN_OPTIONS_HELP                                                       \
    "  -c, --command TEXT       run /bin/sh -c TEXT\n"                         \
    "      --why TEXT           shown to others (COMMAND with its "            \
    "arguments)\n"                                                             \
    "      --why-name           others are shown the name of COMMAND only\n"   \
    "      --max-hold DURATION  the command must have ended so long after "    \
    "the grant\n"                                                              \
    "      --keep-daemons       leave processes alone that COMMAND leaves "    \
    "behind\n"                                                                 \
    "      --kill-grace DURATION\n"                                            \
    "                           between TERM and KILL (the smaller of 5s "     \
    "and\n"                                                                    \
    "                           a tenth of the session timeout)\n"             \
    "      --kill-after DURATION|never\n"                                      \
    "                           KILL when TERM was passed on and the "         \
    "command has\n"                                                            \
    "                           not ended since (30s)\n"                       \
    "      --on-suspend WHAT    when the servers do not answer: continue\n"    \
    "                           or term (continue)\n"                          \
    "      --on-revoke WHAT     when somebody asks for the lock: ignore "      \
    "or\n"                                                                     \
    "                           term (ignore)\n"                               \
    "      --status-file FILE   what happened, as JSON\n"                      \
    "      --session-timeout DURATION\n"                                       \
    "                           to ask of the servers (10s)\n"

/* One of these verbs. */
struct run_verb {
    const struct verb *verb;
    enum claim_kind kind; /* unless an option says another */
    const char *short_options;
    const struct option *long_options;
};

/* Options; then LOCK [--and LOCK]..., from argv on, which is moved behind them;
 * or both of these and the command. 0, or an exit code after an error was
 * said. */
int run_parse_options(struct lockctl *ctl, const struct run_verb *v, int argc,
                      char **argv, struct run_opts *opts);
int run_parse_locks(struct run_opts *opts, int *argc, char ***argv);
int run_parse(struct lockctl *ctl, const struct run_verb *v, int argc,
              char **argv, struct run_opts *opts);
#endif
