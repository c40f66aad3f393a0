/* SPDX-License-Identifier: Apache-2.0 */
/* A job under a lock that never blocks; it knows nothing of the event loop that
 * calls it. */
#include "job.h"

#include <stdio.h>

static zkr_mutex *mutex;
static bool is_over;
static int failed;

static bool fails(const char *what, int rc)
{
    if (rc == ZKR_OK)
        return false;
    (void)fprintf(stderr, "%s: %s\n  %s\n", what, zkr_strerror(rc),
                  zkr_error_detail());
    failed = 1;
    is_over = true;
    return true;
}

static void on_release(int error, void *user)
{
    (void)user;
    if (!fails("release", error))
        (void)printf("given back\n");
    is_over = true;
}

/* Does the work, and gives the lock back. */
static void on_granted(int error, zkr_grant *grant, void *user)
{
    (void)user;
    if (fails("acquire", error))
        return;
    (void)printf("granted, token %lld\n", (long long)zkr_grant_token(grant));
    (void)fails("release", zkr_grant_release_async(grant, on_release, NULL));
    zkr_grant_free(grant); /* on_release is called all the same */
}

zkr_session *job_start(int argc, char **argv, int *ret_fd)
{
    const char *hosts = argc > 1 ? argv[1] : "127.0.0.1:2181";
    const char *path = argc > 2 ? argv[2] : "/locks/orders";
    struct zkr_session_opts opts = ZKR_SESSION_OPTS_INIT;
    zkr_session *session = NULL;

    opts.flags = ZKR_SESSION_OWN_LOOP;
    if (fails("open", zkr_session_open(hosts, &opts, &session)))
        return NULL;
    if (fails("loop", zkr_session_fd(session, ret_fd)) ||
        fails("new", zkr_mutex_new(session, path, NULL, &mutex)) ||
        fails("acquire",
              zkr_mutex_acquire_async(mutex, 10000, on_granted, NULL, NULL))) {
        (void)job_finish(session);
        return NULL;
    }
    return session;
}

bool job_is_over(void)
{
    return is_over;
}

int job_finish(zkr_session *session)
{
    zkr_mutex_free(mutex);
    (void)fails("close", zkr_session_close(session));
    return failed;
}
