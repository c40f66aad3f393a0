/* SPDX-License-Identifier: Apache-2.0 */
/* The outcome: computes a verdict from journals, resources and logs, and prints
 * it. */
#include "outcome.h"

#include "wait.h"

/* -- the truth: what really happened to the nodes, by the logs ------------ */

#define DIRECTORY "/soak/"

struct event {
    int64_t zxid;
    int64_t session;
    int64_t time_ms;
    int32_t type;
    unsigned int voters; /* a bit for each server */
    char path[104];
};

struct events {
    struct event *all;
    size_t count;
    unsigned int voter; /* whose log is being read */
    int64_t near_ms;    /* CLOCK_REALTIME of some time in the last half day */
};

/* Returns the true time for an instant of the clock of some process: without
 * the added days. The true time is within half a day of `near_ms`. */
static int64_t true_time(int64_t time_ms, int64_t near_ms)
{
    const int64_t day_ms = INT64_C(1000) * WALL_CLOCK_DAY;
    int64_t ahead = time_ms - near_ms + 128 * day_ms + day_ms / 2;

    return time_ms - (ahead / day_ms - 128) * day_ms;
}

static bool add_event(void *user, const struct txn *t)
{
    struct events *e = user;

    if (t->type != TXN_CLOSE_SESSION &&
        strncmp(t->path, DIRECTORY, strlen(DIRECTORY)) != 0)
        return true;
    struct event event = { .zxid = t->zxid,
                           .session = t->session,
                           .type = t->type,
                           .voters = e->voter,
                           .time_ms = true_time(t->time_ms, e->near_ms) };
    (void)snprintf(event.path, sizeof(event.path), "%.*s",
                   (int)sizeof(event.path) - 1, t->path);
    PUSH(e->all, e->count, event);
    return true;
}

static int by_zxid(const void *a, const void *b)
{
    int64_t x = ((const struct event *)a)->zxid;
    int64_t y = ((const struct event *)b)->zxid;

    return (x > y) - (x < y);
}

/* The same transaction in several logs becomes one with several voters. */
static void merge(struct events *e)
{
    size_t kept = 0;

    qsort(e->all, e->count, sizeof(*e->all), by_zxid);
    for (size_t i = 0; i < e->count; i++) {
        if (kept > 0 && e->all[kept - 1].zxid == e->all[i].zxid)
            e->all[kept - 1].voters |= e->all[i].voters;
        else
            e->all[kept++] = e->all[i];
    }
    e->count = kept;
}

/* A transaction is believed when two of the three have it: what a leader wrote
 * before it was cut off may never have been committed. */
static void read_truth(const struct nemesis *n, struct history truth[LOCKS],
                       struct outcome *o)
{
    struct events events = { .near_ms = real_ms() };

    for (int host = 1; host < HOSTS; host++) {
        events.voter = 1u << host;
        if (!txn_log_read(cluster_server(n->cluster, host), add_event, &events))
            die("transaction logs");
        merge(&events);
    }
    for (int i = 0; i < LOCKS; i++)
        truth[i].directory = lock_specs[i].path;
    o->transactions = (long)events.count;
    for (const struct event *e = events.all; e < events.all + events.count;
         e++) {
        struct txn txn = { .session = e->session,
                           .zxid = e->zxid,
                           .time_ms = e->time_ms,
                           .type = e->type };

        if ((e->voters & (e->voters - 1)) == 0) {
            o->disputed++;
            continue;
        }
        (void)snprintf(txn.path, sizeof(txn.path), "%s", e->path);
        for (int i = 0; i < LOCKS; i++) {
            if (!history_add(&truth[i], &txn))
                abort();
        }
    }
    free(events.all);
}

/* -- journals ------------------------------------------------------------- */

