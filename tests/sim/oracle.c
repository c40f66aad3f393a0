/* SPDX-License-Identifier: Apache-2.0 */
/* The oracle: judges the library's promises by committed transactions. */
#include "oracle.h"

/* Timers are exact here. */
#define SLACK_MS 1
/* Values of the default policy. */
#define RETRY_CAP_MS 2000
static OF_SCHEDULE struct attempt *attempts;
static OF_SCHEDULE int attempt_count;
/* Since when somebody waits and nobody holds; or 0. */
static OF_SCHEDULE int64_t wanted_since;

struct attempt *oracle_asked(int process, bool shared, int64_t timeout_ms)
{
    struct attempt *a = ARENA_NEW(
        struct attempt, .next = attempts, .number = ++attempt_count,
        .process = process, .shared = shared, .asked = sim_now, .idle = true,
        .stopped = process_stopped_for(process),
        .deadline = timeout_ms < 0 ? INT64_MAX : sim_now + timeout_ms * MS);

    attempts = a;
    for (int i = 0; i < ensemble.session_count; i++) {
        const struct session *s = &ensemble.sessions[i];

        if (s->process == process && sim_now - s->used <= world.timeout)
            a->idle = false;
    }
    world_trace("process %d: attempt %d, %s, %lld ms", process, a->number,
                shared ? "shared" : "exclusive", (long long)timeout_ms);
    return a;
}

const struct node *oracle_node(const char *path, int64_t czxid)
{
    const struct node *found = NULL;

    for (const struct node *n = NULL; (n = tree_after(n)) != NULL;) {
        if (n->created <= ensemble.committed && n->created < n->deleted &&
            strcmp(n->path, path) == 0 && (czxid == 0 || n->czxid == czxid))
            found = n;
    }
    return found;
}

bool oracle_was_written(const char *path, const char *data, int64_t after)
{
    for (const struct node *n = NULL; (n = tree_after(n)) != NULL;) {
        for (const struct node_data *d = n->data; d != NULL; d = d->older) {
            if (d->version > after && strcmp(n->path, path) == 0 &&
                strcmp(d->bytes, data) == 0)
                return true;
        }
    }
    return false;
}

bool oracle_is_handed_on(const struct attempt *a)
{
    return FIRST(b, attempts,
                 b->told > 0 && b->rc == ZKR_OK && b->node == a->node &&
                     b->handoff > a->handoff) != NULL;
}

/* A fair and an unfair one on the same path know nothing of each other. */
bool oracle_is_one_lock(const struct node *a, const struct node *b)
{
    const char *unfair = WORLD_PATH "/holder";

    return strcmp(a->parent->path, b->parent->path) == 0 &&
           (strcmp(a->path, unfair) == 0) == (strcmp(b->path, unfair) == 0);
}

/* In kazoo's layout, a writer and a mutex have the same names. */
bool oracle_heeds(const struct attempt *a, const struct node *n)
{
    return !a->only_mutexes || strstr(n->name, "-lock-") != NULL ||
           strstr(n->name, "__lock__") != NULL;
}

/* The one that came later would have to wait for the other. */
static bool conflict(const struct attempt *a, const struct attempt *b)
{
    const struct attempt *later = a->token > b->token ? a : b;

    return a != b && !(a->shared && b->shared) && a->beside != b &&
           b->beside != a && oracle_is_one_lock(a->node, b->node) &&
           oracle_heeds(later, (later == a ? b : a)->node);
}

/* A grant that was given back is over for the next one of the same session:
 * everybody else still has to see that its node has gone. */
static bool is_given_back(const struct attempt *b)
{
    zkr_grant *grant = b->grant != NULL ? b->grant : b->downgrading;

    return b->over ||
           (grant != NULL && zkr_grant_state(grant) == ZKR_GRANT_RELEASED);
}

bool oracle_is_lease(const struct node *n)
{
    return strstr(n->name, "-lease-") != NULL;
}

