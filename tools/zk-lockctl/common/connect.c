/* Connects to the servers: opens the session, with the credentials of the
 * user. */
#include "common/lockctl.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/escape.h"
#include "common/reach.h"

static const char default_servers[] = "127.0.0.1:2181";

enum { WHY_MAX = 1024 };

enum { SESSION_MIN_MS = 1000, SESSION_MAX_MS = 10000 };

/* The file may be one that only its owner can read, or a pipe, such as
 * "/dev/fd/3". */
static int open_auth(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    const char *fault = NULL;
    struct stat st;

    if (fd < 0 || fstat(fd, &st) != 0)
        fault = strerror(errno);
    else if (S_ISREG(st.st_mode) && (st.st_mode & 077) != 0)
        fault = "others may read it; chmod 600";
    else if (S_ISREG(st.st_mode) && st.st_uid != geteuid() && st.st_uid != 0)
        fault = "it belongs to somebody else";
    else if (!S_ISREG(st.st_mode) && !S_ISFIFO(st.st_mode))
        fault = "neither a file nor a pipe";
    if (fault == NULL)
        return fd;
    if (fd >= 0)
        (void)close(fd);
    (void)lockctl_fail(EX_CONFIG, "--auth-file '%s': %s", path, fault);
    return -1;
}

/* "scheme:credentials" on one line; never from the command line, where others
 * could read it. */
static int read_auth(const char *path, char *line, size_t size)
{
    int fd = open_auth(path);
    size_t used = 0;
    ssize_t n = 1;
    int error = 0;
    char *colon;

    if (fd < 0)
        return EX_CONFIG;
    while (n > 0 && used < size - 1) {
        n = read(fd, line + used, size - 1 - used);
        error = n < 0 ? errno : 0;
        used += n > 0 ? (size_t)n : 0;
    }
    (void)close(fd);
    if (error != 0)
        return lockctl_fail(EX_CONFIG, "--auth-file '%s': %s", path,
                            strerror(error));
    line[used] = '\0';
    line[strcspn(line, "\r\n")] = '\0';
    colon = strchr(line, ':');
    if (colon == NULL || colon == line || used == size - 1)
        return lockctl_fail(EX_CONFIG,
                            "--auth-file '%s': not scheme:credentials", path);
    *colon = '\0';
    return 0;
}

/* The client waits for two thirds of the session timeout for a server that
 * accepts and is silent, before it tries the next. */
static uint32_t short_session_ms(int64_t timeout_ms)
{
    int64_t ms = timeout_ms / 2;

    return ms < SESSION_MIN_MS   ? SESSION_MIN_MS
           : ms > SESSION_MAX_MS ? SESSION_MAX_MS
                                 : (uint32_t)ms;
}

static bool is_no_answer(int rc)
{
    return rc == ZKR_EREFUSED || rc == ZKR_EUNREACHABLE || rc == ZKR_ENOTZK;
}

/* 0, or the error and the sentence behind it. */
static int open_for(struct lockctl *ctl, struct zkr_session_opts *opts,
                    int64_t timeout_ms, char why[WHY_MAX])
{
    int rc;

    opts->connect_timeout_ms = (uint32_t)timeout_ms;
    rc = zkr_session_open(ctl->servers, opts, &ctl->session);
    (void)snprintf(why, WHY_MAX, "%s", rc == ZKR_OK ? "" : zkr_error_detail());
    return rc;
}

/* A short attempt first, after which the user learns why nothing happens. */
static int open_patiently(struct lockctl *ctl, struct zkr_session_opts *opts,
                          char why[WHY_MAX])
{
    int64_t left_ms = opts->connect_timeout_ms;
    char escaped[WHY_MAX];
    int rc;

    if (ctl->patience_ms == 0 || ctl->patience_ms >= left_ms)
        return open_for(ctl, opts, left_ms, why);
    rc = open_for(ctl, opts, ctl->patience_ms, why);
    if (rc == ZKR_EUNREACHABLE &&
        reach_all_refuse(ctl->servers, ctl->patience_ms)) {
        rc = ZKR_EREFUSED;
        (void)snprintf(why, WHY_MAX,
                       "every server of %s refused the connection",
                       ctl->servers);
    }
    if (!is_no_answer(rc) || (ctl->connect_once && rc == ZKR_EREFUSED))
        return rc;
    left_ms -= ctl->patience_ms;
    (void)escape_string(why, escaped, sizeof(escaped));
    lockctl_say(ctl, "%s; trying for another %lld ms", escaped,
                (long long)left_ms);
    return open_for(ctl, opts, left_ms, why);
}

int lockctl_connect(struct lockctl *ctl)
{
    struct zkr_session_opts opts = ZKR_SESSION_OPTS_INIT;
    char auth[1024] = "";
    char why[WHY_MAX];
    int rc;

    if (ctl->servers == NULL)
        ctl->servers = getenv("ZK_SERVERS");
    if (ctl->servers == NULL || ctl->servers[0] == '\0')
        ctl->servers = default_servers;
    if (ctl->auth_file != NULL) {
        int code = read_auth(ctl->auth_file, auth, sizeof(auth));

        if (code != 0) {
            explicit_bzero(auth, sizeof(auth));
            return code;
        }
        opts.auth_scheme = auth;
        opts.auth = auth + strlen(auth) + 1;
    }
    opts.chroot = ctl->chroot;
    opts.session_timeout_ms = ctl->session_timeout_ms != 0
                                  ? ctl->session_timeout_ms
                                  : short_session_ms(ctl->timeout_ms);
    opts.connect_timeout_ms =
        (uint32_t)(ctl->connect_timeout_ms != 0 ? ctl->connect_timeout_ms
                                                : ctl->timeout_ms);
    opts.within = ctl->within;
    opts.reply_timeout_ms = (uint32_t)ctl->timeout_ms;
    rc = open_patiently(ctl, &opts, why);
    explicit_bzero(auth, sizeof(auth));
    return rc == ZKR_OK ? 0 : lockctl_fail_error(rc, why);
}

void lockctl_disconnect(struct lockctl *ctl)
{
    (void)zkr_session_close(ctl->session);
    ctl->session = NULL;
}

bool lockctl_is_connected(const struct lockctl *ctl)
{
    enum zkr_session_state state = zkr_session_state(ctl->session);

    return state == ZKR_SESSION_CONNECTED || state == ZKR_SESSION_RECONNECTED;
}

const char *lockctl_connection(const struct lockctl *ctl)
{
    switch (zkr_session_state(ctl->session)) {
    case ZKR_SESSION_CONNECTING:
    case ZKR_SESSION_LOST:
        return "connecting";
    case ZKR_SESSION_CONNECTED:
    case ZKR_SESSION_RECONNECTED:
        return "connected";
    case ZKR_SESSION_SUSPENDED:
        return "connection lost";
    case ZKR_SESSION_AUTH_FAILED:
        return "credentials refused";
    case ZKR_SESSION_CLOSED:
        break;
    }
    return "closed";
}

bool lockctl_is_over(const struct lockctl *ctl)
{
    enum zkr_session_state state = zkr_session_state(ctl->session);

    return state == ZKR_SESSION_AUTH_FAILED || state == ZKR_SESSION_CLOSED;
}
