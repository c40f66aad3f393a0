/* The ZooKeeper client without any recipe: what limits a line of claims.
 *
 *   line    nodes of several sessions, one behind the other, each watched by
 *           the session of the next one. When a node goes, the session of the
 *           next one deletes that, too: list=1, after it has listed them all,
 *           as the protocol of Curator wants it; list=0, at once, which is no
 *           lock, but what no lock can do better
 *   calls   the time of zoo_acreate2() in the caller, while 64 nodes at a time
 *           are created and deleted on the same handle */
#include "peer.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pthread.h>
#include <unistd.h>
#include <zookeeper/zookeeper.h>

enum {
    TIMEOUT_MS = 10000,
    DATA_LEN = 160,
    SESSIONS_MAX = 128,
    DIGITS = 10,
    WINDOW = 64,
};

struct place {
    zhandle_t *zh;
    char node[128];
};

static zhandle_t *handles[SESSIONS_MAX];
static long session_count;
static bool lists;
static char data[DATA_LEN];
static char dir[64];
static char prefix[128];

static struct place *line;
static long line_length;
static atomic_bool is_moving;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static long answers; /* that have come since await() */

static void check(const char *what, int rc)
{
    if (rc != ZOK)
        peer_error("%s: %s", what, zerror(rc));
}

static void answered(void)
{
    (void)pthread_mutex_lock(&mutex);
    answers++;
    (void)pthread_cond_signal(&changed);
    (void)pthread_mutex_unlock(&mutex);
}

static void await(long count)
{
    (void)pthread_mutex_lock(&mutex);
    while (answers < count)
        (void)pthread_cond_wait(&changed, &mutex);
    answers = 0;
    (void)pthread_mutex_unlock(&mutex);
}

static void on_session(zhandle_t *z, int type, int state, const char *path,
                       void *user)
{
    (void)z;
    (void)path;
    (void)user;
    if (type == ZOO_SESSION_EVENT && state == ZOO_CONNECTED_STATE)
        answered();
}

static void on_dir(int rc, const char *path, const void *user)
{
    (void)path;
    (void)user;
    check("create the directory", rc);
    answered();
}

static void create(zhandle_t *zh, string_stat_completion_t done,
                   const void *user)
{
    check("create",
          zoo_acreate2(zh, prefix, data, sizeof(data), &ZOO_OPEN_ACL_UNSAFE,
                       ZOO_EPHEMERAL_SEQUENTIAL, done, user));
}

/* The line. The place is the claim's; it changes when the line is sorted. */

static void on_deleted(int rc, const void *user)
{
    (void)user;
    check("delete", rc);
    answered();
}

static void give_back(const struct place *place)
{
    check("delete", zoo_adelete(place->zh, place->node, -1, on_deleted, NULL));
}

static void on_list(int rc, const struct String_vector *names,
                    const struct Stat *stat, const void *user)
{
    (void)names;
    (void)stat;
    check("list", rc);
    give_back(user);
}

static void on_left_before(zhandle_t *z, int type, int state, const char *path,
                           void *user)
{
    struct place *place = user;

    (void)state;
    (void)path;
    if (type == ZOO_SESSION_EVENT)
        return;
    if (lists)
        check("list", zoo_aget_children2(z, dir, 0, on_list, place));
    else
        give_back(place);
}

static void on_watched(int rc, const struct Stat *stat, const void *user)
{
    (void)stat;
    (void)user;
    check("watch", rc);
    answered();
}

static void on_created(int rc, const char *path, const struct Stat *stat,
                       const void *user)
{
    struct place *place = (struct place *)user;

    (void)stat;
    check("create", rc);
    (void)snprintf(place->node, sizeof(place->node), "%s", path);
    answered();
}

static int by_number(const void *a, const void *b)
{
    const struct place *x = a;
    const struct place *y = b;

    return strcmp(x->node + strlen(x->node) - DIGITS,
                  y->node + strlen(y->node) - DIGITS);
}

