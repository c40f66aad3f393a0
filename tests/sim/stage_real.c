/* SPDX-License-Identifier: Apache-2.0 */
/* Plays scripts on a real server, through libzookeeper_mt. */
#include "stage.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "expire.h"
#include "seed.h"

static struct server *server;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

void stage_lock(void)
{
    (void)pthread_mutex_lock(&lock);
}

void stage_unlock(void)
{
    (void)pthread_cond_broadcast(&changed);
    (void)pthread_mutex_unlock(&lock);
}

void stage_wait(const int *number, int least)
{
    struct timespec deadline;

    (void)clock_gettime(CLOCK_REALTIME, &deadline);
    deadline.tv_sec += 120; /* it only ends hangs */
    stage_lock();
    while (*number < least) {
        if (pthread_cond_timedwait(&changed, &lock, &deadline) != 0) {
            (void)fprintf(stderr, "the server does not do what it should\n");
            server_stop(server);
            exit(1);
        }
    }
    stage_unlock();
}

const char *stage_hosts(void)
{
    return server_hosts(server);
}

void stage_kill_session(int64_t id)
{
    (void)session_kill_by_id(server_hosts(server), id);
}

void stage_restart(void)
{
    server_kill9(server);
    (void)server_restart(server);
}

void stage_set_number(const char *dir, const char *seed, int32_t number)
{
    server_kill9(server);
    (void)seed_sequence(server, seed_next_zxid(server), seed, number);
    (void)server_restart(server);
}

int stage_play(void (*script)(void))
{
    const struct server_opts opts = { .tick_ms = 1000 };
    int rc = server_start(&opts, &server);

    if (rc != SERVER_OK)
        return rc == SERVER_MISSING ? 77 : 1;
    script();
    server_stop(server);
    return 0;
}
