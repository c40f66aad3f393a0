/* SPDX-License-Identifier: Apache-2.0 */
/* The library's own threads, which block all signals; and a thread of the user
 * while it runs code of ours. */
#pragma once

#include <pthread.h>
#include <stdint.h>
#include <sys/types.h>

/* `name` is constant. Returns ZKR_OK, ZKR_ENOMEM or ZKR_ESYSTEM. */
int zkr__thread_start(pthread_t *thread, const char *name,
                      void *(*main)(void *), void *arg);

/* Returns the number of the calling thread, from 1. A pthread_t is used again
 * when its thread has ended, and a new thread must not inherit a lock. */
uint64_t zkr__thread_number(void);

/* A thread, as others may name it. */
struct zkr__thread_id {
    uint64_t number; /* zkr__thread_number() */
    pid_t tid;
    char name[16];
};

/* The calling thread; valid until it asks again. */
const struct zkr__thread_id *zkr__thread_me(void);

/* From here on the calling thread cannot be cancelled; returns what
 * zkr__thread_cancel_restore() needs. */
static inline int zkr__thread_cancel_disable(void)
{
    int state = PTHREAD_CANCEL_ENABLE;

    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    return state;
}

static inline void zkr__thread_cancel_restore(int state)
{
    (void)pthread_setcancelstate(state, NULL);
}

static inline void zkr__thread_cancel_end(const int *state)
{
    zkr__thread_cancel_restore(*state);
}

/* Both, from this declaration to the end of its block. */
#define ZKR__NOT_CANCELLED                                                     \
    int zkr__cancel __attribute__((cleanup(zkr__thread_cancel_end), unused)) = \
        zkr__thread_cancel_disable()
