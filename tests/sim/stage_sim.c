/* SPDX-License-Identifier: Apache-2.0 */
/* Plays scripts on the simulated ensemble, without faults but the script's. */
#include "stage.h"

#include <stdarg.h>

#include "oracle.h"

struct world world;

void world_trace(const char *format, ...)
{
}

void world_fail(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)vfprintf(stderr, format, args);
    exit(1);
}

void process_stop(int process, int64_t duration)
{
}

void oracle_committed(int64_t version, const struct txn *txn)
{
}

void writes_sent(const struct request *r, int session)
{
}

static const char changed;

void stage_lock(void)
{
}

void stage_unlock(void)
{
    fiber_wake(&changed);
}

void stage_wait(const int *number, int least)
{
    int64_t deadline = sim_now + 30000 * MS;

    while (*number < least)
        WRONG_IF(!fiber_wait(&changed, deadline),
                 "the ensemble does not do what it should");
}

const char *stage_hosts(void)
{
    return "a:1,b:2,c:3";
}

void stage_kill_session(int64_t id)
{
    ensemble_kill_session((int)id - 1);
}

void stage_restart(void)
{
    server_reset_connections(0);
}

void stage_set_number(const char *dir, const char *seed, int32_t number)
{
    tree_find(dir, ensemble.committed)->cversion = number;
    stage_restart();
}

static void *play(void *script)
{
    (*(void (**)(void))script)();
    return NULL;
}

/* Each replay has other delays, servers and orders, but the same answers. */
int stage_play(void (*script)(void))
{
    static struct choices choices;
    const char *seed = getenv("SIM_SEED");

    choices_begin(&choices, NULL, 0,
                  seed == NULL ? 1 : strtoull(seed, NULL, 0));
    sim_now = SIM_BEGIN;
    tree_reset();
    pipe_slow_until = INT64_MAX;
    ensemble_reset(1000 * MS, 5000 * MS, 1000 * MS);
    (void)fiber_start(0, play, &script);
    while (fibers_alive() > 0) {
        int64_t next = fibers_next();

        if (clients_ready() > 0)
            clients_run(0);
        else if (fibers_ready() > 0)
            fibers_run(0);
        else if (next < events_next())
            sim_now = next;
        else
            events_run_next();
    }
    return 0;
}
