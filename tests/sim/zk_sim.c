/* SPDX-License-Identifier: Apache-2.0 */
/* The seam on the simulated ensemble, which behaves as libzookeeper_mt 3.8.0
 * does. This file takes the place of zk_mt.c. */
#include "zk/credentials.h"
#include "zk/probe.h"
#include "zk/rotation.h"

#include "oracle.h"

#define HANDLES_MAX 256
/* The time that zookeeper_close() waits for its answer. */
#define CLOSE_REPLY_MS 1500

enum state {
    CONNECTING,
    CONNECTED,
    EXPIRED,
};

/* An upcall that the completion thread is to make. */
struct upcall {
    struct upcall *next;
    enum { EVENT, REPLY, WATCH } kind;
    enum zkr__zk_event event;
    struct request *request;
    int rc;
    struct zkr__watch *watch;
    bool deleted;
};

struct local_watch {
    struct local_watch *next;
    const char *path;
    struct zkr__watch *watch;
    bool missing;
    bool children;
};

struct zkr__zk {
    int process;
    const struct zkr__zk_upcalls *tell;
    struct zkr_session *session;
    int64_t timeout;
    int id; /* of the session, or NO_SESSION */
    int64_t last_seen;
    enum state state;
    bool closing;
    struct conn *conn;
    int server; /* the next to try */
    int failures;
    struct request *first; /* sent or not, and not answered */
    struct local_watch *watches;
    struct upcall *upcalls;
    int64_t last_sent;
    int64_t last_received;
    uint64_t turn;      /* of the io thread: the event that counts */
    int64_t slow_until; /* the completion thread does not get on */
    bool told;          /* the server has answered the close */
    bool has_auth;
    bool logged_in;      /* the client has its credentials */
    int64_t accepted_at; /* the server has them from then on, when connected */
    int64_t connected_since;
};

static OF_SCHEDULE struct zkr__zk *handles[HANDLES_MAX];
static OF_SCHEDULE int handle_count;
OF_SCHEDULE uint64_t client_requests;
OF_SCHEDULE uint64_t client_answers[PROCESSES_MAX];

int clients_open(void)
{
    int open = 0;

    for (int i = 0; i < handle_count; i++)
        open += handles[i] != NULL;
    return open;
}

static const struct zkr__zk *handle_of(int process)
{
    for (int i = 0; i < handle_count; i++) {
        if (handles[i] != NULL && !handles[i]->closing &&
            handles[i]->session == world.processes[process].session)
            return handles[i];
    }
    return NULL;
}

enum client_knows client_knows(int process)
{
    const struct zkr__zk *zk = handle_of(process);

    if (zk == NULL || zk->upcalls != NULL)
        return CLIENT_IS_AWAY;
    return zk->state == CONNECTED ? CLIENT_IS_CONNECTED
           : zk->state == EXPIRED ? CLIENT_IS_EXPIRED
                                  : CLIENT_CONNECTS;
}

int64_t client_connected_since(int process)
{
    return handle_of(process)->connected_since;
}

int client_replica(int process)
{
    const struct zkr__zk *zk = handle_of(process);

    return zk == NULL || zk->state != CONNECTED ? NO_REPLICA
                                                : zk->conn->replica;
}

static void on_quick(void *arg, uint64_t tag)
{
}

static void add_upcall(struct zkr__zk *zk, struct upcall *u)
{
    if (zk->upcalls == NULL && one_in(50)) {
        zk->slow_until = sim_now + (1 + choose(60)) * MS;
        events_at(zk->slow_until, on_quick, NULL, 0);
    }
    APPEND(zk->upcalls, u, next);
}

static void tell_event(struct zkr__zk *zk, enum zkr__zk_event event)
{
    add_upcall(zk, ARENA_NEW(struct upcall, .kind = EVENT, .event = event));
}

static void tell_reply(struct zkr__zk *zk, struct request *r, int rc)
{
    if (r->id != 0)
        add_upcall(zk, ARENA_NEW(struct upcall, .kind = REPLY, .request = r,
                                 .rc = rc));
}

static void fail_all(struct zkr__zk *zk, int rc)
{
    for (struct request *r = zk->first; r != NULL; r = r->pending)
        tell_reply(zk, r, rc);
    zk->first = NULL;
}

static void hang_up(struct zkr__zk *zk)
{
    if (zk->conn != NULL)
        server_hang_up(zk->conn);
    zk->conn = NULL;
}

static void on_io(void *arg, uint64_t turn);

static void turn_at(struct zkr__zk *zk, int64_t instant)
{
    events_at(instant, on_io, zk, ++zk->turn);
}

