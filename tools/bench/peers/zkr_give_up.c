/* SPDX-License-Identifier: Apache-2.0 */
/* N waits of one session that end at once, by their timeouts, while the session
 * holds a lock and acquires another with a timeout of 200 ms, again and again.
 *
 * A session of others has the locks that are waited for: as many as waits, or
 * so many as the option `locks` says. */
#include <stdatomic.h>
#include <stdlib.h>

#include <pthread.h>
#include <unistd.h>

#include "peer.h"
#include "zkr_benches.h"
#include "zkr_locks.h"

enum {
    TRY_MS = 200,
    LOOK_US = 200,
    ENTER_US = 300, /* so long takes one of the waits, on a busy machine */
    ENTER_MS = 500,
};

static zkr_session *others;
static zkr_session *session;
static long lock_count;
static zkr_mutex **theirs;
static zkr_mutex **ours;
static zkr_mutex *own;
static zkr_grant *held;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static long under_way;
static atomic_bool over;

static void one_less(void)
{
    (void)pthread_mutex_lock(&mutex);
    if (--under_way == 0)
        (void)pthread_cond_signal(&changed);
    (void)pthread_mutex_unlock(&mutex);
}

static void await_all(void)
{
    (void)pthread_mutex_lock(&mutex);
    while (under_way > 0)
        (void)pthread_cond_wait(&changed, &mutex);
    (void)pthread_mutex_unlock(&mutex);
}

static void on_granted(int error, zkr_grant *grant, void *user)
{
    (void)grant; /* it is held to the end */
    (void)user;
    check("acquire", error);
    one_less();
}

static void on_timeout(int error, zkr_grant *grant, void *user)
{
    (void)grant;
    (void)user;
    if (error != ZKR_ETIMEDOUT)
        peer_error("a wait ended with %s", zkr_error_detail());
    one_less();
}

/* -- what the session does beside ----------------------------------------- */

struct beside {
    pthread_t thread;
    int64_t longest; /* ns; see what it does */
};

/* How long check() takes. */
static void *look(void *arg)
{
    struct beside *b = arg;

    while (!atomic_load(&over)) {
        int64_t begin = peer_now_ns();

        check("check", zkr_grant_check(held));
        begin = peer_now_ns() - begin;
        if (begin > b->longest)
            b->longest = begin;
        (void)usleep(LOOK_US);
    }
    return NULL;
}

/* How late an acquire comes back that times out. */
static void *try(void *arg)
{
    struct beside *b = arg;

    while (!atomic_load(&over)) {
        zkr_grant *grant = NULL;
        int64_t begin = peer_now_ns();
        int rc = zkr_mutex_acquire(ours[0], TRY_MS, &grant);
        int64_t late = peer_now_ns() - begin - TRY_MS * INT64_C(1000000);

        if (rc != ZKR_ETIMEDOUT)
            peer_error("a try ended with %s", zkr_error_detail());
        if (late > b->longest)
            b->longest = late;
    }
    return NULL;
}

static void begin_beside(struct beside *b, void *(*fn)(void *))
{
    b->longest = 0;
    if (pthread_create(&b->thread, NULL, fn, b) != 0)
        peer_error("no thread");
}

/* -- the bench ------------------------------------------------------------ */

static void wait_until(long i, int64_t end)
{
    int64_t left = (end - peer_now_ns()) / 1000000;

    if (left <= 0)
        peer_error("%ld waits take too long to begin", i);
    check("acquire", zkr_mutex_acquire_async(ours[i % lock_count], left,
                                             on_timeout, NULL, NULL));
}

void give_up_run(long n)
{
    struct beside looks;
    struct beside tries;
    int64_t end =
        peer_now_ns() + ENTER_MS * INT64_C(1000000) + n * ENTER_US * 1000;

    under_way = n;
    for (long i = 0; i < n; i++)
        wait_until(i, end);
    while (peer_now_ns() < end - TRY_MS * INT64_C(1000000) / 2)
        (void)usleep(LOOK_US);
    atomic_store(&over, false);
    begin_beside(&looks, look);
    begin_beside(&tries, try);
    peer_begin();
    await_all();
    check("sync", zkr_session_sync(session, -1)); /* nodes have gone */
    peer_end();
    atomic_store(&over, true);
    (void)pthread_join(looks.thread, NULL);
    (void)pthread_join(tries.thread, NULL);
    peer_figure("check_ns", (double)looks.longest);
    peer_figure("late_ns", (double)tries.longest);
}

static zkr_mutex **new_mutexes(zkr_session *s)
{
    zkr_mutex **all = calloc((size_t)lock_count, sizeof(zkr_mutex *));

    if (all == NULL)
        peer_error("out of memory");
    for (long i = 0; i < lock_count; i++)
        check("new", zkr_mutex_new(s, path_of("give-up", i), NULL, &all[i]));
    return all;
}

void give_up_prepare(void)
{
    lock_count = peer_number("locks", 1000);
    others = open_session();
    session = open_session();
    theirs = new_mutexes(others);
    ours = new_mutexes(session);
    check("new", zkr_mutex_new(session, path_of("own", 0), NULL, &own));
    check("acquire", zkr_mutex_acquire(own, -1, &held));
    under_way = lock_count;
    for (long i = 0; i < lock_count; i++)
        check("acquire",
              zkr_mutex_acquire_async(theirs[i], -1, on_granted, NULL, NULL));
    await_all();
}

void give_up_finish(void)
{
    zkr_grant_free(held);
    zkr_mutex_free(own);
    for (long i = 0; i < lock_count; i++) {
        zkr_mutex_free(ours[i]);
        zkr_mutex_free(theirs[i]);
    }
    free(ours);
    free(theirs);
    (void)zkr_session_close(session);
    (void)zkr_session_close(others);
}
