/* SPDX-License-Identifier: Apache-2.0 */
/* The locks of zkrecipes, through its public headers. */
#include <stddef.h>

#include "fleet.h"
#include "peer.h"
#include "zkr_benches.h"

static void nothing(long n)
{
    (void)n;
}

int main(int argc, char **argv)
{
    static const struct peer_bench benches[] = {
        { "uncontended", uncontended_prepare, uncontended_run,
          uncontended_finish },
        { "contended", contended_prepare, contended_run, contended_finish },
        { "family", family_prepare, family_run, family_finish },
        { "many-locks", many_prepare, many_run, many_finish },
        { "line", line_prepare, line_run, line_finish },
        { "calls", line_prepare, calls_run, line_finish },
        { "waiting", waiting_prepare, waiting_run, line_finish },
        { "give-up", give_up_prepare, give_up_run, give_up_finish },
        { "killed", killed_prepare, killed_run, killed_finish },
        { "holder", holder_prepare, nothing, NULL },
        { "steps", steps_prepare, steps_run, steps_finish },
        { "fleet", fleet_prepare, fleet_of_zkr_run, NULL },
        { NULL, NULL, NULL, NULL },
    };

    return peer_main(argc, argv, benches);
}
