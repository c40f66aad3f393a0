/* SPDX-License-Identifier: Apache-2.0 */
/* The grants of all locks of a run, as one grant: it is held as long as each of
 * them is. */
#include "run/granted.h"

int64_t grants_valid_until(const struct grants *g)
{
    int64_t earliest_ms = g->count == 0 ? 0 : INT64_MAX;

    for (size_t i = 0; i < g->count; i++) {
        int64_t ms = zkr_grant_valid_until(g->items[i]);

        if (ms < earliest_ms)
            earliest_ms = ms;
    }
    return earliest_ms;
}

/* The states are in the order in which they get worse. */
enum zkr_grant_state_kind grants_state(const struct grants *g)
{
    enum zkr_grant_state_kind worst = ZKR_GRANT_HELD;

    for (size_t i = 0; i < g->count; i++) {
        enum zkr_grant_state_kind state = zkr_grant_state(g->items[i]);

        if (state > worst)
            worst = state;
    }
    return worst;
}

zkr_grant *grants_lost(const struct grants *g)
{
    for (size_t i = 0; i < g->count; i++) {
        if (zkr_grant_state(g->items[i]) == ZKR_GRANT_LOST)
            return g->items[i];
    }
    return NULL;
}

void grants_listen(const struct grants *g, zkr_grant_fn fn, void *user)
{
    for (size_t i = 0; i < g->count; i++)
        (void)zkr_grant_listen(g->items[i], fn, user);
}

void grants_free(struct grants *g)
{
    zkr_grants_free(g->items, g->count);
    g->count = 0;
}
