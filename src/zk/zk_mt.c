/* SPDX-License-Identifier: Apache-2.0 */
/* The seam on libzookeeper_mt. Only this file, zk_init.c, zk_move.c and
 * zk_latch.c include its header.
 *
 * It relies on two properties of 3.8.0: completions and watch events come from
 * one FIFO on one thread, and none comes after zookeeper_close() has returned.
 * Comments at each workaround say what it works around. */
#include "zk/zk.h"

#include <errno.h>
#include <netdb.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <zookeeper/zookeeper.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/list.h"
#include "base/log.h"
#include "base/sm.h"
#include "zk/credentials.h"
#include "zk/fault.h"
#include "zk/probe.h"
#include "zk/reaper.h"
#include "zk/sasl.h"
#include "zk/zk_init.h"
#include "zk/zk_latch.h"
#include "zk/zk_move.h"

/* Without this delay the client resolves names on every turn of its loop. */
#define RESOLUTION_DELAY_MS 60000
/* The time that zookeeper_close() waits for its answer. */
#define CLOSE_REPLY_MS 1500
/* More handles that the client has not given back are a leak: each has two
 * threads and four descriptors. */
#define STUCK_MAX 16
/* For the number of a sequential node, with a sign. */
#define NUMBER_ROOM 12

struct zkr__zk {
    zhandle_t *zh;
    const struct zkr__zk_upcalls *upcalls;
    struct zkr_session *session;
    pthread_mutex_t upcall; /* held during each upcall; taken before the
                               session's */
    bool muted;             /* under upcall: the session does not listen any
                               more */
    pthread_mutex_t lock;   /* a leaf: */
    struct zkr__list transactions; /* under way */
    /* Not taken yet: the first one, and the last. */
    struct zkr__zk_fault first;
    struct zkr__zk_fault last;
    unsigned causes; /* of all faults in this round of the servers, as bits; */
    unsigned round;  /* and in the last one */
    bool logged_in;  /* the client has auth, and sends it */
    const struct zkr__acl *acl;
    struct zkr__sasl *sasl; /* NULL without */
    struct zkr__move move;
    bool learning; /* under the latch, as all below: it holds the log level */
    bool renewed;  /* the client has not got the auth of `credentials` yet; the
                      log level is held for it */
    struct zkr__credentials *credentials; /* NULL without */
    /* Used only with credentials, and from the first guarded write on: */
    bool counting; /* every connection is counted; holds the log level */
    struct zkr__latch latch;
    bool probing;    /* a request asks whether the connection answers */
    unsigned probed; /* the number of that connection */
};

/* One operation of a transaction. */
struct part {
    struct ACL_vector acl;
    struct Stat stat;
    char *path; /* of the node that was created */
};

/* The client writes to this memory until it has answered, or is closed. */
struct transaction {
    struct zkr__list link;
    struct zkr__zk *zk;
    const void *id;
    bool over; /* under lock: it was answered, or refused */
    size_t count;
    struct part *parts; /* this and the next: in the same piece of memory */
    zoo_op_t *ops;
    zoo_op_result_t *results;
    struct zkr__zk_result *told;
};

/* The handle whose completion thread this is. The thread learns it from its
 * first event, because an event carries the handle and an answer does not. */
static _Thread_local struct zkr__zk *mine;

/* Tells whether the session still wants upcalls. If so, upcall_done() must
 * follow. */
static bool upcall_begun(struct zkr__zk *zk)
{
    if (zk == NULL)
        return false;
    (void)pthread_mutex_lock(&zk->upcall);
    if (!zk->muted)
        return true;
    (void)pthread_mutex_unlock(&zk->upcall);
    return false;
}

static void upcall_done(struct zkr__zk *zk)
{
    (void)pthread_mutex_unlock(&zk->upcall);
}

/* The longest line of the client. */
#define LINE_MAX_BYTES 4096

/* "2026-11-21 02:45:48,496:3582(0x7fbd):ZOO_ERROR@fn@1335: text" */
static enum zkr_log_level level_of(const char *line)
{
    if (strstr(line, ":ZOO_ERROR@") != NULL)
        return ZKR_LOG_ERROR;
    if (strstr(line, ":ZOO_WARN@") != NULL)
        return ZKR_LOG_WARNING;
    if (strstr(line, ":ZOO_INFO@") != NULL)
        return ZKR_LOG_INFO;
    return ZKR_LOG_DEBUG;
}

