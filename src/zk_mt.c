/* The seam, on libzookeeper_mt: the only file that includes its header.
 *
 * What it relies on, in 3.8.0: completions and watch events come from one FIFO
 * on one thread; after zookeeper_close() has returned none comes. What it works
 * around is said where it does. */
#include "zk.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include <zookeeper/zookeeper.h>

#include "clock.h"
#include "error.h"
#include "log.h"

/* Without it the client resolves names on every turn of its loop. */
#define RESOLUTION_DELAY_MS 60000
/* How long zookeeper_close() waits for its answer. */
#define CLOSE_REPLY_MS 1500

struct zkr__zk {
    zhandle_t *zh;
    const char *auth_scheme; /* NULL when the client has got them: */
    const char *auth;
};

/* "2026-11-21 02:45:48,496:3582(0x7fbd):ZOO_ERROR@fn@1335: text" */
static void on_log(const char *line)
{
    enum zkr_log_level level = ZKR_LOG_DEBUG;

    if (strstr(line, ":ZOO_ERROR@") != NULL)
        level = ZKR_LOG_ERROR;
    else if (strstr(line, ":ZOO_WARN@") != NULL)
        level = ZKR_LOG_WARNING;
    else if (strstr(line, ":ZOO_INFO@") != NULL)
        level = ZKR_LOG_INFO;
    zkr__log_line(level, line);
}

void zkr__zk_log_level(enum zkr_log_level level)
{
    zoo_set_debug_level(level <= ZKR_LOG_ERROR     ? ZOO_LOG_LEVEL_ERROR
                        : level == ZKR_LOG_WARNING ? ZOO_LOG_LEVEL_WARN
                                                   : ZOO_LOG_LEVEL_INFO);
}

static void on_session_event(zhandle_t *zh, int type, int state,
                             const char *path, void *context)
{
    struct zkr_session *session = context;

    (void)zh;
    (void)path;
    if (type != ZOO_SESSION_EVENT)
        return;
    if (state == ZOO_CONNECTED_STATE)
        zkr__session_on_event(session, ZKR__ZK_CONNECTED);
    else if (state == ZOO_EXPIRED_SESSION_STATE)
        zkr__session_on_event(session, ZKR__ZK_EXPIRED);
    else if (state == ZOO_AUTH_FAILED_STATE)
        zkr__session_on_event(session, ZKR__ZK_AUTH_FAILED);
    else
        zkr__session_on_event(session, ZKR__ZK_DISCONNECTED);
}

/* Session events go to every watch, again and again; the session has its own
 * way to learn of them. */
static void on_watch_event(zhandle_t *zh, int type, int state, const char *path,
                           void *context)
{
    (void)zh;
    (void)state;
    (void)path;
    if (type != ZOO_SESSION_EVENT)
        zkr__watch_on_event(context, type == ZOO_DELETED_EVENT);
}

/* A refusal shows as the state event AUTH_FAILED. Runs on the io thread. */
static void on_auth(int rc, const void *data)
{
    (void)rc;
    (void)data;
}

/* The threads of the client inherit the signal mask of their creator. */
static zhandle_t *init_with_signals_blocked(const struct zkr__zk_config *config,
                                            void *context)
{
    sigset_t all;
    sigset_t before;
    zhandle_t *zh;
    int saved;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    zh = zookeeper_init2(config->servers, on_session_event, config->timeout_ms,
                         NULL, context, ZOO_NO_LOG_CLIENTENV, on_log);
    saved = errno;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = saved;
    return zh;
}

int zkr__zk_open(const struct zkr__zk_config *config,
                 struct zkr_session *session, struct zkr__zk **ret_zk)
{
    struct zkr__zk *zk = malloc(sizeof(*zk));

    if (zk == NULL)
        return ZKR_ENOMEM;
    zk->zh = init_with_signals_blocked(config, session);
    if (zk->zh == NULL) {
        int rc = errno == ENOMEM ? ZKR_ENOMEM : ZKR_EHOSTS;

        free(zk);
        return rc;
    }
    (void)zoo_set_servers_resolution_delay(zk->zh, RESOLUTION_DELAY_MS);
    zk->auth_scheme = config->auth_scheme;
    zk->auth = config->auth;
    *ret_zk = zk;
    return ZKR_OK;
}

/* Not before: while an attempt to connect has just failed, the client refuses
 * credentials. Those it has accepted it repeats after every reconnect. */
