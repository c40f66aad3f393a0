/* SPDX-License-Identifier: Apache-2.0 */
/* The gate: while it is shut, no handle of the client becomes unusable. */
#include "zk/zk_gate.h"

#include <pthread.h>
#include <stddef.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool works;                          /* under lock */
static _Thread_local struct zkr__gate *own; /* on an io thread */
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* The thread that had shut the gate does not exist in the child. */
static void open_in_child(void)
{
    (void)pthread_mutex_init(&lock, NULL);
}

static void watch_forks(void)
{
    (void)pthread_atfork(NULL, NULL, open_in_child);
}

void zkr__gate_on_log(const char *line)
{
    /* "Initiated" or "initiated" */
    if (strstr(line, "nitiated connection to server") == NULL)
        return;
    zkr__gate_shut();
    works = true;
    if (own != NULL)
        own->connections++;
    zkr__gate_open();
}

void zkr__gate_own(struct zkr__gate *gate)
{
    own = gate;
}

void zkr__gate_shut(void)
{
    (void)pthread_once(&once, watch_forks);
    (void)pthread_mutex_lock(&lock);
}

void zkr__gate_open(void)
{
    (void)pthread_mutex_unlock(&lock);
}

bool zkr__gate_works(void)
{
    return works;
}

void zkr__gate_answered(struct zkr__gate *gate, unsigned connection)
{
    gate->answered = connection;
    gate->any = true;
}

bool zkr__gate_has_answered(const struct zkr__gate *gate)
{
    return gate->any && gate->answered == gate->connections;
}