/* The lock is a leaf: the client may hold locks here. */
static void note_fault(const char *line)
{
    struct zkr__move *move = zkr__move_of_thread();

    if (move == NULL)
        return;
    struct zkr__zk *zk = ZKR__CONTAINER(move, struct zkr__zk, move);
    (void)pthread_mutex_lock(&zk->lock);
    struct zkr__zk_fault fault = zk->last;
    fault.at = zkr__clock_boot();
    if (!zkr__fault_read(line, &fault))
        (void)memcpy(zk->last.server, fault.server, sizeof(fault.server));
    else if (zk->first.cause == ZKR_CAUSE_NONE)
        zk->first = fault;
    else
        zk->last = fault;
    zk->causes |= ZKR__BIT(fault.cause);
    if (strstr(line, "Delaying connection after") != NULL) {
        zk->round = zk->causes & ~ZKR__BIT(ZKR_CAUSE_NONE);
        zk->causes = 0;
    }
    (void)pthread_mutex_unlock(&zk->lock);
}

void zkr__zk_take_fault(struct zkr__zk *zk, struct zkr__zk_fault *ret_fault)
{
    (void)pthread_mutex_lock(&zk->lock);
    *ret_fault = zk->first;
    zk->first = zk->last;
    zk->last.cause = ZKR_CAUSE_NONE;
    (void)pthread_mutex_unlock(&zk->lock);
}

unsigned zkr__zk_round(struct zkr__zk *zk)
{
    unsigned round;

    (void)pthread_mutex_lock(&zk->lock);
    round = zk->round;
    (void)pthread_mutex_unlock(&zk->lock);
    return round;
}

/* Some lines end with a newline, which is not part of the message. */
static void tell(enum zkr_log_level level, const char *text)
{
    char line[LINE_MAX_BYTES];
    unsigned times = zkr__log_times(level, strstr(text, ":ZOO_"));
    size_t len = strcspn(text, "\n");

    if (times == 1)
        (void)snprintf(line, sizeof(line), "%.*s", (int)len, text);
    else if (times > 1)
        (void)snprintf(
            line, sizeof(line), "%.*s (%u times since it was told)",
            (int)(len < LINE_MAX_BYTES - 64 ? len : LINE_MAX_BYTES - 64), text,
            times);
    if (times > 0)
        zkr__log_line(level, line);
}

/* The io thread has sent the handshake. Later the client might put the
 * credentials into the middle of a request: ahead of all that it has to send.
 */
static void renew_auth(const char *line)
{
    struct zkr__move *move;
    struct zkr__credentials *c = NULL;

    if (strstr(line, "nitiated connection to server") == NULL ||
        (move = zkr__move_of_thread()) == NULL)
        return;
    struct zkr__zk *zk = ZKR__CONTAINER(move, struct zkr__zk, move);
    zkr__latch_shut();
    if (zk->renewed) {
        zk->renewed = false;
        zkr__latch_let_level_go();
        c = zkr__credentials_ref(zk->credentials);
    }
    zkr__latch_open();
    if (c != NULL)
        (void)zoo_add_auth(zk->zh, c->auth_scheme, c->auth,
                           (int)strlen(c->auth), NULL, NULL);
    zkr__credentials_unref(c);
}

/* The client logs an error before it returns it in errno. */
static void on_log(const char *text)
{
    enum zkr_log_level level = level_of(text);
    int saved = errno;

    zkr__latch_on_log(text);
    if (level != ZKR_LOG_DEBUG)
        note_fault(text);
    if (zkr__log_wanted(level))
        tell(level, text);
    renew_auth(text);
    zkr__move_on_log(text);
    errno = saved;
}

/* Raises the level until the first connection of the process has been seen at
 * the latch. */
static void begin_learning(struct zkr__zk *zk)
{
    zkr__latch_shut();
    zk->learning = !zkr__latch_works();
    if (zk->learning)
        zkr__latch_hold_level();
    zkr__latch_open();
}

/* `holds` is a member of the handle: it holds the log level. */
static void end_hold(bool *holds)
{
    zkr__latch_shut();
    if (*holds)
        zkr__latch_let_level_go();
    *holds = false;
    zkr__latch_open();
}

