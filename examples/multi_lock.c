/* SPDX-License-Identifier: Apache-2.0 */
/* A multi-lock: a transfer has both accounts to itself, and two transfers in
 * opposite directions do not wait for each other.
 *
 *   ./multi_lock 127.0.0.1:2181 /locks/accounts */
#include <stdio.h>

#include <zkrecipes/zkrecipes.h>

static int fail(const char *what, int rc)
{
    (void)fprintf(stderr, "%s: %s\n  %s\n", what, zkr_strerror(rc),
                  zkr_error_detail());
    return rc;
}

static int new_account(zkr_session *session, const char *dir, const char *name,
                       zkr_mutex **ret_account)
{
    char path[256];

    (void)snprintf(path, sizeof(path), "%s/%s", dir, name);
    return zkr_mutex_new(session, path, NULL, ret_account);
}

static int transfer(zkr_session *session, zkr_mutex *from, zkr_mutex *to)
{
    zkr_multi_lock *both = NULL;
    zkr_grant *grants[2]; /* in the order of the paths */
    int rc = zkr_multi_lock_new(session, NULL, &both);

    if (rc == ZKR_OK)
        rc = zkr_multi_lock_add(both, from, NULL);
    if (rc == ZKR_OK)
        rc = zkr_multi_lock_add(both, to, NULL);
    if (rc == ZKR_OK)
        rc = zkr_multi_lock_acquire(both, 10000, grants);
    if (rc == ZKR_OK) {
        (void)printf("%s -> %s:\n  %s\n  %s\n", zkr_lockable_path(from),
                     zkr_lockable_path(to), zkr_grant_node(grants[0]),
                     zkr_grant_node(grants[1]));
        /* ... the transfer; zkr_grants_check(grants, 2) before each step ... */
        rc = zkr_grants_release(grants, 2);
        zkr_grants_free(grants, 2);
    }
    zkr_multi_lock_free(both);
    return rc;
}

int main(int argc, char **argv)
{
    const char *hosts = argc > 1 ? argv[1] : "127.0.0.1:2181";
    const char *dir = argc > 2 ? argv[2] : "/locks/accounts";
    zkr_mutex *ada = NULL;
    zkr_mutex *bob = NULL;
    zkr_session *session;
    int rc = zkr_session_open(hosts, NULL, &session);

    if (rc != ZKR_OK)
        return fail("open", rc) != ZKR_OK;
    rc = new_account(session, dir, "ada", &ada);
    if (rc == ZKR_OK)
        rc = new_account(session, dir, "bob", &bob);
    if (rc == ZKR_OK)
        rc = transfer(session, ada, bob);
    if (rc == ZKR_OK)
        rc = transfer(session, bob, ada);
    if (rc != ZKR_OK)
        (void)fail("transfer", rc);
    zkr_mutex_free(ada);
    zkr_mutex_free(bob);
    (void)zkr_session_close(session);
    return rc == ZKR_OK ? 0 : 1;
}
