/* SPDX-License-Identifier: Apache-2.0 */
/* State machines by table: which moves are legal. Pure. */
#include "base/sm.h"

#include <stdlib.h>

#ifdef ZKR__PROBES
#include <sys/sdt.h>
#ifdef __clang__ /* of its macros */
#pragma clang diagnostic ignored "-Wpedantic"
#endif
#endif

#include "base/log.h"

#ifndef ZKR__PROBES
#define DTRACE_PROBE6(...) ((void)0)
#endif

void zkr__sm_move(struct zkr__sm *sm, int to, const char *why)
{
    const struct zkr__sm_state *before = &sm->table[sm->state];
    const char *now = sm->table[to].name;

    /* This is not an assert: a claim in an impossible state could report
     * "held", so release builds stop here too. */
    if ((before->next & ZKR__BIT(to)) == 0) {
        zkr__log(ZKR_LOG_ERROR, "%s %s %p: illegal move %s -> %s (%s)",
                 sm->what, sm->whose, (void *)sm, before->name, now, why);
        abort();
    }
    zkr__log(ZKR_LOG_DEBUG, "%s %s %p: %s -> %s (%s)", sm->what, sm->whose,
             (void *)sm, before->name, now, why);
    DTRACE_PROBE6(zkrecipes, state, sm->what, sm->whose, sm, before->name, now,
                  why);
    sm->state = to;
}

void zkr__sm_refuse(const struct zkr__sm *sm, const char *event,
                    const char *why)
{
    zkr__log(ZKR_LOG_ERROR, "%s %s %p: illegal event %s while %s (%s)",
             sm->what, sm->whose, (const void *)sm, event, zkr__sm_name(sm),
             why);
    abort();
}