static void disconnect(struct zkr__zk *zk, int rc)
{
    hang_up(zk);
    if (zk->state == CONNECTED) {
        zk->state = CONNECTING;
        zk->failures = 0;
        tell_event(zk, ZKR__ZK_DISCONNECTED);
    }
    fail_all(zk, rc);
    bool has_tried_all = ++zk->failures % ensemble.places == 0;
    if (zk->closing)
        fiber_wake(zk);
    else
        turn_at(zk, sim_now + MS + (has_tried_all ? zk->timeout / 60 : 0));
}

static void send_request(struct zkr__zk *zk, struct request *r)
{
    r->sent = true;
    zk->last_sent = sim_now;
    server_send(zk->conn, r);
}

static struct request *add_request(struct zkr__zk *zk, int type)
{
    struct request *r = ARENA_NEW(struct request, .type = type);

    APPEND(zk->first, r, pending);
    return r;
}

static void on_welcome(struct zkr__zk *zk, int session)
{
    struct request *again = ARENA_NEW(struct request, .type = REQUEST_WATCHES,
                                      .version = zk->last_seen);

    zk->id = session;
    if (zk->timeout != zk->conn->timeout)
        world_trace("process %d: is granted a timeout of %lld ms", zk->process,
                    (long long)(zk->conn->timeout / MS));
    zk->timeout = zk->conn->timeout;
    zk->state = CONNECTED;
    zk->connected_since = sim_now;
    zk->failures = 0;
    world_trace("process %d: connected to %d, session %d", zk->process,
                zk->conn->replica, session);
    if (zk->has_auth)
        zk->accepted_at = sim_now + choose(30) * MS;
    tell_event(zk, ZKR__ZK_CONNECTED);
    for (struct local_watch *l = zk->watches; l != NULL; l = l->next)
        again->watched = ARENA_NEW(struct watched, again->watched, l->path,
                                   l->missing, l->children);
    if (zk->watches != NULL)
        send_request(zk, again); /* its answer means nothing */
    for (struct request *r = zk->first; r != NULL; r = r->pending)
        send_request(zk, r); /* none was sent before, or it has failed */
    turn_at(zk, sim_now + zk->timeout / 3);
}

static bool is_unwatch(int type)
{
    return type == ZKR__ZK_UNWATCH || type == ZKR__ZK_UNWATCH_CHILDREN;
}

static bool is_watched(const struct zkr__zk *zk, const char *path,
                       const struct zkr__watch *only)
{
    return FIRST(l, zk->watches,
                 strcmp(l->path, path) == 0 &&
                     (only == NULL || l->watch == only)) != NULL;
}

static void add_watch(struct zkr__zk *zk, const struct request *r, int rc)
{
    if (r->watch == NULL || is_unwatch(r->type) ||
        is_watched(zk, r->path, r->watch) ||
        (rc != ZKR_OK && (r->type != ZKR__ZK_EXISTS || rc != ZKR_ZNONODE)))
        return;
    APPEND(zk->watches,
           ARENA_NEW(struct local_watch, NULL, r->path, r->watch,
                     rc == ZKR_ZNONODE, r->type == ZKR__ZK_CHILDREN),
           next);
}

/* Tells whether the event uses up the watch. */
static bool concerns(const struct local_watch *l, const char *path,
                     enum watch_event event)
{
    return strcmp(l->path, path) == 0 &&
           (event == NODE_DELETED || l->children == (event == NODE_HAS_OTHERS));
}

/* Removes the watches on the path that an event uses up, or one context. */
static void drop_watches(struct zkr__zk *zk, const char *path,
                         enum watch_event event, const struct zkr__watch *only)
{
    struct local_watch **l = &zk->watches;

    while (*l != NULL) {
        if (concerns(*l, path, event) && (only == NULL || (*l)->watch == only))
            *l = (*l)->next;
        else
            l = &(*l)->next;
    }
}

static void on_reply(struct zkr__zk *zk, struct request *r)
{
    if (r->type == REQUEST_WATCHES)
        return;
    WRONG_IF(zk->first != r, "an answer out of order");
    zk->first = r->pending;
    if (r->type == REQUEST_CLOSE) {
        zk->told = true;
        fiber_wake(zk);
        return;
    }
    add_watch(zk, r, r->rc);
    if (is_unwatch(r->type) && r->rc == ZKR_OK)
        drop_watches(zk, r->path,
                     r->type == ZKR__ZK_UNWATCH ? NODE_CHANGED
                                                : NODE_HAS_OTHERS,
                     r->watch);
    /* a client without memory for the answer to a read sets its watch */
    bool lost =
        r->rc == ZKR_OK &&
        ONE_OF(r->type, ZKR__ZK_GET, ZKR__ZK_EXISTS, ZKR__ZK_CHILDREN) &&
        nerves.refuse != 0 && one_in(nerves.refuse);
    tell_reply(zk, r, lost ? ZKR_ZMARSHALLINGERROR : r->rc);
}