bool zkr__zk_log_in(struct zkr__zk *zk)
{
    if (zk->auth_scheme == NULL)
        return true;
    if (zoo_add_auth(zk->zh, zk->auth_scheme, zk->auth, (int)strlen(zk->auth),
                     on_auth, NULL) != ZOK)
        return false;
    zk->auth_scheme = NULL;
    return true;
}

bool zkr__zk_close(struct zkr__zk *zk)
{
    bool connected = zoo_state(zk->zh) == ZOO_CONNECTED_STATE;
    int64_t started = zkr__clock_now();
    int rc = zookeeper_close(zk->zh);
    int64_t took = zkr__clock_now() - started;

    free(zk);
    /* ZOK also when it has waited for the answer in vain. */
    return connected && rc == ZOK && took < CLOSE_REPLY_MS * ZKR__MS;
}

int64_t zkr__zk_session_id(struct zkr__zk *zk)
{
    return zoo_client_id(zk->zh)->client_id;
}

uint32_t zkr__zk_timeout_ms(struct zkr__zk *zk)
{
    return (uint32_t)zoo_recv_timeout(zk->zh);
}

/* The completions that the client knows, all turned into one kind of reply.
 * The operation is ours: the client only carries the pointer. */

static void answer(const void *data, struct zkr__zk_reply *reply)
{
    zkr__op_on_reply((struct zkr__op *)(uintptr_t)data, reply);
}

static void set_stat(struct zkr__zk_reply *reply, const struct Stat *stat)
{
    if (reply->rc != ZOK || stat == NULL)
        return;
    reply->czxid = stat->czxid;
    reply->pzxid = stat->pzxid;
    reply->owner = stat->ephemeralOwner;
    reply->ctime_ms = stat->ctime;
}

static void on_create(int rc, const char *path, const struct Stat *stat,
                      const void *data)
{
    struct zkr__zk_reply reply = { .rc = rc, .path = path };

    set_stat(&reply, stat);
    answer(data, &reply);
}

static void on_void(int rc, const void *data)
{
    answer(data, &(struct zkr__zk_reply){ .rc = rc });
}

static void on_string(int rc, const char *value, const void *data)
{
    (void)value;
    on_void(rc, data);
}

static void on_stat(int rc, const struct Stat *stat, const void *data)
{
    struct zkr__zk_reply reply = { .rc = rc };

    set_stat(&reply, stat);
    answer(data, &reply);
}

static void on_data(int rc, const char *value, int len, const struct Stat *stat,
                    const void *data)
{
    struct zkr__zk_reply reply = { .rc = rc };

    set_stat(&reply, stat);
    if (rc == ZOK && value != NULL && len > 0) {
        reply.data = value;
        reply.data_len = (size_t)len;
    }
    answer(data, &reply);
}

/* Where a reply is cut short, or memory, the client leaves holes. */
static bool is_whole(const struct String_vector *names)
{
    if (names == NULL || (names->count > 0 && names->data == NULL))
        return false;
    for (int32_t i = 0; i < names->count; i++) {
        if (names->data[i] == NULL)
            return false;
    }
    return true;
}

static void set_names(struct zkr__zk_reply *reply,
                      const struct String_vector *names)
{
    if (reply->rc == ZOK && !is_whole(names)) {
        reply->rc = ZMARSHALLINGERROR;
    } else if (reply->rc == ZOK && names->count > 0) {
        reply->names = (const char *const *)names->data;
        reply->name_count = (size_t)names->count;
    }
}

static void on_children(int rc, const struct String_vector *names,
                        const void *data)
{
    struct zkr__zk_reply reply = { .rc = rc };

    set_names(&reply, names);
    answer(data, &reply);
}

static void on_survey(int rc, const struct String_vector *names,
                      const struct Stat *stat, const void *data)
{
    struct zkr__zk_reply reply = { .rc = rc };

    set_names(&reply, names);
    set_stat(&reply, stat);
    if (reply.rc == ZOK && stat != NULL && stat->dataLength > 0)
        reply.data_len = (size_t)stat->dataLength;
    answer(data, &reply);
}

static bool is_anyone(const struct Id *id)
{
    return id->scheme != NULL && id->id != NULL &&
           strcmp(id->scheme, "world") == 0 && strcmp(id->id, "anyone") == 0;
}

static void on_acl(int rc, struct ACL_vector *acl, struct Stat *stat,
                   const void *data)
{
    struct zkr__zk_reply reply = { .rc = rc };

    set_stat(&reply, stat);
    for (int32_t i = 0; rc == ZOK && acl->data != NULL && i < acl->count; i++) {
        if (is_anyone(&acl->data[i].id))
            reply.anyone |= acl->data[i].perms;
    }
    answer(data, &reply);
}

