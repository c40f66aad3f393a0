/* SPDX-License-Identifier: Apache-2.0 */
/* Holding: the calls that users make with a grant, until they give it back. */
#include "users.h"

/* Only its own thread gives a counted lock back. */
static bool counts(const struct thread *t)
{
    return t->recipe == REENTRANT || (t->flags & ZKR_REENTRANT) != 0;
}

static void on_released(int rc, void *user)
{
    world.releases--;
}

/* In the end it does not campaign any more. A release that has waited leaves no
 * time to wait again. */
static void give_back_leadership(const struct thread *t, zkr_grant *grant)
{
    bool waits = choose(3) > 0;

    if (!waits && choose(2) == 0)
        (void)zkr_grant_release(grant); /* and it campaigns again */
    told_ends(grant);
    (void)zkr_grant_listen(grant, NULL, NULL);
    zkr_grant_free(grant);
    told_ended(grant);
    if (waits)
        (void)zkr_leader_leave(t->lock);
    else
        (void)zkr_leader_leave_async(t->lock);
}

/* A grant that has been released, or was lost, cannot be released once more. */
static void release(const struct thread *t, const struct attempt *a,
                    zkr_grant *grant)
{
    bool told = !counts(t); /* the end of it; not if it is only counted */

    if (choose(2) == 0)
        (void)zkr_grant_release(grant);
    else if (zkr_grant_release_async(grant, told ? on_released : NULL, NULL) ==
             ZKR_OK)
        world.releases += told;
    while (one_in(3)) {
        enum zkr_grant_state_kind state = zkr_grant_state(grant);
        int rc = zkr_grant_release(grant);

        WRONG_IF(rc != (state == ZKR_GRANT_LOST ? ZKR_ELOST : ZKR_ENOTHELD),
                 "attempt %d is %s and given back again: %d", a->number,
                 zkr_grant_state_name(state), rc);
        WRONG_IF(zkr_grant_depth(grant) != 0 ||
                     zkr_grant_check(grant) == ZKR_OK,
                 "attempt %d is given back, and held %u times", a->number,
                 zkr_grant_depth(grant));
    }
}

void user_gives_back(struct thread *t, struct attempt *a, zkr_grant *grant)
{
    struct call call = oracle_begins(t->process->number);

    if (one_in(8))
        user_yields(t);

    world_trace("process %d: attempt %d is given back", t->process->number,
                a->number);
    oracle_over(a);
    if (one_in(8)) { /* it listens no more */
        told_ends(grant);
        (void)zkr_grant_listen(grant, NULL, NULL);
        told_ended(grant);
    }
    if (t->recipe == REENTRANT) {
        told_ends(grant); /* it is the lock's own, and freed with it */
        if (one_in(4) && t->process->stays.users <= 1)
            user_free_lock(t);
        else
            (void)zkr_reentrant_mutex_release(t->lock);
        told_ended(grant);
    } else if (t->recipe == LATCH) {
        give_back_leadership(t, grant);
    } else {
        if (choose(3) > 0)
            release(t, a, grant);
        told_free_grant(grant);
    }
    oracle_in_time("a release", &call, process_patience(t->process, 0));
    if (t->recipe == REENTRANT && t->lock == NULL)
        (void)user_make_lock(t);
}

struct listening {
    struct attempt *attempt;
    bool owned; /* by a thread that alone may give it back */
};

/* The holder is asked for it, and gives it back, unless only its thread may. */
static void on_revoke(const struct listening *l, zkr_grant *grant)
{
    struct attempt *a = l->attempt;

    if (a->grant == NULL || choose(2) == 0)
        return;
    if (l->owned) {
        WRONG_IF(zkr_grant_release_async(grant, NULL, NULL) == ZKR_OK,
                 "another thread gives back attempt %d", a->number);
        return;
    }
    world_trace("attempt %d is given back as asked for", a->number);
    writes_race(a);
    oracle_over(a);
    (void)zkr_grant_release_async(grant, NULL, NULL);
}

