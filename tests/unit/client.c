/* SPDX-License-Identifier: Apache-2.0 */
/* A fake client in place of libzookeeper_mt: it connects and answers at once,
 * from a thread of its own, unless a test says otherwise. */
#include "client.h"

#include "base/clock.h"
#include "base/path.h"
#include "unit.h"
#include "zk/credentials.h"

enum { ROOM = 256, TYPES = ZKR__ZK_TYPES, WATCHES = 64, OTHERS = 2 };

/* An upcall that the thread is to make. */
struct item {
    enum { REPLY, EVENT, WATCH } kind;
    uintptr_t id;
    const struct zkr__zk_request *request;
    enum zkr__zk_event event;
    struct zkr__watch *watch;
    bool deleted;
};

struct zkr__zk {
    const struct zkr__zk_upcalls *upcalls;
    struct zkr_session *session;
    int64_t id;
    pthread_t thread;
    struct item items[ROOM];
    unsigned first;
    unsigned count;
    bool closing;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

#define AT_FIRST                                                               \
    {                                                                          \
        .timeout_ms = 10000, .stop_at = CLIENT_NEVER, .tells_server = true     \
    }

/* All members are under the lock. */
static struct zkr__zk *present;
static int64_t sessions;
static int64_t zxid;
static struct state {
    uint32_t timeout_ms;
    int failing_opens;
    int open_rc;
    bool silent;
    const char *serves_at; /* all the same; NULL: nowhere */
    int failing_logins;
    const char *auth;
    int served_scouts;
    int scouts;
    int64_t opened_ms;
    int handles;
    int rcs[TYPES];
    int times[TYPES]; /* the next so many of them; < 0: always */
    int requests[TYPES];
    int refusal;
    int stop_at;
    bool stopped, rests, answers_late, tells_server;
    char node[256]; /* "" without */
    char data[64];
    int64_t czxid;
    int64_t mzxid;
    int64_t owner;
    struct zkr__watch *watches[WATCHES];
    const char *lie[2];
    const char *others[OTHERS]; /* or NULL */
    bool denied;
} it = AT_FIRST;

/* -- what a test says ----------------------------------------------------- */

static void enter(void)
{
    (void)pthread_mutex_lock(&lock);
}

static void leave(void)
{
    (void)pthread_cond_broadcast(&changed);
    (void)pthread_mutex_unlock(&lock);
}

int client_reset(void)
{
    enter();
    it = (struct state)AT_FIRST;
    leave();
    return 0;
}

#define SETS(name, type, member)                                               \
    void name(type value)                                                      \
    {                                                                          \
        enter();                                                               \
        it.member = value;                                                     \
        leave();                                                               \
    }
#define SETS_BOTH(name, type, member, other)                                   \
    void name(type value, type other_value)                                    \
    {                                                                          \
        enter();                                                               \
        it.member = value;                                                     \
        it.other = other_value;                                                \
        leave();                                                               \
    }
#define RETURNS(type, name, member, ...)                                       \
    type name(__VA_ARGS__)                                                     \
    {                                                                          \
        enter();                                                               \
        type value = it.member;                                                \
        leave();                                                               \
        return value;                                                          \
    }

SETS(client_grants_timeout, uint32_t, timeout_ms)
SETS(client_serves_at, const char *, serves_at)
SETS(client_refuses_login, int, failing_logins)
SETS(client_serves_scouts, int, served_scouts)
SETS(client_refuses, int, refusal)
SETS(client_stops_at, int, stop_at)
SETS_BOTH(client_makes_no_handle, int, failing_opens, open_rc)
SETS_BOTH(client_closes, bool, answers_late, tells_server)
SETS_BOTH(client_lies, const char *, lie[0], lie[1])
RETURNS(const char *, client_auth, auth, void)
RETURNS(int, client_scouts, scouts, void)
RETURNS(int64_t, client_opened_ms, opened_ms, void)
RETURNS(int, client_handles, handles, void)
RETURNS(int, client_requests, requests[type], enum zkr__zk_type type)
RETURNS(uint32_t, zkr__zk_timeout_ms, timeout_ms, struct zkr__zk *zk)

static void add(struct zkr__zk *zk, struct item item)
{
    if (zk->count == ROOM)
        abort();
    zk->items[(zk->first + zk->count++) % ROOM] = item;
}

void client_connects(bool it_does)
{
    enter();
    if (it.silent && it_does && present != NULL)
        add(present, (struct item){ EVENT, .event = ZKR__ZK_CONNECTED });
    it.silent = !it_does;
    leave();
}

void client_answers(enum zkr__zk_type type, int rc)
{
    client_answers_times(type, rc, -1);
}

void client_answers_times(enum zkr__zk_type type, int rc, int times)
{
    enter();
    it.rcs[type] = rc;
    it.times[type] = times;
    leave();
}

void client_await_stop(void)
{
    (void)pthread_mutex_lock(&lock);
    while (!it.stopped)
        (void)pthread_cond_wait(&changed, &lock);
    (void)pthread_mutex_unlock(&lock);
}

void client_await_rest(void)
{
    (void)pthread_mutex_lock(&lock);
    while (!it.rests || present == NULL || present->count > 0)
        (void)pthread_cond_wait(&changed, &lock);
    (void)pthread_mutex_unlock(&lock);
}

void client_goes_on(void)
{
    client_stops_at(CLIENT_NEVER);
}

void client_says(enum zkr__zk_event event)
{
    enter();
    if (present != NULL)
        add(present, (struct item){ EVENT, .event = event });
    leave();
}

void client_reconnects(void)
{
    client_says(ZKR__ZK_DISCONNECTED);
    client_says(ZKR__ZK_CONNECTED);
}

void client_changes_node(const char *data)
{
    enter();
    if (data == NULL)
        it.node[0] = '\0';
    else
        (void)snprintf(it.data, sizeof(it.data), "%s", data);
    it.mzxid = ++zxid;
    for (unsigned i = 0; i < WATCHES; i++) {
        if (it.watches[i] != NULL && present != NULL)
            add(present, (struct item){ WATCH, .watch = it.watches[i],
                                        .deleted = data == NULL });
        it.watches[i] = NULL;
    }
    leave();
}

void client_shows(const char *one, const char *another, bool denied)
{
    enter();
    it.others[0] = one;
    it.others[1] = another;
    it.denied = denied;
    leave();
}

void client_replaces_node(void)
{
    enter();
    it.czxid = ++zxid;
    leave();
}

/* -- answers -------------------------------------------------------------- */

static bool is_missing(const struct zkr__zk_request *r)
{
    size_t len = strlen(r->path);

    for (int i = 0; i < OTHERS; i++) {
        if (it.others[i] != NULL &&
            strcmp(zkr__path_name(r->path), it.others[i]) == 0)
            return r->type == ZKR__ZK_CHECK && it.denied && i == OTHERS - 1;
    }
    return strncmp(r->path, "/lock/", strlen("/lock/")) == 0 &&
           (strncmp(r->path, it.node, len) != 0 ||
            (it.node[len] != '/' && it.node[len] != '\0'));
}

static int carry_out(struct zkr__zk *zk, const struct zkr__zk_request *r)
{
    if (it.rcs[r->type] != ZKR_OK && it.times[r->type] != 0) {
        it.times[r->type] -= it.times[r->type] > 0;
        return it.rcs[r->type];
    }
    if (r->type == ZKR__ZK_CREATE) {
        if (r->mode == ZKR_CREATE_EPHEMERAL && strcmp(r->path, it.node) == 0)
            return ZKR_ZNODEEXISTS;
        (void)snprintf(it.node, sizeof(it.node), "%s%s", r->path,
                       r->mode == ZKR_CREATE_EPHEMERAL_SEQUENTIAL ? "0000000009"
                                                                  : "");
        (void)snprintf(it.data, sizeof(it.data), "%.*s",
                       r->data_len < sizeof(it.data) ? (int)r->data_len : 0,
                       r->data);
        it.czxid = ++zxid;
        it.owner = zk->id;
        return ZKR_OK;
    }
    if (r->type != ZKR__ZK_UNWATCH && is_missing(r))
        return ZKR_ZNONODE;
    if (r->type == ZKR__ZK_DELETE)
        it.node[0] = '\0';
    return ZKR_OK;
}

static void set_watch(struct zkr__watch *watch)
{
    for (unsigned i = 0; i < WATCHES; i++) {
        if (it.watches[i] == NULL) {
            it.watches[i] = watch;
            return;
        }
    }
    abort();
}

static void unset_watches(const struct zkr__watch *watch)
{
    for (unsigned i = 0; i < WATCHES; i++) {
        if (watch == NULL || it.watches[i] == watch)
            it.watches[i] = NULL;
    }
}

static void answer(struct zkr__zk *zk, const struct item *item)
{
    static const struct zkr__zk_result made[ROOM];
    static const struct zkr__zk_result guard_missing[ROOM] = {
        { .rc = ZKR_ZNONODE }
    };
    const struct zkr__zk_request *r = item->request;
    struct zkr__zk_reply reply = { 0 };
    char node[sizeof(it.node)];
    char data[sizeof(it.data)];
    const char *names[OTHERS + 1];
    size_t count = 0;

    enter();
    for (int i = 0; i < OTHERS; i++) {
        if (it.others[i] != NULL)
            names[count++] = it.others[i];
    }
    reply.rc = carry_out(zk, r);
    memcpy(node, it.node, sizeof(node));
    if (r->type == ZKR__ZK_CREATE && it.lie[0] != NULL)
        (void)snprintf(node, sizeof(node), "%s%s%s", it.lie[0],
                       zkr__path_name(r->path), it.lie[1]);
    memcpy(data, it.data, sizeof(data));
    reply.stat.czxid = it.czxid;
    reply.stat.mzxid = it.mzxid;
    reply.stat.ephemeral_owner = it.owner;
    if (r->type == ZKR__ZK_UNWATCH)
        unset_watches(r->watch);
    else if (r->watch != NULL &&
             (reply.rc == ZKR_OK || reply.rc == ZKR_ZRUNTIMEINCONSISTENCY ||
              (r->type == ZKR__ZK_EXISTS && reply.rc == ZKR_ZNONODE)))
        set_watch(r->watch);
    leave();
    if (node[0] != '\0')
        names[count++] = zkr__path_name(node);
    if (r->type == ZKR__ZK_CREATE && reply.rc == ZKR_OK)
        reply.path = node;
    if (r->type == ZKR__ZK_CHILDREN) {
        reply.names = names;
        reply.name_count = count;
    }
    if (r->type == ZKR__ZK_MULTI && reply.rc == ZKR_OK)
        reply.results = made;
    if (r->type == ZKR__ZK_MULTI && reply.rc == ZKR_ZNONODE)
        reply.results = guard_missing;
    if (r->type == ZKR__ZK_GET && reply.rc == ZKR_OK) {
        reply.data = data;
        reply.data_len = strlen(data);
    }
    zk->upcalls->on_reply(zk->session, item->id, &reply);
}

static bool is_scout(const struct zkr__zk *zk)
{
    return zk->upcalls->on_reply == NULL;
}

static struct item take(struct zkr__zk *zk)
{
    struct item item = zk->items[zk->first];

