/* SPDX-License-Identifier: Apache-2.0 */
/* Turns the notes of a journal into attempts. */
#include "check.h"

/* A lease is given in whole ms: it ends at the instant after the last ms that
 * it covers. */
static void extend(struct attempt *a, int64_t until_ms)
{
    int64_t until = (until_ms + 1) * MS;

    if (until_ms > 0 && until > a->valid_until)
        a->valid_until = until;
}

static void take_note(struct attempt *a, const struct note *n)
{
    switch (n->kind) {
    case NOTE_FAILED:
        a->failed = n->at;
        break;
    case NOTE_GRANTED:
        a->granted = n->at;
        a->token = n->a;
        a->handoff = (uint64_t)n->b;
        extend(a, n->c);
        break;
    case NOTE_VALID:
        extend(a, n->a);
        break;
    case NOTE_LOST:
        if (n->a == a->token && n->at < a->lost)
            a->lost = n->at;
        break;
    case NOTE_RELEASE:
        a->release = n->at;
        a->asked = n->b;
        a->sure = n->c;
        extend(a, n->a);
        break;
    default:
        break;
    }
}

static struct attempt *add_attempt(struct evidence *e, int run,
                                   const struct note *n)
{
    PUSH(e->attempts, e->attempt_count,
         (struct attempt){ .run = run,
                           .lock = (int)n->a,
                           .writes = n->b != 0,
                           .invoked = n->at,
                           .failed = NEVER,
                           .granted = NEVER,
                           .lost = NEVER,
                           .release = NEVER });
    return &e->attempts[e->attempt_count - 1];
}

void evidence_add(struct evidence *e, int run, const struct note *notes,
                  size_t count)
{
    struct attempt *a = NULL;

    for (size_t i = 0; i < count; i++) {
        const struct note *n = &notes[i];

        if (n->kind == NOTE_SESSION) {
            PUSH(e->owners, e->owner_count, (struct owner){ n->a, run });
        } else if (n->kind == NOTE_INVOKE) {
            a = add_attempt(e, run, n);
        } else if (a != NULL && n->kind == NOTE_UPDATE) {
            PUSH(e->updates, e->update_count, *n);
            e->updates[e->update_count - 1].c = a->lock;
        } else if (a != NULL) {
            take_note(a, n);
        }
    }
}

void evidence_free(struct evidence *e)
{
    free(e->attempts);
    free(e->owners);
    free(e->updates);
    free(e->excuses);
    free(e->faults);
}