/* A transaction of one check. There is never more than one operation in it: the
 * client frees an uninitialised pointer when a transaction of several is
 * refused on a dead handle. Both structs must outlive the request. */
struct check {
    zoo_op_t op;
    zoo_op_result_t result;
};

static int submit_check(zhandle_t *zh, struct zkr__zk_request *r,
                        struct zkr__op *op)
{
    struct check *check = calloc(1, sizeof(*check));

    if (check == NULL)
        return ZKR_ENOMEM;
    r->scratch = check;
    zoo_check_op_init(&check->op, r->path, -1);
    return zoo_amulti(zh, 1, &check->op, &check->result, on_void, op);
}

static int32_t mode_of(enum zkr__zk_mode mode)
{
    switch (mode) {
    case ZKR__ZK_PERSISTENT:
        return ZOO_PERSISTENT;
    case ZKR__ZK_CONTAINER:
        return ZOO_CONTAINER;
    case ZKR__ZK_EPHEMERAL:
        return ZOO_EPHEMERAL;
    case ZKR__ZK_EPHEMERAL_SEQUENTIAL:
        return ZOO_EPHEMERAL_SEQUENTIAL;
    }
    abort();
}

static int submit_create(zhandle_t *zh, const struct zkr__zk_request *r,
                         struct zkr__op *op)
{
    struct ACL_vector acl;
    int rc;

    if (allocate_ACL_vector(&acl, (int32_t)r->acl->count) != 0 ||
        acl.data == NULL)
        return ZKR_ENOMEM;
    for (size_t i = 0; i < r->acl->count; i++) {
        acl.data[i].perms = r->acl->entries[i].perms;
        acl.data[i].id.scheme = r->acl->entries[i].scheme;
        acl.data[i].id.id = r->acl->entries[i].id;
    }
    rc = zoo_acreate2(zh, r->path, r->data, (int)r->data_len, &acl,
                      mode_of(r->mode), on_create, op);
    free(acl.data); /* the strings are borrowed */
    return rc;
}

static int submit(zhandle_t *zh, struct zkr__zk_request *r, struct zkr__op *op)
{
    watcher_fn watcher = r->watch == NULL ? NULL : on_watch_event;
    /* Declared by mistake as a pointer to a function pointer. */
    void_completion_t *unwatched = (void_completion_t *)(uintptr_t)on_void;

    switch (r->type) {
    case ZKR__ZK_CREATE:
        return submit_create(zh, r, op);
    case ZKR__ZK_DELETE:
        return zoo_adelete(zh, r->path, -1, on_void, op);
    case ZKR__ZK_EXISTS:
        return zoo_awexists(zh, r->path, watcher, r->watch, on_stat, op);
    case ZKR__ZK_GET:
        return zoo_awget(zh, r->path, watcher, r->watch, on_data, op);
    case ZKR__ZK_SET:
        return zoo_aset(zh, r->path, r->data, (int)r->data_len, -1, on_stat,
                        op);
    case ZKR__ZK_CHILDREN:
        return zoo_aget_children(zh, r->path, 0, on_children, op);
    case ZKR__ZK_SURVEY:
        return zoo_aget_children2(zh, r->path, 0, on_survey, op);
    case ZKR__ZK_GET_ACL:
        return zoo_aget_acl(zh, r->path, on_acl, op);
    case ZKR__ZK_SYNC:
        return zoo_async(zh, r->path, on_string, op);
    case ZKR__ZK_CHECK:
        return submit_check(zh, r, op);
    case ZKR__ZK_UNWATCH:
        return r->watch == NULL
                   ? zoo_aremove_all_watches(zh, r->path, ZWATCHTYPE_DATA, 0,
                                             unwatched, op)
                   : zoo_aremove_watches(zh, r->path, ZWATCHTYPE_DATA, watcher,
                                         r->watch, 0, unwatched, op);
    }
    abort();
}

int zkr__zk_submit(struct zkr__zk *zk, struct zkr__zk_request *r,
                   struct zkr__op *op)
{
    int rc = submit(zk->zh, r, op);

    /* The client has one code for all handles that are beyond use. */
    if (rc == ZINVALIDSTATE && zoo_state(zk->zh) == ZOO_AUTH_FAILED_STATE)
        return ZAUTHFAILED;
    return rc;
}
