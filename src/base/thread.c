/* The library's own threads, which block all signals. */
#include "base/thread.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>

#include "base/error.h"

int zkr__thread_start(pthread_t *thread, const char *name,
                      void *(*main)(void *), void *arg)
{
    sigset_t all;
    sigset_t before;
    int rc;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    rc = pthread_create(thread, NULL, main, arg);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (rc != 0)
        return zkr__fail(ZKR_ESYSTEM, "cannot start thread %s: %s", name,
                         strerror(rc));
    rc = pthread_setname_np(*thread, name);
    assert(rc != ERANGE); /* the kernel takes 15 characters */
    (void)rc;
    return ZKR_OK;
}

uint64_t zkr__thread_number(void)
{
    static atomic_uint_fast64_t last;
    static _Thread_local uint64_t number;

    if (number == 0)
        number = atomic_fetch_add(&last, 1) + 1;
    return number;
}
