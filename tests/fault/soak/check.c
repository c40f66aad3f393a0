/* SPDX-License-Identifier: Apache-2.0 */
/* Judges a soak: turns journals into attempts, prepares the claims for the
 * judge, and finds orphans. */
#include "check.h"

#include <inttypes.h>

enum {
    /* The log has whole milliseconds, and two clocks are compared. */
    CLOCK_SLACK_MS = 3,
    ORPHAN_MS = 2 * SESSION_MS,
    MARGIN_NONE = INT32_MAX,
};

/* A client believed to hold the lock, from an instant to another. */
struct claim {
    const struct attempt *attempt;
    const struct life *life; /* NULL: unknown */
    int64_t begin, end;
    bool by_lease; /* it ended with its lease */
};

/* Those on one lock that are not empty, also as grants for the judge. */
struct claims {
    struct claim *all;
    struct judge_grant *grants;
    size_t count;
};

static int64_t min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t to_boot(const struct evidence *e, int64_t time_ms)
{
    return time_ms == INT64_MAX ? NEVER : time_ms * MS + e->boot_minus_real;
}

/* Returns the possible error of a time in the log. */
static int64_t slack(const struct evidence *e)
{
    return CLOCK_SLACK_MS * MS + e->drift;
}

/* Claims */

static int life_by_token(const void *key, const void *life)
{
    return judge_compare(*(const int64_t *)key,
                         ((const struct life *)life)->begin);
}

/* A node that stays may be older than the claim, and one of a claim that has
 * lost its node is younger. */
static bool covers(const struct evidence *e, const struct excuse *x,
                   const struct claim *c)
{
    const struct life *l = c->life;
    int64_t begin =
        l != NULL ? to_boot(e, l->begin_ms) - slack(e) : c->attempt->invoked;

    return (x->token != 0 && x->token == c->attempt->token) ||
           (x->session != 0 && l != NULL && x->session == l->owner) ||
           (x->lock == c->attempt->lock && begin <= x->until);
}

/* Returns when an operator ended the claim, or NEVER. Only an act during the
 * claim counts. */
static int64_t excused(const struct evidence *e, const struct claim *c)
{
    int64_t at = NEVER;

    for (size_t i = 0; i < e->excuse_count; i++) {
        const struct excuse *x = &e->excuses[i];

        if (x->at < c->end && x->at < at && covers(e, x, c))
            at = x->at;
    }
    return at;
}

static struct claim make_claim(const struct evidence *e,
                               const struct attempt *a)
{
    struct claim c = { .attempt = a,
                       .begin = a->granted,
                       .end = min(a->lost, a->release) };
    const struct history *h = e->truth != NULL ? &e->truth[a->lock] : NULL;

    if (h != NULL && h->count > 0)
        c.life = bsearch(&a->token, h->lives, h->count, sizeof(*h->lives),
                         life_by_token);
    if (e->leased && a->valid_until < c.end) {
        c.end = a->valid_until;
        c.by_lease = true;
    }
    c.end = min(c.end, excused(e, &c));
    return c;
}

static void collect(const struct evidence *e, int lock, struct claims *claims,
                    struct verdict *v)
{
    claims->count = 0;
    for (size_t i = 0; i < e->attempt_count; i++) {
        const struct attempt *a = &e->attempts[i];

        if (a->lock != lock || a->granted == NEVER)
            continue;
        v->grants++;
        v->asked += a->asked;
        v->sure += a->sure;
        v->writes += a->writes;
        v->handed_on += a->handoff > 0;
        struct claim c = make_claim(e, a);
        if (c.end <= c.begin) {
            v->empty++;
            continue;
        }
        if (c.by_lease && c.life != NULL && c.life->by_session)
            v->margin_ms =
                min(v->margin_ms, (to_boot(e, c.life->end_ms) - c.end) / MS);
        struct judge_grant *g = &claims->grants[claims->count];
        *g = (struct judge_grant){ .shared = !a->writes,
                                   .token = a->token,
                                   .handoff = a->handoff,
                                   .begin = c.begin,
                                   .end = c.end };
        (void)snprintf(g->who, sizeof(g->who), "run %d lock %d", a->run, lock);
        claims->all[claims->count++] = c;
    }
}

static void complain(void *complaints, const char *sentence)
{
    (void)fprintf(complaints, "%s\n", sentence);
}

static void check_lock(const struct evidence *e, int lock,
                       const struct claims *claims, struct judgement *sum)
{
    const struct history *h = e->truth != NULL ? &e->truth[lock] : NULL;
    struct judge_node *nodes =
        h != NULL ? history_nodes(h->lives, h->count) : NULL;
    const struct judge_records records = {
        .grants = claims->grants,
        .grant_count = claims->count,
        .nodes = nodes,
        .node_count = h != NULL ? h->count : 0,
        .accesses = e->accepted[lock],
        .access_count = e->accepted_count[lock],
        .timed = true,
        .slack = slack(e),
        .tell = e->complaints != NULL ? complain : NULL,
        .user = e->complaints,
    };
    struct judgement j;

    for (size_t i = 0; i < records.node_count; i++)
        nodes[i].gone_at = to_boot(e, nodes[i].gone_at);
    judge_lock(&records, &j);
    if (sum->violations == 0)
        memcpy(sum->first, j.first, sizeof(sum->first));
    sum->violations += j.violations;
    for (int i = 0; i < JUDGE_RULES; i++)
        sum->counts[i] += j.counts[i];
    free(nodes);
}

