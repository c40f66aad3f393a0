/* SPDX-License-Identifier: Apache-2.0 */
/* One of several programs leads, and counts its steps in a node that only the
 * leader can write. Start it in two terminals, and kill the one that leads:
 *
 *   ./leader 127.0.0.1:2181 /services/mail */
#include <stdio.h>
#include <stdlib.h>

#include <unistd.h>

#include <zkrecipes/zkrecipes.h>

enum { STEPS = 5 };

static void told(zkr_leader *leader, const struct zkr_leader_event *event,
                 void *user)
{
    static const char *const kinds[] = { "", "it leads", "do not act",
                                         "its term is over", "it has failed" };

    (void)leader;
    (void)user;
    (void)printf("%s, term %lld\n", kinds[event->kind],
                 (long long)event->token);
}

static void check(int rc)
{
    if (rc == ZKR_OK)
        return;
    (void)fprintf(stderr, "%s\n", zkr_error_detail());
    exit(1);
}

/* Refused when the term is over, even when we have not been told yet. */
static int write_step(zkr_grant *term, const char *node, int step)
{
    char text[32];
    size_t len = (size_t)snprintf(text, sizeof(text), "step %d", step);
    int rc = zkr_grant_guarded_set(term, node, text, len, ZKR_ANY_VERSION, 5000,
                                   NULL);

    if (rc == ZKR_ZNONODE)
        rc = zkr_grant_guarded_create(term, node, text, len, 5000);
    return rc;
}

/* Works for one term, or less. */
static void lead(zkr_leader *leader, const char *node)
{
    zkr_grant *term = NULL;

    if (zkr_leader_grant(leader, &term) != ZKR_OK)
        return; /* it is over already */
    for (int step = 0; step < STEPS && zkr_leader_is_leader(leader); step++) {
        int rc = write_step(term, node, step);

        (void)printf("step %d: %s\n", step, zkr_strerror(rc));
        if (rc != ZKR_OK)
            break;
    }
    zkr_grant_free(term);
}

int main(int argc, char **argv)
{
    const char *hosts = argc > 1 ? argv[1] : "127.0.0.1:2181";
    const char *path = argc > 2 ? argv[2] : "/services/mail";
    struct zkr_leader_opts opts = ZKR_LEADER_OPTS_INIT;
    zkr_session *session = NULL;
    zkr_leader *leader = NULL;
    char node[256];
    char id[32];

    (void)snprintf(node, sizeof(node), "%s-state", path);
    opts.id = id;
    opts.id_size = (size_t)snprintf(id, sizeof(id), "process %d", getpid());
    check(zkr_session_open(hosts, NULL, &session));
    check(zkr_leader_new(session, path, &opts, told, NULL, &leader));
    check(zkr_leader_campaign(leader));
    check(zkr_leader_wait(leader, -1));
    lead(leader, node);
    (void)zkr_leader_leave(leader);
    zkr_leader_free(leader);
    (void)zkr_session_close(session);
    return 0;
}
