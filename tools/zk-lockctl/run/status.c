/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the status file, from which programs learn what happened. */
#include "run/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>
#include <sys/wait.h>

#include "common/whole_file.h"
#include "common/words.h"

static int fail(const char *file, const char *why)
{
    return lockctl_fail(EX_CANTCREAT, "--status-file '%s': %s", file, why);
}

int run_status_check(const char *file)
{
    int error = file == NULL ? 0 : whole_file_check(file);

    return error == 0 ? 0 : fail(file, strerror(error));
}

/* 64 bits as text: JavaScript and jq know 53 only. */
static json_t *describe_grant(const struct run *run, size_t i)
{
    zkr_grant *grant = run->turn.grants.items[i];
    char token[WORD_MAX];
    char session[WORD_MAX];

    if (run->turn.grants.count == 0)
        return json_null();
    return json_pack("{s:s, s:s, s:s}", "node", zkr_grant_node(grant), "token",
                     word_token(zkr_grant_token(grant), token), "session",
                     word_id(run->turn.session_id, session));
}

static json_t *describe_locks(const struct run *run)
{
    const struct wanted *wanted = &run->opts.wanted;
    json_t *locks = json_array();

    for (size_t i = 0; i < wanted->count; i++)
        (void)json_array_append_new(locks, json_pack("{s:s, s:o}", "path",
                                                     wanted->paths[i], "grant",
                                                     describe_grant(run, i)));
    return locks;
}

static json_t *describe_command(const struct child *c)
{
    if (!c->ended)
        return json_null();
    if (WIFSIGNALED(c->status))
        return json_pack("{s:n, s:i}", "exit_code", "signal",
                         WTERMSIG(c->status));
    return json_pack("{s:i, s:n}", "exit_code", WEXITSTATUS(c->status),
                     "signal");
}

static json_t *describe(const struct run *run, int exit_code)
{
    return json_pack(
        "{s:s, s:s, s:b, s:o, s:o, s:I, s:I, s:b, s:b, s:b, s:o, s:i}", "path",
        run->opts.wanted.paths[0], "kind",
        claim_kinds[run->opts.wanted.kind].name, "acquired",
        run->turn.granted_ms != 0, "grant", describe_grant(run, 0), "locks",
        describe_locks(run), "wait_ms", (json_int_t)run->turn.wait_ms,
        "held_ms", (json_int_t)run->turn.held_ms, "lost", run->turn.lost,
        "revoked", run->turn.revoked, "overdue", run->turn.overdue, "command",
        describe_command(&run->turn.child), "exit_code", exit_code);
}

int run_status_write(const struct run *run, int exit_code)
{
    const char *file = run->opts.status_file;
    json_t *json;
    char *text;
    char *line = NULL;
    int len;
    int error;

    if (file == NULL)
        return 0;
    json = describe(run, exit_code);
    text = json_dumps(json, JSON_COMPACT | JSON_ENSURE_ASCII);
    json_decref(json);
    len = text == NULL ? -1 : asprintf(&line, "%s\n", text);
    free(text);
    if (len < 0)
        return fail(file, "out of memory");
    error = whole_file_write(file, line, (size_t)len);
    free(line);
    return error == 0 ? 0 : fail(file, strerror(error));
}
