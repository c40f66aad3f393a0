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
    if (n->kind == NOTE_FAILED) {
        a->failed = n->at;
    } else if (n->kind == NOTE_GRANTED) {
        a->granted = n->at;
        a->token = n->a;
        a->handoff = (uint64_t)n->b;
        extend(a, n->c);
    } else if (n->kind == NOTE_VALID) {
        extend(a, n->a);
    } else if (n->kind == NOTE_LOST && n->a == a->token && n->at < a->lost) {
        a->lost = n->at;
    } else if (n->kind == NOTE_RELEASE) {
        a->release = n->at;
        a->asked = n->b;
        a->sure = n->c;
        extend(a, n->a);
    }
}

void evidence_add(struct evidence *e, int run, const struct note *notes,
                  size_t count)
{
    struct attempt *a = NULL;

    for (const struct note *n = notes; n < notes + count; n++) {
        if (n->kind == NOTE_SESSION) {
            PUSH(e->owners, e->owner_count, (struct owner){ n->a, run });
        } else if (n->kind == NOTE_INVOKE) {
            PUSH(e->attempts, e->attempt_count,
                 (struct attempt){ .run = run,
                                   .lock = (int)n->a,
                                   .writes = n->b != 0,
                                   .invoked = n->at,
                                   .failed = NEVER,
                                   .granted = NEVER,
                                   .lost = NEVER,
                                   .release = NEVER });
            a = &e->attempts[e->attempt_count - 1];
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
