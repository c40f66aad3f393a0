/* SPDX-License-Identifier: Apache-2.0 */
/* Ways: how often claims move for the reasons that only a line gives them. */
#include "ways.h"

#include <string.h>

#include "report.h"

static const char *const names[WAYS] = {
    "created, with the next number",
    "nobody is ahead",
    "one of ours is ahead",
    "the one before us has given it back",
    "first of ours",
    "the only node ahead has gone",
    "the node before us has changed",
    "our own node has gone",
    "our node was deleted",
    "directory gone",
    "the ensemble has no such node",
    "first, but for ghosts",
};

const char *ways_name(int way)
{
    return names[way];
}

void ways_taken(const char *why)
{
    for (int w = 0; w < WAYS; w++)
        report->ways[w] += strcmp(why, names[w]) == 0;
}
