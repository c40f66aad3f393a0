/* The client's log level, which is one for the process: raised while the
 * library needs more than the program has asked for, and then put back. */
#include "zk/zk_level.h"

#include <stdbool.h>

#include <zkrecipes/log.h>
#include <zookeeper/zookeeper.h>

/* From <zookeeper/zookeeper_log.h>, which cannot be included as installed. */
extern ZOOAPI ZooLogLevel logLevel;

/* All behind the gate. */
static unsigned holders;
static ZooLogLevel hook_wants;
static bool raised;
static ZooLogLevel raised_to;
static ZooLogLevel found; /* ... from that */

static void set(ZooLogLevel level)
{
    zoo_set_debug_level(level);
    __sync_synchronize(); /* whoever connects from now on tells */
}

static void adapt(void)
{
    ZooLogLevel wanted = holders > 0 ? ZOO_LOG_LEVEL_INFO : hook_wants;

    if (!raised || logLevel != raised_to)
        found = logLevel; /* that of the program */
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