static void check_limit(const struct attempt *a)
{
    uint32_t held = 0;

    for (const struct attempt *b = attempts; b != NULL; b = b->next)
        held += b->told > 0 && b->rc == ZKR_OK && is_there(b->node) &&
                !is_given_back(b);
    WRONG_IF(held > world.limit,
             "P1: attempt %d is granted %s, and %u are held of %u", a->number,
             a->node->path, held, world.limit);
}

static void check_exclusion(const struct attempt *a)
{
    if (oracle_is_lease(a->node)) {
        check_limit(a);
        return;
    }
    for (const struct attempt *b = attempts; b != NULL; b = b->next) {
        if (b->told == 0 || b->rc != ZKR_OK || !conflict(a, b) ||
            oracle_is_handed_on(b))
            continue;
        WRONG_IF(is_there(b->node) && (b->node->session != a->node->session ||
                                       !is_given_back(b)),
                 "P1: attempt %d is granted %s while attempt %d has %s",
                 a->number, a->node->path, b->number, b->node->path);
        WRONG_IF(b->token >= a->token,
                 "P3: attempt %d has token %lld, attempt %d had %lld "
                 "before",
                 a->number, (long long)a->token, b->number,
                 (long long)b->token);
    }
}

static bool parse(const struct node *n, bool *ret_shared, int64_t *ret_seq)
{
    static const struct {
        const char *text;
        bool shared;
    } markers[] = { { "-lock-", false },    { "-latch-", false },
                    { "-__WRIT__", false }, { "-__READ__", true },
                    { "__lock__", false },  { "__rlock__", true } };

    for (size_t i = 0; i < sizeof(markers) / sizeof(markers[0]); i++) {
        const char *at = strstr(n->name, markers[i].text);
        char *end;

        if (at == NULL)
            continue;
        at += strlen(markers[i].text);
        *ret_shared = markers[i].shared;
        *ret_seq = strtoll(at, &end, 10);
        return end != at && *end == '\0';
    }
    return false;
}

/* The part that tells Curator's names apart, and the same for kazoo's. */
static bool same_tag(const struct node *a, const struct node *b)
{
    size_t len = strncmp(a->name, "_c_", 3) == 0 ? 39 : 32;

    return strncmp(a->name, b->name, len) == 0;
}

static const struct attempt *granted_by(const struct node *n)
{
    return FIRST(a, attempts, a->node == n);
}

/* It is of the same session, and was given back, or was never granted: then it
 * has been given up. If it is granted later, its token is too low. */
static bool is_given_up(const struct node *n, const struct node *next)
{
    const struct attempt *a = granted_by(n);

    return n->session == next->session && (a == NULL || is_given_back(a));
}

/* A reader that comes to the place of its writer, whose node has gone, perhaps
 * with the directory: it has not been granted the lock, and will not be. */
static bool is_stray(const struct node *n, bool is_shared, int64_t number)
{
    if (!is_shared || n->in_parent == (int32_t)(number + 1) ||
        granted_by(n) != NULL)
        return false;
    for (const struct node *w = n->parent->children; w != NULL;
         w = w->next_sibling) {
        bool shared;
        int64_t seq;

        if (w->session == n->session && is_there(w) &&
            parse(w, &shared, &seq) && !shared && seq == number)
            return false;
    }
    return true;
}

/* Counts only contenders that were there before. A reader can come later to the
 * place of a writer: while the writer holds, nobody else is granted; when it
 * has gone, the reader is not. Numbers below zero come when they are used
 * up. */
static void check_order(const struct attempt *a)
{
    bool shared;
    int64_t mine;

    if (!parse(a->node, &shared, &mine))
        return;
    WRONG_IF(shared != a->shared,
             "attempt %d is granted a node of the wrong kind, %s", a->number,
             a->node->path);
    for (const struct node *n = a->node->parent->children; n != NULL;
         n = n->next_sibling) {
        int64_t seq;

        if (n == a->node || !is_there(n) || !parse(n, &shared, &seq) ||
            n->czxid >= a->node->czxid || seq > mine || (shared && a->shared) ||
            !oracle_heeds(a, n) || same_tag(n, a->node) ||
            is_given_up(n, a->node) || is_stray(n, shared, seq) ||
            (a->beside != NULL && a->beside->node == n))
            continue;
        world_fail("P5: attempt %d is granted %s, and %s is ahead", a->number,
                   a->node->path, n->path);
    }
}

