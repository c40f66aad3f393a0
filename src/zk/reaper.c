/* SPDX-License-Identifier: Apache-2.0 */
/* The reaper closes handles: it runs a call that may never return. */
#include "zk/reaper.h"

#include <stdatomic.h>
#include <stdlib.h>

#include <zkrecipes/session.h>

#include "base/log.h"
#include "base/mtx.h"
#include "base/thread.h"

/* The last of the two threads that uses it frees it. */
struct job {
    bool (*call)(void *);
    void *arg;
    struct zkr__mtx lock;
    struct zkr__cond changed;
    bool returned;  /* under lock, as all below */
    bool result;    /* if it has */
    bool abandoned; /* the thread that asked for it has given up */
};

static atomic_uint stuck;

static struct job *new_job(bool (*call)(void *), void *arg)
{
    struct job *job = calloc(1, sizeof(*job));

    if (job == NULL)
        return NULL;
    job->call = call;
    job->arg = arg;
    (void)zkr__mtx_init(&job->lock);
    return job;
}

static void free_job(struct job *job)
{
    zkr__mtx_done(&job->lock);
    free(job);
}

static void *reaper_main(void *arg)
{
    struct job *job = arg;
    bool result = job->call(job->arg);
    bool abandoned;

    zkr__mtx_lock(&job->lock);
    job->result = result;
    job->returned = true;
    abandoned = job->abandoned;
    zkr__cond_wake(&job->changed);
    zkr__mtx_unlock(&job->lock);
    if (abandoned) {
        free_job(job);
        zkr__log(ZKR_LOG_INFO,
                 "the ZooKeeper client has given a handle back; %u are stuck",
                 atomic_fetch_sub(&stuck, 1) - 1);
    }
    return NULL;
}

/* Returns false when the caller has abandoned it. */
static bool await(struct job *job, int64_t deadline)
{
    bool returned;

    zkr__mtx_lock(&job->lock);
    while (!job->returned &&
           zkr__cond_wait(&job->changed, &job->lock, deadline))
        ;
    returned = job->returned;
    job->abandoned = !returned;
    if (!returned)
        (void)atomic_fetch_add(&stuck, 1);
    zkr__mtx_unlock(&job->lock);
    return returned;
}

bool zkr__reaper_run(bool (*call)(void *), void *arg, int64_t deadline)
{
    struct job *job = new_job(call, arg);
    pthread_t thread;
    bool result;

    if (job == NULL ||
        zkr__thread_start(&thread, "zkr-reaper", reaper_main, job) != ZKR_OK) {
        if (job != NULL)
            free_job(job);
        return call(arg);
    }
    if (!await(job, deadline)) {
        (void)pthread_detach(thread);
        zkr__log(ZKR_LOG_WARNING,
                 "the ZooKeeper client does not give a handle back; %u are "
                 "stuck, with their threads and descriptors",
                 zkr_session_stuck_handles());
        return false;
    }
    (void)pthread_join(thread, NULL);
    result = job->result;
    free_job(job);
    return result;
}

uint32_t zkr_session_stuck_handles(void)
{
    return atomic_load(&stuck);
}
