/* SPDX-License-Identifier: Apache-2.0 */
/* run: holds locks while a command runs. */
#include "verbs/verbs.h"

#include "run/options.h"

static const struct option long_options[] = {
    { "shared", no_argument, NULL, 's' },
    { "exclusive", no_argument, NULL, 'x' },
    { "slots", required_argument, NULL, OPTION_SLOTS },
    { "and", required_argument, NULL, OPTION_AND },
    WAIT_OPTIONS,
    RUN_OPTIONS,
    { NULL, 0, NULL, 0 },
};

static int run(struct lockctl *ctl, int argc, char **argv)
{
    static const struct run_verb about = {
        &verb_run, CLAIM_MUTEX, "+sx" WAIT_OPTIONS_SHORT "c:", long_options
    };
    struct run r = { .ctl = ctl };
    int code = run_parse(ctl, &about, argc, argv, &r.opts);

    return code == 0 ? run_all(&r, run_turn) : code;
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
        "      --and LOCK           this lock, too: all are held, or "
        "none\n" WAIT_OPTIONS_HELP RUN_OPTIONS_HELP "\n"
        "The command and all that it has started are dead before anybody else "
        "can\n"
        "hold the lock: they get TERM and KILL before the lease ends. See "
        "zk-lockctl(1).\n",
    .run = run,
};