static void check_token(const struct attempt *a)
{
    int64_t token = a->beside != NULL ? a->beside->token : a->node->czxid;

    WRONG_IF(a->token != token, "P3: attempt %d has token %lld, and %s is %lld",
             a->number, (long long)a->token, a->node->path, (long long)token);
    for (const struct attempt *b = attempts; b != NULL; b = b->next) {
        WRONG_IF(b != a && b->told > 0 && b->rc == ZKR_OK &&
                     b->node == a->node &&
                     !(b->over && b->process == a->process &&
                       a->handoff > b->handoff),
                 "attempts %d and %d are granted one node, %s", a->number,
                 b->number, a->node->path);
    }
}

static void granted(struct attempt *a, zkr_grant *grant)
{
    char path[256];

    (void)snprintf(path, sizeof(path), "%s%s",
                   world.processes[a->process].prefix, zkr_grant_node(grant));
    a->grant = grant;
    a->granted = sim_now;
    a->token = zkr_grant_token(grant);
    a->handoff = zkr_grant_handoff(grant);
    a->node = oracle_node(path, a->beside == NULL ? a->token : 0);
    WRONG_IF(a->node == NULL, "attempt %d is granted %s, which never was",
             a->number, path);
    check_token(a);
    if (!is_there(a->node)) /* the lease and the session will report it */
        return;
    check_exclusion(a);
    check_order(a);
}

void oracle_told(struct attempt *a, int rc, zkr_grant *grant)
{
    world_trace("process %d: attempt %d: %s", a->process, a->number,
                zkr_strerror(rc));
    WRONG_IF(++a->told > 1, "attempt %d is told twice: %d, then %d", a->number,
             a->rc, rc);
    a->rc = rc;
    bool expected =
        ONE_OF(rc, ZKR_OK, ZKR_ETIMEDOUT, ZKR_ECANCELED, ZKR_ECLOSED, ZKR_EBUSY,
               ZKR_ELOST, ZKR_ENOMEM /* of a client */, ZKR_ZOPERATIONTIMEOUT,
               ZKR_ZCONNECTIONLOSS) ||
        (rc == ZKR_ZNOAUTH && acls.denials > 0) ||
        (rc == ZKR_EDEADLK && a->upgrade) ||
        (rc == ZKR_EEXHAUSTED && world.recipe != UNFAIR) ||
        (world.processes[a->process].gives_up && zkr_error_is_transient(rc));
    WRONG_IF(!expected, "attempt %d ends with %d, %s: %s", a->number, rc,
             zkr_strerror(rc), zkr_error_detail());
    if (a->deadline != INT64_MAX)
        oracle_in_time("an acquire",
                       &(struct call){ a->process, a->asked, a->stopped },
                       a->deadline - a->asked);
    if (rc == ZKR_OK)
        granted(a, grant);
}

struct call oracle_begins(int process)
{
    return (struct call){ process, sim_now, process_stopped_for(process) };
}

void oracle_in_time(const char *what, const struct call *call, int64_t limit)
{
    int64_t late = sim_now - call->began - limit;

    WRONG_IF(process_stopped_for(call->process) == call->stopped &&
                 late > SLACK_MS * MS,
             "P7: %s of process %d returns %lld ms late", what, call->process,
             (long long)(late / MS));
}

/* A lease assumes at the first lock of an idle session that the link from its
 * server to the leader has not stalled. It has: the leader had polled the
 * session when the lock was granted. */
static bool rests_on_a_stalled_link(const struct attempt *a)
{
    const struct session *s = &ensemble.sessions[a->node->session];

    return a->idle && a->granted - a->asked <= world.timeout &&
           s->polled != 0 && s->polled <= a->granted;
}

