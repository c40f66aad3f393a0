/* SPDX-License-Identifier: Apache-2.0 */
/* A job that runs once a day, on whichever machine is first: under the lock it
 * reads when it last ran, decides, and writes what it has done, all on the
 * session of the lock.
 *
 *   ./client 127.0.0.1:2181 /locks/report */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <zkrecipes/zkrecipes.h>

#define LAST_RUN "/zkrecipes-last-run"
#define A_DAY    (24 * 60 * 60)

static int fail(const char *what, int rc)
{
    (void)fprintf(stderr, "%s: %s\n  %s\n", what, zkr_strerror(rc),
                  zkr_error_detail());
    return 1;
}

/* When it last ran, and the version of the node that says so. */
static int read_last(zkr_session *session, time_t *ret_last,
                     int32_t *ret_version)
{
    struct zkr_reply *reply = NULL;
    int rc = zkr_session_create(session, LAST_RUN, "0", 1, NULL, 5000, NULL);

    if (rc != ZKR_OK && rc != ZKR_ZNODEEXISTS && rc != ZKR_EUNKNOWN)
        return rc;
    /* The holder before us may have used another server. */
    rc = zkr_session_sync(session, 5000);
    if (rc == ZKR_OK)
        rc = zkr_session_get(session, LAST_RUN, 5000, &reply);
    if (rc != ZKR_OK)
        return rc;
    *ret_last =
        reply->data == NULL ? 0 : (time_t)strtoll(reply->data, NULL, 10);
    *ret_version = reply->stat.version;
    zkr_reply_free(reply);
    return ZKR_OK;
}

static int run_if_due(zkr_session *session, zkr_grant *grant)
{
    char now[32];
    int32_t version;
    time_t last;
    int rc = read_last(session, &last, &version);

    if (rc != ZKR_OK)
        return fail("read", rc);
    if (time(NULL) - last < A_DAY) {
        (void)printf("it has run already\n");
        return 0;
    }
    (void)printf("it runs now\n");
    int len = snprintf(now, sizeof(now), "%lld", (long long)time(NULL));
    /* Made only if the lock is still held, and nobody has written since. */
    rc = zkr_grant_guarded_set(grant, LAST_RUN, now, (size_t)len, version, 5000,
                               NULL);
    return rc == ZKR_OK ? 0 : fail("write", rc);
}

int main(int argc, char **argv)
{
    const char *hosts = argc > 1 ? argv[1] : "127.0.0.1:2181";
    const char *path = argc > 2 ? argv[2] : "/locks/report";
    zkr_session *session = NULL;
    zkr_mutex *mutex = NULL;
    zkr_grant *grant = NULL;
    int status = 0;
    int rc = zkr_session_open(hosts, NULL, &session);

    if (rc == ZKR_OK)
        rc = zkr_mutex_new(session, path, NULL, &mutex);
    if (rc == ZKR_OK)
        rc = zkr_mutex_acquire(mutex, 10000, &grant);
    if (rc == ZKR_OK)
        status = run_if_due(session, grant);
    if (rc == ZKR_OK)
        rc = zkr_grant_release(grant);
    if (rc != ZKR_OK)
        status = fail("lock", rc);
    zkr_grant_free(grant);
    zkr_mutex_free(mutex);
    (void)zkr_session_close(session);
    return status;
}
