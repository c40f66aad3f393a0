/* SPDX-License-Identifier: Apache-2.0 */
/* A fair distributed mutex: wait for it, work, give it back.
 *
 *   ./mutex 127.0.0.1:2181 /locks/orders */
#include <stdio.h>

#include <zkrecipes/zkrecipes.h>

static int fail(const char *what, int rc)
{
    (void)fprintf(stderr, "%s: %s\n  %s\n", what, zkr_strerror(rc),
                  zkr_error_detail());
    return 1;
}

/* Do the work that the lock protects. Before each step check that the lock is
 * still held, and give the token to the resource, so that it can refuse a late
 * write. */
static int work(zkr_grant *grant)
{
    for (int step = 1; step <= 3; step++) {
        int rc = zkr_grant_check(grant);

        if (rc != ZKR_OK)
            return fail("stopping", rc);
        (void)printf("step %d, token %lld\n", step,
                     (long long)zkr_grant_token(grant));
    }
    return 0;
}

int main(int argc, char **argv)
{
    const char *hosts = argc > 1 ? argv[1] : "127.0.0.1:2181";
    const char *path = argc > 2 ? argv[2] : "/locks/orders";
    struct zkr_lockable_opts opts = ZKR_LOCKABLE_OPTS_INIT;
    zkr_session *session;
    zkr_mutex *mutex;
    zkr_grant *grant;
    int status = 0;
    int rc = zkr_session_open(hosts, NULL, &session);

    if (rc != ZKR_OK)
        return fail("open", rc);
    opts.label = "the example"; /* shown to those who wait for us */
    rc = zkr_mutex_new(session, path, &opts, &mutex);
    if (rc != ZKR_OK)
        status = fail("new", rc);
    if (rc == ZKR_OK) {
        rc = zkr_mutex_acquire(mutex, 10000, &grant);
        if (rc != ZKR_OK) {
            status = fail("acquire", rc);
        } else {
            (void)printf("held: %s\n", zkr_grant_node(grant));
            status = work(grant);
            rc = zkr_grant_release(grant);
            if (rc != ZKR_OK)
                status = fail("release", rc);
            zkr_grant_free(grant);
        }
        zkr_mutex_free(mutex);
    }
    (void)zkr_session_close(session);
    return status;
}
