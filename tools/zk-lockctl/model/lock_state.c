/* SPDX-License-Identifier: Apache-2.0 */
/* Understands the list of the children of a lock. */
#include "model/lock_state.h"

#include <stdlib.h>
#include <string.h>

#include "common/grow.h"

/* Everybody else who waits, waits for a contender. The one who was promised a
 * lease waits for what its lease waits for. */
bool contender_wants_permit(const struct lock *lock, const struct contender *c)
{
    size_t i = c->node->waits_for;

    return contender_waits(c) &&
           (i >= lock->listed || zkr__is_lease(lock->items[i].node));
}

const char *lock_state_name(enum lock_state state)
{
    static const char *const names[] = {
        [LOCK_FREE] = "free",     [LOCK_HELD] = "held",
        [LOCK_SHARED] = "shared", [LOCK_ENTERING] = "entering",
        [LOCK_READY] = "ready",   [LOCK_UNKNOWN] = "?",
    };

    return names[state];
}

static void understand_one(struct contender *c, const struct zkr_participant *p,
                           int64_t at_ms)
{
    c->node = p;
    zkr__owner_read(&c->owner, p->data, p->data_size);
    c->dialect = zkr__dialect_of(p, &c->owner);
    c->age_ms = p->token == 0         ? -1
                : at_ms > p->since_ms ? at_ms - p->since_ms
                                      : 0;
}

/* A contender that is not known may be of the same client as the others. One of
 * which only the name was read counts if that tells the client. */
static void count_dialect(struct lock *lock, const struct contender *c)
{
    if (!node_is_read(c->node) && c->dialect == ZKR__DIALECT_UNKNOWN)
        return;
    if (lock->dialect == ZKR__DIALECT_NONE)
        lock->dialect = c->dialect;
    else if (lock->dialect != c->dialect && lock->dialect != ZKR__DIALECT_MIXED)
        lock->dialect = lock->dialect == ZKR__DIALECT_UNKNOWN ||
                                c->dialect == ZKR__DIALECT_UNKNOWN
                            ? ZKR__DIALECT_UNKNOWN
                            : ZKR__DIALECT_MIXED;
}

static void count_one(struct lock *lock, const struct contender *c)
{
    lock->count++;
    count_dialect(lock, c);
    if (c->node->holds) {
        lock->holders++;
        if (lock->holder == NULL) {
            lock->holder = c;
            lock->held_ms = c->age_ms;
        }
        if (c->age_ms > lock->longest_hold_ms)
            lock->longest_hold_ms = c->age_ms;
        if (lock->state != LOCK_HELD)
            lock->state = c->node->kind == ZKR_PARTICIPANT_SHARED ? LOCK_SHARED
                                                                  : LOCK_HELD;
        return;
    }
    if (contender_is_promised(c))
        return;
    lock->waiters++;
    if (c->age_ms > lock->longest_wait_ms)
        lock->longest_wait_ms = c->age_ms;
}

/* A double barrier has members, and the node "ready" as long as they may go. */
static void look_for_members(struct lock *lock)
{
    bool ready = false;

    for (size_t i = 0; i < lock->listed; i++) {
        const struct zkr_participant *p = lock->items[i].node;

        lock->members += zkr__is_member(p);
        ready = ready || strcmp(p->name, "ready") == 0;
    }
    if (lock->members == 0)
        return;
    lock->kind = ZKR__KIND_BARRIER;
    lock->state = ready ? LOCK_READY : LOCK_ENTERING;
}

/* The list is the lock's from here on. */
static int understand(struct lock *lock, struct zkr_participants *list)
{
    lock->list = list;
    lock->total = list->total;
    lock->listed = list->count;
    lock->items = calloc(list->count + 1, sizeof(*lock->items));
    if (lock->items == NULL)
        return ZKR_ENOMEM;
    for (size_t i = 0; i < list->count; i++) {
        understand_one(&lock->items[i], &list->items[i], lock->at_ms);
        lock->read += node_is_read(&list->items[i]);
        lock->pool += zkr__is_of_pool(&list->items[i]);
        if (list->items[i].kind != ZKR_PARTICIPANT_FOREIGN)
            count_one(lock, &lock->items[i]);
    }
    if (lock->holders == 1) {
        lock->node = lock->holder->node;
        lock->owner = &lock->holder->owner;
    }
    lock->kind = zkr__lock_kind_of(list->items, lock->count);
    if (list->semaphore && lock->kind == ZKR__KIND_NONE)
        lock->kind = ZKR__KIND_SEMAPHORE;
    if (lock->kind == ZKR__KIND_NONE)
        look_for_members(lock);
    return ZKR_OK;
}

int lock_of(const char *path, struct zkr_participants *list, int64_t at_ms,
            struct lock *ret_lock)
{
    struct lock lock = { .path = strdup(path),
                         .held_ms = -1,
                         .longest_wait_ms = -1,
                         .at_ms = at_ms };
    int rc = understand(&lock, list);

    if (rc == ZKR_OK && lock.path == NULL)
        rc = ZKR_ENOMEM;
    if (rc != ZKR_OK)
        lock_done(&lock);
    else
        *ret_lock = lock;
    return rc;
}

void lock_done(struct lock *lock)
{
    zkr_participants_free(lock->list);
    free(lock->items);
    free(lock->path);
    *lock = (struct lock){ .path = NULL };
}

static int by_name(const void *a, const void *b)
{
    const struct contender *const *x = a;
    const struct contender *const *y = b;

    return strcmp((*x)->node->name, (*y)->node->name);
}

const struct contender **lock_names(const struct lock *lock)
{
    const struct contender **names = calloc(lock->count + 1, sizeof(*names));

    for (size_t i = 0; names != NULL && i < lock->count; i++)
        names[i] = &lock->items[i];
    if (names != NULL)
        qsort(names, lock->count, sizeof(*names), by_name);
    return names;
}

const struct contender *names_find(const struct contender *const *names,
                                   size_t count, const char *name)
{
    const struct zkr_participant node = { .name = name };
    const struct contender key = { .node = &node };
    const struct contender *wanted = &key;
    const struct contender *const *found =
        find_in_array(&wanted, names, count, sizeof(*names), by_name);

    return found == NULL ? NULL : *found;
}

int lock_by_path(const void *a, const void *b)
{
    return strcmp(((const struct lock *)a)->path,
                  ((const struct lock *)b)->path);
}

static const struct contender *find_token(const struct lock *lock,
                                          int64_t token, bool holds,
                                          const struct contender *last)
{
    size_t i = last == NULL ? 0 : (size_t)(last - lock->items) + 1;

    for (; i < lock->count; i++) {
        if (lock->items[i].node->holds == holds &&
            lock->items[i].node->token == token)
            return &lock->items[i];
    }
    return NULL;
}

const struct contender *lock_holder(const struct lock *lock, int64_t token,
                                    const struct contender *last)
{
    return find_token(lock, token, true, last);
}

const struct contender *lock_waiter(const struct lock *lock, int64_t token,
                                    const struct contender *last)
{
    return find_token(lock, token, false, last);
}