    zk->first = (zk->first + 1) % ROOM;
    zk->count--;
    return item;
}

static void *client_main(void *arg)
{
    struct zkr__zk *zk = arg;

    (void)pthread_mutex_lock(&lock);
    while (!zk->closing) {
        const struct item *next = &zk->items[zk->first];
        bool stops =
            zk->count > 0 &&
            (it.stop_at == CLIENT_AT_ONCE ||
             (next->kind == REPLY && it.stop_at == (int)next->request->type));

        if (zk->count == 0 || stops) {
            it.stopped = stops;
            it.rests = !stops;
            (void)pthread_cond_broadcast(&changed);
            (void)pthread_cond_wait(&changed, &lock);
            it.stopped = false;
            it.rests = false;
            continue;
        }
        struct item item = take(zk);
        (void)pthread_mutex_unlock(&lock);
        if (item.kind == REPLY)
            answer(zk, &item);
        else if (item.kind == EVENT)
            zk->upcalls->on_event(zk->session, item.event);
        else
            zk->upcalls->on_watch(item.watch, item.deleted);
        (void)pthread_mutex_lock(&lock);
    }
    (void)pthread_mutex_unlock(&lock);
    return NULL;
}

/* -- the seam ------------------------------------------------------------- */

int zkr__zk_open(const struct zkr__zk_config *config,
                 const struct zkr__zk_upcalls *upcalls,
                 struct zkr_session *session, struct zkr__zk **ret_zk)
{
    struct zkr__zk *zk = calloc(1, sizeof(*zk));
    int rc = ZKR_OK;