static void on_watched(struct zkr__zk *zk, const char *path,
                       enum watch_event event)
{
    for (struct local_watch *l = zk->watches; l != NULL; l = l->next) {
        if (concerns(l, path, event))
            add_upcall(zk, ARENA_NEW(struct upcall, .kind = WATCH,
                                     .watch = l->watch,
                                     .deleted = event == NODE_DELETED));
    }
    drop_watches(zk, path, event, NULL);
}

void client_on_message(void *client, struct conn *c, const struct message *m)
{
    struct zkr__zk *zk = client;

    if (zk->conn != c)
        return;
    zk->last_received = sim_now;
    switch (m->kind) {
    case TO_CLIENT_WELCOME:
        on_welcome(zk, (int)m->number);
        break;
    case TO_CLIENT_EXPIRED:
        world_trace("process %d: session %d has expired", zk->process, zk->id);
        hang_up(zk);
        zk->state = EXPIRED;
        zk->turn++;
        tell_event(zk, ZKR__ZK_EXPIRED);
        fail_all(zk, ZKR_ZSESSIONEXPIRED);
        break;
    case TO_CLIENT_REPLY:
        zk->last_seen = m->number;
        on_reply(zk, m->body);
        break;
    case TO_CLIENT_EVENT:
        on_watched(zk, m->body, (enum watch_event)m->number);
        break;
    default:
        disconnect(zk, ZKR_ZCONNECTIONLOSS);
    }
}

static void check_silence(struct zkr__zk *zk)
{
    int64_t silent_at = zk->last_received + zk->timeout * 2 / 3;
    int64_t ping_at = zk->last_sent + zk->timeout / 3;

    if (sim_now >= silent_at) {
        disconnect(zk, ZKR_ZOPERATIONTIMEOUT);
        return;
    }
    if (zk->state == CONNECTED && zk->first == NULL && sim_now >= ping_at) {
        send_request(zk, add_request(zk, REQUEST_PING));
        ping_at = sim_now + zk->timeout / 3;
    }
    turn_at(zk,
            zk->state == CONNECTED && ping_at > sim_now && ping_at < silent_at
                ? ping_at
                : silent_at);
}

static void on_io(void *arg, uint64_t turn)
{
    struct zkr__zk *zk = arg;

    if (turn != zk->turn || zk->state == EXPIRED || zk->closing ||
        fiber_stopped[zk->process])
        return;
    if (zk->conn != NULL) {
        check_silence(zk);
        return;
    }
    zk->conn = server_connect(zk->process, zk->server, zk, zk->id, zk->timeout,
                              zk->last_seen);
    zk->server = (zk->server + 1) % ensemble.places;
    zk->last_received = sim_now;
    turn_at(zk, sim_now + zk->timeout * 2 / 3);
}

void clients_resume(int process)
{
    for (int i = 0; i < handle_count; i++) {
        struct zkr__zk *zk = handles[i];

        if (zk == NULL || zk->process != process || zk->state == EXPIRED)
            continue;
        if (one_in(2)) /* it looks at the clock before it reads */
            on_io(zk, zk->turn);
        else
            turn_at(zk, sim_now);
    }
}

static bool is_ready(const struct zkr__zk *zk)
{
    return zk != NULL && zk->upcalls != NULL && !zk->closing &&
           zk->slow_until <= sim_now && !fiber_stopped[zk->process];
}

int clients_ready(void)
{
    int ready = 0;

    for (int i = 0; i < handle_count; i++)
        ready += is_ready(handles[i]);
    return ready;
}

static void set_written(struct zkr_stat *stat, const struct request *r)
{
    stat->czxid = r->node->czxid;
    stat->mzxid = ensemble_log[r->version].zxid;
    stat->version = tree_data(r->node, r->version)->number;
}

/* Returns NULL when the server did not carry out, or refuse, an operation. */
static const struct zkr__zk_result *results_of(const struct request *r, int rc)
{
    struct zkr__zk_result *results =
        arena_new((size_t)(r->check_count + 1) * sizeof(*results));
    struct zkr__zk_result *last = &results[r->check_count];

    if (rc != r->rc || r->failed < 0)
        return NULL;
    if (rc != ZKR_OK)
        results[r->failed].rc = rc;
    else if (r->write == ZKR__ZK_CREATE)
        last->path = r->node->path;
    else if (r->write == ZKR__ZK_SET)
        set_written(&last->stat, r);
    return results;
}

