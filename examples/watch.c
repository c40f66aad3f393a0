/* SPDX-License-Identifier: Apache-2.0 */
/* A watch that lasts: a program follows a node with its configuration, through
 * lost connections and new sessions.
 *
 *   ./watch 127.0.0.1:2181 /config 60 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <zkrecipes/zkrecipes.h>

static int fail(const char *what, int rc)
{
    (void)fprintf(stderr, "%s: %s\n  %s\n", what, zkr_strerror(rc),
                  zkr_error_detail());
    return 1;
}

/* The node is told as it is now, and then after each change. There is no need
 * to read it, and `why` need not matter: use what is told. */
static void on_config(int error, const struct zkr_reply *reply,
                      enum zkr_watch_why why, void *user)
{
    const char *path = user;
    const char *note = why == ZKR_WATCH_GAP ? " (in a new session)" : "";

    if (error == ZKR_ZNONODE)
        (void)printf("%s: not there, the defaults count%s\n", path, note);
    else if (error != ZKR_OK)
        (void)printf("%s: %s%s\n", path, zkr_strerror(error), note);
    else
        (void)printf("%s: version %" PRId32 ": %.*s%s\n", path,
                     reply->stat.version, (int)reply->len,
                     reply->data == NULL ? "" : reply->data, note);
    (void)fflush(stdout);
}

int main(int argc, char **argv)
{
    const char *hosts = argc > 1 ? argv[1] : "127.0.0.1:2181";
    char *path = argc > 2 ? argv[2] : "/config";
    unsigned seconds = argc > 3 ? (unsigned)atoi(argv[3]) : 1;
    zkr_session *session = NULL;
    zkr_watch *watch = NULL;
    int rc = zkr_session_open(hosts, NULL, &session);

    if (rc == ZKR_OK)
        rc = zkr_session_watch(session, path, ZKR_WATCH_DATA, NULL, on_config,
                               path, &watch);
    if (rc != ZKR_OK) {
        int status = fail("watch", rc);

        (void)zkr_session_close(session);
        return status;
    }
    (void)sleep(seconds); /* the program does its work here */
    zkr_watch_free(watch);
    (void)zkr_session_close(session);
    return 0;
}
