/* SPDX-License-Identifier: Apache-2.0 */
/* A gate for threads that begin together, and what they measure. */
#include "crowd.h"

#include <limits.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <pthread.h>
#include <unistd.h>

#include "peer.h"

enum { SAMPLES_MAX = 65536 };

static void (*do_cycle)(int member);
static pthread_t *threads;
static int thread_count;

/* Under `mutex`. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static unsigned long batch; /* the number of the present one */
static int at_work;
static bool over;

static atomic_long to_begin;

/* Of the holder of the lock. */
static int64_t released_at;
static int64_t granted_at;
static int64_t longest_gap;
static int64_t samples[SAMPLES_MAX];
static size_t sample_count;

void crowd_granted(void)
{
    int64_t now = peer_now_ns();

    if (released_at != 0 && sample_count < SAMPLES_MAX)
        samples[sample_count++] = now - released_at;
    if (granted_at != 0 && now - granted_at > longest_gap)
        longest_gap = now - granted_at;
    granted_at = now;
}

void crowd_releasing(void)
{
    released_at = peer_now_ns();
}

/* Returns false when there is nothing more to do. */
static bool await_batch(unsigned long *done)
{
    (void)pthread_mutex_lock(&mutex);
    while (batch == *done && !over)
        (void)pthread_cond_wait(&changed, &mutex);
    *done = batch;
    bool more = !over;
    (void)pthread_mutex_unlock(&mutex);
    return more;
}

static void leave_batch(void)
{
    (void)pthread_mutex_lock(&mutex);
    if (--at_work == 0)
        (void)pthread_cond_broadcast(&changed);
    (void)pthread_mutex_unlock(&mutex);
}

static void *work(void *arg)
{
    int member = (int)(intptr_t)arg;
    unsigned long done = 0;

    while (await_batch(&done)) {
        while (atomic_fetch_sub(&to_begin, 1) > 0)
            do_cycle(member);
        leave_batch();
    }
    return NULL;
}

void crowd_start(int count, void (*cycle)(int member))
{
    do_cycle = cycle;
    thread_count = count;
    threads = calloc((size_t)count, sizeof(*threads));
    if (threads == NULL)
        peer_error("out of memory");
    for (int i = 0; i < count; i++) {
        if (pthread_create(&threads[i], NULL, work, (void *)(intptr_t)i) != 0)
            peer_error("pthread_create");
    }
}

static void open_gate(long n)
{
    atomic_store(&to_begin, n);
    sample_count = 0;
    released_at = granted_at = longest_gap = 0;
    (void)pthread_mutex_lock(&mutex);
    at_work = thread_count;
    batch++;
    (void)pthread_cond_broadcast(&changed);
    (void)pthread_mutex_unlock(&mutex);
}

static void await_end(void)
{
    (void)pthread_mutex_lock(&mutex);
    while (at_work > 0)
        (void)pthread_cond_wait(&changed, &mutex);
    (void)pthread_mutex_unlock(&mutex);
}

static void add_figures(void)
{
    if (sample_count == 0)
        return;
    peer_figure("handoff_ns",
                (double)peer_quantile(samples, sample_count, 0.5));
    peer_figure("p99_ns", (double)peer_quantile(samples, sample_count, 0.99));
    peer_figure("gap_ns", (double)longest_gap);
}

void crowd_run(long n)
{
    peer_begin();
    open_gate(n);
    await_end();
    peer_end();
    add_figures();
}

void crowd_run_for(long seconds)
{
    peer_begin();
    open_gate(LONG_MAX);
    (void)sleep((unsigned)seconds);
    atomic_store(&to_begin, 0);
    await_end();
    peer_end();
    add_figures();
}

void crowd_stop(void)
{
    (void)pthread_mutex_lock(&mutex);
    over = true;
    (void)pthread_cond_broadcast(&changed);
    (void)pthread_mutex_unlock(&mutex);
    for (int i = 0; i < thread_count; i++)
        (void)pthread_join(threads[i], NULL);
    free(threads);
}
