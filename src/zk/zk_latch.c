/* SPDX-License-Identifier: Apache-2.0 */
/* The latch: while it is shut, no handle of the client becomes unusable. */
#include "zk/zk_latch.h"

#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include <zookeeper/zookeeper.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool works;                           /* under lock */
static _Thread_local struct zkr__latch *own; /* on an io thread */
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* The thread that had shut the latch does not exist in the child. */
static void open_in_child(void)
{
    (void)pthread_mutex_init(&lock, NULL);
}

static void watch_forks(void)
{
    (void)pthread_atfork(NULL, NULL, open_in_child);
}

void zkr__latch_on_log(const char *line)
{
    /* "Initiated" or "initiated" */
    if (strstr(line, "nitiated connection to server") == NULL)
        return;
    zkr__latch_shut();
    works = true;
    if (own != NULL)
        own->connections++;
    zkr__latch_open();
}

void zkr__latch_own(struct zkr__latch *latch)
{
    own = latch;
}

void zkr__latch_shut(void)
{
    (void)pthread_once(&once, watch_forks);
    (void)pthread_mutex_lock(&lock);
}

void zkr__latch_open(void)
{
    (void)pthread_mutex_unlock(&lock);
}

bool zkr__latch_works(void)
{
    return works;
}

void zkr__latch_answered(struct zkr__latch *latch, unsigned connection)
{
    latch->answered = connection;
    latch->any = true;
}

bool zkr__latch_has_answered(const struct zkr__latch *latch)
{
    return latch->any && latch->answered == latch->connections;
}

/* -- the level ------------------------------------------------------------- */

/* From <zookeeper/zookeeper_log.h>, which cannot be included as installed. */
extern ZOOAPI ZooLogLevel logLevel;

static unsigned holders; /* under lock, as all below */
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

void zkr__latch_hold_level(void)
{
    holders++;
    adapt();
}

void zkr__latch_let_level_go(void)
{
    holders--;
    adapt();
}
