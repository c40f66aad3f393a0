/* SPDX-License-Identifier: Apache-2.0 */
/* The leader's side of requests and sessions: makes a transaction of each. And
 * ACLs: everything is permitted, except what an operator has denied for a
 * while. */
#include "oracle.h"

/* -- ACLs ------------------------------------------------------------------ */

#define DENIALS_MAX 8
#define PERMISSIONS 0x1fu
#define AGAIN       (20 * MS)

static OF_SCHEDULE struct denial {
    uint32_t permissions; /* 0: over */
    int depth;
    int process;
} denials[DENIALS_MAX];
static OF_SCHEDULE bool refused[SESSIONS_MAX];
OF_SCHEDULE struct acls acls;

static uint32_t denied(const struct node *n, int process)
{
    uint32_t permissions = 0;
    int depth = 0;

    for (const struct node *up = n; up->parent != NULL; up = up->parent)
        depth++;
    for (int i = 0; i < acls.denials; i++) {
        const struct denial *d = &denials[i];

        if (d->depth == depth && (d->process < 0 || d->process == process))
            permissions |= d->permissions;
    }
    return permissions;
}

uint32_t acls_anyone(const struct node *n)
{
    return PERMISSIONS & ~denied(n, -1);
}

bool acls_permit(int session, const struct node *n, uint32_t permission,
                 bool leaves)
{
    if (acls.denials == 0 || session < 0 ||
        (denied(n, ensemble.sessions[session].process) & permission) == 0)
        return true;
    refused[session] = refused[session] || leaves;
    return false;
}

/* Ends the sessions that were refused something, until the ensemble agrees. */
static void clean_up(void *arg, uint64_t tag)
{
    bool any = false;

    for (int i = 0; i < ensemble.session_count; i++) {
        const struct session *s = &ensemble.sessions[i];

        refused[i] = refused[i] && s->opened != 0 &&
                     (s->closed == 0 || s->closed > ensemble.committed);
        any = any || refused[i];
        if (refused[i] && ensemble.leader != NO_REPLICA)
            ensemble_kill_session(i);
    }
    if (any)
        events_at(sim_now + AGAIN, clean_up, NULL, 0);
}

static void on_over(void *arg, uint64_t tag)
{
    struct denial *d = arg;

    d->permissions = 0;
    world_trace("all is permitted again");
    clean_up(NULL, tag);
}

void acls_deny(uint32_t permissions, int depth, int process, int64_t duration)
{
    struct denial *d = &denials[acls.denials];

    if (acls.denials == DENIALS_MAX)
        return;
    acls.denials++;
    *d = (struct denial){ permissions, depth, process };
    world_trace("for %lld ms, at depth %d, not permitted to process %d: %#x",
                (long long)(duration / MS), depth, process, permissions);
    events_at(sim_now + duration, on_over, d, 0);
}

/* -- transactions ---------------------------------------------------------- */

static struct txn *propose(enum txn_kind kind, struct request *r)
{
    WRONG_IF(ensemble.log_len + 1 >= LOG_MAX, "the log is full");
    struct txn *txn = &ensemble_log[++ensemble.log_len];
    *txn = (struct txn){ .kind = kind,
                         .zxid = ((int64_t)ensemble.epoch << 32) |
                                 ++ensemble.counter,
                         .session = r == NULL ? NO_SESSION : r->session,
                         .cause = r == NULL ? BY_EXPIRY : r->cause,
                         .request = r };
    ensemble.replicas[ensemble.leader].logged = ensemble.log_len;
    leader_send(PROPOSAL, ensemble.log_len, NULL);
    return txn;
}

static void delete_node(struct node *n, enum cause cause)
{
    n->deleted = ensemble.log_len;
    n->cause = cause;
}

static int parent_of(const char *path, struct node **ret_parent)
{
    char parent[256];
    size_t len = (size_t)(strrchr(path, '/') - path);

    (void)snprintf(parent, sizeof(parent), "%.*s", len == 0 ? 1 : (int)len,
                   path);
    *ret_parent = tree_find(parent, ensemble.log_len);
    if (*ret_parent == NULL)
        return ZKR_ZNONODE;
    return (*ret_parent)->session == NO_SESSION ? ZKR_OK
                                                : ZKR_ZNOCHILDRENFOREPHEMERALS;
}

/* The number sticks at 2^31-1; creates that overtake a commit go beyond it. */
static int32_t next_number(const struct node *parent)
{
    return parent->proposed > 0 ? parent->cversion_proposed : parent->cversion;
}

static int type_of(const struct request *r)
{
    return r->type == ZKR__ZK_MULTI ? r->write : r->type;
}

