/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the status file, from which programs learn what happened. */
#include "run/run.h"

#include <stdio.h>
#include <string.h>

#include <jansson.h>
#include <sys/wait.h>

#include "common/whole_file.h"

/* Two paths, each byte at most six, and the rest. */
#define LINE_MAX_LEN (2 * 6 * (ZKR_PATH_MAX + 64) + 1024)

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
static json_t *describe_grant(const struct run *run)
{
    char token[32];
    char session[32];

    if (run->grant == NULL)
        return json_null();
    (void)snprintf(token, sizeof(token), "%lld",
                   (long long)zkr_grant_token(run->grant));
    (void)snprintf(session, sizeof(session), "0x%llx",
                   (unsigned long long)run->session_id);
    return json_pack("{s:s, s:s, s:s}", "node", zkr_grant_node(run->grant),
                     "token", token, "session", session);
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
        "{s:s, s:s, s:b, s:o, s:I, s:I, s:b, s:b, s:o, s:i}", "path",
        run->opts.path, "kind", claim_kind_name(run->opts.kind), "acquired",
        run->granted_ms != 0, "grant", describe_grant(run), "wait_ms",
        (json_int_t)run->wait_ms, "held_ms", (json_int_t)run->held_ms, "lost",
        run->lost, "revoked", run->revoked, "command",
        describe_command(&run->child), "exit_code", exit_code);
}

int run_status_write(const struct run *run, int exit_code)
{
    const char *file = run->opts.status_file;
    json_t *json;
    char line[LINE_MAX_LEN];
    size_t len;
    int error;

    if (file == NULL)
        return 0;
    json = describe(run, exit_code);
    len = json_dumpb(json, line, sizeof(line) - 1,
                     JSON_COMPACT | JSON_ENSURE_ASCII);
    json_decref(json);
    if (len == 0 || len >= sizeof(line))
        return fail(file, "out of memory");
    line[len++] = '\n';
    error = whole_file_write(file, line, len);
    return error == 0 ? 0 : fail(file, strerror(error));
}
