/* SPDX-License-Identifier: Apache-2.0 */
/* The frontend: a replica as its clients see it, with connections, requests,
 * reads and watches. */
#include "frontend.h"

#include "world.h"

static OF_SCHEDULE struct conn *conns;
static OF_SCHEDULE int cut_up[PROCESSES_MAX][PLACES];
static OF_SCHEDULE int cut_down[PROCESSES_MAX][PLACES];
static OF_SCHEDULE int64_t far;

OF_SCHEDULE struct nerves nerves;
OF_SCHEDULE struct fates fates;

/* In some cases earlier messages are lost, too: the kernel of the client drops
 * what has not been read. */
static void reset_conn(struct conn *c)
{
    if (!c->server_open)
        return;
    c->server_open = false;
    c->watched = NULL;
    if (one_in(3))
        c->down.first = NULL;
    pipe_send(&c->down, TO_CLIENT_RESET, 0, NULL);
}

static void watch(struct conn *c, const char *path, bool missing, bool children)
{
    if (FIRST(w, c->watched,
              w->children == children && strcmp(w->path, path) == 0) != NULL)
        return;
    c->watched = ARENA_NEW(struct watched, c->watched, path, missing, children);
}

static bool unwatch(struct conn *c, const char *path, bool children)
{
    for (struct watched **w = &c->watched; *w != NULL; w = &(*w)->next) {
        if ((*w)->children != children || strcmp((*w)->path, path) != 0)
            continue;
        *w = (*w)->next;
        return true;
    }
    return false;
}

/* A node that goes ends both kinds of watches, by one message. */
static void tell(struct conn *c, const char *path, enum watch_event event)
{
    bool node = event != NODE_HAS_OTHERS && unwatch(c, path, false);
    bool children = (event == NODE_HAS_OTHERS || event == NODE_DELETED) &&
                    unwatch(c, path, true);

    if (node || children)
        pipe_send(&c->down, TO_CLIENT_EVENT, event, (void *)(uintptr_t)path);
}

/* The last version in which a child came or went. */
static int64_t changed_below(const struct node *parent, int64_t version)
{
    int64_t changed = parent->created;

    for (const struct node *n = parent->children; n != NULL;
         n = n->next_sibling) {
        if (n->created <= version && n->created > changed)
            changed = n->created;
        if (n->deleted <= version && n->deleted > changed)
            changed = n->deleted;
    }
    return changed;
}

/* Sends the changes since the client's last read. */
static void watch_again(struct conn *c, struct request *r)
{
    int64_t version = ensemble.replicas[c->replica].applied;

    for (const struct watched *w = r->watched; w != NULL; w = w->next) {
        const struct node *n = tree_find_shown(w->path, c->replica, version);
        int64_t changed = n == NULL ? 0 : n->created;

        if (n != NULL && w->children)
            changed = changed_below(n, version);
        else if (n != NULL && tree_data(n, version)->version > changed)
            changed = tree_data(n, version)->version;
        watch(c, w->path, w->missing, w->children);
        if (w->missing && n != NULL)
            tell(c, w->path, NODE_CREATED);
        else if (!w->missing && n == NULL)
            tell(c, w->path, NODE_DELETED);
        else if (!w->missing && changed > r->version)
            tell(c, w->path, w->children ? NODE_HAS_OTHERS : NODE_CHANGED);
    }
}

static void list(struct request *r, const struct node *parent, int replica,
                 int64_t version)
{
    const struct node *n;
    size_t i = 0;

    for (n = parent->children; n != NULL; n = n->next_sibling) {
        i += tree_shows(n, replica, version);
        if (r->creates == 0 && n->created <= version && n->created < n->deleted)
            r->creates = n->in_parent; /* the last one has counted */
    }
    r->name_count = i;
    r->names = arena_new((i + 1) * sizeof(*r->names));
    for (n = parent->children; n != NULL; n = n->next_sibling) {
        if (tree_shows(n, replica, version))
            r->names[--i] = n->name;
    }
}

/* What a version has changed, if it is later than the node. */
static int64_t zxid_of(const struct node *n, int64_t version)
{
    return version <= n->created ? n->czxid : ensemble_log[version].zxid;
}

