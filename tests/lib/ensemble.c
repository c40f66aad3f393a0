/* SPDX-License-Identifier: Apache-2.0 */
/* Several real ZooKeeper servers with one leader among them. */
#include "server_private.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "wait.h"

enum { MEMBERS_MAX = 7, LINE_MAX_SIZE = 64 };

struct ensemble {
    struct server *members[MEMBERS_MAX];
    int count;
    int first_port; /* of SERVER_PORTS for each member, in a row */
    char peers[MEMBERS_MAX * LINE_MAX_SIZE];
    char hosts[MEMBERS_MAX * LINE_MAX_SIZE];
};

static void write_addresses(struct ensemble *e)
{
    int peers = 0;
    int hosts = 0;

    for (int i = 0; i < e->count; i++) {
        int port = e->first_port + i * SERVER_PORTS;

        peers +=
            snprintf(e->peers + peers, LINE_MAX_SIZE,
                     "server.%d=127.0.0.1:%d:%d\n", i + 1, port + 1, port + 2);
        hosts += snprintf(e->hosts + hosts, LINE_MAX_SIZE, "%s127.0.0.1:%d",
                          i == 0 ? "" : ",", port);
    }
}

/* One round over all members: the first result that is not SERVER_OK.  Every
 * member is looked at, because a taken port shows in the log of one only. */
static int probe_members(struct ensemble *e)
{
    int result = SERVER_OK;

    for (int i = 0; i < e->count; i++) {
        int rc = server_probe(e->members[i]);

        if (rc == SERVER_FAILED)
            server_complain(e->members[i], "ended while starting");
        if (rc != SERVER_OK && rc != SERVER_STARTING)
            return rc;
        if (rc != SERVER_OK)
            result = rc;
    }
    return result;
}

static int await_members(struct ensemble *e)
{
    int rc;

    if (COMES((sleep_ms(50), rc = probe_members(e)) != SERVER_STARTING &&
                  (rc != SERVER_OK || ensemble_leader(e) >= 0),
              SERVER_DEADLINE_MS))
        return rc;
    server_complain(e->members[0], "no ensemble; its log ends with");
    return SERVER_FAILED;
}

static int start_once(int count, const struct server_opts *opts,
                      struct ensemble **ret_ensemble)
{
    struct ensemble *e = calloc(1, sizeof(*e));

    if (e == NULL)
        return SERVER_FAILED;
    e->count = count;
    e->first_port = server_find_ports(count * SERVER_PORTS);
    int rc = e->first_port > 0 ? SERVER_OK : SERVER_FAILED;
    write_addresses(e);
    for (int i = 0; i < count && rc == SERVER_OK; i++) {
        rc = server_prepare(opts, e->first_port + i * SERVER_PORTS, i + 1,
                            e->peers, &e->members[i]);
        if (rc == SERVER_OK)
            rc = server_spawn(e->members[i]);
    }
    if (rc == SERVER_OK)
        rc = await_members(e);
    if (rc == SERVER_OK)
        *ret_ensemble = e;
    else
        ensemble_stop(e);
    return rc;
}

int ensemble_start(int count, const struct server_opts *opts,
                   struct ensemble **ret_ensemble)
{
    int rc = SERVER_PORT_TAKEN;

    if (!server_installed())
        return SERVER_MISSING;
    assert(count >= 2 && count <= MEMBERS_MAX);
    for (int i = 0; i < SERVER_ATTEMPTS && rc == SERVER_PORT_TAKEN; i++)
        rc = start_once(count, opts, ret_ensemble);
    return rc == SERVER_PORT_TAKEN ? SERVER_FAILED : rc;
}

void ensemble_stop(struct ensemble *e)
{
    if (e == NULL)
        return;
    for (int i = 0; i < e->count; i++)
        server_stop(e->members[i]);
    free(e);
}

const char *ensemble_hosts(const struct ensemble *e)
{
    return e->hosts;
}

struct server *ensemble_server(const struct ensemble *e, int i)
{
    return e->members[i];
}

int ensemble_leader(const struct ensemble *e)
{
    int leader = -1;

    for (int i = 0; i < e->count; i++) {
        if (!server_has_mode(e->members[i], "leader"))
            continue;
        /* Two for a moment: an old one has not noticed yet. */
        if (leader >= 0)
            return -1;
        leader = i;
    }
    return leader;
}