/* These return why it is refused. */
static int prepare_create(struct request *r)
{
    bool sequential = r->mode == ZKR_CREATE_EPHEMERAL_SEQUENTIAL;
    struct node *parent;
    char path[256];
    int rc = parent_of(r->path, &parent);

    if (rc != ZKR_OK)
        return rc;
    if (!acls_permit(r->session, parent, ZKR_PERMISSION_CREATE, false))
        return ZKR_ZNOAUTH;
    (void)snprintf(path, sizeof(path), sequential ? "%s%010d" : "%s", r->path,
                   next_number(parent));
    if (r->mode == ZKR_CREATE_CONTAINER && world.no_containers)
        return ZKR_ZUNIMPLEMENTED;
    if (tree_find(path, ensemble.log_len) != NULL)
        return ZKR_ZNODEEXISTS;
    (void)propose(TXN_CREATE, r);
    struct node *n = tree_create(parent, path, ensemble.log_len,
                                 ensemble_log[ensemble.log_len].zxid);
    tree_set(n, ensemble.log_len, r->data == NULL ? "" : r->data, r->data_len);
    n->container = r->mode == ZKR_CREATE_CONTAINER;
    if (sequential || r->mode == ZKR_CREATE_EPHEMERAL)
        n->session = r->session;
    n->in_parent = (int32_t)((uint32_t)next_number(parent) + 1);
    parent->cversion_proposed = n->in_parent;
    parent->proposed++;
    ensemble_log[ensemble.log_len].node = n;
    return ZKR_OK;
}

static bool is_expected(int32_t expected, const struct node *n)
{
    return expected == 0 ||
           expected - 1 == tree_data(n, ensemble.log_len)->number;
}

static int prepare_change(struct request *r)
{
    struct node *n = tree_find(r->path, ensemble.log_len);
    int type = type_of(r);
    bool deletes = type == ZKR__ZK_DELETE;

    if (n == NULL)
        return ZKR_ZNONODE;
    /* a member of a double barrier deletes its node once */
    if (!acls_permit(r->session, deletes ? n->parent : n,
                     deletes               ? ZKR_PERMISSION_DELETE
                     : type == ZKR__ZK_SET ? ZKR_PERMISSION_WRITE
                                           : ZKR_PERMISSION_READ,
                     deletes && strcmp(n->parent->path, DOUBLE_PATH) == 0))
        return ZKR_ZNOAUTH;
    if (!is_expected(r->expected, n))
        return ZKR_ZBADVERSION;
    if (deletes && tree_count_children(n, ensemble.log_len) > 0)
        return ZKR_ZNOTEMPTY;
    propose(deletes               ? TXN_DELETE
            : type == ZKR__ZK_SET ? TXN_SET
                                  : TXN_CHECK,
            r)
        ->node = n;
    if (deletes)
        delete_node(n, r->session == n->session ? BY_CLIENT : BY_OPERATOR);
    else if (type == ZKR__ZK_SET)
        tree_set(n, ensemble.log_len, r->data, r->data_len);
    return ZKR_OK;
}

static int check(const struct request *r, const struct checked *checked)
{
    const struct node *n = tree_find(checked->path, ensemble.log_len);

    if (n == NULL)
        return ZKR_ZNONODE;
    if (!acls_permit(r->session, n, ZKR_PERMISSION_READ, false))
        return ZKR_ZNOAUTH;
    return is_expected(checked->expected, n) ? ZKR_OK : ZKR_ZBADVERSION;
}

static void prepare_write(struct request *r)
{
    int rc = ZKR_OK;

    r->failed = 0;
    while (r->failed < r->check_count &&
           (rc = check(r, &r->checks[r->failed])) == ZKR_OK)
        r->failed++;
    if (rc == ZKR_OK)
        rc = type_of(r) == ZKR__ZK_CREATE ? prepare_create(r)
                                          : prepare_change(r);
    if (rc != ZKR_OK)
        propose(TXN_ERROR, r)->rc = rc;
}

static void close_session(int session, enum cause cause, struct request *r)
{
    struct session *s = &ensemble.sessions[session];
    struct txn *txn = propose(TXN_CLOSE, r);

    txn->session = session;
    txn->cause = cause;
    s->closing = true;
    s->closed = ensemble.log_len;
    s->cause = cause;
    for (struct node *n = NULL; (n = tree_after(n)) != NULL;) {
        if (n->session == session && tree_has(n, ensemble.log_len))
            delete_node(n, cause);
    }
}

static int check_session(const struct request *r)
{
    if (r->session == NO_SESSION)
        return ZKR_OK;
    struct session *s = &ensemble.sessions[r->session];
    if (s->opened == 0 || s->closing)
        return ZKR_ZSESSIONEXPIRED;
    if (s->owner == NO_REPLICA) /* the leader is new */
        s->owner = r->replica;
    return s->owner == r->replica ? ZKR_OK : ZKR_ZSESSIONMOVED;
}

