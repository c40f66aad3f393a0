/* SPDX-License-Identifier: Apache-2.0 */
/* The ZooKeeper client without any recipe: what limits a line of claims.
 *
 *   line    nodes of several sessions, one behind the other, each watched by
 *           the session of the next one. When a node goes, the session of the
 *           next one deletes that, too: list=1, after it has listed them all,
 *           as the protocol of Curator wants it; list=0, at once, which is no
 *           lock, but what no lock can do better
 *   calls   the time of zoo_acreate2() in the caller, while 64 nodes at a time
 *           are created and deleted on the same handle */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "peer.h"
#include "raw.h"
#include "raw_benches.h"

enum { SESSIONS_MAX = 128, DIGITS = 10, WINDOW = 64 };

struct place {
    zhandle_t *zh;
    char node[RAW_NODE_MAX];
};

static zhandle_t *handles[SESSIONS_MAX];
static long session_count;
static bool lists;

static struct place *line;
static long line_length;
static atomic_bool is_moving;

/* The line. The place is the claim's; it changes when the line is sorted. */

static void on_deleted(int rc, const void *user)
{
    (void)user;
    raw_check("delete", rc);
    raw_answered();
}

static void give_back(const struct place *place)
{
    raw_check("delete",
              zoo_adelete(place->zh, place->node, -1, on_deleted, NULL));
}

static void on_list(int rc, const struct String_vector *names,
                    const struct Stat *stat, const void *user)
{
    (void)names;
    (void)stat;
    raw_check("list", rc);
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
        raw_check("list", zoo_aget_children2(z, raw_dir, 0, on_list, place));
    else
        give_back(place);
}

static void on_watched(int rc, const struct Stat *stat, const void *user)
{
    (void)stat;
    (void)user;
    raw_check("watch", rc);
    raw_answered();
}

static void on_created(int rc, const char *path, const struct Stat *stat,
                       const void *user)
{
    struct place *place = (struct place *)user;

    (void)stat;
    raw_check("create", rc);
    (void)snprintf(place->node, sizeof(place->node), "%s", path);
    raw_answered();
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
        raw_create(line[i].zh, on_created, &line[i]);
    }
    raw_await(line_length);
    qsort(line, (size_t)line_length, sizeof(*line), by_number);
    for (long i = 1; i < line_length; i++)
        raw_check("watch",
                  zoo_awexists(line[i].zh, line[i - 1].node, on_left_before,
                               &line[i], on_watched, NULL));
    raw_await(line_length - 1);
}

void line_run(long n)
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
    raw_await(n);
    peer_end();
    peer_figure("line_cpu_ns", (double)(peer_cpu_ns() - cpu) / (double)n);
    free(line);
}

/* Calls. */

static void start(zhandle_t *zh);

static void on_moved_out(int rc, const void *user)
{
    raw_check("delete", rc);
    if (is_moving)
        start((zhandle_t *)user);
    else
        raw_answered();
}

static void on_moved_in(int rc, const char *path, const struct Stat *stat,
                        const void *user)
{
    (void)stat;
    raw_check("create", rc);
    raw_check("delete",
              zoo_adelete((zhandle_t *)user, path, -1, on_moved_out, user));
}

static void start(zhandle_t *zh)
{
    raw_create(zh, on_moved_in, zh);
}

static void on_call(int rc, const char *path, const struct Stat *stat,
                    const void *user)
{
    (void)stat;
    raw_check("create", rc);
    raw_check("delete",
              zoo_adelete((zhandle_t *)user, path, -1, on_deleted, NULL));
}

void calls_run(long n)
{
    int64_t *took = calloc((size_t)n + 1, sizeof(*took));

    if (took == NULL)
        peer_error("out of memory");
    is_moving = true;
    for (int i = 0; i < WINDOW; i++)
        start(handles[0]);
    for (long i = 0; i < n; i++) {
        int64_t begin = peer_now_ns();

        raw_create(handles[0], on_call, handles[0]);
        took[i] = peer_now_ns() - begin;
    }
    is_moving = false;
    raw_await(n + WINDOW);
    peer_figure("median_ns", (double)peer_quantile(took, (size_t)n, 0.5));
    peer_figure("p99_ns", (double)peer_quantile(took, (size_t)n, 0.99));
    free(took);
}

void line_prepare(void)
{
    lists = peer_number("list", 1) != 0;
    session_count = peer_number("sessions", 1);
    if (session_count > SESSIONS_MAX)
        peer_error("more than %d sessions", SESSIONS_MAX);
    for (long i = 0; i < session_count; i++)
        handles[i] = raw_open();
    raw_make_dir(handles[0]);
}

void line_finish(void)
{
    for (long i = 0; i < session_count; i++)
        (void)zookeeper_close(handles[i]);
}