static void reply(const struct zkr__zk *zk, const struct request *r, int rc)
{
    struct zkr__zk_reply reply = { .rc = rc };
    bool ok = rc == ZKR_OK;

    if (ok && r->node != NULL &&
        !ONE_OF(r->type, ZKR__ZK_DELETE, ZKR__ZK_CHECK, ZKR__ZK_MULTI)) {
        reply.stat.czxid = r->node->czxid;
        reply.stat.ephemeral_owner = r->node->session + 1; /* 0 is nobody */
        reply.stat.mzxid = r->mzxid;
        reply.stat.pzxid = r->pzxid;
        reply.stat.version = r->value == NULL ? 0 : r->value->number;
    }
    if (ok && r->type == ZKR__ZK_SET)
        set_written(&reply.stat, r);
    if (r->type == ZKR__ZK_MULTI)
        reply.results = results_of(r, rc);
    if (ok && r->type == ZKR__ZK_GET_ACL)
        reply.anyone = (int32_t)acls_anyone(r->node);
    if (ok && r->type == ZKR__ZK_CREATE)
        reply.path = r->node->path;
    if (ok) {
        reply.names = r->names;
        reply.name_count = r->name_count;
    }
    if (ok && r->value != NULL && r->type == ZKR__ZK_GET) {
        reply.data = r->value->bytes;
        reply.data_len = r->value->len;
    }
    if (ok && r->value != NULL && r->type == ZKR__ZK_CHILDREN) {
        reply.stat.data_len = (int32_t)r->value->len;
        reply.stat.children = (int32_t)r->name_count;
        reply.stat.cversion =
            (int32_t)(2 * (uint32_t)r->creates - (uint32_t)r->name_count);
    }
    zk->tell->on_reply(zk->session, r->id, &reply);
}

static void run_upcall(struct zkr__zk *zk)
{
    struct upcall *u = zk->upcalls;

    zk->upcalls = u->next;
    fiber_enter_process(zk->process);
    switch (u->kind) {
    case EVENT:
        zk->tell->on_event(zk->session, u->event);
        break;
    case REPLY:
        client_answers[zk->process] += u->request->agreed;
        reply(zk, u->request, u->rc);
        break;
    case WATCH:
        zk->tell->on_watch(u->watch, u->deleted);
        break;
    }
}

void clients_run(int which)
{
    for (int i = 0; i < handle_count; i++) {
        if (!is_ready(handles[i]) || which-- > 0)
            continue;
        run_upcall(handles[i]);
        return;
    }
}

int zkr__zk_open(const struct zkr__zk_config *config,
                 const struct zkr__zk_upcalls *upcalls,
                 struct zkr_session *session, struct zkr__zk **ret_zk)
{
    static const int64_t resolving[] = { 0, 1, 5, 30, 500, 4000 };
    struct zkr__zk *zk = ARENA_NEW(
        struct zkr__zk, .process = fiber_process(), .tell = upcalls,
        .session = session, .timeout = config->timeout_ms * MS,
        .id = NO_SESSION, .server = (int)choose((uint32_t)ensemble.places),
        .has_auth =
            config->credentials != NULL && config->credentials->auth != NULL,
        .state = CONNECTING);

    WRONG_IF(handle_count >= HANDLES_MAX, "too many handles");
    handles[handle_count++] = zk;
    turn_at(zk, sim_now);
    /* slow name resolution is a fault, too: it ends with the others */
    int64_t left = pipe_slow_until - sim_now;
    int64_t most = (left > 0 ? left : 0) + resolving[3] * MS;
    int64_t time = resolving[mostly_first(left > 0 ? 6 : 4)] * MS;
    fiber_sleep(time < most ? time : most);
    *ret_zk = zk;
    return ZKR_OK;
}

bool zkr__zk_log_in(struct zkr__zk *zk)
{
    if (!zk->has_auth || zk->logged_in)
        return true;
    zk->logged_in = zk->state == CONNECTED;
    return zk->logged_in;
}

/* Nobody calls it here. */
void zkr__zk_renew(struct zkr__zk *zk, struct zkr__credentials *credentials)
{
}

/* Once the close has begun there are no upcalls any more, and no io thread that
 * would connect again. */
