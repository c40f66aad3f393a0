/* SPDX-License-Identifier: Apache-2.0 */
/* The question that top asks before it acts: whom to ask for a lock, or whose
 * lock to break. It is about the holders that were on the screen, by their
 * tokens, and goes away with them. Pure. */
#ifndef TOP_DIALOG_H
#define TOP_DIALOG_H

#include "common/notes.h"
#include "model/target.h"
#include "model/told.h"

enum dialog_kind {
    DIALOG_NONE, /* no question */
    DIALOG_REVOKE,
    DIALOG_BREAK,
};

struct dialog {
    enum dialog_kind kind;
    struct target *targets; /* one for DIALOG_BREAK */
    size_t count;
    struct notes lines; /* what it would mean; empty: not known yet */
    char typed[24];     /* the token */
    bool is_seen;       /* all of it was on the screen when the key was pressed:
                           otherwise no key can say yes; set by the caller */
};

/* Ask about the holders of a lock, or about one of its contenders (`c` is not
 * NULL). When there is nothing to ask, the outcome says why. */
void dialog_revoke(struct dialog *dialog, const struct lock *lock,
                   const struct contender *c, struct outcome *ret_outcome);
void dialog_break(struct dialog *dialog, const struct lock *lock,
                  const struct contender *c, struct outcome *ret_outcome);

/* Says what breaking it would mean. Until then no token is taken. */
void dialog_explain(struct dialog *dialog, const struct lockctl *ctl,
                    const struct lock *lock, const struct told *told);

/* The path of the lock that it is about; NULL without a question. */
const char *dialog_path(const struct dialog *dialog);

/* Handles a key. Returns true when the user wants it done; then the caller
 * takes the targets, and calls dialog_done(). When the question has gone
 * otherwise, the outcome says so. */
bool dialog_key(struct dialog *dialog, uint32_t key,
                struct outcome *ret_outcome);

/* After a look: the question goes away when nobody holds any more who was
 * meant. `lock` is NULL when it is not there any more. */
void dialog_settle(struct dialog *dialog, const struct lock *lock,
                   struct outcome *ret_outcome);

/* The last line of the screen: what to type. */
enum { DIALOG_PROMPT_MAX = 256 };
void dialog_prompt(const struct dialog *dialog, char text[DIALOG_PROMPT_MAX]);

/* There is no question any more. */
void dialog_done(struct dialog *dialog);

#endif
