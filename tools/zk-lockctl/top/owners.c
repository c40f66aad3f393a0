/* SPDX-License-Identifier: Apache-2.0 */
/* The owners of locks: what each process holds, added up. Pure. */
#include "top/owners.h"

#include <stdlib.h>
#include <string.h>

#include "common/escape.h"

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static struct top_owner *find(struct top_owners *owners, const char *who)
{
    struct top_owner *more;

    for (size_t i = 0; i < owners->count; i++) {
        if (strcmp(owners->items[i].who, who) == 0)
            return &owners->items[i];
    }
    more = realloc(owners->items, (owners->count + 1) * sizeof(*more));
    if (more == NULL)
        return NULL;
    owners->items = more;
    more += owners->count++;
    *more = (struct top_owner){ .held_ms = -1, .longest_ms = -1 };
    (void)strcpy(more->who, who);
    return more;
}

/* An owner with several leases of a semaphore holds it once. */
static bool was_met(const struct lock *lock, const struct contender *c)
{
    char who[WHO_MAX];
    char other[WHO_MAX];

    (void)contender_who(c, who);
    for (const struct contender *b = lock->items; b < c; b++) {
        if (b->node->holds && strcmp(contender_who(b, other), who) == 0)
            return true;
    }
    return false;
}

bool owners_add(struct top_owners *owners, const struct lock *lock)
{
    for (size_t i = 0; i < lock->listed; i++) {
        const struct contender *c = &lock->items[i];
        char plain[WHO_MAX];
        char who[WHO_MAX];
        struct top_owner *o;

        if (!c->node->holds || was_met(lock, c))
            continue;
        o = find(owners, plain_copy(contender_who(c, who), plain, WHO_MAX));
        if (o == NULL)
            return false;
        o->locks++;
        o->waiters += lock->waiters;
        o->held_ms = larger(o->held_ms, c->age_ms);
        if (lock->waiters > 0)
            o->longest_ms = larger(o->longest_ms, lock->longest_wait_ms);
    }
    return true;
}

static int compare(const void *a, const void *b)
{
    const struct top_owner *x = a;
    const struct top_owner *y = b;

    if (x->locks != y->locks)
        return x->locks < y->locks ? 1 : -1;
    if (x->waiters != y->waiters)
        return x->waiters < y->waiters ? 1 : -1;
    return strcmp(x->who, y->who);
}

void owners_sort(struct top_owners *owners)
{
    if (owners->count > 0)
        qsort(owners->items, owners->count, sizeof(*owners->items), compare);
}

void owners_done(struct top_owners *owners)
{
    free(owners->items);
    *owners = (struct top_owners){ .items = NULL };
}