static enum zkr__zk_event event_of(int state)
{
    if (state == ZOO_CONNECTED_STATE)
        return ZKR__ZK_CONNECTED;
    if (state == ZOO_EXPIRED_SESSION_STATE)
        return ZKR__ZK_EXPIRED;
    if (state == ZOO_AUTH_FAILED_STATE)
        return ZKR__ZK_AUTH_FAILED;
    if (state == ZOO_READONLY_STATE)
        return ZKR__ZK_READ_ONLY;
    return ZKR__ZK_DISCONNECTED;
}

static void on_session_event(zhandle_t *zh, int type, int state,
                             const char *path, void *context)
{
    (void)zh;
    (void)path;
    mine = context;
    if (state == ZOO_CONNECTED_STATE)
        end_hold(&mine->learning);
    if (type != ZOO_SESSION_EVENT || !upcall_begun(mine))
        return;
    mine->upcalls->on_event(mine->session, event_of(state));
    upcall_done(mine);
}

/* The client reports session events to every watch, again and again. The
 * session learns of them in its own way. */
static void on_watch_event(zhandle_t *zh, int type, int state, const char *path,
                           void *context)
{
    (void)zh;
    (void)state;
    (void)path;
    if (type == ZOO_SESSION_EVENT || !upcall_begun(mine))
        return;
    mine->upcalls->on_watch(context, type == ZOO_DELETED_EVENT);
    upcall_done(mine);
}

/* A refusal shows as the state event AUTH_FAILED. Runs on the io thread, which
 * has locks of the client unless it is a success. */
static void on_auth(int rc, const void *data)
{
    struct zkr__zk *zk = (struct zkr__zk *)(uintptr_t)data;

    zkr__latch_own(&zk->latch);
    zkr__latch_shut();
    if (rc == ZOK && zk->counting)
        zkr__latch_answered(&zk->latch, zk->latch.connections);
    zkr__latch_open();
}

static struct zkr__zk *new_zk(const struct zkr__zk_upcalls *upcalls,
                              struct zkr_session *session)
{
    struct zkr__zk *zk = calloc(1, sizeof(*zk));

    if (zk == NULL)
        return NULL;
    zk->upcalls = upcalls;
    zk->session = session;
    (void)pthread_mutex_init(&zk->upcall, NULL);
    (void)pthread_mutex_init(&zk->lock, NULL);
    zkr__list_init(&zk->transactions);
    return zk;
}

static void free_transaction(struct transaction *t)
{
    for (size_t i = 0; i < t->count; i++) {
        free(t->parts[i].acl.data);
        free(t->parts[i].path);
    }
    free(t);
}

static void free_zk(struct zkr__zk *zk)
{
    struct zkr__list *link;

    end_hold(&zk->learning);
    end_hold(&zk->counting);
    end_hold(&zk->renewed);
    zkr__credentials_unref(zk->credentials);
    zkr__move_forget(&zk->move);
    if (ZKR__CLIENT_INSIDE)
        zkr__sasl_free(zk->sasl);
    while ((link = zkr__list_pop(&zk->transactions)) != NULL)
        free_transaction(ZKR__CONTAINER(link, struct transaction, link));
    (void)pthread_mutex_destroy(&zk->upcall);
    (void)pthread_mutex_destroy(&zk->lock);
    free(zk);
}

/* The client has ENOENT or EINVAL for names that cannot be resolved, also when
 * the resolver had no descriptor to ask with. */
static int no_handle(int error)
{
    if (error == ENOMEM)
        return zkr__fail(ZKR_ENOMEM, "out of memory");
    if (error == ENOENT || error == EINVAL)
        error = zkr__probe_descriptor();
    if (error == 0)
        return zkr__fail(ZKR_EHOSTS, "no host name can be resolved");
    return zkr__fail(ZKR_ESYSTEM, "%s", strerror(error));
}

static int init_handle(struct zkr__zk *zk, const struct zkr__zk_config *config)
{
    const struct zkr_session_opts *opts = config->opts;
    struct zkr__zk_init init = { config, NULL, on_session_event, zk, on_log };
    char name[ZKR__THREAD_NAME_MAX];

    if (ZKR__CLIENT_INSIDE && opts != NULL && opts->sasl_mechanism != NULL) {
        init.sasl = zk->sasl = zkr__sasl_new(opts, zk->credentials);
        if (zk->sasl == NULL)
            return no_handle(ENOMEM);
    }
    zkr__move_name_threads(&zk->move, name);
    int error = zkr__zk_init(&init, &zk->zh);
    zkr__move_restore_name(name);
    return zk->zh != NULL ? ZKR_OK : no_handle(error);
}

