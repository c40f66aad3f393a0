/* SPDX-License-Identifier: Apache-2.0 */
/* Tells the command about its locks in its environment: of several locks a
 * value has a line for each, in their order on the command line. */
#include "run/hold.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/words.h"

enum { ADDED_MAX = 8, LINES_MAX = GRANTS_MAX * (ZKR_PATH_MAX + 96) };

/* "NAME=VALUE" of those that are ours, of one environment at a time. */
static char added[ADDED_MAX][LINES_MAX + 32];

static void add(char **env, const char *name, const char *value)
{
    size_t n = 0;

    while (env[n] != NULL)
        n++;
    (void)snprintf(added[n], sizeof(added[n]), "%s=%s", name, value);
    env[n] = added[n];
}

/* A line for each lock; no path has a line feed: ZooKeeper refuses control
 * characters. */
static void add_locks(char **env, const struct run *run)
{
    static char paths[LINES_MAX], nodes[LINES_MAX], tokens[LINES_MAX];
    const struct grants *grants = &run->turn.grants;
    char *path = paths, *node = nodes, *token = tokens;
    char word[WORD_MAX];

    for (size_t i = 0; i < grants->count; i++) {
        const char *end = i + 1 < grants->count ? "\n" : "";
        zkr_grant *grant = grants->items[i];

        path += sprintf(path, "%s%s", run->opts.wanted.paths[i], end);
        node += sprintf(node, "%s%s", zkr_grant_node(grant), end);
        token += sprintf(token, "%s%s",
                         word_token(zkr_grant_token(grant), word), end);
    }
    add(env, "ZKLOCK_PATH", paths);
    add(env, "ZKLOCK_NODE", nodes);
    add(env, "ZKLOCK_TOKEN", tokens);
}

static void add_all(char **env, const struct run *run)
{
    struct around around = run->around;
    char ids[AROUND_TEXT_MAX];
    char word[WORD_MAX];

    add_locks(env, run);
    add(env, "ZKLOCK_KIND", claim_kinds[run->opts.wanted.kind].name);
    add(env, "ZKLOCK_SESSION", word_id(run->turn.session_id, word));
    around_add(&around,
               run->hold != NULL
                   ? run->hold->desk->self
                   : (struct around_item){ .session = run->turn.session_id });
    around_write(&around, ids);
    add(env, AROUND_VARIABLE, ids);
    (void)snprintf(word, sizeof(word), "%lld", (long long)run->turn.wait_ms);
    add(env, "ZKLOCK_WAIT_MS", word);
}

/* Of a lock around ours: "run A zk-lockctl run B COMMAND". */
static bool is_of_a_lock(const char *variable)
{
    return strncmp(variable, "ZKLOCK_", strlen("ZKLOCK_")) == 0;
}

char **run_env_new(const struct run *run)
{
    size_t count = 0;
    size_t n = 0;
    char **env;

    while (environ[count] != NULL)
        count++;
    env = calloc(ADDED_MAX + count + 1, sizeof(env[0]));
    if (env == NULL)
        return NULL;
    add_all(env, run);
    while (env[n] != NULL)
        n++;
    for (size_t i = 0; i < count; i++) {
        if (!is_of_a_lock(environ[i]))
            env[n++] = environ[i];
    }
    return env;
}