/* Something that the lease assumes was not so: then it promises nothing. */
static bool is_exempt(const struct attempt *a)
{
    return world.processes[a->process].no_lease ||
           !ensemble_pinged(a->asked - world.timeout) ||
           rests_on_a_stalled_link(a);
}

/* The lease was good a moment ago, unless the process has been stopped since.
 * It is told in whole ms. Another thread may close the session between the two
 * questions, so the state is asked for last. */
void oracle_handed_on(const struct attempt *a)
{
    int64_t until = zkr_grant_valid_until(a->grant);

    WRONG_IF(a->handoff > 0 && zkr_grant_state(a->grant) == ZKR_GRANT_HELD &&
                 !world.processes[a->process].no_lease &&
                 process_stopped_for(a->process) == a->stopped &&
                 (until + 1) * MS <= sim_now,
             "P4: attempt %d is handed %s without a lease", a->number,
             a->node->path);
}

/* Others may delete nodes at any time; but as long as the library says that a
 * lock is held, the servers must not have ended its session by themselves. */
void oracle_checked(struct attempt *a, int rc)
{
    int64_t until = zkr_grant_valid_until(a->grant) * MS;

    if (until > a->promised)
        a->promised = until;
    WRONG_IF(rc == ZKR_OK && !is_there(a->node) &&
                 a->node->cause == BY_EXPIRY && !is_exempt(a),
             "P4: attempt %d is said to be held, and %s has expired", a->number,
             a->node->path);
}

bool oracle_is_well(int process, int64_t since)
{
    if (client_knows(process) != CLIENT_IS_CONNECTED || acls.denials > 0)
        return false;
    if (since < world.calm)
        since = world.calm;
    if (since < client_connected_since(process))
        since = client_connected_since(process);
    return sim_now - since > world.timeout;
}

/* Answers to earlier requests prove nothing. */
void oracle_verified(const struct attempt *a, uint64_t requests)
{
    for (int64_t v = ensemble.committed; v > 0; v--) {
        const struct txn *txn = &ensemble_log[v];

        if (txn->kind == TXN_CHECK && txn->node == a->node &&
            txn->request->number > requests)
            return;
    }
    world_fail("attempt %d is verified by an answer to an earlier question",
               a->number);
}

void oracle_over(struct attempt *a)
{
    a->grant = NULL;
    a->over = true;
}

void oracle_over_with(const zkr_grant *grant)
{
    for (struct attempt *a = attempts; a != NULL; a = a->next) {
        if (a->grant == grant)
            oracle_over(a);
    }
}

/* -- deletes ---------------------------------------------------------------
 *
 * A client never deletes the node of a held lock, and never the node of another
 * client, except by a break, or when it had made the node in an earlier
 * session. */

/* A break, with everything that it may still cause. */
struct breaking {
    struct breaking *next;
    int process;
    int64_t began; /* the version committed then */
    const char *path;
    int64_t token;
    bool done;
};

static OF_SCHEDULE struct breaking *breaks;

void deletes_break(int process, const char *path, int64_t token)
{
    breaks = ARENA_NEW(struct breaking, .next = breaks, .process = process,
                       .began = ensemble.committed,
                       .path = arena_copy(path, strlen(path)), .token = token);
}

bool deletes_may_break(int process, const char *path)
{
    return FIRST(b, breaks,
                 b->process == process && strcmp(b->path, path) == 0) != NULL;
}

/* Where all holders have one name, a client that releases a lock which somebody
 * has taken away may delete the next holder's node: unfair_mutex.h says so. */
static bool may_be_mistaken(int process)
{
    const struct node *n = NULL;

    while (world.recipe == UNFAIR && (n = tree_after(n)) != NULL) {
        if (n->created < n->deleted && n->deleted <= ensemble.committed &&
            n->cause == BY_OPERATOR && n->session != NO_SESSION &&
            ensemble.sessions[n->session].process == process)
            return true;
    }
    return false;
}