static void enter(void)
{
    for (long i = 0; i < line_length; i++) {
        line[i].zh = handles[i % session_count];
        create(line[i].zh, on_created, &line[i]);
    }
    await(line_length);
    qsort(line, (size_t)line_length, sizeof(*line), by_number);
    for (long i = 1; i < line_length; i++)
        check("watch",
              zoo_awexists(line[i].zh, line[i - 1].node, on_left_before,
                           &line[i], on_watched, NULL));
    await(line_length - 1);
}

static void line_run(long n)
{
    int64_t cpu = peer_cpu_ns();

    if (n == 0)
        return;
    line_length = n;
    line = calloc((size_t)n, sizeof(*line));
    if (line == NULL)
        peer_error("out of memory");
    enter();
    peer_begin();
    give_back(&line[0]);
    await(n);
    peer_end();
    peer_figure("line_cpu_ns", (double)(peer_cpu_ns() - cpu) / (double)n);
    free(line);
}

/* Calls. */

static void start(zhandle_t *zh);

static void on_moved_out(int rc, const void *user)
{
    check("delete", rc);
    if (is_moving)
        start((zhandle_t *)user);
    else
        answered();
}

static void on_moved_in(int rc, const char *path, const struct Stat *stat,
                        const void *user)
{
    (void)stat;
    check("create", rc);
    check("delete",
          zoo_adelete((zhandle_t *)user, path, -1, on_moved_out, user));
}

static void start(zhandle_t *zh)
{
    create(zh, on_moved_in, zh);
}

static void on_call(int rc, const char *path, const struct Stat *stat,
                    const void *user)
{
    (void)stat;
    check("create", rc);
    check("delete", zoo_adelete((zhandle_t *)user, path, -1, on_deleted, NULL));
}

static void calls_run(long n)
{
    int64_t *took = calloc((size_t)n + 1, sizeof(*took));

    if (took == NULL)
        peer_error("out of memory");
    is_moving = true;
    for (int i = 0; i < WINDOW; i++)
        start(handles[0]);
    for (long i = 0; i < n; i++) {
        int64_t begin = peer_now_ns();

        create(handles[0], on_call, handles[0]);
        took[i] = peer_now_ns() - begin;
    }
    is_moving = false;
    await(n + WINDOW);
    peer_figure("median_ns", (double)peer_quantile(took, (size_t)n, 0.5));
    peer_figure("p99_ns", (double)peer_quantile(took, (size_t)n, 0.99));
    free(took);
}

static void prepare(void)
{
    zoo_set_debug_level(ZOO_LOG_LEVEL_ERROR);
    lists = peer_number("list", 1) != 0;
    session_count = peer_number("sessions", 1);
    if (session_count > SESSIONS_MAX)
        peer_error("more than %d sessions", SESSIONS_MAX);
    for (long i = 0; i < session_count; i++) {
        handles[i] = zookeeper_init(peer_target(), on_session, TIMEOUT_MS, NULL,
                                    NULL, 0);
        if (handles[i] == NULL)
            peer_error("zookeeper_init");
        (void)zoo_set_servers_resolution_delay(handles[i], -1);
    }
    await(session_count);
    (void)snprintf(dir, sizeof(dir), "/bench-line-%ld", (long)getpid());
    (void)snprintf(prefix, sizeof(prefix),
                   "%s/_c_00000000-0000-0000-0000-000000000000-lock-", dir);
    (void)memset(data, 'x', sizeof(data));
    check("create the directory",
          zoo_acreate(handles[0], dir, NULL, -1, &ZOO_OPEN_ACL_UNSAFE, 0,
                      on_dir, NULL));
    await(1);
}

static void finish(void)
{
    for (long i = 0; i < session_count; i++)
        (void)zookeeper_close(handles[i]);
}

int main(int argc, char **argv)
{
    static const struct peer_bench benches[] = {
        { "line", prepare, line_run, finish },
        { "calls", prepare, calls_run, finish },
        { NULL, NULL, NULL, NULL },
    };

    return peer_main(argc, argv, benches);
}
