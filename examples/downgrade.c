/* SPDX-License-Identifier: Apache-2.0 */
/* A downgrade: write, then read what was written, with no other writer in
 * between.
 *
 *   ./downgrade 127.0.0.1:2181 /locks/catalogue */
#include <stdio.h>

#include <zkrecipes/zkrecipes.h>

static int fail(const char *what, int rc)
{
    (void)fprintf(stderr, "%s: %s\n  %s\n", what, zkr_strerror(rc),
                  zkr_error_detail());
    return rc;
}

static int update_and_read(zkr_rwlock *lock)
{
    zkr_grant *writing;
    zkr_grant *reading;
    int rc = zkr_rwlock_acquire_write(lock, 10000, &writing);

    if (rc != ZKR_OK)
        return fail("write", rc);
    (void)printf("writing: %s\n", zkr_grant_node(writing));

    rc = zkr_rwlock_downgrade(lock, writing, &reading);
    if (rc != ZKR_OK) { /* the write grant is as it was */
        (void)zkr_grant_release(writing);
        zkr_grant_free(writing);
        return fail("downgrade", rc);
    }
    zkr_grant_free(writing);
    /* The read grant has the same place in the queue and the same token: a
     * writer that waits stays behind us and will have a higher token. */
    (void)printf("reading: %s, token %lld\n", zkr_grant_node(reading),
                 (long long)zkr_grant_token(reading));
    rc = zkr_grant_release(reading);
    zkr_grant_free(reading);
    return rc;
}

int main(int argc, char **argv)
{
    const char *hosts = argc > 1 ? argv[1] : "127.0.0.1:2181";
    const char *path = argc > 2 ? argv[2] : "/locks/catalogue";
    zkr_rwlock *lock = NULL;
    zkr_session *session;
    int rc = zkr_session_open(hosts, NULL, &session);

    if (rc != ZKR_OK)
        return fail("open", rc) != ZKR_OK;
    rc = zkr_rwlock_new(session, path, NULL, &lock);
    if (rc == ZKR_OK)
        rc = update_and_read(lock);
    if (rc != ZKR_OK)
        (void)fail("catalogue", rc);
    zkr_rwlock_free(lock);
    (void)zkr_session_close(session);
    return rc == ZKR_OK ? 0 : 1;
}
