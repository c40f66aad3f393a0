/* SPDX-License-Identifier: Apache-2.0 */
/* A semaphore: no more than three of a fleet of programs use the licences of
 * some other program at once; a batch takes two of them together.
 *
 *   ./semaphore 127.0.0.1:2181 /semaphores/licences */
#include <stdio.h>

#include <zkrecipes/zkrecipes.h>

enum { LICENCES = 3, BATCH = 2 };

static int fail(const char *what, int rc)
{
    (void)fprintf(stderr, "%s: %s\n  %s\n", what, zkr_strerror(rc),
                  zkr_error_detail());
    return rc;
}

static int use_one(zkr_semaphore *licences)
{
    zkr_grant *licence;
    int rc = zkr_semaphore_acquire(licences, 10000, &licence);

    if (rc != ZKR_OK)
        return fail("one licence", rc);
    (void)printf("one of %u: %s\n", zkr_semaphore_limit(licences),
                 zkr_grant_node(licence));
    /* ... the work; zkr_grant_check(licence) before each step ... */
    rc = zkr_grant_release(licence);
    zkr_grant_free(licence);
    return rc;
}

/* Both or none: nobody has one of them and waits for the other. */
static int use_two(zkr_semaphore *licences)
{
    zkr_grant *both[BATCH];
    int rc = zkr_semaphore_acquire_many(licences, BATCH, 10000, both);

    if (rc != ZKR_OK)
        return fail("two licences", rc);
    if (zkr_grants_check(both, BATCH) == ZKR_OK)
        (void)printf("two: %s\n     %s\n", zkr_grant_node(both[0]),
                     zkr_grant_node(both[1]));
    rc = zkr_grants_release(both, BATCH);
    zkr_grants_free(both, BATCH);
    return rc;
}

int main(int argc, char **argv)
{
    const char *hosts = argc > 1 ? argv[1] : "127.0.0.1:2181";
    const char *path = argc > 2 ? argv[2] : "/semaphores/licences";
    zkr_semaphore *licences = NULL;
    zkr_session *session;
    int rc = zkr_session_open(hosts, NULL, &session);

    if (rc != ZKR_OK)
        return fail("open", rc) != ZKR_OK;
    rc = zkr_semaphore_new(session, path, LICENCES, NULL, &licences);
    if (rc == ZKR_OK)
        rc = use_one(licences);
    if (rc == ZKR_OK)
        rc = use_two(licences);
    if (rc != ZKR_OK)
        (void)fail("licences", rc);
    zkr_semaphore_free(licences);
    (void)zkr_session_close(session);
    return rc == ZKR_OK ? 0 : 1;
}
