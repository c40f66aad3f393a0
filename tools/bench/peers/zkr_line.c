/* SPDX-License-Identifier: Apache-2.0 */
/* Claims that wait for one lock, without threads, and get it one after the
 * other.
 *
 * A holder is there first, so that all of them have to wait. Their memory is
 * measured when all nodes are there and the process has come to rest. Then the
 * holder gives back, and each claim gives back when it is granted: this part is
 * the time of the batch. */
#include <malloc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pthread.h>
#include <unistd.h>

#include "four_letters.h"
#include "peer.h"
#include "zkr_benches.h"
#include "zkr_locks.h"

enum {
    SESSIONS_MAX = 128,
    POLL_US = 20000,
    REST_POLLS = 5,                /* so often in a row it must be idle */
    REST_NS = POLL_US * 1000 / 10, /* at most so much CPU between two polls */
};

static zkr_session *sessions[SESSIONS_MAX];
static zkr_mutex *mutexes[SESSIONS_MAX];
static long session_count;
static zkr_grant *holder;
static size_t node_length;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static long under_way;

/* The memory that the process uses. */
struct usage {
    int64_t cpu_ns;
    size_t heap;
    long resident;
    long peak; /* resident memory, since forget_peak() */
    long threads;
};

static long number_in(const char *file, const char *before)
{
    FILE *f = fopen(file, "r");
    char line[256];
    long number = 0;

    if (f == NULL)
        peer_error("cannot read %s", file);
    while (fgets(line, sizeof(line), f) != NULL) {
        if (strncmp(line, before, strlen(before)) == 0)
            number = strtol(line + strlen(before), NULL, 10);
    }
    (void)fclose(f);
    return number;
}

static struct usage usage_now(void)
{
    struct mallinfo2 info = mallinfo2();

    return (struct usage){
        .cpu_ns = peer_cpu_ns(),
        .heap = info.uordblks + info.hblkhd,
        .resident = number_in("/proc/self/status", "VmRSS:") * 1024,
        .peak = number_in("/proc/self/status", "VmHWM:") * 1024,
        .threads = number_in("/proc/self/status", "Threads:"),
    };
}

/* Gives back what was freed in former batches, so that growth shows. */
static void forget_peak(void)
{
    FILE *f;

    (void)malloc_trim(0);
    f = fopen("/proc/self/clear_refs", "w");
    if (f == NULL || fputs("5", f) == EOF || fclose(f) != 0)
        peer_error("cannot write /proc/self/clear_refs");
}

/* Until there are so many nodes on the server, and nothing is computed here. */
static void await_line(long nodes)
{
    int quiet = 0;

    while (ephemeral_nodes(peer_target()) < nodes)
        (void)usleep(POLL_US);
    while (quiet < REST_POLLS) {
        int64_t before = peer_cpu_ns();

        (void)usleep(POLL_US);
        quiet = peer_cpu_ns() - before <= REST_NS ? quiet + 1 : 0;
    }
}

static void on_released(int error, void *user)
{
    (void)user;
    check("release", error);
    (void)pthread_mutex_lock(&mutex);
    if (--under_way == 0)
        (void)pthread_cond_signal(&changed);
    (void)pthread_mutex_unlock(&mutex);
}

static void on_granted(int error, zkr_grant *grant, void *user)
{
    (void)user;
    check("acquire", error);
    check("release", zkr_grant_release_async(grant, on_released, NULL));
    zkr_grant_free(grant);
}

/* Returns how long the call took. */
static int64_t claim(long i)
{
    int64_t begin = peer_now_ns();

    check("acquire", zkr_mutex_acquire_async(mutexes[i % session_count], -1,
                                             on_granted, NULL, NULL));
    return peer_now_ns() - begin;
}

static void hold(void)
{
    check("acquire", zkr_mutex_acquire(mutexes[0], -1, &holder));
    node_length = strlen(zkr_grant_node(holder)) + 1;
}

static void give_back(void)
{
    zkr_grant_free(holder); /* in the background */
    holder = NULL;
}

/* Returns when the last claim has given back, too. */
static void drain(void)
{
    give_back();
    (void)pthread_mutex_lock(&mutex);
    while (under_way > 0)
        (void)pthread_cond_wait(&changed, &mutex);
    (void)pthread_mutex_unlock(&mutex);
}

/* Returns when n more claims wait behind the holder. */
static void enter(long n)
{
    long before = ephemeral_nodes(peer_target());

    under_way += n;
    for (long i = 0; i < n; i++)
        (void)claim(i);
    await_line(before + n);
}

static void add_growth(const struct usage *before, const struct usage *after,
                       long n)
{
    double bytes = (double)after->heap - (double)before->heap;
    double peak = (double)(after->peak - before->resident);

    peer_figure("heap_each", bytes / (double)n - (double)node_length);
    peer_figure("peak_each", peak / (double)n - (double)node_length);
    peer_figure("threads_each",
                (double)(after->threads - before->threads) / (double)n);
    peer_figure("enter_cpu_ns",
                (double)(after->cpu_ns - before->cpu_ns) / (double)n);
}

void line_run(long n)
{
    if (n == 0)
        return;
    hold();
    forget_peak();
    struct usage before = usage_now();
    int64_t begin = peer_now_ns();
    enter(n);
    struct usage waiting = usage_now();
    peer_figure("enter_ns", (double)(peer_now_ns() - begin) / (double)n);
    add_growth(&before, &waiting, n);
    peer_begin();
    drain();
    peer_end();
    peer_figure("line_cpu_ns",
                (double)(peer_cpu_ns() - before.cpu_ns) / (double)n);
}

void calls_run(long n)
{
    long claims = peer_number("claims", 2000);

    if (n == 0)
        return;
    int64_t *took = calloc((size_t)n, sizeof(*took));
    if (took == NULL)
        peer_error("out of memory");
    hold();
    enter(claims);
    under_way += n;
    if (peer_number("moving", 0) != 0)
        give_back();
    peer_begin();
    for (long i = 0; i < n; i++)
        took[i] = claim(i);
    peer_end();
    drain();
    peer_figure("median_ns", (double)peer_quantile(took, (size_t)n, 0.5));
    peer_figure("p99_ns", (double)peer_quantile(took, (size_t)n, 0.99));
    peer_figure("max_ns", (double)took[n - 1]);
    free(took);
}

void waiting_run(long n)
{
    (void)sleep((unsigned)n);
}

void line_prepare(void)
{
    session_count = peer_number("sessions", 1);
    if (session_count > SESSIONS_MAX)
        peer_error("more than %d sessions", SESSIONS_MAX);
    for (long i = 0; i < session_count; i++) {
        sessions[i] = open_session();
        check("new", zkr_mutex_new(sessions[i], path_of("line", 0), NULL,
                                   &mutexes[i]));
    }
    hold(); /* makes the directory */
    check("release", zkr_grant_release(holder));
    give_back();
}

void waiting_prepare(void)
{
    line_prepare();
    hold();
    enter(peer_number("claims", 1000));
}

void line_finish(void)
{
    drain();
    for (long i = 0; i < session_count; i++) {
        zkr_mutex_free(mutexes[i]);
        (void)zkr_session_close(sessions[i]);
    }
}
