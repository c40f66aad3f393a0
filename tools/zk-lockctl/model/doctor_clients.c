/* SPDX-License-Identifier: Apache-2.0 */
/* Finds holders that are not connected, and waiters that will not wake up, by
 * what the servers tell. */
#include "model/doctor_parts.h"

#include <stdio.h>

#include "model/watching.h"

/* It has died, or cannot reach the servers. */
static void check_clients(struct findings *f, const struct lock *lock,
                          const struct servers *servers)
{
    char who[WHO_MAX];
    char stop[STOP_MAX];
    char first[STOP_MAX + 128];

    for (size_t i = 0; i < lock->count; i++) {
        const struct contender *c = &lock->items[i];

        if (!c->node->holds || c->node->session_id == 0 ||
            servers_client(servers, c->node->session_id) != NULL)
            continue;
        (void)snprintf(first, sizeof(first),
                       "its node goes when its session has timed out; where "
                       "that is too long, see that %s is dead, then",
                       contender_to_stop(c, "the program", stop));
        findings_add(
            f, "absent-holder", lock, c,
            finding_text(
                "%s %s, and its client is connected to no server; %zu waiting",
                contender_who(c, who),
                zkr__is_lease(c->node) ? "has a permit" : "holds it",
                lock->waiters),
            cure_break(first, lock, c));
    }
}

/* --- who watches whom --- */

static void check_deaf(struct findings *f, const struct watching *w)
{
    char who[WHO_MAX];
    char name[FINDING_NAME_MAX];

    for (size_t i = 0; i < w->lock->count; i++) {
        const struct contender *c = &w->lock->items[i];

        if (c->node->holds || c->node->error != ZKR_OK ||
            watching_wakes(w, c) != ANSWER_NO)
            continue;
        findings_add(
            f, "deaf-waiter", w->lock, c,
            finding_text(
                "%s at position %zu (%s) watches nobody before it: it will "
                "not wake up, and block all behind it",
                contender_who(c, who), i, finding_name(c->node->name, name)),
            cure_break("restart that program, or remove its node (a live "
                       "client enters the queue again)",
                       w->lock, c));
    }
}

static void check_watches(struct findings *f, const struct lock *lock,
                          const struct servers *servers)
{
    struct watching w;

    if (lock->waiters == 0)
        return;
    if (watching_read(&w, lock, servers, ""))
        check_deaf(f, &w);
    else
        f->failed = true;
    watching_done(&w);
}

void doctor_look_at_clients(struct findings *f, const struct lock *lock,
                            const struct servers *servers)
{
    if (servers_know_all(servers, SERVERS_CONS))
        check_clients(f, lock, servers);
    if (servers_know_all(servers, SERVERS_WCHP))
        check_watches(f, lock, servers);
}
