/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the servers with four letter words about the lock that is on the screen,
 * while it is there, now and then, and never waits for them. */
#include "top/asking.h"

#include <stdio.h>
#include <string.h>

#include "common/now.h"
#include "common/worker.h"
#include "model/ask_servers.h"

/* All watches and connections of all servers are a lot to write and to read. So
 * the servers rest ten times as long as they need. */
enum { PAUSE_MS = 5000, REST = 10 };

static void run(void *arg)
{
    struct asking *a = arg;

    a->servers = servers_ask(a->ctl, SERVERS_CONS | SERVERS_DUMP | SERVERS_WCHP,
                             a->asked, &a->brought);
}

static void forget(struct asking *a)
{
    told_done(&a->told);
    notes_done(&a->notes);
    a->path[0] = '\0';
}

static void forget_brought(struct asking *a)
{
    servers_free(a->servers);
    a->servers = NULL;
    notes_done(&a->brought);
}

static void take(struct asking *a, const struct lock *lock)
{
    int64_t rest_ms;

    if (a->errand == NULL || !errand_end(a->errand, 0))
        return;
    a->errand = NULL;
    rest_ms = (clock_now_ms() - a->began_ms) * REST;
    a->next_ms = clock_now_ms() + (rest_ms > PAUSE_MS ? rest_ms : PAUSE_MS);
    if (lock == NULL || strcmp(lock->path, a->asked) != 0)
        return;
    (void)strcpy(a->path, a->asked);
    (void)told_take(&a->told, lock, a->servers);
    a->servers = NULL;
    notes_done(&a->notes);
    a->notes = a->brought;
    a->brought = (struct notes){ .count = 0 };
}

static void start(struct asking *a, const char *path)
{
    forget_brought(a);
    (void)snprintf(a->asked, sizeof(a->asked), "%s", path);
    a->began_ms = clock_now_ms();
    (void)errand_start(run, a, &a->errand);
}

/* Another lock need not wait. */
void asking_tick(struct asking *a, const struct lock *lock)
{
    take(a, lock);
    if (lock == NULL || a->off)
        return;
    if (strcmp(lock->path, a->path) != 0)
        forget(a);
    if (a->errand != NULL)
        return;
    if (clock_now_ms() >= a->next_ms || strcmp(lock->path, a->asked) != 0)
        start(a, lock->path);
}

void asking_done(struct asking *a)
{
    forget(a);
    forget_brought(a);
}