static void on_grant_event(zkr_grant *grant, const struct zkr_grant_event *e,
                           void *user)
{
    if (e->kind == ZKR_GRANT_REVOKE_REQUESTED)
        on_revoke(user, grant);
    else
        WRONG_IF(one_in(8) && zkr_grant_verify(grant, -1) != ZKR_EDEADLK,
                 "a callback waits for an answer");
}

static void verify(struct thread *t, struct attempt *a, zkr_grant *grant)
{
    struct call call = oracle_begins(t->process->number);
    uint64_t requests = client_requests;
    int rc = zkr_grant_verify(grant, 500);

    if (rc == ZKR_OK) {
        oracle_checked(a, rc);
        oracle_verified(a, requests);
    }
    oracle_in_time("a verify", &call, 500 * MS);
}

/* Another thread, which gives a write lock back while its owner asks for the
 * read lock beside it. */
struct other_thread {
    struct attempt *attempt;
    zkr_grant *grant;
    bool done;
};

static void *other_main(void *arg)
{
    struct other_thread *o = arg;

    user_pauses(choose(2) == 0 ? 3 : 5);
    world_trace("attempt %d is given back by another thread",
                o->attempt->number);
    oracle_over(o->attempt);
    (void)zkr_grant_release_async(o->grant, NULL, NULL);
    o->done = true;
    fiber_wake(o);
    return NULL;
}

static struct other_thread *meddle(const struct thread *t, struct attempt *a,
                                   zkr_grant *grant)
{
    struct other_thread *o = ARENA_NEW(struct other_thread, a, grant, true);

    if (counts(t) || !one_in(3))
        return o;
    o->done = false;
    (void)fiber_start(t->process->number, other_main, o);
    return o;
}

/* Only one node is left, so the other one is not held any more. */
static void judge_other_side(const struct attempt *a, zkr_grant *write, int rc)
{
    enum zkr_grant_state_kind state = zkr_grant_state(write);

    WRONG_IF((rc == ZKR_OK && state != ZKR_GRANT_RELEASED &&
              state != ZKR_GRANT_LOST) ||
                 (rc == ZKR_ELOST && state != ZKR_GRANT_LOST && !a->over),
             "attempt %d is %s after its downgrade: %d", a->number,
             zkr_grant_state_name(state), rc);
}

static struct attempt *downgrade(struct thread *t, struct attempt *a,
                                 zkr_grant **grant)
{
    struct attempt *down = oracle_asked(t->process->number, true, -1);
    zkr_grant *read;
    struct call call = oracle_begins(t->process->number);
    struct other_thread *other = meddle(t, a, *grant);

    down->beside = a;
    down->deadline = INT64_MAX - 1;
    a->grant = NULL; /* its result is reported at the end only */
    a->downgrading = *grant;
    int rc = zkr_rwlock_downgrade(t->lock, *grant, &read);
    judge_other_side(a, *grant, rc);
    a->downgrading = NULL;
    a->over = a->over || zkr_grant_state(*grant) == ZKR_GRANT_RELEASED;
    oracle_told(down, rc == ZKR_ENOTHELD ? ZKR_ELOST : rc, read);
    oracle_in_time("a downgrade", &call, 2 * process_patience(t->process, 0));
    FIBER_UNTIL(other->done, other);
    if (rc != ZKR_OK) {
        a->grant = a->over ? NULL : *grant;
        return a;
    }
    told_free_grant(*grant);
    *grant = read;
    return down;
}