/* Each break deletes once. Between the read of a node and its delete the node
 * may go by itself, and another may take its name: participants.h says so. */
static bool is_broken(const struct txn *txn)
{
    int process = ensemble.sessions[txn->session].process;
    struct breaking *found = NULL;
    bool same = false; /* it is the very node */

    for (struct breaking *b = breaks; b != NULL && !same; b = b->next) {
        if (b->process != process || b->done ||
            strcmp(b->path, txn->node->path) != 0)
            continue;
        const struct node *old = oracle_node(b->path, b->token);
        same = b->token == txn->node->czxid;
        if (same || (found == NULL && old != NULL && old->deleted > b->began &&
                     old->deleted <= ensemble.committed))
            found = b;
    }
    if (found != NULL && txn->session != txn->node->session)
        found->done = true; /* otherwise it may be its own */
    return found != NULL;
}

/* The client was told that its session is over, which the ensemble keeps. */
static bool is_leftover(const struct txn *txn)
{
    return txn->node->session != NO_SESSION &&
           txn->node->session < txn->session &&
           ensemble.sessions[txn->node->session].process ==
               ensemble.sessions[txn->session].process;
}

/* Returns what is wrong with it, or NULL. */
static const char *fault_of(const struct txn *txn)
{
    for (const struct attempt *a = attempts; a != NULL; a = a->next) {
        if (a->grant == NULL || a->node != txn->node)
            continue;
        if (!is_leftover(txn))
            return "which is held";
        fiber_enter_process(a->process);
        if (zkr_grant_state(a->grant) != ZKR_GRANT_LOST ||
            a->promised > sim_now)
            return "which is promised to its holder";
    }
    if (txn->node->session != NO_SESSION &&
        txn->node->session != txn->session && !is_leftover(txn))
        return "which is another's";
    return NULL;
}

static void deletes_committed(const struct txn *txn)
{
    if (txn->session == NO_SESSION || is_broken(txn))
        return;
    const char *fault = fault_of(txn);
    WRONG_IF(fault != NULL &&
                 !may_be_mistaken(ensemble.sessions[txn->session].process),
             "a client deletes %s, %s", txn->node->path, fault);
}

/* -- what is committed ----------------------------------------------------- */

void oracle_committed(int64_t version, const struct txn *txn)
{
    if (txn->kind == TXN_CREATE || txn->kind == TXN_DELETE)
        world_trace("%lld: %s is %s", (long long)version, txn->node->path,
                    txn->kind == TXN_CREATE ? "created" : "deleted");
    writes_committed(version, txn);
    gathers_committed(version, txn);
    if (txn->kind == TXN_DELETE)
        deletes_committed(txn);
    if (txn->kind != TXN_DELETE && txn->kind != TXN_CLOSE)
        return;
    for (struct attempt *a = attempts; a != NULL; a = a->next) {
        if (a->node != NULL && a->gone_at == 0 && !is_there(a->node))
            a->gone_at = sim_now;
    }
    if (txn->kind == TXN_DELETE)
        return;
    struct session *s = &ensemble.sessions[txn->session];
    world_trace("session %d of process %d ends, %s", txn->session, s->process,
                txn->cause == BY_EXPIRY ? "expired" : "closed");
    if (txn->cause != BY_EXPIRY)
        return;
    fiber_enter_process(s->process);
    for (const struct attempt *a = attempts; a != NULL; a = a->next) {
        if (a->grant == NULL || a->node->session != txn->session ||
            is_exempt(a))
            continue;
        int64_t until = zkr_grant_valid_until(a->grant) * MS;
        WRONG_IF(until > sim_now,
                 "P4: attempt %d believes that it holds %s for another "
                 "%lld ms, and the session has expired",
                 a->number, a->node->path, (long long)((until - sim_now) / MS));
    }
}

