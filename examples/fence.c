/* SPDX-License-Identifier: Apache-2.0 */
/* A fenced file: only the newest holder of the lock adds a line. A holder that
 * has lost the lock and does not know it is refused.
 *
 *   ./fence 127.0.0.1:2181 /locks/orders orders.log */
#include <stdio.h>
#include <unistd.h>

#include <zkrecipes/zkrecipes.h>

static int fail(const char *what, int rc)
{
    (void)fprintf(stderr, "%s: %s\n  %s\n", what, zkr_strerror(rc),
                  zkr_error_detail());
    return 1;
}

static int add_line(const char *file, long long token)
{
    FILE *f = fopen(file, "a");

    if (f == NULL)
        return -1;
    int rc = fprintf(f, "written with token %lld\n", token) < 0 ? -1 : 0;
    if (fflush(f) != 0 || fsync(fileno(f)) != 0)
        rc = -1;
    return fclose(f) != 0 ? -1 : rc;
}

/* Between begin and end nobody else is accepted. Without it this process could
 * stop after its token was accepted, and write after a newer one. */
static int write_fenced(zkr_fence *fence, const char *file, zkr_grant *grant)
{
    int64_t token = zkr_grant_token(grant);
    int rc = zkr_fence_begin(fence, token, zkr_grant_handoff(grant), 5000);

    if (rc == ZKR_ESTALE)
        return fail("somebody else holds the lock", rc);
    if (rc != ZKR_OK)
        return fail("fence", rc);
    rc = add_line(file, (long long)token);
    zkr_fence_end(fence);
    if (rc != 0)
        perror(file);
    return rc == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
    const char *hosts = argc > 1 ? argv[1] : "127.0.0.1:2181";
    const char *path = argc > 2 ? argv[2] : "/locks/orders";
    const char *file = argc > 3 ? argv[3] : "orders.log";
    char fence_file[4096];
    zkr_session *session = NULL;
    zkr_mutex *mutex = NULL;
    zkr_grant *grant = NULL;
    zkr_fence *fence = NULL;
    struct zkr_fence_opts opts = ZKR_FENCE_OPTS_INIT;
    int status = 0;
    int rc = zkr_session_open(hosts, NULL, &session);

    (void)snprintf(fence_file, sizeof(fence_file), "%s.fence", file);
    opts.file = fence_file;
    if (rc == ZKR_OK)
        rc = zkr_fence_new(&opts, &fence);
    if (rc == ZKR_OK)
        rc = zkr_mutex_new(session, path, NULL, &mutex);
    if (rc == ZKR_OK)
        rc = zkr_mutex_acquire(mutex, 10000, &grant);
    if (rc == ZKR_OK)
        status = write_fenced(fence, file, grant);
    if (rc == ZKR_OK)
        rc = zkr_grant_release(grant);
    if (rc != ZKR_OK)
        status = fail("lock", rc);
    zkr_grant_free(grant);
    zkr_mutex_free(mutex);
    zkr_fence_free(fence);
    (void)zkr_session_close(session);
    return status;
}
