/* SPDX-License-Identifier: Apache-2.0 */
/* A guard against two instances of one job: the second one exits.
 *
 *   ./unfair 127.0.0.1:2181 /locks/nightly-export */
#include <stdio.h>

#include <zkrecipes/zkrecipes.h>

static int fail(const char *what, int rc)
{
    (void)fprintf(stderr, "%s: %s\n  %s\n", what, zkr_strerror(rc),
                  zkr_error_detail());
    return rc;
}

static int run_once(zkr_unfair_mutex *mutex)
{
    zkr_grant *grant;
    int rc = zkr_unfair_mutex_acquire(mutex, 0, &grant); /* one request */

    if (rc == ZKR_EBUSY) {
        (void)printf("already running elsewhere: %s\n", zkr_error_detail());
        return ZKR_OK;
    }
    if (rc != ZKR_OK)
        return fail("acquire", rc);
    (void)printf("running, token %lld\n", (long long)zkr_grant_token(grant));
    rc = zkr_grant_release(grant);
    zkr_grant_free(grant);
    return rc;
}

int main(int argc, char **argv)
{
    const char *hosts = argc > 1 ? argv[1] : "127.0.0.1:2181";
    const char *path = argc > 2 ? argv[2] : "/locks/nightly-export";
    zkr_unfair_mutex *mutex = NULL;
    zkr_session *session;
    int rc = zkr_session_open(hosts, NULL, &session);

    if (rc != ZKR_OK)
        return fail("open", rc) != ZKR_OK;
    rc = zkr_unfair_mutex_new(session, path, NULL, &mutex);
    if (rc == ZKR_OK)
        rc = run_once(mutex);
    if (rc != ZKR_OK)
        (void)fail("run", rc);
    zkr_unfair_mutex_free(mutex);
    (void)zkr_session_close(session);
    return rc == ZKR_OK ? 0 : 1;
}
