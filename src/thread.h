/* Threads of ours: with all signals blocked. */
#ifndef ZKR__THREAD_H
#define ZKR__THREAD_H

#include <pthread.h>

/* ZKR_OK or ZKR_ESYSTEM. */
int zkr__thread_start(pthread_t *thread, const char *name,
                      void *(*main)(void *), void *arg);

#endif