static int update_by_value(const void *a, const void *b)
{
    const struct note *x = a;
    const struct note *y = b;

    return x->c != y->c ? judge_compare(x->c, y->c) : judge_compare(x->a, y->a);
}

/* Orphans */

static int run_of(const struct evidence *e, int64_t session)
{
    for (size_t i = 0; i < e->owner_count; i++) {
        if (e->owners[i].session == session)
            return e->owners[i].run;
    }
    return -1;
}

/* The last attempt of that run that had begun by then. */
static const struct attempt *attempt_at(const struct evidence *e, int run,
                                        int64_t at)
{
    size_t low = 0;
    size_t high = e->attempt_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct attempt *a = &e->attempts[middle];

        if (a->run < run || (a->run == run && a->invoked <= at))
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && e->attempts[low - 1].run == run ? &e->attempts[low - 1]
                                                      : NULL;
}

static int64_t given_up(const struct attempt *a)
{
    return a->granted == NEVER ? a->failed : min(a->lost, a->release);
}

/* `a` is the last that wanted the node. Each fault excuses a delay until it has
 * healed. */
static void check_orphan(const struct evidence *e, const struct life *life,
                         const struct attempt *a, struct verdict *v)
{
    int64_t end = to_boot(e, life->end_ms);
    int64_t at = a != NULL ? given_up(a) : NEVER;

    v->nodes++;
    if (at != NEVER && lock_specs[a->lock].stays)
        at += RETAIN_MS * MS;
    if (at == NEVER || end < at + ORPHAN_MS * MS)
        return;
    int64_t from = to_boot(e, life->begin_ms);
    if (from < at)
        from = at;
    for (size_t i = 0; i < e->fault_count; i++) {
        const struct window *w = &e->faults[i];

        if (w->end > from && w->begin < from + ORPHAN_MS * MS)
            from = w->end;
    }
    if (end <= from + ORPHAN_MS * MS)
        return;
    v->orphans++;
    if (e->complaints != NULL)
        (void)fprintf(e->complaints,
                      "orphan, there for ns: run %d lock %d %s token %" PRIx64
                      " granted %" PRId64 " (%" PRId64 ")\n",
                      a->run, a->lock, a->writes ? "write" : "read",
                      (uint64_t)a->token, a->granted, end - at);
}

/* Of a lock that stays, several attempts use one node, and none of them created
 * it. A node that was never granted is not judged there: what it would do is to
 * keep all others out. */
static void check_orphans(const struct evidence *e, int lock,
                          const struct claims *claims, struct verdict *v)
{
    const struct history *h = &e->truth[lock];
    const struct attempt **last = judge_array(h->count, sizeof(*last));
    bool stays = lock_specs[lock].stays;

    for (size_t i = 0; i < h->count && !stays; i++)
        last[i] = attempt_at(e, run_of(e, h->lives[i].owner),
                             to_boot(e, h->lives[i].begin_ms) + slack(e));
    for (size_t i = 0; i < claims->count && stays; i++) {
        const struct attempt *a = claims->all[i].attempt;

        if (claims->all[i].life == NULL)
            continue;
        size_t node = (size_t)(claims->all[i].life - h->lives);
        if (last[node] == NULL || given_up(a) > given_up(last[node]))
            last[node] = a;
    }
    for (size_t i = 0; i < h->count; i++)
        check_orphan(e, &h->lives[i], last[i], v);
    free(last);
}

void check(const struct evidence *e, struct verdict *ret)
{
    struct claims claims = {
        .all = judge_array(e->attempt_count, sizeof(*claims.all)),
        .grants = judge_array(e->attempt_count, sizeof(*claims.grants)),
    };
    struct note *u = e->updates;

    *ret = (struct verdict){ .margin_ms = MARGIN_NONE };
    for (int lock = 0; lock < LOCKS; lock++) {
        collect(e, lock, &claims, ret);
        check_lock(e, lock, &claims, &ret->broken);
        if (e->truth != NULL)
            check_orphans(e, lock, &claims, ret);
    }
    if (e->update_count > 0)
        qsort(u, e->update_count, sizeof(*u), update_by_value);
    for (size_t i = 1; i < e->update_count; i++)
        ret->lost_updates += u[i].c == u[i - 1].c && u[i].a == u[i - 1].a;
    free(claims.all);
    free(claims.grants);
}

/* Notes */

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