/* Checks what the grant reports about itself. */
static void ask_grant(const struct thread *t, const struct attempt *a,
                      zkr_grant *grant)
{
    WRONG_IF(zkr_grant_token(grant) != a->token ||
                 zkr_grant_node(grant) == NULL ||
                 zkr_grant_handoff(grant) != a->handoff,
             "attempt %d has another token than before", a->number);
    WRONG_IF(t->process->no_lease && zkr_grant_valid_until(grant) != 0,
             "attempt %d has a lease without one", a->number);
    bool released = zkr_grant_state(grant) == ZKR_GRANT_RELEASED ||
                    zkr_grant_depth(grant) == 0;
    /* asked after it: a callback may give the lock back between both calls */
    WRONG_IF(released && !a->over, "attempt %d is given back, and nobody did",
             a->number);
    (void)zkr_grant_state_name(zkr_grant_state(grant));
}

/* Acquired once more by its owner: it is counted, without a request. */
static void acquire_again(struct thread *t, const struct attempt *a,
                          zkr_grant *grant)
{
    zkr_grant *again = NULL;
    int rc = user_acquire(t, a->shared, -1, &again);

    if (rc == ZKR_ELOST)
        return;
    WRONG_IF(rc != ZKR_OK || again != grant || zkr_grant_depth(grant) < 2,
             "attempt %d cannot be counted: %d", a->number, rc);
    user_pauses(4);
    if (t->recipe == REENTRANT) {
        (void)zkr_reentrant_mutex_release(t->lock);
    } else {
        if (choose(2) == 0)
            (void)zkr_grant_release(again);
        zkr_grant_free(again);
    }
}

/* A writer that would wait for itself gets an error; one whose read grant is
 * lost waits like any other. */
static void upgrade(struct thread *t)
{
    struct attempt *a = oracle_asked(t->process->number, false, 200);
    zkr_grant *grant = NULL;

    a->upgrade = true;
    int rc = user_acquire(t, false, 200, &grant);
    oracle_told(a, rc, grant);
    if (rc == ZKR_OK)
        user_gives_back(t, a, grant);
}

/* A reader beside its own writer; or, when that has been lost, behind all. */
static void read_beside(struct thread *t, struct attempt *a, zkr_grant *write)
{
    struct other_thread *other = meddle(t, a, write);
    int64_t limit = t->process->opts.reply_timeout_ms;
    struct attempt *reader =
        oracle_asked(t->process->number, true, limit > 200 ? limit : 200);
    zkr_grant *grant = NULL;
    int rc = user_acquire(t, true, 200, &grant);

    if (rc == ZKR_OK && zkr_grant_token(grant) == a->token)
        reader->beside = a;
    oracle_told(reader, rc, grant);
    FIBER_UNTIL(other->done, other);
    if (rc != ZKR_OK)
        return;
    user_pauses(4);
    user_gives_back(t, reader, grant);
}

static void steps(struct thread *t, struct attempt *a, zkr_grant *grant)
{
    for (uint32_t steps = choose(4); steps > 0; steps--) {
        user_pauses(7);
        oracle_checked(a, zkr_grant_check(grant));
        if (t->recipe == LATCH && zkr_leader_is_leader(t->lock) &&
            zkr_grant_state(grant) < ZKR_GRANT_LOST)
            oracle_checked(a, ZKR_OK); /* the term that was asked about */
        if (one_in(6))
            verify(t, a, grant);
    }
}

void user_holds(struct thread *t, struct attempt *a, zkr_grant *grant,
                bool owned)
{
    if (one_in(2))
        told_of_grant(a, grant, on_grant_event,
                      ARENA_NEW(struct listening, a, owned && counts(t)));
    steps(t, a, grant);
    if (one_in(4))
        ask_grant(t, a, grant);
    if (one_in(4))
        user_writes(t->process, a, grant);
    if (one_in(16))
        user_looks_on(t->process);
    if (owned && one_in(4)) {
        if (counts(t) && choose(2) == 0)
            acquire_again(t, a, grant);
        else if (t->recipe == RWLOCK && a->shared)
            upgrade(t);
        else if (t->recipe == RWLOCK)
            read_beside(t, a, grant);
    }
    if (t->recipe == RWLOCK && !a->shared && one_in(3))
        a = downgrade(t, a, &grant);
    user_gives_back(t, a, grant);
}
