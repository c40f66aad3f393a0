/* SPDX-License-Identifier: Apache-2.0 */
/* A migration that nobody may disturb: it sets a barrier, and workers wait at
 * it before each job.
 *
 *   ./barrier 127.0.0.1:2181 /barriers/migration          a worker, one job
 *   ./barrier 127.0.0.1:2181 /barriers/migration migrate  the migration */
#include <stdio.h>

#include <zkrecipes/zkrecipes.h>

static int fail(const char *what, int rc)
{
    (void)fprintf(stderr, "%s: %s\n  %s\n", what, zkr_strerror(rc),
                  zkr_error_detail());
    return rc;
}

static int migrate(zkr_barrier *barrier)
{
    int rc = zkr_barrier_set(barrier, 10000);

    if (rc != ZKR_OK)
        return fail("set", rc);
    (void)printf("migrating; no job begins\n");
    rc = zkr_barrier_remove(barrier, -1); /* or they would wait for ever */
    return rc == ZKR_OK ? rc : fail("remove", rc);
}

static int work(zkr_barrier *barrier)
{
    int rc = zkr_barrier_wait(barrier, 60000);

    if (rc == ZKR_ETIMEDOUT)
        (void)printf("still migrating\n");
    if (rc != ZKR_OK)
        return fail("wait", rc);
    (void)printf("working\n");
    return rc;
}

int main(int argc, char **argv)
{
    const char *hosts = argc > 1 ? argv[1] : "127.0.0.1:2181";
    const char *path = argc > 2 ? argv[2] : "/barriers/migration";
    zkr_barrier *barrier;
    zkr_session *session;
    int rc = zkr_session_open(hosts, NULL, &session);

    if (rc != ZKR_OK)
        return fail("open", rc) != ZKR_OK;
    rc = zkr_barrier_new(session, path, NULL, &barrier);
    if (rc == ZKR_OK)
        rc = argc > 3 ? migrate(barrier) : work(barrier);
    else
        (void)fail("barrier", rc);
    zkr_barrier_free(barrier);
    (void)zkr_session_close(session);
    return rc == ZKR_OK ? 0 : 1;
}