static void read_at(struct conn *c, struct request *r)
{
    int64_t version = ensemble.replicas[c->replica].applied;
    const struct node *n = tree_find_shown(r->path, c->replica, version);
    bool is_read = r->type != ZKR__ZK_EXISTS || acls.strict;

    r->node = n;
    r->rc = n == NULL ? ZKR_ZNONODE : ZKR_OK;
    if (n != NULL && is_read &&
        !acls_permit(c->session, n, ZKR_PERMISSION_READ, false)) {
        r->rc = ZKR_ZNOAUTH;
        r->node = NULL;
        return;
    }
    if (n != NULL) {
        r->value = tree_data(n, version);
        r->mzxid = zxid_of(n, r->value->version);
        r->pzxid = zxid_of(n, changed_below(n, version));
    }
    if (n != NULL && r->type == ZKR__ZK_CHILDREN)
        list(r, n, c->replica, version);
    if (r->wants_watch && (n != NULL || r->type == ZKR__ZK_EXISTS))
        watch(c, r->path, n == NULL, r->type == ZKR__ZK_CHILDREN);
}

static void answer(struct conn *c, struct request *r)
{
    if (r->rc == ZKR_OK && ONE_OF(r->type, ZKR__ZK_EXISTS, ZKR__ZK_GET,
                                  ZKR__ZK_CHILDREN, ZKR__ZK_GET_ACL))
        read_at(c, r);
    else if (r->rc == ZKR_OK && r->watch == NULL &&
             ONE_OF(r->type, ZKR__ZK_UNWATCH, ZKR__ZK_UNWATCH_CHILDREN) &&
             !unwatch(c, r->path, r->type == ZKR__ZK_UNWATCH_CHILDREN))
        r->rc = ZKR_ZNOWATCHER;
    else if (r->type == REQUEST_WATCHES)
        watch_again(c, r);
    if (r->fate == FATE_ANSWER_HELD && fates.meanwhile != NULL) {
        server_cut(c->process, c->replica, WAY_DOWN, fates.held);
        events_at(sim_now, fates.meanwhile, NULL, 0);
    }
    /* an error of the connection ends it, mostly without a message */
    if (r->fate == FATE_ANSWER_LOST)
        reset_conn(c);
    else if (r->rc != ZKR_ZSESSIONMOVED || one_in(8))
        pipe_send(&c->down, TO_CLIENT_REPLY,
                  ensemble.replicas[c->replica].applied, r);
    if (r->type == REQUEST_CLOSE || r->rc == ZKR_ZSESSIONMOVED) {
        c->server_open = false;
        c->watched = NULL;
        pipe_send(&c->down, TO_CLIENT_RESET, 0, NULL);
    }
}

/* A server keeps the requests of a session in order, also those of its earlier
 * connections (CommitProcessor, pendingRequests). */
static bool earlier_ones_wait(const struct conn *c)
{
    return FIRST(o, c->next,
                 o->session == c->session && o->replica == c->replica &&
                     FIRST(r, o->first, !r->agreed) != NULL) != NULL;
}

/* Answers go out in order; a request of this session that is not agreed on
 * delays those after it. */
static void advance(struct conn *c)
{
    while (c->server_open && c->welcome && c->first != NULL &&
           c->first->agreed && !earlier_ones_wait(c)) {
        struct request *r = c->first;

        c->first = r->next;
        answer(c, r);
    }
}

static bool strikes(uint32_t nerve)
{
    return nerve != 0 && one_in(nerve);
}

static void on_request(struct conn *c, struct request *r)
{
    r->next = NULL;
    APPEND(c->first, r, next);
    if (r->fate == FATE_THROTTLED ||
        (strikes(nerves.throttle) && r->type < REQUEST_PING)) {
        r->rc = ZKR_ZTHROTTLEDOP;
        r->agreed = true;
    } else if (ONE_OF(r->type, ZKR__ZK_CREATE, ZKR__ZK_DELETE, ZKR__ZK_SET,
                      ZKR__ZK_SYNC, ZKR__ZK_CHECK, ZKR__ZK_MULTI,
                      REQUEST_CLOSE)) {
        ensemble_submit(c->replica, r);
    } else {
        r->agreed = true;
    }
    advance(c);
}

/* When a client is back on a server, its old connection is read no more. */
static void on_hello(struct conn *c, struct request *hello)
{
    if (!ensemble_serves(c->replica) ||
        hello->version > ensemble.replicas[c->replica].applied) {
        reset_conn(c);
        return;
    }
    c->timeout = ensemble_grants(c->replica, c->timeout);
    if (c->session == NO_SESSION)
        c->session = ensemble_new_session(c->process, c->timeout);
    for (struct conn *o = conns; o != NULL; o = o->next) {
        if (o != c && o->session == c->session && o->replica == c->replica)
            reset_conn(o);
    }
    hello->conn = c;
    hello->session = c->session;
    ensemble_submit(c->replica, hello);
}

