/* SPDX-License-Identifier: Apache-2.0 */
/* Tells the command about its locks in its environment: of several locks a
 * value has a line for each, in their order on the command line. */
#include "run/run.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/words.h"

enum { ADDED = 8, LINES_MAX = GRANTS_MAX * (ZKR_PATH_MAX + 96) };

struct env {
    char *added[ADDED];
    size_t count;
    char *all[]; /* the result: those, what we have ourselves, NULL */
};

static void add(struct env *env, const char *name, const char *value)
{
    if (asprintf(&env->added[env->count], "%s=%s", name, value) < 0)
        env->added[env->count] = NULL;
    env->count++;
}

/* A line for each lock; no path has a line feed: ZooKeeper refuses control
 * characters. */
static void add_locks(struct env *env, const struct run *run)
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

static void fill(struct env *env, const struct run *run)
{
    char sessions[NESTED_TEXT_MAX];
    char holds[HOLDS_TEXT_MAX];
    char word[WORD_MAX];

    add_locks(env, run);
    add(env, "ZKLOCK_KIND", claim_kinds[run->opts.wanted.kind].name);
    add(env, "ZKLOCK_SESSION", word_id(run->turn.session_id, word));
    nested_write(&run->around, run->turn.session_id, sessions);
    add(env, NESTED_VARIABLE, sessions);
    holds_write(&run->holds, holds);
    if (run->holds.count > 0)
        add(env, HOLDS_VARIABLE, holds);
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
    struct env *env;
    size_t count = 0;
    size_t n = 0;

    while (environ[count] != NULL)
        count++;
    env = calloc(1, sizeof(*env) + (ADDED + count + 1) * sizeof(char *));
    if (env == NULL)
        return NULL;
    fill(env, run);
    for (n = 0; n < env->count; n++) {
        env->all[n] = env->added[n];
        if (env->all[n] == NULL) {
            run_env_free(env->all);
            return NULL;
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (!is_of_a_lock(environ[i]))
            env->all[n++] = environ[i];
    }
    return env->all;
}

void run_env_free(char **all)
{
    struct env *env;

    if (all == NULL)
        return;
    env = (struct env *)((char *)all - offsetof(struct env, all));
    for (size_t i = 0; i < env->count; i++)
        free(env->added[i]);
    free(env);
}
