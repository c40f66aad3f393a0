/* SPDX-License-Identifier: Apache-2.0 */
/* Tells the command about its locks in its environment: of several locks a
 * value has a line for each, in their order on the command line. */
#include "run/run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ADDED = 7, ADDED_MAX = GRANTS_MAX * (ZKR_PATH_MAX + 96) };

/* "NAME=VALUE" of those that are ours, of one environment at a time. */
static char added[ADDED][ADDED_MAX];

/* No path has a line feed: ZooKeeper refuses control characters. */
static void write_added(const struct run *run)
{
    const struct claim *claim = &run->claim;
    char *path = stpcpy(added[0], "ZKLOCK_PATH=");
    char *node = stpcpy(added[1], "ZKLOCK_NODE=");
    char *token = stpcpy(added[2], "ZKLOCK_TOKEN=");
    struct around around = run->around;

    for (size_t i = 0; i < claim->count; i++) {
        const char *end = i + 1 < claim->count ? "\n" : "";
        zkr_grant *grant = claim->grants[i];

        path += sprintf(path, "%s%s", run->opts.wanted.paths[i], end);
        node += sprintf(node, "%s%s", zkr_grant_node(grant), end);
        token += sprintf(token, "%" PRId64 "%s", zkr_grant_token(grant), end);
    }
    (void)sprintf(added[3], "ZKLOCK_KIND=%s",
                  claim_kinds[run->opts.wanted.kind].name);
    (void)sprintf(added[4], "ZKLOCK_SESSION=0x%" PRIx64,
                  (uint64_t)run->session_id);
    around_add(&around,
               run->holds ? run->desk->self
                          : (struct around_item){ .session = run->session_id });
    around_write(&around, stpcpy(added[5], AROUND_VARIABLE "="));
    (void)sprintf(added[6], "ZKLOCK_WAIT_MS=%" PRId64, run->wait_ms);
}

/* Those of a lock around ours, "run A zk-lockctl run B COMMAND", go. */
char **run_env_new(const struct run *run)
{
    size_t count = 0;
    size_t n = 0;

    while (environ[count] != NULL)
        count++;
    char **env = calloc(ADDED + count + 1, sizeof(env[0]));
    if (env == NULL)
        return NULL;
    write_added(run);
    while (n < ADDED) {
        env[n] = added[n];
        n++;
    }
    for (size_t i = 0; i < count; i++) {
        if (strncmp(environ[i], "ZKLOCK_", strlen("ZKLOCK_")) != 0)
            env[n++] = environ[i];
    }
    return env;
}
