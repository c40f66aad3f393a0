/* The client's log level, of which the process has one: it is raised while the
 * library needs more lines than the program has asked for, and then
 * restored. */
#include "zk/zk_level.h"

#include <stdbool.h>

#include <zkrecipes/log.h>
#include <zookeeper/zookeeper.h>

/* From <zookeeper/zookeeper_log.h>, which cannot be included as installed. */
extern ZOOAPI ZooLogLevel logLevel;

/* All of it is under the gate. */
static unsigned holders;
static ZooLogLevel hook_wants;
static bool raised;
static ZooLogLevel raised_to;
static ZooLogLevel found; /* ... from that */

static void set(ZooLogLevel level)
{
    zoo_set_debug_level(level);
    __sync_synchronize(); /* a handle that connects from now on logs it */
}

static void adapt(void)
{
    ZooLogLevel wanted = holders > 0 ? ZOO_LOG_LEVEL_INFO : hook_wants;

    if (!raised || logLevel != raised_to)
        found = logLevel; /* the level that the program has set */
    raised = found < wanted;
    raised_to = raised ? wanted : found;
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

/* DEBUG makes the client read freed memory (ZOOKEEPER-4809). */
void zkr__level_want(int level)
{
    if (level >= ZKR_LOG_INFO)
        hook_wants = ZOO_LOG_LEVEL_INFO;
    else if (level >= ZKR_LOG_WARNING)
        hook_wants = ZOO_LOG_LEVEL_WARN;
    else
        hook_wants = level >= ZKR_LOG_ERROR ? ZOO_LOG_LEVEL_ERROR : 0;
    adapt();
}
