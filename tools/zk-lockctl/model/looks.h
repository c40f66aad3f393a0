/* SPDX-License-Identifier: Apache-2.0 */
/* Looks at locks again and again, and compares each look with the one
 * before. */
#ifndef MODEL_LOOKS_H
#define MODEL_LOOKS_H

#include <stdbool.h>
#include <stddef.h>

#include "model/events.h"

struct looks {
    struct lockctl *ctl;
    const char *const *paths; /* the locks to look at; NULL: all that exist */
    size_t path_count;
    struct view *views; /* the last look, by path */
    size_t count;
    int64_t at_ms; /* when it was; 0: there was none */
    bool failing;  /* since then a look has failed */
    struct notes notes;
};

/* Looks once, and reports the changes since the last look. The first look
 * reports the present state, if `initial`. Returns 0, or an exit code after an
 * error was printed: then the last look is still the one before. A second
 * failure in a row is not printed. */
int looks_next(struct looks *looks, bool initial, event_fn *tell, void *user);

/* The session is over for good, or there is no memory: a next look makes no
 * sense. */
bool looks_are_over(const struct looks *looks, int code);

void looks_done(struct looks *looks);

#endif