static void add_journal_of_nemesis(const struct nemesis *nemesis,
                                   struct evidence *e)
{
    size_t count;
    struct note *notes = journal_read(nemesis->dir, NEMESIS, 0, 0, &count);
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
static void add_journals(const struct nemesis *n, int thread,
                         struct evidence *e, struct outcome *o)
{
    for (int i = 0; i < WORKERS; i++) {
        for (int g = 0; g < n->generations[i]; g++) {
            size_t count;
            struct note *notes = journal_read(n->dir, i, g, thread, &count);

            if (notes == NULL)
                continue;
            evidence_add(e, (int)o->runs++, notes, count);
            count_notes(e, notes, count, o);
            free(notes);
        }
    }
}

static int by_value(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static int percentile(const struct nemesis *n, int percent)
{
    size_t rank = (n->recovery_count * (size_t)percent + 99) / 100;

    return n->recovery_count == 0 ? 0 : n->recoveries[rank > 0 ? rank - 1 : 0];
}

void outcome_find(struct nemesis *n, struct outcome *o)
{
    struct history truth[LOCKS] = { { .count = 0 } };
    struct evidence e = {
        .truth = n->trusting ? NULL : truth,
        .leased = !n->trusting,
        .boot_minus_real = boot_ns() - clock_ns(CLOCK_REALTIME),
        .complaints = n->trusting ? NULL : stderr,
    };

    if (!n->trusting)
        read_truth(n, truth, o);
    add_journal_of_nemesis(n, &e);
    for (int thread = 0; thread < THREADS; thread++)
        add_journals(n, thread, &e, o);
    for (int i = 0; i < LOCKS; i++) {
        struct resource r = resource_open(n->dir, i, false);

        e.accepted[i] = resource_accepted(&r, &e.accepted_count[i]);
        resource_close(&r);
    }
    check(&e, &o->verdict);
    for (int i = 0; i < LOCKS; i++) {
        free((void *)e.accepted[i]);
        free(truth[i].lives);
    }
    evidence_free(&e);
    if (n->recovery_count > 0)
        qsort(n->recoveries, n->recovery_count, sizeof(int), by_value);
    o->usual_ms = percentile(n, 99);
}

/* -- the report, line by line ---------------------------------------------- */

void report(const struct outcome *o, const struct nemesis *n)
{
    const struct verdict *v = &o->verdict;
    const long *broken = v->broken.counts;
    const struct {
        const char *what;
        long count;
    } lines[] = {
        { "overlaps of claims", broken[JUDGE_OVERLAP] },
        { "claims beyond the limit of a semaphore", broken[JUDGE_CROWDED] },
        { "claims beyond the end of their node", broken[JUDGE_LATE] },
        { "tokens not above those before", broken[JUDGE_DISORDER] },
        { "tokens, with hand-offs, of two grants", broken[JUDGE_TWICE] },
        { "tokens that no server knows", broken[JUDGE_UNKNOWN] },
        { "grants out of turn", broken[JUDGE_EARLY] },
        { "nodes that went before one ahead", broken[JUDGE_PASSED] },
        { "stale accesses accepted", broken[JUDGE_STALE] },
        { "nodes left at the end", broken[JUDGE_LEFT] },
        { "nodes there 2T after they were given up", v->orphans },
        { "updates lost (nothing promised)", v->lost_updates },
        { "calls 1 s beyond their deadline", o->late_calls },
        { "the latest of them, in ms", o->latest_ms },
        { "wrong depths and tokens in clients", o->broken_promises },
        { "clients that did not come to their end", o->stuck_clients },
        { "descriptors and threads left in clients", o->leaks },
    };
    int all = 0;
    int kinds = 0;

    printf("\n");
    for (int i = 0; i < fault_count; i++) {
        printf("%-26s %5d\n", faults[i].name, n->counts[i]);
        all += n->counts[i];
        kinds += n->counts[i] > 0;
    }
    printf("%-26s %5d of %d kinds\n", "faults", all, kinds);
    printf("replies swallowed: %ld of creates, %ld of deletes; requests "
           "throttled: %ld\n",
           n->creates_swallowed, n->deletes_swallowed, n->throttled);
    printf("next grant after a fault has healed, in ms: median %d, p99 %d (at "
           "most %d), longest %d (at most %d); stuck: %d\n",
           percentile(n, 50), o->usual_ms, USUAL_MS, percentile(n, 100),
           LONGEST_MS, n->stuck);
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
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        printf("%-44s %8ld\n", lines[i].what, lines[i].count);
    (void)fflush(stdout);
}
