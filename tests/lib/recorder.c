/* SPDX-License-Identifier: Apache-2.0 */
/* A list of events with a mutex and a condition variable. */
#include "recorder.h"

#include <stdlib.h>

#include "wait.h"

struct event {
    int code;
    int64_t value;
};

struct recorder {
    pthread_mutex_t lock;
    pthread_cond_t grown;
    struct event *events; /* under lock, as the count */
    size_t count;
};

struct recorder *recorder_new(void)
{
    struct recorder *r = calloc(1, sizeof(*r));

    if (r == NULL)
        return NULL;
    pthread_mutex_init(&r->lock, NULL);
    wait_init(&r->grown);
    return r;
}

void recorder_free(struct recorder *r)
{
    if (r == NULL)
        return;
    pthread_cond_destroy(&r->grown);
    pthread_mutex_destroy(&r->lock);
    free(r->events);
    free(r);
}

void recorder_add(struct recorder *r, int code, int64_t value)
{
    pthread_mutex_lock(&r->lock);
    r->events = realloc(r->events, (r->count + 1) * sizeof(*r->events));
    /* A callback cannot report this; with a lost event the test would lie. */
    if (r->events == NULL)
        abort();
    r->events[r->count++] = (struct event){ .code = code, .value = value };
    pthread_cond_broadcast(&r->grown);
    pthread_mutex_unlock(&r->lock);
}

size_t recorder_count(struct recorder *r)
{
    pthread_mutex_lock(&r->lock);
    size_t count = r->count;
    pthread_mutex_unlock(&r->lock);
    return count;
}

bool recorder_wait(struct recorder *r, size_t count, int timeout_ms)
{
    struct timespec deadline = wait_deadline(timeout_ms);
    int rc = 0;

    pthread_mutex_lock(&r->lock);
    while (r->count < count && rc == 0)
        rc = pthread_cond_timedwait(&r->grown, &r->lock, &deadline);
    bool reached = r->count >= count;
    pthread_mutex_unlock(&r->lock);
    return reached;
}

bool recorder_get(struct recorder *r, size_t i, int *code, int64_t *value)
{
    pthread_mutex_lock(&r->lock);
    bool found = i < r->count;
    if (found && code != NULL)
        *code = r->events[i].code;
    if (found && value != NULL)
        *value = r->events[i].value;
    pthread_mutex_unlock(&r->lock);
    return found;
}

void recorder_clear(struct recorder *r)
{
    pthread_mutex_lock(&r->lock);
    r->count = 0;
    pthread_mutex_unlock(&r->lock);
}