void server_agreed(struct request *r)
{
    struct conn *to = r->conn;

    r->agreed = true;
    if (to == NULL)
        return;
    for (struct conn *c = conns; c != to; c = c->next) {
        if (c->session == to->session && c->replica == to->replica)
            advance(c);
    }
    if (!to->server_open)
        return;
    bool opens = r->type == REQUEST_OPEN || r->type == REQUEST_REVALIDATE;
    if (opens && r->rc != ZKR_OK) {
        pipe_send(&to->down, TO_CLIENT_EXPIRED, 0, NULL);
        to->server_open = false;
    } else if (opens) {
        to->welcome = true;
        ensemble_touch(to->replica, to->session);
        pipe_send(&to->down, TO_CLIENT_WELCOME, to->session, NULL);
    }
    advance(to);
}

static void on_up(void *owner, const struct message *m)
{
    struct conn *c = owner;

    if (!c->server_open)
        return;
    switch (m->kind) {
    case TO_SERVER_HELLO:
        on_hello(c, m->body);
        break;
    case TO_SERVER_REQUEST:
        if (((struct request *)m->body)->fate == FATE_REQUEST_LOST ||
            strikes(nerves.cut)) {
            reset_conn(c);
            break;
        }
        ensemble_touch(c->replica, c->session);
        on_request(c, m->body);
        if (strikes(nerves.kill))
            ensemble_kill_session(c->session);
        break;
    default:
        c->server_open = false;
        c->watched = NULL;
    }
}

static void on_down(void *owner, const struct message *m)
{
    struct conn *c = owner;

    if (!c->client_open)
        return;
    client_on_message(c->client, c, m);
    if (c->client_open && strikes(nerves.cut))
        reset_conn(c);
    if (strikes(nerves.stop))
        process_stop(c->process, (1 + choose(5000)) * MS);
}

struct conn *server_connect(int process, int replica, void *client, int session,
                            int64_t timeout, int64_t last_seen)
{
    struct conn *c =
        ARENA_NEW(struct conn, .next = conns, .process = process,
                  .replica = replica, .client = client, .session = session,
                  .timeout = timeout, .client_open = true, .server_open = true,
                  .up = { .deliver = on_up,
                          .distance = far,
                          .stalls = cut_up[process][replica] +
                                    (ensemble.replicas[replica].paused > 0) },
                  .down = { .deliver = on_down,
                            .distance = far,
                            .stalls = cut_down[process][replica] +
                                      fiber_stopped[process] });

    conns = c;
    c->up.owner = c->down.owner = c;
    pipe_send(&c->up, TO_SERVER_HELLO, 0,
              ARENA_NEW(struct request,
                        .type = session == NO_SESSION ? REQUEST_OPEN
                                                      : REQUEST_REVALIDATE,
                        .version = last_seen));
    return c;
}

void server_send(struct conn *c, struct request *r)
{
    r->conn = c;
    r->session = c->session;
    pipe_send(&c->up, TO_SERVER_REQUEST, 0, r);
}

/* Requests that the client has sent may still arrive. */
void server_hang_up(struct conn *c)
{
    c->client_open = false;
    if (one_in(2))
        c->up.first = NULL;
    pipe_send(&c->up, TO_SERVER_FIN, 0, NULL);
}

void operate(enum zkr__zk_type type, enum zkr_create_mode mode,
             const char *path, const char *data)
{
    int leader = ensemble.leader;

    if (leader == NO_REPLICA || !ensemble_serves(leader))
        return;
    world_trace("an operator: %s %s",
                type == ZKR__ZK_DELETE ? "deletes"
                : type == ZKR__ZK_SET  ? "writes"
                                       : "creates",
                path);
    ensemble_submit(leader,
                    ARENA_NEW(struct request, .type = type, .mode = mode,
                              .path = arena_copy(path, strlen(path)),
                              .data = data, .data_len = strlen(data),
                              .session = NO_SESSION, .cause = BY_OPERATOR));
}

void operator_deletes(const char *path)
{
    operate(ZKR__ZK_DELETE, ZKR_CREATE_PERSISTENT, path, "");
}