/* A leader whose term was lost campaigns again before its thread knows. */
static bool is_wanted(void)
{
    bool wanted = false;

    if (world.recipe == LATCH && held_by_anybody())
        return false;
    for (const struct attempt *a = attempts; a != NULL; a = a->next) {
        /* a node that stays is nobody's when it has been given back */
        if (a->told > 0 && a->rc == ZKR_OK && is_there(a->node) &&
            !(a->over && world.processes[a->process].stays.ms != 0))
            return false;
        wanted = wanted || (a->told == 0 && a->deadline == INT64_MAX);
    }
    return wanted;
}

/* The time from the calm, or from the end of the last hold, until somebody
 * holds the lock. A node of an abandoned session goes when the session ends: T
 * after its last sign of life, or after the election of a leader that counts
 * anew, at the next tick. Meanwhile the next claim has made its last retry, and
 * has waited for the proof of its lease, which takes about 2T/3 at the most; or
 * it has given up at its deadline, and one behind it waits for its own. */
static int64_t longest_wait(void)
{
    int64_t others = world.timeout + 2 * world.tick;
    int64_t proof = world.timeout * 3 / 4;
    int64_t ours = RETRY_CAP_MS * MS + proof;
    uint32_t longest_ms = 0;

    /* A semaphore: the turn, and then the lease. */
    int64_t claims = world.recipe == SEMAPHORE ? 2
                     : world.recipe == MULTI   ? WORLD_PATHS
                                               : 1;

    /* A waiter whose node somebody has deleted is seen by nobody, and looks
     * again when the node before it has gone: so a node that stays does so to
     * the end. */
    for (int i = 0; i < world.process_count; i++) {
        if (world.processes[i].stays.ms > longest_ms)
            longest_ms = world.processes[i].stays.ms;
    }

    /* Time for each ghost before a claim, and for one more when its own node
     * has been deleted meanwhile. The next question comes after as long a time
     * as all before it, so after a long wait it is far. */
    int64_t ghosts = world.ghosts == 0 ? 0 : world.ghosts + 1;

    return (others > ours ? others : ours) * claims + proof + longest_ms * MS +
           ghosts * 20 * world.timeout;
}

void oracle_step(void)
{
    if (sim_now < world.calm)
        return;
    if (!is_wanted())
        wanted_since = 0;
    else if (wanted_since == 0)
        wanted_since = sim_now;
    else if (sim_now - wanted_since > longest_wait())
        world_fail(
            "P6: nobody holds the lock, and who waits is not granted it");
}

/* -- states ----------------------------------------------------------------
 *
 * While nothing is under way, sessions and grants must report the state that
 * follows from their client and from the clock. */

/* Timers are exact here; a grant reports its lease in milliseconds. */
#define SLACK (2 * MS)
/* This is enough for states that last. */
#define OFTEN (5 * MS)

static OF_SCHEDULE int64_t next_look;

static bool is_ours(enum zkr_grant_state_kind state)
{
    return state == ZKR_GRANT_HELD || state == ZKR_GRANT_SUSPENDED ||
           state == ZKR_GRANT_UNSURE;
}

static _Noreturn void wrong(const struct attempt *a, const char *what)
{
    world_fail("P8: attempt %d is said to be %s, %s", a->number,
               zkr_grant_state_name(zkr_grant_state(a->grant)), what);
}

/* The state decides which calls succeed. */
static void judge_check(const struct attempt *a,
                        enum zkr_grant_state_kind state)
{
    static const int codes[] = {
        [ZKR_GRANT_HELD] = ZKR_OK,           [ZKR_GRANT_SUSPENDED] = ZKR_OK,
        [ZKR_GRANT_UNSURE] = ZKR_EUNSURE,    [ZKR_GRANT_LOST] = ZKR_ELOST,
        [ZKR_GRANT_RELEASED] = ZKR_ENOTHELD,
    };
    bool weak =
        state == ZKR_GRANT_SUSPENDED && world.processes[a->process].no_lease;
    bool held = zkr_grant_is_held(a->grant);
    int rc = zkr_grant_check(a->grant);

