/* Whose nodes clients delete: never that of a lock which is held. */
#include "deletes.h"

static bool meddled; /* an operator has deleted a node */

void deletes_reset(void)
{
    meddled = false;
}

/* Where all have one name, who releases a lock that an operator has taken away
 * may hit the next holder's node: unfair_mutex.h says so. */
static bool may_be_mistaken(void)
{
    return meddled && world.recipe == UNFAIR;
}

void deletes_committed(const struct attempt *attempts, const struct txn *txn)
{
    if (txn->session == NO_SESSION)
        meddled = true;
    if (txn->session == NO_SESSION || may_be_mistaken())
        return;
    for (const struct attempt *a = attempts; a != NULL; a = a->next) {
        if (a->grant != NULL && a->node == txn->node)
            world_fail("attempt %d holds %s, and a client deletes it",
                       a->number, a->node->path);
    }
}
