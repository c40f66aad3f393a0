/* SPDX-License-Identifier: Apache-2.0 */
/* A read/write lock: readers share it, a writer has it alone.
 *
 *   ./rwlock 127.0.0.1:2181 /locks/catalogue */
#include <stdio.h>

#include <zkrecipes/zkrecipes.h>

static int fail(const char *what, int rc)
{
    (void)fprintf(stderr, "%s: %s\n  %s\n", what, zkr_strerror(rc),
                  zkr_error_detail());
    return rc;
}

static int release(zkr_grant *grant)
{
    int rc = zkr_grant_release(grant);

    zkr_grant_free(grant);
    return rc;
}

static int read_catalogue(zkr_rwlock *lock)
{
    zkr_grant *mine;
    zkr_grant *other; /* another reader; here for simplicity in one thread */
    int rc = zkr_rwlock_acquire_read(lock, 10000, &mine);

    if (rc != ZKR_OK)
        return fail("read", rc);
    rc = zkr_rwlock_acquire_read(lock, 10000, &other);
    if (rc == ZKR_OK) {
        (void)printf("two readers: %s\n             %s\n", zkr_grant_node(mine),
                     zkr_grant_node(other));
        (void)release(other);
    }
    /* An upgrade would wait for itself, so it is refused. */
    if (zkr_rwlock_acquire_write(lock, 10000, &other) == ZKR_EDEADLK)
        (void)printf("no upgrade: %s\n", zkr_error_detail());
    return release(mine);
}

static int write_catalogue(zkr_rwlock *lock)
{
    zkr_grant *grant;
    int rc = zkr_rwlock_acquire_write(lock, 10000, &grant);

    if (rc != ZKR_OK)
        return fail("write", rc);
    (void)printf("alone: %s, token %lld\n", zkr_grant_node(grant),
                 (long long)zkr_grant_token(grant));
    return release(grant);
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
        rc = read_catalogue(lock);
    if (rc == ZKR_OK)
        rc = write_catalogue(lock);
    if (rc != ZKR_OK)
        (void)fail("catalogue", rc);
    zkr_rwlock_free(lock);
    (void)zkr_session_close(session);
    return rc == ZKR_OK ? 0 : 1;
}
