/* Threads of ours: with all signals blocked. */
#ifndef ZKR__THREAD_H
#define ZKR__THREAD_H

#include <pthread.h>
#include <stdint.h>

/* ZKR_OK or ZKR_ESYSTEM. */
int zkr__thread_start(pthread_t *thread, const char *name,
                      void *(*main)(void *), void *arg);

/* The calling thread, by a number of its own, from 1: a pthread_t is used again
 * when its thread has ended, and a new thread must not inherit a lock. */
uint64_t zkr__thread_number(void);

#endif
