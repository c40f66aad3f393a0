/* SPDX-License-Identifier: Apache-2.0 */
/* Users who count, and who wait at a barrier; and the oracle of both, which
 * judges by the committed transactions. */

#include "frontend.h"
#include "oracle.h"

#define COUNTER_PATH "/locks/number"
#define BARRIER_PATH "/locks/barrier"

struct told {
    struct told *next;
    int64_t after;
};

static OF_SCHEDULE struct {
    int64_t number;  /* that is committed: each add has made it one more */
    int64_t made;    /* adds that were told so */
    int64_t unknown; /* adds that nobody can tell of */
    struct told *told;
} it;

/* -- what the servers say -------------------------------------------------- */

static int64_t number_in(const struct request *r)
{
    int64_t number = 0;

    WRONG_IF(r->data_len != 8, "the counter has %zu bytes", r->data_len);
    for (size_t i = 0; i < 8; i++)
        number = number << 8 | (unsigned char)r->data[i];
    return number;
}

void gathers_committed(const struct txn *txn)
{
    const struct request *r = txn->request;

    if ((txn->kind != TXN_CREATE && txn->kind != TXN_SET) || r == NULL ||
        strcmp(txn->node->path, COUNTER_PATH) != 0)
        return;
    int64_t number = number_in(r);
    WRONG_IF(number != it.number + 1, "the counter goes from %lld to %lld",
             (long long)it.number, (long long)number);
    it.number = number;
}

void gathers_end(void)
{
    WRONG_IF(it.number < it.made || it.number > it.made + it.unknown,
             "the counter is %lld after %lld adds and %lld unknown ones",
             (long long)it.number, (long long)it.made, (long long)it.unknown);
}

/* -- what the library says ------------------------------------------------- */

void gathers_check(const struct process *p, const char *what, int rc)
{
    if (ONE_OF(rc, ZKR_OK, ZKR_EUNKNOWN, ZKR_ETIMEDOUT, ZKR_EBUSY, ZKR_ENOMEM,
               ZKR_ECLOSED, ZKR_ENOCHROOT) ||
        zkr_error_is_transient(rc) || (rc == ZKR_ZNOAUTH && acls_used()))
        return;
    world_fail("process %d: %s ends with %d, %s: %s", p->number, what, rc,
               zkr_strerror(rc), zkr_error_detail());
}

static void told_number(int64_t after)
{
    struct told *told = arena_new(sizeof(*told));

    for (const struct told *t = it.told; t != NULL; t = t->next) {
        WRONG_IF(t->after == after, "two adds are told %lld", (long long)after);
    }
    WRONG_IF(after < 1 || after > it.number,
             "an add is told %lld, and the counter is %lld", (long long)after,
             (long long)it.number);
    told->after = after;
    told->next = it.told;
    it.told = told;
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
    gathers_check(p, "an add", rc);
    it.made += rc == ZKR_OK;
    it.unknown += rc == ZKR_EUNKNOWN;
    if (rc == ZKR_OK)
        told_number(after);
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
    gathers_check(p, "a call of a barrier", rc);
    if (rc == ZKR_OK && what == 2)
        judge_wait(p, from, began);
    if (what == 3)
        enters_begin();
}

void user_gathers(struct process *p)
{
    static const int64_t timeouts[] = { 3000, 0, 20, 200, 8000 };
    int64_t timeout_ms = timeouts[choose(5)];
    struct call call = oracle_begins(p->number);

    if (choose(2) == 0)
        add(p, timeout_ms);
    else
        meet(p, timeout_ms);
    oracle_in_time("a counter or barrier", &call,
                   process_patience(p, timeout_ms));
}