bool zkr__zk_close(struct zkr__zk *zk, int64_t unused)
{
    int64_t deadline = sim_now + CLOSE_REPLY_MS * MS;

    if (one_in(2))
        fiber_yield();
    bool connected = zk->state == CONNECTED;
    zk->closing = true;
    if (connected) {
        struct request *r = add_request(zk, REQUEST_CLOSE);

        r->cause = BY_CLOSE;
        send_request(zk, r);
        while (!zk->told && zk->state == CONNECTED && fiber_wait(zk, deadline))
            ;
    }
    hang_up(zk);
    for (int i = 0; i < handle_count; i++) {
        if (handles[i] == zk)
            handles[i] = NULL;
    }
    return zk->told;
}

int64_t zkr__zk_session_id(struct zkr__zk *zk)
{
    return zk->id + 1;
}

uint32_t zkr__zk_timeout_ms(struct zkr__zk *zk)
{
    return (uint32_t)(zk->timeout / MS);
}

static enum fate fate_of_next(const struct zkr__zk *zk)
{
    enum fate fate = FATE_NONE;

    if (zk->process != fates.process)
        return FATE_NONE;
    for (int i = 0; i < 2 && fate == FATE_NONE; i++) {
        if (fates.of[i].number == fates.seen)
            fate = fates.of[i].fate;
    }
    fates.seen++;
    return fate;
}

/* Transactions have any checks, and one write at the end. */
static void copy_checks(struct request *r, const struct zkr__zk_multi *multi)
{
    struct checked *checks = arena_new(multi->count * sizeof(*checks));

    r->failed = -1;
    r->checks = checks;
    r->check_count = (int)multi->count - 1;
    for (int i = 0; i < r->check_count; i++) {
        const struct zkr__zk_request *from = multi->operations[i];

        WRONG_IF(from->type != ZKR__ZK_CHECK, "two writes together");
        checks[i] =
            (struct checked){ arena_copy(from->path, strlen(from->path)),
                              from->version + 1 };
    }
}

/* The client can forget a request as the session ends (ZOOKEEPER-2802). */
int zkr__zk_submit(struct zkr__zk *zk, struct zkr__zk_request *request,
                   uintptr_t id)
{
    const struct zkr__zk_request *from = request;
    enum fate fate = fate_of_next(zk);

    if (zk->state == EXPIRED && !(zk->upcalls != NULL && one_in(4)))
        return ZKR_ZINVALIDSTATE;
    if (is_unwatch((int)request->type) && request->watch != NULL &&
        !is_watched(zk, request->path, request->watch))
        return ZKR_ZNOWATCHER;
    if (request->type == ZKR__ZK_MULTI &&
        (zk->state != CONNECTED || zk->accepted_at > sim_now))
        return ZKR__ZK_NOT_NOW;
    if (fate == FATE_REFUSED || (nerves.refuse != 0 && one_in(nerves.refuse)))
        return ZKR_ENOMEM;
    struct request *r = add_request(zk, (int)request->type);
    r->fate = fate;
    r->number = ++client_requests;
    if (request->type == ZKR__ZK_MULTI) {
        copy_checks(r, request->multi);
        from = request->multi->operations[r->check_count];
    }
    r->write = (int)from->type;
    r->mode = from->mode;
    r->path = arena_copy(from->path, strlen(from->path));
    r->data = arena_copy(from->data, from->data_len);
    r->data_len = from->data_len;
    r->expected = from->version + 1;
    r->watch = request->watch;
    r->wants_watch = request->watch != NULL;
    r->id = id;
    writes_sent(r, zk->id);
    if (zk->state == CONNECTED)
        send_request(zk, r);
    return ZKR_OK;
}

void zkr__zk_server(struct zkr__zk *zk, char name[ZKR__ZK_SERVER_MAX])
{
    (void)snprintf(name, ZKR__ZK_SERVER_MAX, "%c",
                   zk->conn == NULL ? '?' : 'a' + zk->conn->replica);
}

/* It would look for servers, and for their names, outside. */
char *zkr__servers_rotated(const char *servers, unsigned number,
                           size_t *ret_count)
{
    *ret_count = REPLICAS;
    return strdup(servers);
}

int zkr__probe(const char *servers, const struct zkr_session_opts *opts,
               int timeout_ms, enum zkr__verdict *ret_verdict)
{
    *ret_verdict = ZKR__NO_VERDICT;
    return zkr__fail(ZKR_EUNREACHABLE, "no server of %s answers", servers);
}

bool zkr__probe_follows(const char *server, int timeout_ms)
{
    return server[0] != '?' &&
           ensemble.replicas[server[0] - 'a'].role != LEADING;
}
