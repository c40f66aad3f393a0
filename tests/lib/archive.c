/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the classes of a server that has served into the file that it is
 * given, so that those of the tests need not read and check them again: the
 * start of a server is a large part of what the tests cost. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "admin.h"
#include "server.h"

static int serve(const struct server *s)
{
    struct admin *a;
    char text[16];
    int rc = admin_open(server_hosts(s), &a);

    if (rc != ZOK)
        return rc;
    rc = admin_create_flags(a, "/node", "data", ZOO_EPHEMERAL, NULL, 0);
    if (rc == ZOK)
        rc = admin_set(a, "/node", "other");
    if (rc == ZOK)
        rc = admin_get(a, "/node", text, sizeof(text));
    if (rc == ZOK)
        rc = admin_delete_tree(a, "/node");
    admin_close(a);
    return rc;
}

int main(int argc, char **argv)
{
    char option[4096];
    const char *const options[] = { option, NULL };
    struct server_opts opts = { .java_opts = options,
                                .security = SERVER_PLAIN };
    struct server *s;
    siginfo_t end;

    if (argc != 2)
        return 64;
    (void)snprintf(option, sizeof(option), "-XX:ArchiveClassesAtExit=%s",
                   argv[1]);
    (void)unlink(argv[1]);
    int rc = server_start(&opts, &s);
    if (rc == SERVER_MISSING)
        return creat(argv[1], 0600) < 0; /* nothing starts here */
    if (rc != SERVER_OK)
        return rc;
    rc = serve(s);
    /* The server writes the archive last. server_stop() reaps its process, so
     * this only waits for the end. */
    (void)kill(server_pid(s), SIGTERM);
    while (waitid(P_PID, (id_t)server_pid(s), &end, WEXITED | WNOWAIT) != 0 &&
           errno == EINTR)
        continue;
    server_stop(s);
    _exit(rc); /* the client loses memory, which a sanitizer would name */
}
