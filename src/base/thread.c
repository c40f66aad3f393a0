/* SPDX-License-Identifier: Apache-2.0 */
/* The library's own threads, which block all signals. */
#include "base/thread.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"

struct start {
    const char *name;
    void *(*main)(void *);
    void *arg;
};

/* The thread names itself: zk_move.c names it otherwise for a while, and its
 * creator could do so too late. */
static void *begin(void *arg)
{
    struct start start = *(struct start *)arg;
    int rc = pthread_setname_np(pthread_self(), start.name);

    assert(rc != ERANGE); /* the kernel takes 15 characters */
    (void)rc;
    free(arg);
    return start.main(start.arg);
}

int zkr__thread_start(pthread_t *thread, const char *name,
                      void *(*main)(void *), void *arg)
{
    struct start *start = malloc(sizeof(*start));
    sigset_t all;
    sigset_t before;

    if (start == NULL)
        return zkr__no_memory("cannot start thread", name);
    *start = (struct start){ name, main, arg };
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = pthread_create(thread, NULL, begin, start);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (rc == 0)
        return ZKR_OK;
    free(start);
    return zkr__fail(ZKR_ESYSTEM, "cannot start thread %s: %s", name,
                     strerror(rc));
}

uint64_t zkr__thread_number(void)
{
    static atomic_uint_fast64_t last;
    static _Thread_local uint64_t number;

    if (number == 0)
        number = atomic_fetch_add(&last, 1) + 1;
    return number;
}

/* It calls the system, where a thread could be cancelled. */
const struct zkr__thread_id *zkr__thread_me(void)
{
    static _Thread_local struct zkr__thread_id me;
    ZKR__NOT_CANCELLED;

    me.number = zkr__thread_number();
    me.tid = gettid();
    if (pthread_getname_np(pthread_self(), me.name, sizeof(me.name)) != 0)
        me.name[0] = '\0';
    return &me;
}
