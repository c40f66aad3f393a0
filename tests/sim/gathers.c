/* SPDX-License-Identifier: Apache-2.0 */
/* Users who count, who wait at a barrier, and who enter a double barrier and
 * leave it; and the oracle of these, which judges by what is committed. */
#include "oracle.h"

#define COUNTER_PATH "/locks/number"
#define BARRIER_PATH "/locks/barrier"
#define READY        "ready"

struct told {
    struct told *next;
    int64_t after;
};

static OF_SCHEDULE struct {
    int64_t number;  /* that is committed: each add has made it one more */
    int64_t made;    /* adds that were told so */
    int64_t unknown; /* adds that nobody can tell of */
    struct told *told;
} counted;

static OF_SCHEDULE struct {
    uint32_t members; /* that the barrier is for; 0: nobody has come yet */
    uint32_t present; /* users who are in a call, or inside */
    bool enough;      /* so many nodes were there since it was empty */
    int64_t ended;    /* the version up to which they were there */
} both;

bool gathers_at_both(void)
{
    return both.members > 0;
}

/* -- what the servers say -------------------------------------------------- */

static void count(const struct request *r)
{
    int64_t number = 0;

    WRONG_IF(r->data_len != 8, "the counter has %zu bytes", r->data_len);
    for (size_t i = 0; i < 8; i++)
        number = number << 8 | (unsigned char)r->data[i];
    WRONG_IF(number != counted.number + 1, "the counter goes from %lld to %lld",
             (long long)counted.number, (long long)number);
    counted.number = number;
}

static bool is_member(const struct node *n, int64_t version)
{
    return tree_has(n, version) && strcmp(n->name, READY) != 0;
}

static const struct node *first_node(int64_t version)
{
    const struct node *dir = tree_find(DOUBLE_PATH, version);

    return dir == NULL ? NULL : dir->children;
}

void gathers_committed(int64_t version, const struct txn *txn)
{
    bool made = txn->kind == TXN_CREATE;
    uint32_t members = 0;

    if ((made || txn->kind == TXN_SET) && txn->request != NULL &&
        strcmp(txn->node->path, COUNTER_PATH) == 0)
        count(txn->request);
    for (const struct node *n = first_node(version); n != NULL;
         n = n->next_sibling)
        members += is_member(n, version);
    if (members == 0 && both.enough)
        both.ended = version;
    both.enough = members > 0 && (both.enough || members >= both.members);
    WRONG_IF(made && strcmp(txn->node->path, DOUBLE_PATH "/" READY) == 0 &&
                 !both.enough,
             "%lld: \"ready\" is made, and there were too few of %u",
             (long long)version, both.members);
}

void gathers_end(void)
{
    WRONG_IF(counted.number < counted.made ||
                 counted.number > counted.made + counted.unknown,
             "the counter is %lld after %lld adds and %lld unknown ones",
             (long long)counted.number, (long long)counted.made,
             (long long)counted.unknown);
}

/* -- what the library says ------------------------------------------------- */

static void check(const struct process *p, const char *what, int rc)
{
    if (ONE_OF(rc, ZKR_OK, ZKR_EUNKNOWN, ZKR_ETIMEDOUT, ZKR_EBUSY, ZKR_ENOMEM,
               ZKR_ECLOSED, ZKR_ENOCHROOT) ||
        zkr_error_is_transient(rc) || (rc == ZKR_ZNOAUTH && acls.denials > 0))
        return;
    world_fail("process %d: %s ends with %d, %s: %s", p->number, what, rc,
               zkr_strerror(rc), zkr_error_detail());
}

static void add(struct process *p, int64_t timeout_ms)
{
    zkr_counter *counter;
    int64_t after = 0;
    int rc = zkr_counter_new(p->session, process_sees(p, COUNTER_PATH), NULL,
                             &counter);

    if (rc == ZKR_OK)
        rc = zkr_counter_add(counter, 1, timeout_ms, &after);
    zkr_counter_free(counter);
    check(p, "an add", rc);
    counted.made += rc == ZKR_OK;
    counted.unknown += rc == ZKR_EUNKNOWN;
    if (rc != ZKR_OK)
        return;
    for (const struct told *t = counted.told; t != NULL; t = t->next) {
        WRONG_IF(t->after == after, "two adds are told %lld", (long long)after);
    }
    WRONG_IF(after < 1 || after > counted.number,
             "an add is told %lld, and the counter is %lld", (long long)after,
             (long long)counted.number);
    counted.told = ARENA_NEW(struct told, counted.told, after);
}

