/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out what is wrong with locks, as far as it can be seen from outside. */
#include "model/doctor.h"

#include "common/words.h"
#include "model/doctor_parts.h"

/* Clocks that are kept by NTP differ by less. */
#define SKEW_MS 10000

void doctor_examine(const struct scan *scan, const struct servers *servers,
                    const struct doctor_opts *opts, struct findings *f)
{
    for (size_t i = 0; i < scan->count; i++) {
        const struct lock *lock = &scan->locks[i];

        doctor_look_at_nodes(f, lock);
        if (opts->older_ms > 0)
            doctor_look_at_ages(f, lock, opts->older_ms);
        if (servers != NULL)
            doctor_look_at_clients(f, lock, servers);
    }
}

static void add_deadlock(const struct deadlock *d, struct findings *f)
{
    const struct deadlock_member *m = d->youngest;
    char who[WHO_MAX];

    findings_add(
        f, "deadlock", m->waits_lock, m->waits,
        d->count == 1
            ? finding_text("%s waits for itself", contender_who(m->waits, who))
            : finding_text(
                  "%s is the last of %zu owners who wait for each other",
                  contender_who(m->waits, who), d->count),
        finding_text("zk-lockctl deadlocks shows it and what ends it"));
}

static void add_own_node(const struct deadlock *d, struct findings *f)
{
    const struct deadlock_member *m = d->youngest;
    char who[WHO_MAX];
    char age[WORD_MAX];

    findings_add(
        f, "own-node", m->waits_lock, m->waits,
        finding_text("%s has waited for %s behind a node of its own session: "
                     "for ever, if one thread holds and waits",
                     contender_who(m->waits, who),
                     word_age(m->waits->age_ms, age)),
        finding_text("see the stacks of that program, and restart it "
                     "if it waits for itself"));
}

void doctor_add_deadlocks(const struct deadlocks *all,
                          const struct doctor_opts *opts, struct findings *f)
{
    for (size_t i = 0; i < all->count; i++) {
        const struct deadlock *d = &all->items[i];

        if (d->certain)
            add_deadlock(d, f);
        else if (d->count == 1 && opts->older_ms > 0 &&
                 d->youngest->waits->age_ms >= opts->older_ms)
            add_own_node(d, f);
    }
}

/* Any numbers, as a server tells them. */
static int64_t later_by(int64_t ms, int64_t than_ms)
{
    return ms > than_ms ? ms - than_ms : 0;
}

int64_t doctor_skew_ms(const struct scan *scan, const struct servers *servers,
                       const struct doctor_opts *opts)
{
    const struct client *me =
        servers == NULL ? NULL : servers_client(servers, opts->session_id);
    int64_t behind = 0;

    for (size_t i = 0; i < scan->count; i++) {
        const struct lock *lock = &scan->locks[i];

        for (size_t k = 0; k < lock->count; k++) {
            int64_t ms = later_by(lock->items[k].node->since_ms, lock->at_ms);

            behind = ms > behind ? ms : behind;
        }
    }
    if (me != NULL && me->since_ms > 0 && behind == 0)
        behind = later_by(me->since_ms, scan->at_ms) -
                 later_by(opts->opened_ms, me->since_ms);
    return behind > -SKEW_MS && behind < SKEW_MS ? 0 : behind;
}
