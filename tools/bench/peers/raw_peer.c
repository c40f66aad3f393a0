/* SPDX-License-Identifier: Apache-2.0 */
/* The ZooKeeper client without any recipe, asynchronous calls only: what a
 * client in C can reach at best.
 *
 *   cycle         create and delete, one at a time; acquire_ns: the create
 *   cycle-list    create and list in one flight, then delete
 *   pipeline      create and delete, window=64 of them under way at a time
 *   line, calls   what limits a line: raw_line.c
 *   turns         what limits sessions in turn: raw_turns.c
 *   fleet         sessions that do nothing: raw_fleet.c */
#include <stdio.h>
#include <string.h>

#include "fleet.h"
#include "peer.h"
#include "raw.h"
#include "raw_benches.h"

static zhandle_t *zh;
static char created[RAW_NODE_MAX]; /* the last node, until the answer counts */

/* Answers. */

static void on_create(int rc, const char *path, const struct Stat *stat,
                      const void *user)
{
    (void)stat;
    (void)user;
    raw_check("create", rc);
    (void)snprintf(created, sizeof(created), "%s", path);
    raw_answered();
}

static void on_list(int rc, const struct String_vector *names,
                    const struct Stat *stat, const void *user)
{
    (void)names;
    (void)stat;
    (void)user;
    raw_check("list", rc);
    raw_answered();
}

static void on_delete(int rc, const void *user)
{
    (void)user;
    raw_check("delete", rc);
    raw_answered();
}

/* Requests. */

static void delete_created(void)
{
    raw_check("delete", zoo_adelete(zh, created, -1, on_delete, NULL));
    raw_await(1);
}

/* Benches. */

static void run_cycle(long n)
{
    int64_t spent = 0;

    for (long i = 0; i < n; i++) {
        int64_t begin = peer_now_ns();

        raw_create(zh, on_create, NULL);
        raw_await(1);
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

        raw_create(zh, on_create, NULL);
        raw_check("list", zoo_aget_children2(zh, raw_dir, 0, on_list, NULL));
        raw_await(2);
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
    raw_check("create", rc);
    raw_check("delete", zoo_adelete(zh, path, -1, on_line_deleted, NULL));
}

static void on_line_deleted(int rc, const void *user)
{
    (void)user;
    raw_check("delete", rc);
    if (line.to_start > 0) {
        line.to_start--;
        raw_create(zh, on_line_created, NULL);
    }
    if (--line.to_end == 0)
        raw_answered();
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
        raw_create(zh, on_line_created, NULL);
    raw_await(1);
}

static void prepare(void)
{
    zh = raw_open();
    raw_make_dir(zh);
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
        { "line", line_prepare, line_run, line_finish },
        { "calls", line_prepare, calls_run, line_finish },
        { "turns", turns_prepare, turns_run, turns_finish },
        { "fleet", fleet_prepare, fleet_of_raw_run, NULL },
        { NULL, NULL, NULL, NULL },
    };

    return peer_main(argc, argv, benches);
}
