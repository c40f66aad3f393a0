/* SPDX-License-Identifier: Apache-2.0 */
/* The benches of a lock of the comparison: one client alone; eight clients of
 * one process on one lock.
 *
 *   rival-SYSTEM SERVERS alone | eight | trial lock=NAME name=PATH ttl_ms=N
 *
 * "trial" is that of rival_trial.c.
 */
#include "rival_peer.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <pthread.h>

enum { CLIENTS = 8 };

static const struct rival *lock;
static struct rival_opts opts;

struct contender {
    void *client;
    pthread_t thread;
    int64_t grants;
    int64_t longest_ns;
    int64_t waited_ns;
};
static struct contender contenders[CLIENTS];
static int clients;

static long asked_for; /* grants in this batch */
static atomic_long granted;
static atomic_long lost; /* of those */

const struct rival *rival_chosen(struct rival_opts *ret_opts)
{
    const char *name = peer_option("lock", rivals[0]->name);

    ret_opts->servers = peer_target();
    ret_opts->name = peer_option("name", "bench");
    ret_opts->ttl_ms = peer_number("ttl_ms", 10000);
    for (const struct rival *const *r = rivals; *r != NULL; r++) {
        if (strcmp((*r)->name, name) == 0)
            return *r;
    }
    peer_error("no lock is called %s", name);
}

void rival_check(const char *what, enum rival_result result)
{
    static const char *const names[] = { "", "timeout", "lost", "" };

    if (result != RIVAL_OK)
        peer_error("%s: %s%s", what, names[result],
                   result == RIVAL_ERROR ? rival_error() : "");
}

static void cycle(struct contender *c)
{
    int64_t start = now_ns();

    rival_check("acquire", rival_acquire(lock, c->client, -1));
    int64_t waited_ns = now_ns() - start;
    c->grants++;
    c->waited_ns += waited_ns;
    if (waited_ns > c->longest_ns)
        c->longest_ns = waited_ns;
    /* A lock that was lost before its release is a figure, no error. */
    enum rival_result result = lock->release(c->client);
    if (result == RIVAL_LOST)
        atomic_fetch_add(&lost, 1);
    else
        rival_check("release", result);
}

static void open_clients(int count)
{
    lock = rival_chosen(&opts);
    clients = count;
    for (int i = 0; i < count; i++)
        rival_check("open", rival_open(lock, &opts, &contenders[i].client));
    for (int i = 0; i < peer_number("warmup", 100); i++)
        cycle(&contenders[i % count]);
}

static void close_clients(void)
{
    for (int i = 0; i < clients; i++)
        rival_close(lock, contenders[i].client);
}

static void prepare_alone(void)
{
    open_clients(1);
}

static void run_alone(long n)
{
    for (long i = 0; i < n; i++)
        cycle(&contenders[0]);
}

static void prepare_eight(void)
{
    open_clients(CLIENTS);
}

/* The batch has been measured when the last grant that was asked for has been
 * given back; who waits then, waits to the end and counts as a wait. */
static void *contend(void *arg)
{
    struct contender *c = arg;

    while (granted < asked_for) {
        cycle(c);
        if (atomic_fetch_add(&granted, 1) + 1 == asked_for)
            peer_end();
    }
    return NULL;
}

static void run_eight(long n)
{
    int64_t longest_ns = 0, waited_ns = 0, grants = 0, least = INT64_MAX;

    asked_for = n;
    granted = 0;
    lost = 0;
    for (int i = 0; i < CLIENTS; i++) {
        struct contender *c = &contenders[i];

        c->grants = c->longest_ns = c->waited_ns = 0;
        if (pthread_create(&c->thread, NULL, contend, c) != 0)
            peer_error("no thread");
    }
    for (int i = 0; i < CLIENTS; i++) {
        struct contender *c = &contenders[i];

        (void)pthread_join(c->thread, NULL);
        grants += c->grants;
        waited_ns += c->waited_ns;
        longest_ns = c->longest_ns > longest_ns ? c->longest_ns : longest_ns;
        least = c->grants < least ? c->grants : least;
    }
    if (grants == 0)
        return;
    peer_figure("max_ns", (double)longest_ns);
    peer_figure("lost", (double)lost);
    peer_figure("longest_by_mean",
                (double)longest_ns / ((double)waited_ns / (double)grants));
    peer_figure("least_share", (double)least * CLIENTS / (double)grants);
}

int main(int argc, char **argv)
{
    static const struct peer_bench benches[] = {
        { "alone", prepare_alone, run_alone, close_clients },
        { "eight", prepare_eight, run_eight, close_clients },
        { "trial", rival_trial, NULL, NULL },
        { NULL, NULL, NULL, NULL },
    };

    return peer_main(argc, argv, benches);
}
