/* State machines by table: which moves are legal, and the function that makes
 * them. */
#include "base/sm.h"

#include <stdlib.h>

#include "base/log.h"

void zkr__sm_move(struct zkr__sm *sm, int to, const char *why)
{
    const struct zkr__sm_state *from = &sm->table[sm->state];

    /* This is not an assert: a claim in an impossible state could report
     * "held", so release builds stop here too. */
    if ((from->next & ZKR__BIT(to)) == 0) {
        zkr__log(ZKR_LOG_ERROR, "%s %p: illegal move %s -> %s (%s)", sm->what,
                 (void *)sm, from->name, sm->table[to].name, why);
        abort();
    }
    zkr__log(ZKR_LOG_DEBUG, "%s %p: %s -> %s (%s)", sm->what, (void *)sm,
             from->name, sm->table[to].name, why);
    sm->state = to;
}