/* A wait may end if there was no barrier at any time of the call. A leader that
 * the others have deserted gives old answers. */
static void judge_wait(const struct process *p, int64_t from, int64_t began)
{
    int64_t to = ensemble.committed;

    if (ensemble_deserted(began))
        return;
    for (int64_t version = from; version <= to; version++) {
        if (tree_find(BARRIER_PATH, version) == NULL)
            return;
    }
    world_fail("process %d passes the barrier, which was set from %lld to %lld",
               p->number, (long long)from, (long long)to);
}

static void meet(struct process *p, int64_t timeout_ms)
{
    int64_t from = ensemble.committed;
    int64_t began = sim_now;
    uint32_t what = choose(4);
    zkr_barrier *b;
    int rc =
        zkr_barrier_new(p->session, process_sees(p, BARRIER_PATH), NULL, &b);

    if (rc == ZKR_OK && what == 0)
        rc = zkr_barrier_remove(b, timeout_ms);
    else if (rc == ZKR_OK && what == 1)
        rc = zkr_barrier_set(b, timeout_ms);
    else if (rc == ZKR_OK && what == 2)
        rc = zkr_barrier_wait(b, timeout_ms);
    zkr_barrier_free(b);
    check(p, "a call of a barrier", rc);
    if (rc == ZKR_OK && what == 2)
        judge_wait(p, from, began);
    if (what == 3 && both.members == 0)
        both.members = DRAW(uint32_t, 2, 3, 1, 2);
}

void user_gathers(struct process *p)
{
    int64_t timeout_ms = DRAW(int64_t, 3000, 0, 20, 200, 8000);
    struct call call = oracle_begins(p->number);

    if (choose(2) == 0)
        add(p, timeout_ms);
    else
        meet(p, timeout_ms);
    oracle_in_time("a counter or barrier", &call,
                   process_patience(p, timeout_ms));
}

/* -- a double barrier ------------------------------------------------------ */

static int64_t some_timeout(void)
{
    return DRAW(int64_t, 3000, 8000, 20, 0, 8000);
}

static void end_call(const struct process *p, const struct call *call,
                     int64_t timeout_ms, const char *what, int rc)
{
    world_trace("process %d: %s: %s", p->number, what, zkr_strerror(rc));
    check(p, what, rc);
    oracle_in_time(what, call, process_patience(p, timeout_ms));
}

static int enter(const struct process *p, zkr_double_barrier *m)
{
    int64_t from = ensemble.committed;
    int64_t timeout_ms = some_timeout();
    struct call call = oracle_begins(p->number);
    int rc = zkr_double_barrier_enter(m, timeout_ms);

    end_call(p, &call, timeout_ms, "an enter", rc);
    WRONG_IF(rc == ZKR_OK && !both.enough && both.ended <= from,
             "process %d enters, and there were too few of %u", p->number,
             both.members);
    return rc;
}

/* Those who were there when the call began. */
struct others {
    struct others *next;
    const struct node *node;
};

/* A leader that the others have deserted gives old answers. */
static void leave(const struct process *p, zkr_double_barrier *m)
{
    int64_t version = ensemble.committed;
    struct others *others = NULL;

    for (const struct node *n = first_node(version); n != NULL;
         n = n->next_sibling) {
        if (is_member(n, version))
            others = ARENA_NEW(struct others, others, n);
    }
    int64_t timeout_ms = some_timeout();
    struct call call = oracle_begins(p->number);
    int rc = zkr_double_barrier_leave(m, timeout_ms);
    end_call(p, &call, timeout_ms, "a leave", rc == ZKR_ELOST ? ZKR_OK : rc);
    if ((rc != ZKR_OK && rc != ZKR_ELOST) || ensemble_deserted(call.began))
        return;
    for (; others != NULL; others = others->next) {
        WRONG_IF(is_there(others->node),
                 "process %d leaves, and %s is still there", p->number,
                 others->node->path);
    }
}

/* A member that is inside may also be freed. */
void user_enters(struct process *p)
{
    zkr_double_barrier *m;

    if (both.present >= both.members)
        return;
    int rc = zkr_double_barrier_new(p->session, process_sees(p, DOUBLE_PATH),
                                    both.members, NULL, &m);
    check(p, "a double barrier", rc);
    both.present++;
    for (uint32_t times = 1 + choose(3); rc == ZKR_OK && times > 0; times--) {
        if (enter(p, m) != ZKR_OK)
            continue;
        fiber_sleep(choose(400) * MS);
        if (one_in(3))
            break;
        leave(p, m);
    }
    both.present--;
    zkr_double_barrier_free(m);
}
