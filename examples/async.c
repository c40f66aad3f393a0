/* SPDX-License-Identifier: Apache-2.0 */
/* A mutex in an event loop of the program's own: five claims wait, and no
 * thread blocks.
 *
 *   ./async 127.0.0.1:2181 /locks/orders */
#include <stdio.h>

#include <poll.h>

#include <zkrecipes/zkrecipes.h>

enum { CLAIMS = 5 };
static zkr_request *requests[CLAIMS];
static int granted, refused, released, failed;

static void check(const char *what, int rc)
{
    failed += rc != ZKR_OK;
    if (rc != ZKR_OK)
        (void)fprintf(stderr, "%s: %s\n  %s\n", what, zkr_strerror(rc),
                      zkr_error_detail());
}

static void on_release(int error, void *user)
{
    check("release", error);
    ++*(int *)user;
}

/* Called once for each claim, inside our loop. It must not wait. */
static void on_outcome(int error, zkr_grant *grant, void *user)
{
    int number = (int)((zkr_request **)user - requests);

    if (error != ZKR_OK) {
        (void)printf("claim %d: %s\n", number, zkr_strerror(error));
        refused++;
        return;
    }
    (void)printf("claim %d: token %lld\n", number,
                 (long long)zkr_grant_token(grant));
    if (granted++ == 0) /* all other claims wait for ours: one of them gives
                           up */
        check("cancel", zkr_request_cancel(requests[(number + 1) % CLAIMS]));
    check("release", zkr_grant_release_async(grant, on_release, &released));
    zkr_grant_free(grant); /* on_release is called all the same */
}

static void run_loop(zkr_session *session)
{
    struct pollfd ours = { .events = POLLIN }; /* descriptors of the program go
                                                  next to it */
    check("loop", zkr_session_fd(session, &ours.fd));
    while (released + refused < CLAIMS && failed == 0) {
        (void)poll(&ours, 1, -1);
        check("loop", zkr_session_dispatch(session));
    }
}

int main(int argc, char **argv)
{
    const char *hosts = argc > 1 ? argv[1] : "127.0.0.1:2181";
    const char *path = argc > 2 ? argv[2] : "/locks/orders";
    struct zkr_session_opts opts = ZKR_SESSION_OPTS_INIT;
    zkr_session *session = NULL;
    zkr_mutex *mutex = NULL;

    opts.flags = ZKR_SESSION_OWN_LOOP;
    int rc = zkr_session_open(hosts, &opts, &session);
    if (rc == ZKR_OK)
        rc = zkr_mutex_new(session, path, NULL, &mutex);
    for (int i = 0; i < CLAIMS && rc == ZKR_OK; i++)
        rc = zkr_mutex_acquire_async(mutex, 10000, on_outcome, &requests[i],
                                     &requests[i]);
    check("start", rc);
    if (rc == ZKR_OK)
        run_loop(session);
    for (int i = 0; i < CLAIMS; i++)
        zkr_request_free(requests[i]);
    zkr_mutex_free(mutex);
    check("close", zkr_session_close(session));
    return failed == 0 && released == CLAIMS - 1 && refused == 1 ? 0 : 1;
}