    if (zk == NULL)
        return ZKR_ENOMEM;
    zk->upcalls = upcalls;
    zk->session = session;
    enter();
    if (is_scout(zk)) {
        bool served = it.served_scouts-- > 0;
        it.scouts++;
        add(zk, (struct item){ EVENT, .event = served ? ZKR__ZK_CONNECTED
                                                      : ZKR__ZK_DISCONNECTED });
    } else {
        it.handles++;
        it.auth = config->credentials->auth;
        it.opened_ms = zkr__clock_boot() / ZKR__MS;
        zk->id = ++sessions;
        if (!it.silent ||
            (it.serves_at != NULL && config->in_order &&
             strncmp(config->servers, it.serves_at, strlen(it.serves_at)) == 0))
            add(zk, (struct item){ EVENT, .event = ZKR__ZK_CONNECTED });
        if (it.failing_opens > 0) {
            it.failing_opens--;
            rc = it.open_rc;
        }
    }
    if (rc == ZKR_OK && pthread_create(&zk->thread, NULL, client_main, zk) != 0)
        rc = ZKR_ENOMEM;
    if (!is_scout(zk))
        present = rc == ZKR_OK ? zk : NULL;
    leave();
    if (rc == ZKR_OK)
        *ret_zk = zk;
    else
        free(zk);
    return rc;
}

bool zkr__zk_close(struct zkr__zk *zk, int64_t unused)
{
    enter();
    zk->closing = true;
    if (present == zk)
        present = NULL;
    leave();
    (void)pthread_join(zk->thread, NULL);
    if (is_scout(zk)) {
        free(zk);
        return true;
    }
    enter();
    bool answers_late = it.answers_late;
    bool tells_server = it.tells_server;
    if (it.owner == zk->id && tells_server)
        it.node[0] = '\0';
    unset_watches(NULL);
    leave();
    while (answers_late && zk->count > 0) {
        struct item item = take(zk);

        if (item.kind == REPLY)
            answer(zk, &item);
    }
    free(zk);
    return tells_server;
}

bool zkr__zk_log_in(struct zkr__zk *zk)
{
    enter();
    bool succeeds = it.failing_logins == 0;
    it.failing_logins -= !succeeds;
    leave();
    return succeeds;
}

void zkr__zk_renew(struct zkr__zk *zk, struct zkr__credentials *credentials)
{
    enter();
    it.auth = credentials->auth;
    leave();
}

int64_t zkr__zk_session_id(struct zkr__zk *zk)
{
    return zk->id;
}

void zkr__zk_server(struct zkr__zk *zk, char name[ZKR__ZK_SERVER_MAX])
{
    name[0] = '\0';
}

int zkr__zk_submit(struct zkr__zk *zk, struct zkr__zk_request *request,
                   uintptr_t id)
{
    enter();
    int rc = it.refusal;
    it.refusal = ZKR_OK;
    it.requests[request->type]++;
    if (rc == ZKR_OK)
        add(zk, (struct item){ REPLY, .id = id, .request = request });
    leave();
    return rc;
}

/* -- what tests open on it ------------------------------------------------- */

zkr_session *open_session_with(const struct zkr_session_opts *opts)
{
    return MADE(session, session_open, "127.0.0.1:2181", opts);
}

zkr_session *open_session(uint32_t flags)
{
    return open_session_with(OPTS(session, .flags = flags));
}

void close_session(zkr_session *s)
{
    ok(zkr_session_close(s));
}

struct zkr_counters session_stats(zkr_session *s)
{
    struct zkr_counters all = ZKR_COUNTERS_INIT;

    ok(zkr_session_stats(s, &all));
    return all;
}

void await_state(zkr_session *s, enum zkr_session_state_kind state)
{
    AWAIT(zkr_session_state(s) == state);
}

zkr_mutex *new_mutex(zkr_session *s)
{
    return NEW(mutex, s, "/lock", NULL);
}

zkr_grant *acquire(zkr_mutex *m)
{
    return GRANT(mutex_acquire, m, -1);
}

void give_back(zkr_grant *g)
{
    ok(zkr_grant_release(g));
    zkr_grant_free(g);
}

static void on_outcome(int rc, zkr_grant *grant, void *user)
{
    struct outcome *o = user;

    o->rc = rc;
    o->grant = grant;
    atomic_store(&o->told, true);
}

void ask_for(zkr_mutex *m, struct outcome *o)
{
    ok(zkr_mutex_acquire_async(m, -1, on_outcome, o, NULL));
}

zkr_grant *granted(struct outcome *o)
{
    AWAIT(atomic_load(&o->told));
    ok(o->rc);
    return o->grant;
}
