/* SPDX-License-Identifier: Apache-2.0 */
/* State machines by table: which moves are legal, and the function that makes
 * them. */
#pragma once

#include <stdint.h>

#define ZKR__BIT(state) (UINT32_C(1) << (state))

struct zkr__sm_state {
    const char *name;
    uint32_t next; /* the ZKR__BIT() of each state that may follow */
};

struct zkr__sm {
    int state;
    const struct zkr__sm_state *table;
    const char *what;  /* for the log and the probe: "claim", "session" */
    const char *whose; /* likewise: the path of the lock, or "-" */
};

/* The only place where a state changes. An illegal move is a bug: it aborts.
 * Each move is a line of the log and, where the build has them, a static probe
 * (USDT) zkrecipes:state with the arguments: what, whose, the address of the
 * object, the state before, the state now, and why. */
void zkr__sm_move(struct zkr__sm *sm, int to, const char *why);

/* An event that cannot come in this state is a bug, too: it aborts. */
_Noreturn void zkr__sm_refuse(const struct zkr__sm *sm, const char *event,
                              const char *why);

static inline const char *zkr__sm_name(const struct zkr__sm *sm)
{
    return sm->table[sm->state].name;
}
