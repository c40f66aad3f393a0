/* SPDX-License-Identifier: Apache-2.0 */
/* Many locks of one session, without a thread that waits: a batch acquires the
 * next N of them all at once, and releases each when it is granted. */
#include <stdlib.h>

#include <pthread.h>

#include "peer.h"
#include "zkr_benches.h"
#include "zkr_locks.h"

static zkr_session *session;
static zkr_mutex **locks;
static long lock_count;
static long next;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static long under_way;

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

void many_run(long n)
{
    under_way = n;
    for (long i = 0; i < n; i++)
        check("acquire", zkr_mutex_acquire_async(locks[next++ % lock_count], -1,
                                                 on_granted, NULL, NULL));
    (void)pthread_mutex_lock(&mutex);
    while (under_way > 0)
        (void)pthread_cond_wait(&changed, &mutex);
    (void)pthread_mutex_unlock(&mutex);
}

/* The warm-up takes each lock once, so that its directory is there. */
void many_prepare(void)
{
    session = open_session();
    lock_count = peer_number("locks", 10000);
    locks = calloc((size_t)lock_count, sizeof(zkr_mutex *));
    if (locks == NULL)
        peer_error("out of memory");
    for (long i = 0; i < lock_count; i++)
        check("new",
              zkr_mutex_new(session, path_of("many", i), NULL, &locks[i]));
    many_run(lock_count);
}

void many_finish(void)
{
    for (long i = 0; i < lock_count; i++)
        zkr_mutex_free(locks[i]);
    free(locks);
    (void)zkr_session_close(session);
}
