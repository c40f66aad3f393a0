/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out what is wrong with locks, as far as it can be seen from outside. */
#include "model/doctor.h"

#include "model/doctor_parts.h"

void doctor_examine(const struct scan *scan, const struct servers *servers,
                    const struct doctor_opts *opts, struct findings *f)
{
    for (size_t i = 0; i < scan->count; i++) {
        const struct lock *lock = &scan->locks[i];

        doctor_look_at_nodes(f, lock);
        if (opts->older_ms > 0)
            doctor_look_at_ages(f, lock, opts->older_ms);
        doctor_look_at_directory(f, lock, opts->empty);
        if (servers != NULL)
            doctor_look_at_clients(f, lock, servers);
    }
}

void doctor_add_deadlocks(const struct deadlocks *all, struct findings *f)
{
    char who[WHO_MAX];

    for (size_t i = 0; i < all->count; i++) {
        const struct deadlock_member *m = all->items[i].youngest;

        if (!all->items[i].certain)
            continue;
        findings_add(
            f, "deadlock", m->waits_lock, m->waits,
            all->items[i].count == 1
                ? finding_text("%s waits for itself",
                               contender_who(m->waits, who))
                : finding_text(
                      "%s is the last of %zu owners who wait for each other",
                      contender_who(m->waits, who), all->items[i].count),
            finding_text("zk-lockctl deadlocks shows it and what ends it"));
    }
}
