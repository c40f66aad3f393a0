/* SPDX-License-Identifier: Apache-2.0 */
/* A target: a contender that the user wants to act on, and what came of it. */
#include "model/target.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool target_set(struct target *t, const struct lock *lock,
                const struct contender *c)
{
    int len;

    *t = (struct target){ .token = c->node->token,
                          .is_asked = c->owner.is_asked,
                          .reads_reasons = c->dialect == ZKR__DIALECT_ZKRECIPES,
                          .waits = !c->node->holds,
                          .position = (size_t)(c - lock->items) };
    (void)snprintf(t->path, sizeof(t->path), "%s", lock->path);
    (void)contender_who(c, t->who);
    len =
        snprintf(t->node, sizeof(t->node), "%s/%s", lock->path, c->node->name);
    return len > 0 && (size_t)len < sizeof(t->node);
}

int outcome_set(struct outcome *o, int code, const char *format, ...)
{
    va_list args;

    *o = (struct outcome){ .code = code };
    va_start(args, format);
    (void)vsnprintf(o->text, sizeof(o->text), format, args);
    va_end(args);
    return code;
}

int outcome_fail(struct outcome *o, int rc)
{
    *o = (struct outcome){ .code = lockctl_exit_code(rc), .cause = rc };
    (void)lockctl_explain(rc, zkr_error_detail(), o->text);
    return o->code;
}

int outcome_say(const struct outcome *o, const struct lockctl *ctl)
{
    if (o->code == 0) {
        lockctl_say(ctl, "%s", o->text);
        return 0;
    }
    lockctl_cause = o->cause;
    return lockctl_fail(o->code, "%s", o->text);
}
