/* The ZooKeeper client without any recipe, asynchronous calls only: what a
 * client in C can reach at best.
 *
 *   cycle         create and delete, one at a time; acquire_ns: the create
 *   cycle-list    create and list in one flight, then delete
 *   pipeline      create and delete, window=64 of them under way at a time
 *
 * The nodes and their data are like those of a lock. As it comes, the client
 * resolves the names of its servers each time that it looks for something to
 * do; with resolve=0 it does not. */
#include "peer.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pthread.h>
#include <unistd.h>
#include <zookeeper/zookeeper.h>

enum { TIMEOUT_MS = 10000, DATA_LEN = 160 };

static zhandle_t *zh;
static char data[DATA_LEN];
static char dir[64];
static char prefix[128];

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int answers;       /* that have come since expect_none() */
static char created[256]; /* the last node; under mutex */

static void check(const char *what, int rc)
{
    if (rc != ZOK)
        peer_error("%s: %s", what, zerror(rc));
}

/* Answers. */

static void answered(void)
{
    (void)pthread_mutex_lock(&mutex);
    answers++;
    (void)pthread_cond_signal(&changed);
    (void)pthread_mutex_unlock(&mutex);
}

static void await(int count)
{
    (void)pthread_mutex_lock(&mutex);
    while (answers < count)
        (void)pthread_cond_wait(&changed, &mutex);
    answers = 0;
    (void)pthread_mutex_unlock(&mutex);
}

static void on_event(zhandle_t *z, int type, int state, const char *path,
                     void *user)
{
    (void)z;
    (void)path;
    (void)user;
    if (type == ZOO_SESSION_EVENT && state == ZOO_CONNECTED_STATE)
        answered();
}

static void on_create(int rc, const char *path, const struct Stat *stat,
                      const void *user)
{
    (void)stat;
    (void)user;
    check("create", rc);
    (void)snprintf(created, sizeof(created), "%s", path);
    answered();
}

static void on_dir(int rc, const char *path, const void *user)
{
    (void)path;
    (void)user;
    if (rc != ZNODEEXISTS)
        check("create the directory", rc);
    answered();
}

static void on_list(int rc, const struct String_vector *names,
                    const struct Stat *stat, const void *user)
{
    (void)names;
    (void)stat;
    (void)user;
    check("list", rc);
    answered();
}

static void on_delete(int rc, const void *user)
{
    (void)user;
    check("delete", rc);
    answered();
}

/* Requests. */

static void start_create(string_stat_completion_t done)
{
    check("create",
          zoo_acreate2(zh, prefix, data, sizeof(data), &ZOO_OPEN_ACL_UNSAFE,
                       ZOO_EPHEMERAL_SEQUENTIAL, done, NULL));
}

static void delete_created(void)
{
    check("delete", zoo_adelete(zh, created, -1, on_delete, NULL));
    await(1);
}

static void make_dir(const char *path)
{
    check(
        "create the directory",
        zoo_acreate(zh, path, NULL, -1, &ZOO_OPEN_ACL_UNSAFE, 0, on_dir, NULL));
    await(1);
}

/* Benches. */

static void run_cycle(long n)
{
    int64_t spent = 0;

    for (long i = 0; i < n; i++) {
        int64_t begin = peer_now_ns();

        start_create(on_create);
        await(1);
        spent += peer_now_ns() - begin;
        delete_created();
    }
    if (n > 0)
        peer_figure("acquire_ns", (double)spent / (double)n);
}

static void run_cycle_list(long n)
{
    int64_t spent = 0;

    for (long i = 0; i < n; i++) {
        int64_t begin = peer_now_ns();

        start_create(on_create);
        check("list", zoo_aget_children2(zh, dir, 0, on_list, NULL));
        await(2);
        spent += peer_now_ns() - begin;
        delete_created();
    }
    if (n > 0)
        peer_figure("acquire_ns", (double)spent / (double)n);
}

/* The pipeline: each delete that is answered starts the next create. */

static struct {
    long to_start;
    long to_end;
} line;

static void on_line_deleted(int rc, const void *user);

static void on_line_created(int rc, const char *path, const struct Stat *stat,
                            const void *user)
{
    (void)stat;
    (void)user;
    check("create", rc);
    check("delete", zoo_adelete(zh, path, -1, on_line_deleted, NULL));
}

static void on_line_deleted(int rc, const void *user)
{
    (void)user;
    check("delete", rc);
    if (line.to_start > 0) {
        line.to_start--;
        start_create(on_line_created);
    }
    if (--line.to_end == 0)
        answered();
}

/* The callbacks count from the first create on, so nothing else may. */
static void run_pipeline(long n)
{
    long window = peer_number("window", 64);

    if (n == 0)
        return;
    window = window < n ? window : n;
    line.to_start = n - window;
    line.to_end = n;
    for (long i = 0; i < window; i++)
        start_create(on_line_created);
    await(1);
}

static void prepare(void)
{
    zoo_set_debug_level(ZOO_LOG_LEVEL_ERROR);
    zh = zookeeper_init(peer_target(), on_event, TIMEOUT_MS, NULL, NULL, 0);
    if (zh == NULL)
        peer_error("zookeeper_init");
    if (peer_number("resolve", 1) == 0)
        (void)zoo_set_servers_resolution_delay(zh, -1);
    await(1);
    (void)snprintf(dir, sizeof(dir), "/bench-raw-%ld", (long)getpid());
    (void)snprintf(prefix, sizeof(prefix),
                   "%s/_c_00000000-0000-0000-0000-000000000000-lock-", dir);
    (void)memset(data, 'x', sizeof(data));
    make_dir(dir);
    run_cycle(peer_number("warmup", 50));
}

static void finish(void)
{
    (void)zookeeper_close(zh);
}

int main(int argc, char **argv)
{
    static const struct peer_bench benches[] = {
        { "cycle", prepare, run_cycle, finish },
        { "cycle-list", prepare, run_cycle_list, finish },
        { "pipeline", prepare, run_pipeline, finish },
        { NULL, NULL, NULL, NULL },
    };

    return peer_main(argc, argv, benches);
}
