/* SPDX-License-Identifier: Apache-2.0 */
/* Connects to the servers: opens the session, with the credentials of the
 * user. */
#include "common/lockctl.h"

#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { WHY_MAX = 1024 };

enum { SESSION_MIN_MS = 1000, SESSION_MAX_MS = 10000 };

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

struct opening {
    sem_t done;
    int rc;
    char *why; /* WHY_MAX bytes */
};

static void on_first(int error, void *user)
{
    struct opening *o = user;

    o->rc = error;
    (void)snprintf(o->why, WHY_MAX, "%s", zkr_error_detail());
    (void)sem_post(&o->done);
}

/* 0, or the error and the sentence behind it. A session that does not open is
 * kept, as it knows what stood in its way. */
static int open_for(struct lockctl *ctl, struct zkr_session_opts *opts,
                    int64_t timeout_ms, char why[WHY_MAX])
{
    struct opening o = { .why = why };

    (void)sem_init(&o.done, 0, 0);
    lockctl_disconnect(ctl);
    opts->connect_timeout_ms = (uint32_t)timeout_ms;
    int rc = zkr_session_open_async(ctl->settings[SETTING_SERVERS], opts,
                                    on_first, &o, &ctl->session);
    if (rc != ZKR_OK) {
        (void)snprintf(why, WHY_MAX, "%s", zkr_error_detail());
        return rc;
    }
    while (sem_wait(&o.done) != 0)
        continue;
    return o.rc;
}

/* A short attempt first, after which the user learns why nothing happens. */
static int open_patiently(struct lockctl *ctl, struct zkr_session_opts *opts,
                          char why[WHY_MAX])
{
    int64_t left_ms = opts->connect_timeout_ms;

    if (ctl->patience_ms == 0 || ctl->patience_ms >= left_ms)
        return open_for(ctl, opts, left_ms, why);
    int rc = open_for(ctl, opts, ctl->patience_ms, why);
    if (!is_no_answer(rc) || (ctl->connect_once && rc == ZKR_EREFUSED))
        return rc;
    left_ms -= ctl->patience_ms;
    lockctl_say(ctl, "%s; trying for another %lld ms", why, (long long)left_ms);
    return open_for(ctl, opts, left_ms, why);
}

static int fail_connect(const struct lockctl *ctl, int rc, const char *why)
{
    char text[WHY_MAX + 100];

    if (ctl->used == NULL)
        return lockctl_fail_error(rc, why);
    (void)snprintf(text, sizeof(text), "context '%.80s': %s", ctl->used->name,
                   why);
    return lockctl_fail_error(rc, text);
}

/* --- secrets --- */

/* Credentials and passwords, in memory only while a session is opened. They
 * come from files, never from the command line or the environment, where others
 * could read them. */
enum { SECRETS_MAX = 3, SECRET_MAX = 1024 };

struct secrets {
    char lines[SECRETS_MAX][SECRET_MAX];
};

/* The first line of the file, which must not be empty. */
static int read_line(const struct lockctl *ctl, enum setting setting,
                     char line[SECRET_MAX])
{
    const char *path = ctl->settings[setting];
    const char *fault = private_file_read(path, PRIVATE_READ, line, SECRET_MAX);

    line[strcspn(line, "\r\n")] = '\0';
    if (fault == NULL && line[0] == '\0')
        fault = "its first line is empty";
    return fault == NULL
               ? 0
               : lockctl_fail(EX_CONFIG, "%s '%s': %s",
                              setting_options[setting].name, path, fault);
}

/* "scheme:credentials". */
static int split_auth(const struct lockctl *ctl, struct zkr_session_opts *opts)
{
    char *colon = strchr(opts->auth, ':');

    if (colon == NULL || colon == opts->auth)
        return lockctl_fail(EX_CONFIG, "auth-file '%s': not scheme:credentials",
                            ctl->settings[SETTING_AUTH_FILE]);
    *colon = '\0';
    opts->auth_scheme = opts->auth;
    opts->auth = colon + 1;
    return 0;
}

/* The library reads the file at each login, for a password that has changed. A
 * pipe has been read to its end. */
static void follow_password(const char *path, struct zkr_session_opts *opts)
{
    struct stat st;

    if (path == NULL || stat(path, &st) != 0 || !S_ISREG(st.st_mode))
        return;
    opts->sasl_password = NULL;
    opts->sasl_password_file = path;
}

/* Lets the options of the session refer to the settings, and to what is in the
 * files that they name. 0, or an exit code after an error was said. */
static int set_security(struct secrets *secrets, const struct lockctl *ctl,
                        struct zkr_session_opts *opts)
{
    size_t used = 0;
    int code = 0;

    for (enum setting s = 0; s < SETTING_COUNT && code == 0; s++) {
        const struct opt *row = &setting_options[s];
        const char *value = ctl->settings[s];

        if (row->at == 0 || value == NULL)
            continue;
        if (row->type == OPT_SECRET) {
            value = secrets->lines[used];
            code = read_line(ctl, s, secrets->lines[used++]);
        }
        *(const char **)((char *)opts + row->at) = value;
    }
    if (code == 0 && opts->auth != NULL)
        code = split_auth(ctl, opts);
    follow_password(ctl->settings[SETTING_SASL_PASSWORD_FILE], opts);
    if (ctl->settings[SETTING_TLS_VERIFY] != NULL &&
        strcmp(ctl->settings[SETTING_TLS_VERIFY], "chain") == 0)
        opts->tls_verify = ZKR_TLS_VERIFY_CHAIN;
    return code;
}

/* --- the session --- */

