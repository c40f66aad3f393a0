/* SPDX-License-Identifier: Apache-2.0 */
/* Users who enter a double barrier and leave it; and its oracle, which judges
 * by the nodes that are committed. */

#include "oracle.h"

#define READY "ready"

static OF_SCHEDULE struct {
    uint32_t members; /* that the barrier is for; 0: nobody has come yet */
    uint32_t present; /* users who are in a call, or inside */
    bool enough;      /* so many nodes were there since it was empty */
    int64_t ended;    /* the version up to which they were there */
} it;

void enters_begin(void)
{
    static const uint32_t members[] = { 2, 3, 1, 2 };

    if (it.members == 0)
        it.members = members[choose(4)];
}

bool enters_begun(void)
{
    return it.members > 0;
}

bool enters_wanted(void)
{
    return it.present < it.members;
}

/* -- what the servers say -------------------------------------------------- */

static bool is_member(const struct node *n, int64_t version)
{
    return tree_has(n, version) && strcmp(n->name, READY) != 0;
}

static void check_ready(int64_t version)
{
    WRONG_IF(!it.enough,
             "%lld: \"ready\" is made, and there were too few of %u",
             (long long)version, it.members);
}

static const struct node *first_node(int64_t version)
{
    const struct node *dir = tree_find(DOUBLE_PATH, version);

    return dir == NULL ? NULL : dir->children;
}

void enters_committed(int64_t version, const struct txn *txn)
{
    uint32_t count = 0;

    for (const struct node *n = first_node(version); n != NULL;
         n = n->next_sibling)
        count += is_member(n, version);
    if (count == 0 && it.enough)
        it.ended = version;
    it.enough = count > 0 && (it.enough || count >= it.members);
    if (txn->kind == TXN_CREATE &&
        strcmp(txn->node->path, DOUBLE_PATH "/" READY) == 0)
        check_ready(version);
}

/* -- what the library says ------------------------------------------------- */

static int64_t some_timeout(void)
{
    static const int64_t timeouts[] = { 3000, 8000, 20, 0, 8000 };

    return timeouts[choose(5)];
}

static void end_call(const struct process *p, const struct call *call,
                     int64_t timeout_ms, const char *what, int rc)
{
    world_trace("process %d: %s: %s", p->number, what, zkr_strerror(rc));
    gathers_check(p, what, rc);
    oracle_in_time(what, call, process_patience(p, timeout_ms));
}

static int enter(const struct process *p, zkr_double_barrier *m)
{
    int64_t from = ensemble.committed;
    int64_t timeout_ms = some_timeout();
    struct call call = oracle_begins(p->number);
    int rc = zkr_double_barrier_enter(m, timeout_ms);

    end_call(p, &call, timeout_ms, "an enter", rc);
    WRONG_IF(rc == ZKR_OK && !it.enough && it.ended <= from,
             "process %d enters, and there were too few of %u", p->number,
             it.members);
    return rc;
}

/* Those who were there when the call began. */
struct others {
    struct others *next;
    const struct node *node;
};

static struct others *find_others(void)
{
    int64_t version = ensemble.committed;
    struct others *all = NULL;

    for (const struct node *n = first_node(version); n != NULL;
         n = n->next_sibling) {
        struct others *o;

        if (!is_member(n, version))
            continue;
        o = arena_new(sizeof(*o));
        *o = (struct others){ all, n };
        all = o;
    }
    return all;
}

/* A leader that the others have deserted gives old answers. */
static void leave(const struct process *p, zkr_double_barrier *m)
{
    const struct others *o = find_others();
    int64_t timeout_ms = some_timeout();
    struct call call = oracle_begins(p->number);
    int rc = zkr_double_barrier_leave(m, timeout_ms);

    end_call(p, &call, timeout_ms, "a leave", rc == ZKR_ELOST ? ZKR_OK : rc);
    if ((rc != ZKR_OK && rc != ZKR_ELOST) || ensemble_deserted(call.began))
        return;
    for (; o != NULL; o = o->next) {
        WRONG_IF(is_there(o->node), "process %d leaves, and %s is still there",
                 p->number, o->node->path);
    }
}

/* A member that is inside may also be freed. */
void user_enters(struct process *p)
{
    zkr_double_barrier *m;
    int rc = zkr_double_barrier_new(p->session, process_sees(p, DOUBLE_PATH),
                                    it.members, NULL, &m);

    gathers_check(p, "a double barrier", rc);
    it.present++;
    for (uint32_t times = 1 + choose(3); rc == ZKR_OK && times > 0; times--) {
        if (enter(p, m) != ZKR_OK)
            continue;
        fiber_sleep(choose(400) * MS);
        if (one_in(3))
            break;
        leave(p, m);
    }
    it.present--;
    zkr_double_barrier_free(m);
}
