/* SPDX-License-Identifier: Apache-2.0 */
/* The client's log level, of which the process has one: it is raised while the
 * library must see each connection, and then restored. */
#include "zk/zk_level.h"

#include <stdbool.h>

#include <zookeeper/zookeeper.h>

/* From <zookeeper/zookeeper_log.h>, which cannot be included as installed. */
extern ZOOAPI ZooLogLevel logLevel;

/* All of it is under the gate. */
static unsigned holders;
static bool raised;
static ZooLogLevel raised_to;
static ZooLogLevel found; /* the level before it was raised */

static void set(ZooLogLevel level)
{
    zoo_set_debug_level(level);
    __sync_synchronize(); /* a handle that connects from now on logs it */
}

static void adapt(void)
{
    if (!raised || logLevel != raised_to)
        found = logLevel; /* the level that the program has set */
    raised = holders > 0 && found < ZOO_LOG_LEVEL_INFO;
    raised_to = raised ? ZOO_LOG_LEVEL_INFO : found;
    if (logLevel != raised_to)
        set(raised_to);
}

void zkr__level_hold(void)
{
    holders++;
    adapt();
}

void zkr__level_let_go(void)
{
    holders--;
    adapt();
}