int zkr__zk_open(const struct zkr__zk_config *config,
                 const struct zkr__zk_upcalls *upcalls,
                 struct zkr_session *session, struct zkr__zk **ret_zk)
{
    if (zkr_session_stuck_handles() >= STUCK_MAX)
        return zkr__fail(ZKR_ESYSTEM, "the ZooKeeper client has not given back "
                                      "too many handles of this process");
    struct zkr__zk *zk = new_zk(upcalls, session);
    if (zk == NULL)
        return no_handle(ENOMEM);
    begin_learning(zk);
    zk->credentials = zkr__credentials_ref(config->credentials);
    int rc = init_handle(zk, config);
    if (rc != ZKR_OK) {
        free_zk(zk);
        return rc;
    }
    (void)zoo_set_servers_resolution_delay(zk->zh, RESOLUTION_DELAY_MS);
    zk->acl = config->acl;
    *ret_zk = zk;
    return ZKR_OK;
}

static bool has_auth(const struct zkr__zk *zk)
{
    return zk->credentials != NULL && zk->credentials->auth != NULL;
}

/* Credentials cannot be given earlier: when an attempt to connect has just
 * failed, the client refuses them. It repeats those that it has accepted after
 * every reconnect. */
bool zkr__zk_log_in(struct zkr__zk *zk)
{
    const struct zkr__credentials *c = zk->credentials;

    if (!has_auth(zk) || zk->logged_in)
        return true;
    zk->logged_in = zoo_add_auth(zk->zh, c->auth_scheme, c->auth,
                                 (int)strlen(c->auth), on_auth, zk) == ZOK;
    return zk->logged_in;
}

void zkr__zk_renew(struct zkr__zk *zk, struct zkr__credentials *credentials)
{
    struct zkr__credentials *before = zk->credentials;

    if (ZKR__CLIENT_INSIDE && zk->sasl != NULL)
        zkr__sasl_renew(zk->sasl, credentials);
    zkr__latch_shut();
    zk->credentials = zkr__credentials_ref(credentials);
    if (zk->logged_in && !zk->renewed) {
        zk->renewed = true;
        zkr__latch_hold_level();
    }
    zkr__latch_open();
    zkr__credentials_unref(before);
}

/* Until zookeeper_close() returns the client may use the handle and the
 * transactions: it fills in their results as it gives them up. */
static bool close_handle(void *arg)
{
    struct zkr__zk *zk = arg;
    bool connected = zoo_state(zk->zh) == ZOO_CONNECTED_STATE;
    int64_t started = zkr__clock_now();
    int rc = zookeeper_close(zk->zh);
    int64_t took = zkr__clock_now() - started;

    free_zk(zk);
    /* The client returns ZOK also when it has waited for the answer in vain. */
    return connected && rc == ZOK && took < CLOSE_REPLY_MS * ZKR__MS;
}

bool zkr__zk_close(struct zkr__zk *zk, int64_t deadline)
{
    (void)pthread_mutex_lock(&zk->upcall);
    zk->muted = true;
    (void)pthread_mutex_unlock(&zk->upcall);
    return zkr__reaper_run(close_handle, zk, deadline);
}

int zkr__zk_move(struct zkr__zk *zk, const char *servers)
{
    return zkr__move_to(&zk->move, zk->zh, servers);
}

void *zkr__zk_raw(struct zkr__zk *zk)
{
    return zk->zh;
}

int64_t zkr__zk_session_id(struct zkr__zk *zk)
{
    return zoo_client_id(zk->zh)->client_id;
}

uint32_t zkr__zk_timeout_ms(struct zkr__zk *zk)
{
    int timeout_ms = zoo_recv_timeout(zk->zh); /* whatever a server said */

    return timeout_ms < 0 ? 0 : (uint32_t)timeout_ms;
}

/* The client's own text of the address is in a buffer that all handles
 * share. */
