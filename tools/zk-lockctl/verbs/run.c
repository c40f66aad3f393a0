/* SPDX-License-Identifier: Apache-2.0 */
/* run: holds locks while a command runs. */
#include "verbs/verbs.h"

#include "run/options.h"

/* clang-format off */
static const struct opt options[] = {
    LOCK_OPTIONS,
    WAIT_OPTIONS,
    RUN_OPTIONS,
    { .name = NULL },
};
/* clang-format on */

static int run(struct lockctl *ctl, int argc, char **argv)
{
    struct run r = { .ctl = ctl };
    int code =
        run_parse(ctl, verbs_find("run"), CLAIM_MUTEX, argc, argv, &r.opts);

    return code == 0 ? run_all(&r, run_turn) : code;
}

const struct verb verb_run = {
    .name = "run",
    .usage = "[OPTION]... LOCK [--and LOCK]... [--] COMMAND [ARGUMENT]...",
    .summary = "Hold a lock while a command runs",
    .options = options,
    .takes = TAKES_FIRST,
    .ends_at_argument = true,
    .lends_stdout = true,
    .help =
        "The command and all that it has started are dead before anybody else "
        "can\n"
        "hold the lock: they get TERM and KILL before the lease ends. See "
        "zk-lockctl(1).\n",
    .run = run,
};
