/* SPDX-License-Identifier: Apache-2.0 */
/* run, lead: hold locks, or lead an election, while a command runs. */
#include "verbs/verbs.h"

#include "run/options.h"

extern const struct verb verb_lead;

/* clang-format off */
static const struct opt options[] = {
    LOCK_OPTIONS,
    WAIT_OPTIONS,
    RUN_OPTIONS,
    { .name = NULL },
};
static const struct opt lead_options[] = {
    WAIT_OPTIONS,
    RUN_OPTIONS,
    { .name = NULL },
};
/* clang-format on */

/* argv begins with the verb. */
static int run(struct lockctl *ctl, int argc, char **argv)
{
    const struct verb *verb = verbs_find(argv[0]);
    struct run r = { .ctl = ctl };
    int code =
        run_parse(ctl, verb, verb == &verb_lead ? CLAIM_LEADER : CLAIM_MUTEX,
                  argc, argv, &r.opts);

    return code == 0 ? run_all(&r) : code;
}

const struct verb verb_run = {
    .name = "run",
    .usage = "[OPTION]... LOCK [--and LOCK]... [--] COMMAND [ARGUMENT]...",
    .summary = "Hold a lock while a command runs",
    .options = options,
    .ends_at_argument = true,
    .lends_stdout = true,
    .help = "The command and all that it has started are dead before anybody\n"
            "else can hold the lock: they get TERM and KILL before the lease\n"
            "ends. See zk-lockctl(1).\n",
    .run = run,
};

const struct verb verb_lead = {
    .name = "lead",
    .usage = "[OPTION]... LOCK [--] COMMAND [ARGUMENT]...",
    .summary = "Run a command while this program leads",
    .options = lead_options,
    .ends_at_argument = true,
    .lends_stdout = true,
    .help = "LOCK is the path of an election. The command is dead before\n"
            "anybody else can lead. See zk-lockctl(1).\n",
    .run = run,
};