void operator_deletes_all(const char *dir_path, const char *part)
{
    const struct node *dir = tree_find(dir_path, ensemble.committed);
    const struct node *n = dir == NULL ? NULL : dir->children;

    for (; n != NULL; n = n->next_sibling) {
        if (is_there(n) && strstr(n->path, part) != NULL)
            operator_deletes(n->path);
    }
}

static void tell_all(int replica, const char *path, enum watch_event event)
{
    for (struct conn *c = conns; c != NULL; c = c->next) {
        if (c->replica == replica && c->server_open)
            tell(c, path, event);
    }
}

static void end_session(int replica, int64_t version, const struct txn *txn)
{
    for (const struct node *n = NULL; (n = tree_after(n)) != NULL;) {
        if (n->deleted != version || n->created >= n->deleted ||
            tree_shows(n, replica, version))
            continue;
        tell_all(replica, n->path, NODE_DELETED);
        tell_all(replica, n->parent->path, NODE_HAS_OTHERS);
    }
    for (struct conn *c = conns; c != NULL; c = c->next) {
        bool asked = txn->request != NULL && txn->request->conn == c;

        if (c->replica == replica && c->session == txn->session && !asked &&
            c->server_open)
            reset_conn(c);
    }
}

void server_applied(int replica, int64_t version, const struct txn *txn)
{
    struct request *r = txn->request;

    if (txn->kind == TXN_CREATE || txn->kind == TXN_DELETE) {
        tell_all(replica, txn->node->path,
                 txn->kind == TXN_CREATE ? NODE_CREATED : NODE_DELETED);
        tell_all(replica, txn->node->parent->path, NODE_HAS_OTHERS);
    } else if (txn->kind == TXN_SET)
        tell_all(replica, txn->node->path, NODE_CHANGED);
    else if (txn->kind == TXN_CLOSE)
        end_session(replica, version, txn);
    if (r == NULL || r->replica != replica || r->agreed)
        return;
    r->rc = txn->rc;
    r->version = version;
    r->node = txn->node;
    server_agreed(r);
}

void server_drop_all(int replica)
{
    for (struct conn *c = conns; c != NULL; c = c->next) {
        if (c->replica != replica)
            continue;
        reset_conn(c);
        c->first = NULL;
    }
}

/* Of the connections of that process and that replica; -1: of any. */
static void stall(int process, int replica, int directions, bool cut)
{
    for (struct conn *c = conns; c != NULL; c = c->next) {
        if ((process >= 0 && c->process != process) ||
            (replica >= 0 && c->replica != replica))
            continue;
        if ((directions & WAY_UP) != 0)
            (cut ? pipe_stall : pipe_resume)(&c->up);
        if ((directions & WAY_DOWN) != 0)
            (cut ? pipe_stall : pipe_resume)(&c->down);
    }
}

void server_pause(int replica, bool pause)
{
    stall(-1, replica, WAY_UP, pause);
}

void server_stop_process(int process, bool stop)
{
    stall(process, -1, WAY_DOWN, stop);
}

static void change_cut(int process, int replica, int directions, bool cut)
{
    if ((directions & WAY_UP) != 0)
        cut_up[process][replica] += cut ? 1 : -1;
    if ((directions & WAY_DOWN) != 0)
        cut_down[process][replica] += cut ? 1 : -1;
    stall(process, replica, directions, cut);
}

static void on_cut_over(void *arg, uint64_t tag)
{
    change_cut((int)(tag >> 16), (int)(tag >> 8 & 0xff), (int)(tag & 0xff),
               false);
}

void server_cut(int process, int replica, int directions, int64_t duration)
{
    world_trace("process %d and replica %d: nothing gets through%s%s for %lld "
                "ms",
                process, replica, (directions & WAY_UP) != 0 ? " up" : "",
                (directions & WAY_DOWN) != 0 ? " down" : "",
                (long long)(duration / MS));
    change_cut(process, replica, directions, true);
    events_at(sim_now + duration, on_cut_over, NULL,
              (uint64_t)process << 16 | (uint64_t)replica << 8 |
                  (uint64_t)directions);
}

void server_far(int64_t distance)
{
    far = distance;
    for (struct conn *c = conns; c != NULL; c = c->next) {
        c->up.distance = far;
        c->down.distance = far;
    }
}

void server_reset_connections(int process)
{
    for (struct conn *c = conns; c != NULL; c = c->next) {
        if (c->process == process)
            reset_conn(c);
    }
}
