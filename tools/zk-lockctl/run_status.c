/* The status file: what happened, for programs. */
#include "run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fcntl.h>
#include <jansson.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* /dev/stderr or a FIFO is written to; a file is replaced, all at once. */
static bool is_special(const char *file)
{
    struct stat st;

    return stat(file, &st) == 0 && !S_ISREG(st.st_mode);
}

static int fail(const char *file, const char *why)
{
    return lockctl_fail(EX_CANTCREAT, "--status-file '%s': %s", file, why);
}

static int open_new(const char *file, char *temporary, size_t size)
{
    int n = snprintf(temporary, size, "%s.XXXXXX", file);

    if (n < 0 || (size_t)n >= size) {
        errno = ENAMETOOLONG;
        return -1;
    }
    return mkostemp(temporary, O_CLOEXEC);
}

int run_status_check(const char *file)
{
    char temporary[4096];
    int fd;

    if (file == NULL || is_special(file))
        return 0;
    fd = open_new(file, temporary, sizeof(temporary));
    if (fd < 0)
        return fail(file, strerror(errno));
    (void)close(fd);
    (void)unlink(temporary);
    return 0;
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

static bool write_line(int fd, const json_t *json)
{
    return json_dumpfd(json, fd, JSON_COMPACT) == 0 && write(fd, "\n", 1) == 1;
}

static int replace(const char *file, const json_t *json)
{
    char temporary[4096];
    mode_t mask = umask(0);
    int fd = open_new(file, temporary, sizeof(temporary));
    bool ok;

    (void)umask(mask);
    if (fd < 0)
        return fail(file, strerror(errno));
    ok = fchmod(fd, 0666 & ~mask) == 0 && write_line(fd, json);
    ok = close(fd) == 0 && ok && rename(temporary, file) == 0;
    if (ok)
        return 0;
    (void)unlink(temporary);
    return fail(file, strerror(errno));
}

int run_status_write(const struct run *run, int exit_code)
{
    const char *file = run->opts.status_file;
    json_t *json;
    int code = 0;

    if (file == NULL)
        return 0;
    json = describe(run, exit_code);
    if (json == NULL)
        return fail(file, "out of memory");
    if (is_special(file)) {
        int fd = open(file, O_WRONLY | O_CLOEXEC | O_NOCTTY);

        if (fd < 0 || !write_line(fd, json))
            code = fail(file, strerror(errno));
        if (fd >= 0)
            (void)close(fd);
    } else {
        code = replace(file, json);
    }
    json_decref(json);
    return code;
}