void zkr__zk_server(struct zkr__zk *zk, char name[ZKR__ZK_SERVER_MAX])
{
    struct sockaddr_storage address;
    struct sockaddr *sa = (struct sockaddr *)&address;
    socklen_t size = sizeof(address);
    char host[ZKR__ZK_SERVER_MAX - 16];
    char port[8];

    if (zookeeper_get_connected_host(zk->zh, sa, &size) == NULL ||
        getnameinfo(sa, size, host, sizeof(host), port, sizeof(port),
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0)
        (void)strcpy(name, "(unknown)");
    else
        (void)snprintf(name, ZKR__ZK_SERVER_MAX,
                       sa->sa_family == AF_INET6 ? "[%s]:%s" : "%s:%s", host,
                       port);
}

/* Completions of all types of the client are turned into one kind of reply.
 * The pointer that the client carries for us is the id. */

static void answer(const void *id, struct zkr__zk_reply *reply)
{
    if (!upcall_begun(mine))
        return;
    mine->upcalls->on_reply(mine->session, (uintptr_t)id, reply);
    upcall_done(mine);
}

/* A server can send any code. It cannot know the library's own codes, and a
 * number that is no code says nothing about the request. */
static struct zkr__zk_reply reply_of(int rc)
{
    bool possible = rc <= ZOK && rc > ZKR_EINVAL;

    return (struct zkr__zk_reply){ .rc = possible ? rc : ZMARSHALLINGERROR };
}

/* A success that lacks a part: no part of it counts. */
static void spoil(struct zkr__zk_reply *reply)
{
    *reply = reply_of(ZMARSHALLINGERROR);
}

static struct zkr_stat stat_of(const struct Stat *stat)
{
    return (struct zkr_stat){
        .czxid = stat->czxid,
        .mzxid = stat->mzxid,
        .pzxid = stat->pzxid,
        .ctime_ms = stat->ctime,
        .mtime_ms = stat->mtime,
        .ephemeral_owner = stat->ephemeralOwner,
        .version = stat->version,
        .cversion = stat->cversion,
        .aversion = stat->aversion,
        .data_len = stat->dataLength < 0 ? 0 : stat->dataLength,
        .children = stat->numChildren < 0 ? 0 : stat->numChildren,
    };
}

static void set_stat(struct zkr__zk_reply *reply, const struct Stat *stat)
{
    if (reply->rc == ZOK && stat == NULL)
        spoil(reply);
    if (reply->rc == ZOK)
        reply->stat = stat_of(stat);
}

static void on_create(int rc, const char *path, const struct Stat *stat,
                      const void *data)
{
    struct zkr__zk_reply reply = reply_of(rc);

    if (reply.rc == ZOK && path == NULL)
        spoil(&reply);
    set_stat(&reply, stat);
    if (reply.rc == ZOK)
        reply.path = path;
    answer(data, &reply);
}

static void on_void(int rc, const void *data)
{
    struct zkr__zk_reply reply = reply_of(rc);

    answer(data, &reply);
}

static void on_string(int rc, const char *value, const void *data)
{
    (void)value;
    on_void(rc, data);
}

static void on_stat(int rc, const struct Stat *stat, const void *data)
{
    struct zkr__zk_reply reply = reply_of(rc);

    set_stat(&reply, stat);
    answer(data, &reply);
}

/* Where the client has no memory for the data, what it has behind them is none
 * of the answer, either. */
static void on_data(int rc, const char *value, int len, const struct Stat *stat,
                    const void *data)
{
    struct zkr__zk_reply reply = reply_of(rc);

    if (reply.rc == ZOK && value == NULL && len > 0)
        spoil(&reply);
    set_stat(&reply, stat);
    if (reply.rc == ZOK && len > 0) {
        reply.data = value;
        reply.data_len = (size_t)len;
    }
    answer(data, &reply);
}

/* Where a reply is cut short, or memory is short, the client leaves NULL
 * pointers. */
static bool is_whole(const struct String_vector *names)
{
    if (names == NULL || names->count < 0 ||
        (names->count > 0 && names->data == NULL))
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
        spoil(reply);
    } else if (reply->rc == ZOK && names->count > 0) {
        reply->names = (const char *const *)names->data;
        reply->name_count = (size_t)names->count;
    }
}

static void on_children(int rc, const struct String_vector *names,
                        const struct Stat *stat, const void *data)
{
    struct zkr__zk_reply reply = reply_of(rc);

    set_names(&reply, names);
    set_stat(&reply, stat);
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
    struct zkr__zk_reply reply = reply_of(rc);

    set_stat(&reply, stat);
    if (reply.rc == ZOK &&
        (acl == NULL || (acl->count > 0 && acl->data == NULL)))
        spoil(&reply);
    for (int32_t i = 0; reply.rc == ZOK && i < acl->count; i++) {
        if (is_anyone(&acl->data[i].id))
            reply.anyone |= acl->data[i].perms;
    }
    answer(data, &reply);
}

