/* SPDX-License-Identifier: Apache-2.0 */
/* What the peers share that use the ZooKeeper client without any recipe. */
#include "raw.h"

#include <stdio.h>
#include <string.h>

#include <pthread.h>
#include <unistd.h>

#include "peer.h"

enum { TIMEOUT_MS = 10000, DATA_LEN = 160 };

char raw_dir[64];

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static long answers; /* that have come since raw_await() */

void raw_check(const char *what, int rc)
{
    if (rc != ZOK)
        peer_error("%s: %s", what, zerror(rc));
}

void raw_answered(void)
{
    (void)pthread_mutex_lock(&mutex);
    answers++;
    (void)pthread_cond_signal(&changed);
    (void)pthread_mutex_unlock(&mutex);
}

void raw_await(long count)
{
    (void)pthread_mutex_lock(&mutex);
    while (answers < count)
        (void)pthread_cond_wait(&changed, &mutex);
    answers = 0;
    (void)pthread_mutex_unlock(&mutex);
}

static void on_session(zhandle_t *zh, int type, int state, const char *path,
                       void *user)
{
    (void)zh;
    (void)path;
    (void)user;
    if (type == ZOO_SESSION_EVENT && state == ZOO_CONNECTED_STATE)
        raw_answered();
}

zhandle_t *raw_open(void)
{
    zoo_set_debug_level(ZOO_LOG_LEVEL_ERROR);
    zhandle_t *zh = zookeeper_init(peer_target(), on_session,
                                   (int)peer_number("timeout_ms", TIMEOUT_MS),
                                   NULL, NULL, 0);
    if (zh == NULL)
        peer_error("zookeeper_init");
    if (peer_number("resolve", 1) == 0)
        (void)zoo_set_servers_resolution_delay(zh, -1);
    raw_await(1);
    return zh;
}

static void on_dir(int rc, const char *path, const void *user)
{
    (void)path;
    (void)user;
    raw_check("create the directory", rc);
    raw_answered();
}

void raw_make_dir(zhandle_t *zh)
{
    (void)snprintf(raw_dir, sizeof(raw_dir), "/bench-raw-%ld", (long)getpid());
    raw_check("create the directory",
              zoo_acreate(zh, raw_dir, NULL, -1, &ZOO_OPEN_ACL_UNSAFE, 0,
                          on_dir, NULL));
    raw_await(1);
}

void raw_create(zhandle_t *zh, string_stat_completion_t done, const void *user)
{
    char path[RAW_NODE_MAX];
    char data[DATA_LEN];

    (void)snprintf(path, sizeof(path),
                   "%s/_c_00000000-0000-0000-0000-000000000000-lock-", raw_dir);
    (void)memset(data, 'x', sizeof(data));
    raw_check("create",
              zoo_acreate2(zh, path, data, sizeof(data), &ZOO_OPEN_ACL_UNSAFE,
                           ZOO_EPHEMERAL_SEQUENTIAL, done, user));
}
