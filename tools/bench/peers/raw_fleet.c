/* SPDX-License-Identifier: Apache-2.0 */
/* The ZooKeeper client without any recipe: sessions that do nothing, or none at
 * all, which is what the servers say to each other anyway. */
#include "fleet.h"
#include "peer.h"
#include "raw.h"
#include "raw_benches.h"

static zhandle_t *handles[FLEET_MAX];

static void enter(long number)
{
    if (peer_number("nobody", 0) == 0)
        handles[number] = raw_open();
}

static void leave(long number)
{
    if (handles[number] != NULL)
        (void)zookeeper_close(handles[number]);
    handles[number] = NULL;
}

void fleet_of_raw_run(long n)
{
    static const struct fleet fleet = { enter, leave };

    fleet_run(n, &fleet);
}
