/* SPDX-License-Identifier: Apache-2.0 */
/* Tells the command about its lock in its environment. */
#include "run/run.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ADDED = 7, VALUE_MAX = ZKR_PATH_MAX + 256 };

struct env {
    char added[ADDED][VALUE_MAX];
    char *all[]; /* the result: those, what we have ourselves, NULL */
};

static void fill(struct env *env, const struct run *run)
{
    char sessions[NESTED_TEXT_MAX];
    size_t n = 0;

    (void)snprintf(env->added[n++], VALUE_MAX, "ZKLOCK_PATH=%s",
                   run->opts.path);
    (void)snprintf(env->added[n++], VALUE_MAX, "ZKLOCK_NODE=%s",
                   zkr_grant_node(run->grant));
    (void)snprintf(env->added[n++], VALUE_MAX, "ZKLOCK_KIND=%s",
                   claim_kind_name(run->opts.kind));
    (void)snprintf(env->added[n++], VALUE_MAX, "ZKLOCK_SESSION=0x%llx",
                   (unsigned long long)run->session_id);
    nested_write(&run->around, run->session_id, sessions);
    (void)snprintf(env->added[n++], VALUE_MAX, NESTED_VARIABLE "=%s", sessions);
    (void)snprintf(env->added[n++], VALUE_MAX, "ZKLOCK_TOKEN=%lld",
                   (long long)zkr_grant_token(run->grant));
    (void)snprintf(env->added[n++], VALUE_MAX, "ZKLOCK_WAIT_MS=%lld",
                   (long long)run->wait_ms);
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
    while (n < ADDED) {
        env->all[n] = env->added[n];
        n++;
    }
    for (size_t i = 0; i < count; i++) {
        if (!is_of_a_lock(environ[i]))
            env->all[n++] = environ[i];
    }
    return env->all;
}

void run_env_free(char **all)
{
    if (all != NULL)
        free((char *)all - offsetof(struct env, all));
}
