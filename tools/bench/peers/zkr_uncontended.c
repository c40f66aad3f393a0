/* SPDX-License-Identifier: Apache-2.0 */
/* One lock that nobody else wants.
 *
 * again: one object for all cycles. first: in each cycle a new object, for a
 * path where nobody was. The directory is there, as if the lock had been used
 * long ago: "run 0" makes directories ahead. */
#include <string.h>

#include "peer.h"
#include "zkr_benches.h"
#include "zkr_locks.h"

enum { BATCH_MAX = 100000 };

static zkr_session *session;
static struct lock lock;
static int64_t took[BATCH_MAX]; /* of each acquire of a batch */
static bool is_first;
static const char *recipe;

static zkr_mutex *maker; /* makes directories, while it is held */
static zkr_grant *maker_grant;
static long made; /* directories */
static long used;

static int64_t acquire_and_release(struct lock *l)
{
    int64_t begin = peer_now_ns();

    lock_acquire(l);
    int64_t end = peer_now_ns();
    lock_release(l);
    return end - begin;
}

static void run_again(long n)
{
    peer_begin();
    for (long i = 0; i < n; i++)
        took[i] = acquire_and_release(&lock);
    peer_end();
}

static int64_t cycle_first(long number)
{
    int64_t begin = peer_now_ns();
    struct lock l;

    lock_new(&l, session, recipe, path_of("first", number));
    int64_t ready = peer_now_ns();
    int64_t spent = acquire_and_release(&l);
    lock_free(&l);
    return ready - begin + spent;
}

static void make_directories(long count)
{
    for (; made < used + count; made++)
        check("make a directory",
              zkr_grant_guarded_create(maker_grant, path_of("first", made), "",
                                       0, -1));
}

static void run_first(long n)
{
    make_directories(n);
    peer_begin();
    for (long i = 0; i < n; i++)
        took[i] = cycle_first(used++);
    peer_end();
}

static void add_figures(long n)
{
    int64_t sum = 0;

    for (long i = 0; i < n; i++)
        sum += took[i];
    peer_figure("acquire_ns", (double)sum / (double)n);
    peer_figure("median_ns", (double)peer_quantile(took, (size_t)n, 0.5));
    peer_figure("p99_ns", (double)peer_quantile(took, (size_t)n, 0.99));
}

void uncontended_run(long n)
{
    if (n == 0 && is_first)
        make_directories(peer_number("ahead", 25));
    if (n == 0)
        return;
    if (n > BATCH_MAX)
        peer_error("more than %d cycles", BATCH_MAX);
    if (is_first)
        run_first(n);
    else
        run_again(n);
    add_figures(n);
}

void uncontended_prepare(void)
{
    session = open_session();
    recipe = peer_option("recipe", "mutex");
    is_first = strcmp(peer_option("where", "again"), "first") == 0;
    lock_new(&lock, session, recipe, path_of("again", 0));
    check("new", zkr_mutex_new(session, path_of("maker", 0), NULL, &maker));
    if (is_first)
        check("acquire", zkr_mutex_acquire(maker, -1, &maker_grant));
    uncontended_run(peer_number("warmup", 50));
}

void uncontended_finish(void)
{
    zkr_grant_free(maker_grant);
    zkr_mutex_free(maker);
    lock_free(&lock);
    (void)zkr_session_close(session);
}