static int32_t mode_of(enum zkr_create_mode mode)
{
    static const int *const modes[] = {
        [ZKR_CREATE_PERSISTENT] = &ZOO_PERSISTENT,
        [ZKR_CREATE_PERSISTENT_SEQUENTIAL] = &ZOO_PERSISTENT_SEQUENTIAL,
        [ZKR_CREATE_EPHEMERAL] = &ZOO_EPHEMERAL,
        [ZKR_CREATE_EPHEMERAL_SEQUENTIAL] = &ZOO_EPHEMERAL_SEQUENTIAL,
        [ZKR_CREATE_CONTAINER] = &ZOO_CONTAINER,
        [ZKR_CREATE_TTL] = &ZOO_PERSISTENT_WITH_TTL,
        [ZKR_CREATE_TTL_SEQUENTIAL] = &ZOO_PERSISTENT_SEQUENTIAL_WITH_TTL,
    };

    return *modes[mode];
}

/* The strings are borrowed, so the caller frees only the array with free(). */
static bool borrow_acl(struct zkr__zk *zk, const struct zkr__zk_request *r,
                       struct ACL_vector *to)
{
    const struct zkr__acl *acl = r->special == NULL || r->special->acl == NULL
                                     ? zk->acl
                                     : r->special->acl;

    if (allocate_ACL_vector(to, (int32_t)acl->count) != 0 || to->data == NULL)
        return false;
    for (size_t i = 0; i < acl->count; i++) {
        to->data[i].perms = acl->entries[i].perms;
        to->data[i].id.scheme = acl->entries[i].scheme;
        to->data[i].id.id = acl->entries[i].id;
    }
    return true;
}

static int submit_create(struct zkr__zk *zk, const struct zkr__zk_request *r,
                         const void *id)
{
    bool has_ttl =
        r->mode == ZKR_CREATE_TTL || r->mode == ZKR_CREATE_TTL_SEQUENTIAL;
    struct ACL_vector acl;

    if (!borrow_acl(zk, r, &acl))
        return ZKR_ENOMEM;
    int rc = zoo_acreate2_ttl(zk->zh, r->path, r->data, (int)r->data_len, &acl,
                              mode_of(r->mode),
                              has_ttl ? r->special->ttl_ms : -1, on_create, id);
    free(acl.data);
    return rc;
}

/* -- transactions --------------------------------------------------------- */

/* A transaction ends when the client has answered it, or cannot answer it. */
static struct transaction *begin_transaction(struct zkr__zk *zk, size_t count,
                                             const void *id)
{
    struct transaction *t = calloc(
        1, sizeof(*t) + count * (sizeof(*t->parts) + sizeof(*t->ops) +
                                 sizeof(*t->results) + sizeof(*t->told)));

    if (t == NULL)
        return NULL;
    t->zk = zk;
    t->id = id;
    t->count = count;
    t->parts = (struct part *)(t + 1);
    t->ops = (zoo_op_t *)(t->parts + count);
    t->results = (zoo_op_result_t *)(t->ops + count);
    t->told = (struct zkr__zk_result *)(t->results + count);
    for (size_t i = 0; i < count; i++)
        t->results[i].err = ZMARSHALLINGERROR; /* until the server says else */
    (void)pthread_mutex_lock(&zk->lock);
    zkr__list_append(&zk->transactions, &t->link);
    (void)pthread_mutex_unlock(&zk->lock);
    return t;
}

/* Answers come in the order of the requests, so those that were refused before
 * this one was sent have had theirs, or get none. */
static void end_answered(struct transaction *t)
{
    struct zkr__zk *zk = t->zk;
    struct transaction *first;

    (void)pthread_mutex_lock(&zk->lock);
    t->over = true;
    do {
        first = ZKR__CONTAINER(zk->transactions.next, struct transaction, link);
        if (!first->over)
            break;
        zkr__list_remove(&first->link);
        free_transaction(first);
    } while (first != t);
    (void)pthread_mutex_unlock(&zk->lock);
}

/* All errors of zoo_amulti() itself have one code. If the client had no memory
 * to send the request, it has kept it, and answers it when the connection
 * breaks; otherwise it has forgotten it. */
