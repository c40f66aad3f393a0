/* SPDX-License-Identifier: Apache-2.0 */
/* The outcome: computes a verdict from journals and resources. */
#include "outcome.h"

#include <time.h>

#include "wait.h"

int64_t real_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static _Noreturn void die(const char *what)
{
    perror(what);
    exit(1);
}

static void add_journal_of_nemesis(const struct crew *crew, struct evidence *e)
{
    size_t count;
    struct note *notes = journal_read(crew->dir, NEMESIS, 0, 0, &count);
    struct window w = { .stopped = false };

    for (size_t i = 0; i < count; i++) {
        const struct note *n = &notes[i];
        struct excuse x = { .at = n->at, .lock = -1, .until = n->at };

        if (n->kind == NOTE_BEGIN)
            e->drift = llabs(e->boot_minus_real - (n->at - n->a * MS));
        else if (n->kind == NOTE_FAULT)
            w = (struct window){ .begin = n->at };
        else if (n->kind == NOTE_STOP)
            w.stopped = true;
        else if (n->kind == NOTE_HEALED) {
            w.end = n->at;
            PUSH(e->faults, e->fault_count, w);
        } else if (n->kind == NOTE_EXPIRE)
            x.session = n->a;
        else if (n->kind == NOTE_DELETE)
            x.token = n->a;
        else if (n->kind == NOTE_CLEAR) {
            x.lock = (int)n->a;
            x.at = n->b;
        }
        if (x.session != 0 || x.token != 0 || x.lock >= 0)
            PUSH(e->excuses, e->excuse_count, x);
    }
    free(notes);
}

/* A client that may have been stopped meanwhile may be late. */
static bool may_be_stopped(const struct evidence *e, int64_t from, int64_t to)
{
    for (size_t i = 0; i < e->fault_count; i++) {
        const struct window *w = &e->faults[i];

        if (w->stopped && w->begin < to && w->end > from)
            return true;
    }
    return false;
}

static void count_notes(const struct evidence *e, const struct note *notes,
                        size_t count, struct outcome *o)
{
    struct note begin = { .kind = 0 };

    for (size_t i = 0; i < count; i++) {
        const struct note *n = &notes[i];

        if (n->kind == NOTE_ACCESS)
            o->refused += n->b == 0;
        else if (n->kind == NOTE_BEGIN)
            begin = *n;
        else if (n->kind == NOTE_END)
            o->leaks += n->a > begin.a || n->b > begin.b;
        else if (n->kind == NOTE_WRONG && n->a != WRONG_LATE)
            o->broken_promises++;
        else if (n->kind == NOTE_WRONG &&
                 !may_be_stopped(e, n->at - n->b * MS, n->at)) {
            o->late_calls++;
            o->latest_ms = n->b > o->latest_ms ? n->b : o->latest_ms;
        }
    }
}

/* Of all clients, the journals of that thread. */
static void add_journals(const struct crew *crew, int thread,
                         struct evidence *e, struct outcome *o)
{
    for (int i = 0; i < WORKERS; i++) {
        for (int g = 0; g < crew->generations[i]; g++) {
            size_t count;
            struct note *notes = journal_read(crew->dir, i, g, thread, &count);

            if (notes == NULL)
                continue;
            evidence_add(e, (int)o->runs++, notes, count);
            count_notes(e, notes, count, o);
            free(notes);
        }
    }
}

static void add_resources(const struct crew *crew, struct evidence *e)
{
    for (int i = 0; i < LOCKS; i++) {
        struct resource r;

        if (!resource_open(&r, crew->dir, i, false))
            die("resource");
        e->accepted[i] = resource_accepted(&r, &e->accepted_count[i]);
        resource_close(&r);
    }
}

void outcome_find(const struct crew *crew, const struct truth *truth,
                  struct outcome *o)
{
    struct evidence e = {
        .truth = truth != NULL ? truth->locks : NULL,
        .leased = !crew->trusting,
        .boot_minus_real = boot_ns() - real_ms() * MS,
        .complaints = crew->trusting ? NULL : stderr,
    };

    add_journal_of_nemesis(crew, &e);
    for (int thread = 0; thread < THREADS; thread++)
        add_journals(crew, thread, &e, o);
    add_resources(crew, &e);
    check(&e, &o->verdict);
    for (int i = 0; i < LOCKS; i++)
        free((void *)e.accepted[i]);
    evidence_free(&e);
}