static void set_options(const struct lockctl *ctl,
                        struct zkr_session_opts *opts)
{
    opts->session_timeout_ms = ctl->session_timeout_ms != 0
                                   ? ctl->session_timeout_ms
                                   : short_session_ms(ctl->timeout_ms);
    opts->connect_timeout_ms =
        (uint32_t)(ctl->connect_timeout_ms != 0 ? ctl->connect_timeout_ms
                                                : ctl->timeout_ms);
    opts->within = ctl->within;
    opts->reply_timeout_ms = (uint32_t)ctl->timeout_ms;
    if (!ctl->proves_leases)
        opts->flags |= ZKR_SESSION_NO_LEASE;
    if (ctl->connect_once)
        opts->flags |= ZKR_SESSION_ONE_ROUND;
}

int lockctl_connect(struct lockctl *ctl)
{
    struct zkr_session_opts opts = ZKR_SESSION_OPTS_INIT;
    struct secrets secrets;
    char ensemble[ENSEMBLE_MAX];
    char why[WHY_MAX];
    int code = lockctl_settle(ctl);
    int rc = ZKR_OK;

    if (code != 0)
        return code;
    if (ctl->verbose > 0)
        lockctl_say(ctl, "the ensemble is %s", lockctl_ensemble(ctl, ensemble));
    set_options(ctl, &opts);
    code = set_security(&secrets, ctl, &opts);
    if (code == 0)
        rc = open_patiently(ctl, &opts, why);
    explicit_bzero(&secrets, sizeof(secrets));
    return rc == ZKR_OK ? code : fail_connect(ctl, rc, why);
}

/* --- further sessions --- */

/* A callback of one of them may open the next, while the main thread looks. */
static struct {
    zkr_session *sessions[SESSIONS_MAX - 1];
    atomic_size_t count;
    atomic_bool failed;
} further;

static void on_open(int error, void *user)
{
    if (error != ZKR_OK && error != ZKR_ECLOSED)
        lockctl_say(user, "cannot open a further session: %s",
                    zkr_error_detail());
}

int lockctl_connect_further(const struct lockctl *ctl,
                            zkr_session **ret_session)
{
    struct zkr_session_opts opts = ZKR_SESSION_OPTS_INIT;
    struct secrets secrets;
    int rc = ZKR_ESYSTEM;

    set_options(ctl, &opts);
    if (!further.failed && set_security(&secrets, ctl, &opts) == 0)
        rc = zkr_session_open_async(ctl->settings[SETTING_SERVERS], &opts,
                                    on_open, (void *)(uintptr_t)ctl,
                                    ret_session);
    explicit_bzero(&secrets, sizeof(secrets));
    if (rc != ZKR_OK) {
        further.failed = true;
        return rc;
    }
    further.sessions[further.count] = *ret_session;
    further.count++; /* now the main thread may look at it */
    return rc;
}

void lockctl_disconnect(struct lockctl *ctl)
{
    (void)zkr_session_close(ctl->session);
    ctl->session = NULL;
    for (size_t i = 0; i < further.count; i++)
        (void)zkr_session_close(further.sessions[i]);
    further.count = 0;
}

/* --- their state --- */

static bool is_connected(enum zkr_session_state_kind state)
{
    return state == ZKR_SESSION_CONNECTED || state == ZKR_SESSION_RECONNECTED;
}

/* That of the first session which is not connected. A further one that is still
 * being opened is no trouble. */
static enum zkr_session_state_kind state_of(const struct lockctl *ctl)
{
    enum zkr_session_state_kind state = zkr_session_state(ctl->session);

    for (size_t i = 0; i < further.count && is_connected(state); i++) {
        enum zkr_session_state_kind other =
            zkr_session_state(further.sessions[i]);

        if (other != ZKR_SESSION_CONNECTING)
            state = other;
    }
    return further.failed ? ZKR_SESSION_CLOSED : state;
}

bool lockctl_is_connected(const struct lockctl *ctl)
{
    return is_connected(state_of(ctl));
}

const char *lockctl_connection(const struct lockctl *ctl)
{
    static const char *const words[] = {
        [ZKR_SESSION_CONNECTING] = "connecting",
        [ZKR_SESSION_CONNECTED] = "connected",
        [ZKR_SESSION_SUSPENDED] = "connection lost",
        [ZKR_SESSION_RECONNECTED] = "connected",
        [ZKR_SESSION_LOST] = "connecting",
        [ZKR_SESSION_AUTH_FAILED] = "credentials refused",
        [ZKR_SESSION_CLOSED] = "closed",
    };

    return words[state_of(ctl)];
}

const char *lockctl_why(const struct lockctl *ctl, char why[LOCKCTL_WHY_MAX])
{
    struct zkr_session_error error = ZKR_SESSION_ERROR_INIT;

    if (zkr_session_last_error(ctl->session, &error) != ZKR_OK ||
        error.cause == ZKR_CAUSE_NONE)
        return "";
    (void)snprintf(why, LOCKCTL_WHY_MAX, ": %s", error.text);
    return why;
}

bool lockctl_is_over(const struct lockctl *ctl)
{
    enum zkr_session_state_kind state = state_of(ctl);

    return state == ZKR_SESSION_AUTH_FAILED || state == ZKR_SESSION_CLOSED;
}

int lockctl_fail_over(const struct lockctl *ctl)
{
    return lockctl_fail_error(state_of(ctl) == ZKR_SESSION_AUTH_FAILED
                                  ? ZKR_ZAUTHFAILED
                                  : ZKR_ECLOSED,
                              "");
}
