/* SPDX-License-Identifier: Apache-2.0 */
/* release: gives back a lock that hold keeps for the shell. */
#include "verbs/verbs.h"

#include <string.h>

#include "run/ask_holds.h"

static int release(struct lockctl *ctl, int argc, char **argv)
{
    struct question q = { .what = ASKED_RELEASE };

    if (lockctl_option(ctl, &verb_release, argc, argv, "", NULL) != -1)
        return EX_USAGE;
    if (argc - optind > 1)
        return lockctl_fail(EX_USAGE, "more than one lock; see --help");
    if (argc > optind &&
        !lockctl_parse_path(argv[optind], q.path, sizeof(q.path)))
        return EX_USAGE;
    return ask_holds(ctl, &q);
}

const struct verb verb_release = {
    .name = "release",
    .usage = "[LOCK]",
    .summary = "Give back a lock that hold keeps for the shell",
    .help = "Without LOCK: the one that was acquired last. It answers when the "
            "node of the\n"
            "lock is gone: 0; 79 when the lock had been lost before.\n",
    .run = release,
};
