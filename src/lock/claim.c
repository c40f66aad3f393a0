/* SPDX-License-Identifier: Apache-2.0 */
/* A claim: one attempt to get a lock, from acquire to release, as a state
 * machine. */
#include "lock/claim.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/random.h"
#include "lock/cohort.h"
#include "lock/count.h"
#include "lock/locks.h"

/* Thousands of claims may wait. So a claim allocates the parts that it needs
 * in rare cases only, but for those that LEAVING needs: that must not fail. */
_Static_assert(sizeof(struct zkr__claim) <= 1664, "a claim is large");

static struct zkr__record *describe(const struct zkr__claim *c,
                                    const struct zkr__thread_id *thread)
{
    char number[ZKR__UUID_LEN + 1];
    struct zkr__owner owner = c->lock->owner;

    owner.thread = thread;
    if (!c->way->has_own_path) {
        zkr__random_uuid(number);
        owner.claim = number;
    }
    return zkr__record_get(&owner, &c->lock->record);
}

static bool allocate(struct zkr__claim *c, const struct zkr__thread_id *thread)
{
    c->node->path_size = strlen(c->lock->dir) + 1 + ZKR__NODE_MAX;
    c->node->request_path = calloc(3, c->node->path_size);
    c->node->record = describe(c, thread);
    if (c->node->request_path == NULL || c->node->record == NULL)
        return false;
    c->node->name = stpcpy(stpcpy(c->node->request_path, c->lock->dir), "/");
    c->node->path = c->node->request_path + c->node->path_size;
    c->own.path = c->node->path + c->node->path_size;
    return true;
}

static void init_steps(struct zkr__claim *c)
{
    struct zkr_session *s = c->session;

    zkr__op_init(&c->own.op, s, &c->ref);
    zkr__op_init(&c->wait.get, s, &c->ref);
    zkr__op_init(&c->confirm, s, &c->ref);
    c->confirm.class = ZKR__OP_CHECKS;
    zkr__grant_init(&c->grant);
    zkr__list_init(&c->hold.link);
}

static void free_claim(struct zkr__ref *ref)
{
    struct zkr__claim *c = ZKR__CONTAINER(ref, struct zkr__claim, ref);

    if (c->beside != NULL)
        zkr__claim_unref(c->beside);
    zkr__ghosts_free(c->ghosts);
    free(c->wait.rival);
    if (c->cohort.delegate != NULL)
        zkr__claim_unref(c->cohort.delegate);
    free(c->grant.own);
    zkr__record_put(c->own_node.record, &c->lock->record);
    zkr__lock_unref(c->lock);
    free(c->own_node.request_path);
    free(c->outcome.detail);
    free(c);
}

const struct zkr__role zkr__alone = { .for_caller = true,
                                      .makes_node = true,
                                      .waits = zkr__count_wait_locked };

/* Makes a claim without its names and its record, which allocate() adds. */
static struct zkr__claim *make(struct zkr__lock *lock,
                               const struct zkr__recipe *recipe,
                               const struct zkr__role *role)
{
    struct zkr__claim *c = calloc(1, sizeof(*c));

    if (c == NULL)
        return NULL;
    zkr__ref_init(&c->ref, free_claim);
    zkr__lock_ref(lock);
    c->lock = lock;
    c->session = lock->session;
    c->recipe = recipe;
    c->role = role;
    c->way = role->way != NULL ? role->way : recipe->way;
    c->sm = (struct zkr__sm){ ZKR__CLAIM_IDLE, zkr__claim_states, "claim",
                              lock->path };
    c->node = &c->own_node;
    zkr__list_init(&c->cohort.link);
    zkr__list_init(&c->link);
    zkr__list_init(&c->of_line);
    zkr__list_init(&c->of_lock);
    zkr__list_init(&c->leased);
    zkr__list_init(&c->doubted);
    zkr__list_init(&c->place.link);
    zkr__list_init(&c->place.ask);
    init_steps(c);
    return c;
}

/* The members of a cohort write nothing. */
int zkr__claim_new(struct zkr__lock *lock, const struct zkr__recipe *recipe,
                   const struct zkr__role *role, enum zkr__intent intent,
                   const struct zkr__thread_id *thread,
                   struct zkr__claim **ret_claim)
{
    struct zkr__claim *c = make(lock, recipe, role);

    if (c == NULL || (role->makes_node && !allocate(c, thread))) {
        if (c != NULL)
            zkr__claim_unref(c);
        return zkr__no_memory(recipe->noun, lock->path);
    }
    c->intent = intent;
    *ret_claim = c;
    return ZKR_OK;
}

void zkr__claim_start_locked(struct zkr__claim *c)
{
    struct zkr_session *s = c->session;

    zkr__claim_ref(c); /* the session's, until zkr__claim_end() */
    zkr__list_append(&zkr__locks_of(s)->claims, &c->link);
    s->claims++;
    zkr__list_append(&c->lock->line->claims, &c->of_line);
    zkr__list_append(&c->lock->claims, &c->of_lock);
    zkr__ref_take(&c->lock->line->ref);
    zkr__line_unstick_locked(c->lock->line); /* it would wait for those */
    zkr__count_acquire_locked(c);
    c->epoch = s->epoch;
    if (c->beside != NULL)
        zkr__role_tell_locked(c->beside, ZKR__ROLE_SHARED, 0);
    zkr__claim_event_locked(
        c, c->intent == ZKR__TRY ? ZKR__ON_TRY : ZKR__ON_ACQUIRE, "acquire");
}
