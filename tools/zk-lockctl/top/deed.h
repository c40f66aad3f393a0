/* SPDX-License-Identifier: Apache-2.0 */
/* Does what the user of top has confirmed, one thing at a time, on a thread:
 * the screen does not wait for it. */
#ifndef TOP_DEED_H
#define TOP_DEED_H

#include "common/notes.h"
#include "top/dialog.h"
#include "top/model.h"

struct errand;

struct deed {
    const struct lockctl *ctl;
    struct errand *errand;  /* under way; NULL: none */
    bool breaks;            /* or asks */
    struct target *targets; /* of the last */
    size_t count;
    bool awaits;         /* they were asked, and one of them holds still */
    struct outcome told; /* what came of it */
    struct notes done;   /* what came of all deeds, escaped */
};

/* Begins what the question was about, and ends the question. Returns false, and
 * the outcome says why, when it does not begin. */
bool deed_start(struct deed *deed, struct dialog *dialog,
                struct outcome *ret_outcome);
int deed_fd(const struct deed *deed);

/* True when there is news for the user: it is done, or has failed, */
bool deed_take(struct deed *deed, struct outcome *ret_outcome);
/* ... or those who were asked have let go, as a look shows. */
bool deed_look(struct deed *deed, const struct top_model *model,
               struct outcome *ret_outcome);

/* As errand_end(). Then `done` is complete. */
bool deed_end(struct deed *deed, int64_t patience_ms);
/* After deed_end(). */
void deed_done(struct deed *deed);

#endif