static void end_refused(struct transaction *t, int rc)
{
    bool kept = rc == ZMARSHALLINGERROR;

    (void)pthread_mutex_lock(&t->zk->lock);
    t->over = true;
    if (!kept)
        zkr__list_remove(&t->link);
    (void)pthread_mutex_unlock(&t->zk->lock);
    if (!kept)
        free_transaction(t);
}

/* Tells whether the error is that of one operation. The server has none for
 * those before it, and ZRUNTIMEINCONSISTENCY for those behind it; for what was
 * not answered the client has one code for all. */
static bool is_refused(const struct transaction *t, int rc)
{
    size_t i = 0;

    while (i < t->count && t->results[i].err == ZOK)
        i++;
    if (i == t->count || t->results[i].err != rc ||
        zkr__error_outcome(rc) != ZKR__DONE)
        return false;
    while (++i < t->count) {
        if (t->results[i].err != ZRUNTIMEINCONSISTENCY)
            return false;
    }
    return true;
}

static bool is_made(const struct transaction *t)
{
    for (size_t i = 0; i < t->count; i++) {
        if (t->results[i].err != ZOK ||
            (t->ops[i].type == ZOO_CREATE_OP && t->results[i].value == NULL) ||
            (t->ops[i].type == ZOO_SETDATA_OP && t->results[i].stat == NULL))
            return false;
    }
    return true;
}

static const struct zkr__zk_result *results_of(struct transaction *t, int rc)
{
    for (size_t i = 0; i < t->count; i++) {
        if (t->results[i].err == rc)
            t->told[i].rc = rc;
        if (rc == ZOK && t->ops[i].type == ZOO_CREATE_OP)
            t->told[i].path = t->parts[i].path;
        if (rc == ZOK && t->ops[i].type == ZOO_SETDATA_OP)
            t->told[i].stat = stat_of(&t->parts[i].stat);
    }
    return t->told;
}

static void on_multi(int rc, const void *data)
{
    struct transaction *t = (struct transaction *)(uintptr_t)data;
    struct zkr__zk_reply reply = reply_of(rc);

    if (reply.rc == ZOK && !is_made(t))
        spoil(&reply);
    if (reply.rc == ZOK || is_refused(t, reply.rc))
        reply.results = results_of(t, reply.rc);
    answer(t->id, &reply);
    end_answered(t);
}

static void on_probed(int rc, const struct Stat *stat, const void *data)
{
    struct zkr__zk *zk = (struct zkr__zk *)(uintptr_t)data;

    (void)stat;
    zkr__latch_shut();
    zk->probing = false;
    if (rc == ZOK)
        zkr__latch_answered(&zk->latch, zk->probed);
    zkr__latch_open();
}

/* With the latch shut and the handle connected: tells whether our credentials
 * are accepted for certain. */
static bool is_accepted(struct zkr__zk *zk)
{
    if (!has_auth(zk))
        return true;
    if (!zk->counting) {
        zk->counting = true;
        zkr__latch_hold_level();
    }
    if (zkr__latch_has_answered(&zk->latch))
        return true;
    if (!zk->probing) {
        zk->probed = zk->latch.connections;
        zk->probing =
            zoo_awexists(zk->zh, "/", NULL, NULL, on_probed, zk) == ZOK;
    }
    return false;
}

static int send_multi(struct transaction *t)
{
    return zoo_amulti(t->zk->zh, (int)t->count, t->ops, t->results, on_multi,
                      t);
}

/* While the latch is shut, a handle that was seen to be CONNECTED stays usable,
 * so the client encodes all operations, however many there are. A handle that
 * connects during the call must log it, so the level is raised before the state
 * is read. */
static int latched_multi(struct zkr__zk *zk, struct transaction *t)
{
    int rc = ZKR__ZK_NOT_NOW;

    if (!zkr__latch_works())
        return ZUNIMPLEMENTED;
    zkr__latch_hold_level();
    if (zoo_state(zk->zh) == ZOO_CONNECTED_STATE && is_accepted(zk))
        rc = send_multi(t);
    zkr__latch_let_level_go();
    return rc;
}

static bool init_create(struct zkr__zk *zk, const struct zkr__zk_request *r,
                        struct part *part, zoo_op_t *op)
{
    size_t room = strlen(r->path) + NUMBER_ROOM;

