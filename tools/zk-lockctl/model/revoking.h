/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of asking a holder to give its lock back: whom to ask, and how. */
#ifndef MODEL_REVOKING_H
#define MODEL_REVOKING_H

#include "model/target.h"

/* Tells whether the program of a holder learns of a request; if not, the
 * outcome says why it is not asked. The request replaces the record of the
 * owner in the node; where no program receives it, that is its only effect. */
bool revoking_is_heard(const struct contender *c, struct outcome *ret_outcome);

/* Asks, unless it has been asked before without a reason; also when another
 * node has its name now, nobody else is asked. The reason, which may be NULL,
 * reaches a target that reads reasons. Returns the code of the outcome, which
 * is 0 also when it has let go by itself. */
int revoking_ask(const struct lockctl *ctl, const struct target *target,
                 const char *reason, struct outcome *ret_outcome);

/* 0, or an exit code after it was said why this is no reason; NULL is one. */
int revoking_check_reason(const char *reason);

#endif
