/* SPDX-License-Identifier: Apache-2.0 */
/* The outcome: computes a verdict from journals and resources, and prints it.
 */
#include "outcome.h"

#include <time.h>

#include "wait.h"

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

void outcome_find(const struct crew *crew, const struct truth *truth,
                  struct outcome *o)
{
    struct evidence e = {
        .truth = truth != NULL ? truth->locks : NULL,
        .leased = !crew->trusting,
        .boot_minus_real = boot_ns() - clock_ns(CLOCK_REALTIME),
        .complaints = crew->trusting ? NULL : stderr,
    };

    add_journal_of_nemesis(crew, &e);
    for (int thread = 0; thread < THREADS; thread++)
        add_journals(crew, thread, &e, o);
    for (int i = 0; i < LOCKS; i++) {
        struct resource r;

        if (!resource_open(&r, crew->dir, i, false))
            die("resource");
        e.accepted[i] = resource_accepted(&r, &e.accepted_count[i]);
        resource_close(&r);
    }
    check(&e, &o->verdict);
    for (int i = 0; i < LOCKS; i++)
        free((void *)e.accepted[i]);
    evidence_free(&e);
}

/* The report, line by line */

static int by_value(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

int percentile(const int *values, size_t count, int percent)
{
    size_t rank = (count * (size_t)percent + 99) / 100;

    return count == 0 ? 0 : values[rank > 0 ? rank - 1 : 0];
}

static void print_faults(const struct nemesis *n)
{
    int all = 0;
    int kinds = 0;

    for (int i = 0; i < fault_count; i++) {
        printf("%-26s %5d\n", faults[i].name, n->counts[i]);
        all += n->counts[i];
        kinds += n->counts[i] > 0;
    }
    printf("%-26s %5d of %d kinds\n", "faults", all, kinds);
    printf("replies swallowed: %ld of creates, %ld of deletes; requests "
           "throttled: %ld\n",
           n->creates_swallowed, n->deletes_swallowed, n->throttled);
}

static void print_verdict(const struct verdict *v)
{
    static const char *const rules[JUDGE_RULES] = {
        [JUDGE_OVERLAP] = "overlaps of claims",
        [JUDGE_CROWDED] = "claims beyond the limit of a semaphore",
        [JUDGE_LATE] = "claims beyond the end of their node",
        [JUDGE_DISORDER] = "tokens not above those before",
        [JUDGE_TWICE] = "tokens, with hand-offs, of two grants",
        [JUDGE_UNKNOWN] = "tokens that no server knows",
        [JUDGE_EARLY] = "grants out of turn",
        [JUDGE_PASSED] = "nodes that went before one ahead",
        [JUDGE_STALE] = "stale accesses accepted",
        [JUDGE_LEFT] = "nodes left at the end",
    };

    for (int i = 0; i < JUDGE_RULES; i++)
        printf("%-44s %8ld\n", rules[i], v->broken.counts[i]);
    printf("%-44s %8ld\n", "nodes there 2T after they were given up",
           v->orphans);
    printf("%-44s %8ld\n", "updates lost (nothing promised)", v->lost_updates);
}

void report(const struct outcome *o, const struct nemesis *n)
{
    const struct verdict *v = &o->verdict;
    int *r = n->recoveries;
    size_t count = n->recovery_count;

    printf("\n");
    print_faults(n);
    qsort(r, count, sizeof(*r), by_value);
    printf("next grant after a fault has healed, in ms: median %d, p99 %d (at "
           "most %d), longest %d (at most %d); stuck: %d\n",
           percentile(r, count, 50), percentile(r, count, 99), USUAL_MS,
           percentile(r, count, 100), LONGEST_MS, n->stuck);
    printf("\n%ld grants in %.0f s, %ld of them for writing, %ld over before "
           "they were told, %ld handed on; %ld nodes; %ld runs of threads\n",
           v->grants, o->seconds, v->writes, v->empty, v->handed_on, v->nodes,
           o->runs);
    printf("%ld transactions, %ld of them in one log only; stale accesses "
           "refused: %ld\n",
           o->transactions, o->disputed, o->refused);
    if (v->margin_ms != INT32_MAX)
        printf("least time between a lease and the end of its session: %ld "
               "ms\n",
               v->margin_ms);
    if (v->asked > 0)
        printf("share of the time that holders were told yes: %.2f %%\n",
               100.0 * (double)v->sure / (double)v->asked);
    print_verdict(v);
    printf("%-44s %8ld (latest %ld ms)\n", "calls 1 s beyond their deadline",
           o->late_calls, o->latest_ms);
    printf("%-44s %8ld\n", "wrong depths and tokens in clients",
           o->broken_promises);
    printf("%-44s %8ld\n", "clients that did not come to their end",
           o->stuck_clients);
    printf("%-44s %8ld\n", "descriptors and threads left in clients", o->leaks);
    (void)fflush(stdout);
}