    part->path = malloc(room);
    if (part->path == NULL || !borrow_acl(zk, r, &part->acl))
        return false;
    zoo_create_op_init(op, r->path, r->data, (int)r->data_len, &part->acl,
                       mode_of(r->mode), part->path, (int)room);
    return true;
}

static bool init_operation(struct zkr__zk *zk, const struct zkr__zk_request *r,
                           struct part *part, zoo_op_t *op)
{
    if (r->type == ZKR__ZK_CREATE)
        return init_create(zk, r, part, op);
    if (r->type == ZKR__ZK_DELETE)
        zoo_delete_op_init(op, r->path, r->version);
    else if (r->type == ZKR__ZK_SET)
        zoo_set_op_init(op, r->path, r->data, (int)r->data_len, r->version,
                        &part->stat);
    else
        zoo_check_op_init(op, r->path, r->version);
    return true;
}

static bool init_operations(struct transaction *t,
                            const struct zkr__zk_request *const *operations)
{
    for (size_t i = 0; i < t->count; i++) {
        if (!init_operation(t->zk, operations[i], &t->parts[i], &t->ops[i]))
            return false;
    }
    return true;
}

/* A single operation needs no latch. */
static int submit_multi(struct zkr__zk *zk,
                        const struct zkr__zk_request *const *operations,
                        size_t count, const void *id)
{
    struct transaction *t = begin_transaction(zk, count, id);
    int rc;

    if (t == NULL)
        return ZKR_ENOMEM;
    if (!init_operations(t, operations)) {
        rc = ZKR_ENOMEM;
    } else if (count == 1) {
        rc = send_multi(t);
    } else {
        zkr__latch_shut();
        rc = latched_multi(zk, t);
        zkr__latch_open();
    }
    if (rc != ZOK)
        end_refused(t, rc);
    return rc;
}

static int submit_unwatch(zhandle_t *zh, const struct zkr__zk_request *r,
                          ZooWatcherType type, const void *id)
{
    /* The header declares the parameter by mistake as a pointer to a function
     * pointer. */
    void_completion_t *done = (void_completion_t *)(uintptr_t)on_void;

    if (r->watch == NULL)
        return zoo_aremove_all_watches(zh, r->path, type, 0, done, id);
    return zoo_aremove_watches(zh, r->path, type, on_watch_event, r->watch, 0,
                               done, id);
}

static int submit(struct zkr__zk *zk, const struct zkr__zk_request *r,
                  const void *id)
{
    zhandle_t *zh = zk->zh;
    watcher_fn watcher = r->watch == NULL ? NULL : on_watch_event;

    switch (r->type) {
    case ZKR__ZK_CREATE:
        return submit_create(zk, r, id);
    case ZKR__ZK_DELETE:
        return zoo_adelete(zh, r->path, r->version, on_void, id);
    case ZKR__ZK_EXISTS:
        return zoo_awexists(zh, r->path, watcher, r->watch, on_stat, id);
    case ZKR__ZK_GET:
        return zoo_awget(zh, r->path, watcher, r->watch, on_data, id);
    case ZKR__ZK_SET:
        return zoo_aset(zh, r->path, r->data, (int)r->data_len, r->version,
                        on_stat, id);
    case ZKR__ZK_CHILDREN:
        return zoo_awget_children2(zh, r->path, watcher, r->watch, on_children,
                                   id);
    case ZKR__ZK_GET_ACL:
        return zoo_aget_acl(zh, r->path, on_acl, id);
    case ZKR__ZK_SYNC:
        return zoo_async(zh, r->path, on_string, id);
    case ZKR__ZK_CHECK:
        return submit_multi(zk, &r, 1, id);
    case ZKR__ZK_MULTI:
        return submit_multi(zk, r->multi->operations, r->multi->count, id);
    case ZKR__ZK_UNWATCH:
        return submit_unwatch(zh, r, ZWATCHTYPE_DATA, id);
    case ZKR__ZK_UNWATCH_CHILDREN:
        return submit_unwatch(zh, r, ZWATCHTYPE_CHILD, id);
    }
    abort();
}

int zkr__zk_submit(struct zkr__zk *zk, struct zkr__zk_request *r, uintptr_t id)
{
    int rc = submit(zk, r, (const void *)id);

    /* The client has one code for all handles that are not usable any more. */
    if (rc == ZINVALIDSTATE && zoo_state(zk->zh) == ZOO_AUTH_FAILED_STATE)
        return ZAUTHFAILED;
    return rc;
}