    if (held != (rc == ZKR_OK))
        wrong(a, held ? "and looks held" : "and does not look held");
    if (rc != (weak ? ZKR_EUNSURE : codes[state]))
        wrong(a, zkr_strerror(rc));
}

/* When there were no faults for so long, a doubt has ended, one way or the
 * other: there is a proof, and the next one comes before it ends. A claim whose
 * list was lost and asked for again may begin with a proof that is late. */
static void judge_end_of_doubt(struct attempt *a,
                               enum zkr_grant_state_kind state)
{
    const struct process *p = &world.processes[a->process];
    int64_t since = a->granted > a->gone_at ? a->granted : a->gone_at;

    if (state == ZKR_GRANT_HELD)
        a->sure_at = sim_now;
    if (!is_ours(state) || p->no_lease || p->opts.lease_ping_gap_ms != 0 ||
        !oracle_is_well(a->process, since))
        return;
    if (a->gone_at != 0)
        wrong(a, "and its node has gone");
    /* Shared evidence does not bear answers that suddenly take longer than T/20
     * while the beacon stands still: there is a doubt then, for four answers.
     * Those of a client that is busy take up to 60 ms. */
    if (state != ZKR_GRANT_HELD &&
        !(world.beacon && sim_now - a->sure_at <= world.timeout / 4))
        wrong(a, "and nothing is wrong any more");
}

static void judge_grant(struct attempt *a)
{
    if (fiber_stopped[a->process])
        return;
    fiber_enter_process(a->process);
    enum zkr_grant_state_kind state = zkr_grant_state(a->grant);
    enum client_knows knows = client_knows(a->process);
    int64_t until = zkr_grant_valid_until(a->grant) * MS;
    bool leased = is_ours(state) && state != ZKR_GRANT_UNSURE;
    if (until != 0 && !leased)
        wrong(a, "and has a lease");
    if (leased && !world.processes[a->process].no_lease &&
        until + SLACK <= sim_now)
        wrong(a, "and its lease has run out");
    judge_check(a, state);
    if (knows == CLIENT_CONNECTS && state == ZKR_GRANT_HELD)
        wrong(a, "without a connection");
    if (knows == CLIENT_IS_EXPIRED && is_ours(state))
        wrong(a, "and the session has expired");
    judge_end_of_doubt(a, state);
}

static void judge_session(const struct process *p)
{
    if (!p->opened || p->closed || fiber_stopped[p->number])
        return;
    fiber_enter_process(p->number);
    enum zkr_session_state_kind state = zkr_session_state(p->session);
    enum client_knows knows = client_knows(p->number);
    WRONG_IF(knows == CLIENT_CONNECTS && (state == ZKR_SESSION_CONNECTED ||
                                          state == ZKR_SESSION_RECONNECTED),
             "P8: the session of process %d is said to be connected",
             p->number);
    WRONG_IF(knows == CLIENT_IS_EXPIRED && state != ZKR_SESSION_LOST,
             "P8: the session of process %d is not said to be lost", p->number);
}

void states_quiet(void)
{
    if (sim_now < next_look)
        return;
    next_look = sim_now + OFTEN;
    for (int i = 0; i < world.process_count; i++)
        judge_session(&world.processes[i]);
    for (struct attempt *a = attempts; a != NULL; a = a->next) {
        if (a->grant != NULL)
            judge_grant(a);
    }
}

/* -- the end --------------------------------------------------------------- */

int oracle_nodes_left(bool print)
{
    int count = 0;

    for (const struct node *n = NULL; (n = tree_after(n)) != NULL;) {
        if (n->session == NO_SESSION || !is_there(n))
            continue;
        count++;
        if (print)
            (void)fprintf(stderr, "left: %s of session %d\n", n->path,
                          n->session);
    }
    return count;
}

void oracle_end(void)
{
    for (const struct attempt *a = attempts; a != NULL; a = a->next) {
        WRONG_IF(a->told != 1, "attempt %d is told %d times", a->number,
                 a->told);
    }
    writes_end();
    gathers_end();
}
