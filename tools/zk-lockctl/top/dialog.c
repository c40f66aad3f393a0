/* SPDX-License-Identifier: Apache-2.0 */
/* The question that top asks before it acts. Pure. */
#include "top/dialog.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/escape.h"
#include "common/words.h"
#include "model/breaking.h"
#include "model/revoking.h"
#include "top/keys.h"

/* --- whom it is about --- */

static bool add_target(struct dialog *d, const struct lock *lock,
                       const struct contender *c, struct outcome *ret)
{
    if (d->targets == NULL)
        d->targets = calloc(lock->holders + 1, sizeof(*d->targets));
    if (d->targets == NULL)
        (void)outcome_set(ret, EX_SOFTWARE, "out of memory");
    else if (!target_set(&d->targets[d->count], lock, c))
        (void)outcome_set(ret, EX_DATAERR, "the name of the node is too long");
    else
        d->count++;
    return ret->code == 0;
}

/* `lines` are those who are not asked, and why. */
static void add_holders(struct dialog *d, const struct lock *lock,
                        const struct contender *only, struct outcome *ret)
{
    struct outcome why;

    for (size_t i = 0; i < lock->count && d->count < lock->holders; i++) {
        const struct contender *c = &lock->items[i];

        if (!c->node->holds || (only != NULL && c != only))
            continue;
        if (!revoking_is_heard(c, &why))
            notes_add(&d->lines, "%s", why.text);
        else if (!add_target(d, lock, c, ret))
            return;
    }
    if (d->count == 0 && d->lines.count > 0)
        (void)outcome_set(ret, EX_TEMPFAIL, "%s", d->lines.texts[0]);
}

static void tell_revoke(struct dialog *d, const struct lock *lock)
{
    struct notes deaf = d->lines;
    char path[512];

    d->lines = (struct notes){ .count = 0 };
    notes_add(&d->lines,
              "Ask for %s:", escape_string(lock->path, path, sizeof(path)));
    for (size_t i = 0; i < d->count; i++)
        notes_add(&d->lines, "  %s%s", d->targets[i].who,
                  d->targets[i].is_asked ? ", who was asked before" : "");
    for (size_t i = 0; i < deaf.count; i++)
        notes_add(&d->lines, "  %s", deaf.texts[i]);
    notes_add(&d->lines, "The program that holds it decides what it does. The "
                         "request replaces the text in its node that names the "
                         "owner.");
    notes_done(&deaf);
}

/* Returns whether there is anybody to ask about. */
static bool holds(const struct lock *lock, const struct contender *c,
                  struct outcome *ret)
{
    *ret = (struct outcome){ .code = 0 };
    if (lock->error != ZKR_OK)
        (void)outcome_set(ret, EX_NOPERM, "it may not be read");
    else if (lock->state == LOCK_UNKNOWN)
        (void)outcome_set(ret, EX_NOPERM, "the last look has not seen it");
    else if (lock->holders == 0)
        (void)outcome_set(ret, EX_DATAERR, "nobody holds it");
    else if (c != NULL && !c->node->holds)
        (void)outcome_set(ret, EX_DATAERR,
                          "the cursor is on one who does not hold it");
    return ret->code == 0;
}

void dialog_revoke(struct dialog *d, const struct lock *lock,
                   const struct contender *c, struct outcome *ret)
{
    dialog_done(d);
    if (holds(lock, c, ret))
        add_holders(d, lock, c, ret);
    if (ret->code != 0) {
        dialog_done(d);
        return;
    }
    tell_revoke(d, lock);
    d->kind = DIALOG_REVOKE;
}

void dialog_break(struct dialog *d, const struct lock *lock,
                  const struct contender *c, struct outcome *ret)
{
    dialog_done(d);
    if (!holds(lock, c, ret))
        return;
    if (c == NULL && lock->holders > 1) {
        (void)outcome_set(ret, EX_DATAERR,
                          "there are %zu holders: choose one in the queue "
                          "(Enter)",
                          lock->holders);
        return;
    }
    c = breaking_choose(lock, c == NULL ? 0 : c->node->token, ret);
    if (c == NULL || !add_target(d, lock, c, ret)) {
        dialog_done(d);
        return;
    }
    d->kind = DIALOG_BREAK;
}

void dialog_explain(struct dialog *d, const struct lockctl *ctl,
                    const struct lock *lock, const struct told *told)
{
    const struct contender *c = target_find(&d->targets[0], lock);

    if (c == NULL || d->lines.count > 0)
        return;
    breaking_tell(ctl, lock, c, told->servers, &d->lines);
    d->is_seen = false;
}

const char *dialog_path(const struct dialog *d)
{
    return d->kind == DIALOG_NONE ? NULL : d->targets[0].path;
}

void dialog_done(struct dialog *d)
{
    free(d->targets);
    notes_done(&d->lines);
    *d = (struct dialog){ .kind = DIALOG_NONE };
}

/* --- the answer --- */

/* A token is decimal, or hexadecimal with 0x. */
static void type(struct dialog *d, uint32_t key)
{
    size_t used = strlen(d->typed);

    if (key == KEY_IS_BACKSPACE && used > 0)
        d->typed[used - 1] = '\0';
    else if (key > ' ' && key <= '~' && used + 1 < sizeof(d->typed) &&
             strchr("0123456789abcdefABCDEFxX", (int)key) != NULL)
        d->typed[used] = (char)key;
}

static bool is_token(const struct dialog *d)
{
    int64_t typed;

    return word_read_token(d->typed, &typed) && typed == d->targets[0].token;
}

bool dialog_key(struct dialog *d, uint32_t key, struct outcome *ret)
{
    bool breaks = d->kind == DIALOG_BREAK;

    *ret = (struct outcome){ .code = 0 };
    if (key == KEY_IS_ESCAPE || key == 'q' || (!breaks && key == 'n')) {
        (void)outcome_set(ret, 0, "nothing was done");
        dialog_done(d);
        return false;
    }
    if (!d->is_seen || d->lines.count == 0)
        return false;
    if (!breaks)
        return key == 'y';
    if (key != KEY_IS_ENTER) {
        type(d, key);
        return false;
    }
    if (is_token(d))
        return true;
    (void)outcome_set(ret, EX_DATAERR, "not the token: nothing was done");
    dialog_done(d);
    return false;
}

void dialog_settle(struct dialog *d, const struct lock *lock,
                   struct outcome *ret)
{
    size_t left = 0;

    *ret = (struct outcome){ .code = 0 };
    if (d->kind == DIALOG_NONE || (lock != NULL && lock->state == LOCK_UNKNOWN))
        return;
    for (size_t i = 0; i < d->count && lock != NULL; i++)
        left += target_find(&d->targets[i], lock) != NULL;
    if (left > 0)
        return;
    (void)outcome_set(ret, EX_DATAERR,
                      "%s has let go by itself: nothing was done",
                      d->targets[0].who);
    dialog_done(d);
}

void dialog_prompt(const struct dialog *d, char text[DIALOG_PROMPT_MAX])
{
    char token[WORD_MAX];

    if (d->kind == DIALOG_REVOKE)
        (void)snprintf(text, DIALOG_PROMPT_MAX, "y asks  Esc does nothing");
    else if (d->lines.count == 0)
        (void)snprintf(text, DIALOG_PROMPT_MAX,
                       "asking the servers whether it lives...  Esc does "
                       "nothing");
    else
        (void)snprintf(text, DIALOG_PROMPT_MAX,
                       "Type the token %s to break the lock: %s_  Esc does "
                       "nothing",
                       word_token(d->targets[0].token, token), d->typed);
}
