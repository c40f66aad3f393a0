/* SPDX-License-Identifier: Apache-2.0 */
/* The ZooKeeper client without any recipe: what limits a line, and turns. */
#include <stddef.h>

#include "peer.h"
#include "raw_benches.h"

int main(int argc, char **argv)
{
    static const struct peer_bench benches[] = {
        { "line", line_prepare, line_run, line_finish },
        { "calls", line_prepare, calls_run, line_finish },
        { "turns", turns_prepare, turns_run, turns_finish },
        { NULL, NULL, NULL, NULL },
    };

    return peer_main(argc, argv, benches);
}
