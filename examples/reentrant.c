/* SPDX-License-Identifier: Apache-2.0 */
/* A mutex that its owner may acquire again, so that functions which lock it can
 * call each other.
 *
 *   ./reentrant 127.0.0.1:2181 /locks/accounts */
#include <stdio.h>

#include <zkrecipes/zkrecipes.h>

static int fail(const char *what, int rc)
{
    (void)fprintf(stderr, "%s: %s\n  %s\n", what, zkr_strerror(rc),
                  zkr_error_detail());
    return rc;
}

/* This is correct alone, and when the caller holds the lock already. */
static int book(zkr_reentrant_mutex *mutex, const char *account, int amount)
{
    int rc = zkr_reentrant_mutex_acquire(mutex, 10000);

    if (rc != ZKR_OK)
        return fail("book", rc);
    (void)printf("%s %+d, depth %u, token %lld\n", account, amount,
                 zkr_reentrant_mutex_depth(mutex),
                 (long long)zkr_grant_token(zkr_reentrant_mutex_grant(mutex)));
    return zkr_reentrant_mutex_release(mutex);
}

/* Make both bookings under one grant: nobody sees one without the other. */
static int transfer(zkr_reentrant_mutex *mutex, int amount)
{
    int rc = zkr_reentrant_mutex_acquire(mutex, 10000);

    if (rc != ZKR_OK)
        return fail("transfer", rc);
    rc = book(mutex, "alice", -amount);
    if (rc == ZKR_OK)
        rc = book(mutex, "bob", amount);
    int released = zkr_reentrant_mutex_release(mutex);
    return rc == ZKR_OK ? released : rc;
}

int main(int argc, char **argv)
{
    const char *hosts = argc > 1 ? argv[1] : "127.0.0.1:2181";
    const char *path = argc > 2 ? argv[2] : "/locks/accounts";
    zkr_reentrant_mutex *mutex = NULL;
    zkr_session *session;
    int rc = zkr_session_open(hosts, NULL, &session);

    if (rc != ZKR_OK)
        return fail("open", rc) != ZKR_OK;
    rc = zkr_reentrant_mutex_new(session, path, NULL, &mutex);
    if (rc == ZKR_OK)
        rc = transfer(mutex, 25);
    if (rc != ZKR_OK)
        (void)fail("transfer", rc);
    zkr_reentrant_mutex_free(mutex);
    (void)zkr_session_close(session);
    return rc == ZKR_OK ? 0 : 1;
}
