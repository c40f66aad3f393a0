/* SPDX-License-Identifier: Apache-2.0 */
/* A guarded write: only the holder of the lock changes data in ZooKeeper, even
 * when a write arrives late.
 *
 *   ./guarded 127.0.0.1:2181 /locks/orders */
#include <stdio.h>

#include <zkrecipes/zkrecipes.h>

static int fail(const char *what, int rc)
{
    (void)fprintf(stderr, "%s: %s\n  %s\n", what, zkr_strerror(rc),
                  zkr_error_detail());
    return 1;
}

/* The servers make each of these writes only while the lock is held. */
static int work(zkr_grant *grant, const char *data)
{
    int32_t version;
    int rc = zkr_grant_guarded_create(grant, data, "0", 1, 5000);

    if (rc == ZKR_EUNKNOWN) /* it was made or not: try once more */
        rc = zkr_grant_guarded_create(grant, data, "0", 1, 5000);
    if (rc != ZKR_OK && rc != ZKR_ZNODEEXISTS)
        return fail("create", rc);

    /* Any version is replaced here. With the expected one, a set that is
     * repeated after ZKR_EUNKNOWN is not made twice. */
    rc = zkr_grant_guarded_set(grant, data, "1", 1, -1, 5000, &version);
    if (rc != ZKR_OK)
        return fail("set", rc);
    (void)printf("%s: version %d\n", data, (int)version);
    rc = zkr_grant_guarded_set(grant, data, "2", 1, version, 5000, &version);
    if (rc == ZKR_ELOST)
        return fail("the lock has gone, and nothing was written", rc);
    if (rc != ZKR_OK)
        return fail("set", rc);
    (void)printf("%s: version %d\n", data, (int)version);
    return 0;
}

int main(int argc, char **argv)
{
    const char *hosts = argc > 1 ? argv[1] : "127.0.0.1:2181";
    const char *path = argc > 2 ? argv[2] : "/locks/orders";
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
        status = work(grant, "/zkrecipes-example");
    if (rc == ZKR_OK)
        rc = zkr_grant_release(grant);
    if (rc != ZKR_OK)
        status = fail("lock", rc);
    zkr_grant_free(grant);
    zkr_mutex_free(mutex);
    (void)zkr_session_close(session);
    return status;
}
