/* SPDX-License-Identifier: Apache-2.0 */
/* Finds locks that are held, and permits that are missing, for long. */
#include "model/doctor_parts.h"

#include <stdio.h>

#include "common/words.h"

static char *end_of_holder(const struct lock *lock, const struct contender *c)
{
    char stop[STOP_MAX];
    char first[STOP_MAX + 32];

    if (c->owner.is_asked)
        return cure_break("it was asked already: stop that program, then", lock,
                          c);
    (void)snprintf(first, sizeof(first), "stop %s, then",
                   contender_to_stop(c, "that program", stop));
    return zkr__hears_requests(c->node, c->dialect)
               ? cure_command("revoke", lock)
               : cure_break(first, lock, c);
}

static void check_age(struct findings *f, const struct lock *lock,
                      int64_t older_ms)
{
    char who[WHO_MAX];
    char age[WORD_MAX];

    for (size_t i = 0; i < lock->count; i++) {
        const struct contender *c = &lock->items[i];

        if (!c->node->holds || c->age_ms < older_ms)
            continue;
        findings_add(
            f, "old-holder", lock, c,
            finding_text("%s holds it; its node is %s old, %zu waiting",
                         contender_who(c, who), word_age(c->age_ms, age),
                         lock->waiters),
            end_of_holder(lock, c));
    }
}

/* The one who wants a permit and has no lease yet, or one that does not hold:
 * the first in the queue. */
static const struct contender *first_for_permit(const struct lock *lock)
{
    for (size_t i = 0; i < lock->count; i++) {
        const struct contender *c = &lock->items[i];

        if (contender_wants_permit(lock, c) && !contender_is_promised(c))
            return c;
    }
    return NULL;
}

static const struct contender *oldest_lease(const struct lock *lock)
{
    const struct contender *oldest = NULL;

    for (size_t i = 0; i < lock->count; i++) {
        const struct contender *c = &lock->items[i];

        if (zkr__is_lease(c->node) && c->node->holds &&
            (oldest == NULL || c->age_ms > oldest->age_ms))
            oldest = c;
    }
    return oldest;
}

/* How many permits there are is not on the servers. But when somebody has
 * waited for one for long, they are used up. */
static void check_permits(struct findings *f, const struct lock *lock,
                          int64_t older_ms)
{
    const struct contender *waits = first_for_permit(lock);
    const struct contender *lease = oldest_lease(lock);
    char who[WHO_MAX], whose[WHO_MAX];
    char age[WORD_MAX], since[WORD_MAX];

    if (waits == NULL || waits->age_ms < older_ms)
        return;
    findings_add(
        f, "no-permit", lock, waits,
        lease == NULL
            ? finding_text(
                  "%s has waited for a permit for %s, and nobody has one",
                  contender_who(waits, who), word_age(waits->age_ms, age))
            : finding_text(
                  "%s has waited for a permit for %s, %zu waiting; %zu lease%s "
                  "out, the oldest to %s, for <=%s",
                  contender_who(waits, who), word_age(waits->age_ms, age),
                  lock->waiters, lock->holders,
                  lock->holders == 1 ? " is" : "s are",
                  contender_who(lease, whose), word_age(lease->age_ms, since)),
        lease == NULL
            ? finding_text("restart that program: it may wait for nothing")
            : cure_command("show", lock));
}

void doctor_look_at_ages(struct findings *f, const struct lock *lock,
                         int64_t older_ms)
{
    check_age(f, lock, older_ms);
    check_permits(f, lock, older_ms);
}