void leader_prepare(struct request *r)
{
    struct session *s =
        r->session == NO_SESSION ? NULL : &ensemble.sessions[r->session];

    if (r->type == REQUEST_OPEN) {
        (void)propose(TXN_OPEN, r);
        s->opened = ensemble.log_len;
        s->owner = r->replica;
        session_touch(r->session);
        return;
    }
    if (r->type == REQUEST_CLOSE) {
        if (s->opened == 0 || s->closing)
            propose(TXN_ERROR, r)->rc = ZKR_ZSESSIONEXPIRED;
        else
            close_session(r->session, r->cause, r);
        return;
    }
    int rc = check_session(r);
    if (rc != ZKR_OK)
        propose(TXN_ERROR, r)->rc = rc;
    else
        prepare_write(r);
}

void txn_committed(int64_t version)
{
    const struct txn *txn = &ensemble_log[version];

    if (txn->kind == TXN_CREATE) {
        struct node *parent = txn->node->parent;

        if (parent->proposed > 0)
            parent->proposed--;
        if (txn->node->in_parent > parent->cversion)
            parent->cversion = txn->node->in_parent;
    }
    oracle_committed(version, txn);
}

static void look_at(struct session *s, int64_t instant, uint64_t joins);

static bool leads_still(uint64_t joins)
{
    const struct replica *leader = &ensemble.replicas[ensemble.leader];

    return leader->role == LEADING && leader->joins == joins >> 8 &&
           ensemble.leader == (int)(joins & 0xff);
}

static void on_close(void *arg, uint64_t joins)
{
    struct session *s = arg;

    if (leads_still(joins) && s->polled && !s->closing)
        close_session((int)(s - ensemble.sessions), BY_EXPIRY, NULL);
}

void sessions_close_polled(void)
{
    for (int i = 0; i < ensemble.session_count; i++) {
        struct session *s = &ensemble.sessions[i];

        if (s->polled && !s->closing)
            close_session(i, BY_EXPIRY, NULL);
    }
}

static void on_expiry(void *arg, uint64_t joins)
{
    struct session *s = arg;
    const struct replica *leader = &ensemble.replicas[ensemble.leader];

    if (!leads_still(joins) || s->polled || s->closing ||
        s->looked_at != sim_now)
        return;
    if (s->expires > sim_now || leader->paused > 0) {
        look_at(s, s->expires > sim_now ? s->expires : sim_now + 20 * MS,
                joins);
        return;
    }
    s->polled = sim_now;
    if (ensemble.pass == 0)
        on_close(s, joins);
    else /* in between it is touched, and writes, as if it lived on */
        events_at(sim_now + ensemble.pass, on_close, s, joins);
}

static void look_at(struct session *s, int64_t instant, uint64_t joins)
{
    s->looked_at = instant;
    events_at(instant, on_expiry, s, joins);
}

/* Earlier than before, when it comes back to a server that grants less. */
void session_touch(int session)
{
    struct session *s = &ensemble.sessions[session];
    uint64_t joins = ensemble.replicas[ensemble.leader].joins;

    if (s->closing || s->opened == 0)
        return;
    /* sessions end at ticks only */
    s->expires = ((sim_now + s->timeout) / ensemble.tick + 1) * ensemble.tick;
    if (s->looked_at == 0 || s->looked_at > s->expires)
        look_at(s, s->expires, joins << 8 | (uint64_t)ensemble.leader);
}

void sessions_begin(void)
{
    for (int i = 0; i < ensemble.session_count; i++) {
        struct session *s = &ensemble.sessions[i];

        if (s->opened > ensemble.log_len)
            s->opened = 0;
        if (s->closed > ensemble.log_len)
            s->closed = 0;
        s->closing = s->closed != 0;
        s->polled = 0;
        s->expires = 0;
        s->looked_at = 0;
        s->owner = NO_REPLICA;
        session_touch(i);
    }
}

int ensemble_new_session(int process, int64_t timeout)
{
    int number = ensemble.session_count++;

    WRONG_IF(number >= SESSIONS_MAX, "too many sessions");
    ensemble.sessions[number] = (struct session){ .process = process,
                                                  .timeout = timeout,
                                                  .owner = NO_REPLICA };
    return number;
}

void ensemble_kill_session(int session)
{
    struct session *s = &ensemble.sessions[session];

    if (ensemble_serves(ensemble.leader) && s->opened != 0 && !s->closing)
        close_session(session, BY_KILL, NULL);
}
