/* SPDX-License-Identifier: Apache-2.0 */
/* Turns the notes of a journal into attempts. */
#include "check.h"

/* Room for one more of `size` bytes: doubles at powers of two. */
static void *grown(void *array, size_t count, size_t size)
{
    if ((count & (count - 1)) != 0)
        return array;
    array = realloc(array, (count == 0 ? 1 : 2 * count) * size);
    if (array == NULL)
        abort();
    return array;
}

static struct attempt *new_attempt(struct evidence *e)
{
    e->attempts = grown(e->attempts, e->attempt_count, sizeof(*e->attempts));
    return &e->attempts[e->attempt_count++];
}

static void add_owner(struct evidence *e, int64_t session, int run)
{
    e->owners = grown(e->owners, e->owner_count, sizeof(*e->owners));
    e->owners[e->owner_count++] =
        (struct owner){ .session = session, .run = run };
}

static void add_update(struct evidence *e, const struct note *n, int lock)
{
    e->updates = grown(e->updates, e->update_count, sizeof(*e->updates));
    e->updates[e->update_count] = *n;
    e->updates[e->update_count++].c = lock;
}

void evidence_add_excuse(struct evidence *e, struct excuse excuse)
{
    e->excuses = grown(e->excuses, e->excuse_count, sizeof(*e->excuses));
    e->excuses[e->excuse_count++] = excuse;
}

void evidence_add_fault(struct evidence *e, struct window window)
{
    e->faults = grown(e->faults, e->fault_count, sizeof(*e->faults));
    e->faults[e->fault_count++] = window;
}

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

void evidence_add(struct evidence *e, int run, const struct note *notes,
                  size_t count)
{
    struct attempt *a = NULL;

    for (size_t i = 0; i < count; i++) {
        const struct note *n = &notes[i];

        if (n->kind == NOTE_SESSION)
            add_owner(e, n->a, run);
        else if (n->kind == NOTE_INVOKE) {
            a = new_attempt(e);
            *a = (struct attempt){ .run = run,
                                   .lock = (int)n->a,
                                   .writes = n->b != 0,
                                   .invoked = n->at,
                                   .failed = NEVER,
                                   .granted = NEVER,
                                   .lost = NEVER,
                                   .release = NEVER };
        } else if (a != NULL && n->kind == NOTE_UPDATE)
            add_update(e, n, a->lock);
        else if (a != NULL)
            take_note(a, n);
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
