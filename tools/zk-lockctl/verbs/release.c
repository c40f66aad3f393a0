/* SPDX-License-Identifier: Apache-2.0 */
/* release: gives back a lock that hold keeps for the shell. */
#include "verbs/verbs.h"

#include "run/desk.h"

static int release(struct lockctl *ctl, int argc, char **argv)
{
    return desk_ask(ctl, true, argc, argv);
}

const struct verb verb_release = {
    .name = "release",
    .usage = "[LOCK]",
    .summary = "Give back a lock that hold keeps for the shell",
    .takes = TAKES_FIRST,
    .help =
        "LOCK may be left out where the shell has held one only. It answers "
        "when the\n"
        "node of the lock is gone: 0; 79 when the lock had been lost "
        "before.\n",
    .run = release,
};
