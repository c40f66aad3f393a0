/* SPDX-License-Identifier: Apache-2.0 */
/* A fleet: three workers of each kind, busy with one lock, or one semaphore. */
#include "fleet.h"

#include <inttypes.h>

enum { FLEET = KINDS * PER_KIND, PATIENCE_MS = 120000 };

static struct worker workers[FLEET];
static int last_number; /* in the name of a worker; never used twice */
static bool is_busy;    /* also after a test that failed in the middle */

/* What each of them is to do, and does. */
static struct part {
    bool runs;
    bool stops;
    const char *catch; /* in which mode, until it is caught */
    size_t section;    /* in which it is caught */
} parts[FLEET];

static int kill_all(void)
{
    for (int i = 0; i < FLEET; i++)
        worker_kill(&workers[i]);
    return 0;
}

int run_fleets(void)
{
    return test_run_between(NULL, kill_all);
}

struct worker *fleet_worker(int kind, int number)
{
    return &workers[kind * PER_KIND + number];
}

static struct part *part_of(const struct worker *w)
{
    return &parts[w - workers];
}

static enum kind kind_of(const struct worker *w)
{
    return (enum kind)((w - workers) / PER_KIND);
}

struct worker *fleet_next(const struct mix *m, struct worker *w)
{
    for (w = w == NULL ? workers : w + 1; w < workers + FLEET; w++) {
        if (kind_of(w) == KIND_C ||
            (kind_of(w) == KIND_KAZOO ? m->limit == 0
                                      : strcmp(m->layout, "curator") == 0))
            return w;
    }
    return NULL;
}

static void join(const struct mix *m, struct worker *w)
{
    if (w->pid == 0)
        worker_start(w, kind_of(w), ++last_number);
    worker_open(w, m->hosts, m->session_ms);
    if (m->limit > 0)
        worker_do(w, "lock", "lock semaphore:%zu curator %s", m->limit,
                  m->path);
    else
        worker_do(w, "lock", "lock %s %s %s", m->recipe, m->layout, m->path);
}

/* kazoo's own read lock waits for writers behind it, so kazoo only writes. */
static void run(const struct mix *m, struct worker *w)
{
    bool writes = kind_of(w) == KIND_KAZOO && strcmp(m->layout, "kazoo") == 0;

    *part_of(w) = (struct part){ .runs = true };
    worker_tell(w, "run %d", writes ? 100 : m->writers);
}

static void on_answer(struct mix *m, struct worker *w)
{
    struct part *p = part_of(w);
    struct section s = { .kind = kind_of(w) };
    char what[8], mode[8];
    int64_t value;

    p->runs = strcmp(w->answer, "ran") != 0;
    if (!p->runs)
        return;
    if (sscanf(w->answer, "%7s %7s %95s %" SCNd64 " %" SCNd64, what, mode,
               s.node, &s.token, &value) != 5)
        fail_msg("%s: %s", w->name, w->answer);
    if (strcmp(what, "leave") == 0) {
        journal_leave(&m->journal, w->name, s.token, value);
        worker_tell(w, p->stops ? "0" : "1");
        return;
    }
    PRINT(s.worker, "%s", w->name);
    s.writes = strcmp(mode, "write") == 0;
    value = journal_enter(&m->journal, &s);
    if (value >= 0 && p->catch != NULL && strcmp(mode, p->catch) == 0) {
        p->catch = NULL;
        p->section = m->journal.count - 1;
    } else {
        worker_tell(w, "%" PRId64, value);
    }
}

const struct journal *fleet_hear(struct mix *m)
{
    for (struct worker *w = NULL; (w = fleet_next(m, w)) != NULL;) {
        if (w->pid != 0 && worker_hear(w, 0) != NULL)
            on_answer(m, w);
    }
    return &m->journal;
}

void fleet_begin(struct mix *m)
{
    if (is_busy)
        kill_all();
    is_busy = true;
    m->path = new_path();
    m->held = m->limit > 0 ? textf("%s/leases", m->path) : m->path;
    m->queue = m->limit > 0 ? textf("%s/locks", m->path) : m->path;
    m->journal.limit = m->limit;
    if (m->hosts == NULL)
        m->hosts = server_hosts(the_server);
    for (struct worker *w = NULL; (w = fleet_next(m, w)) != NULL;)
        join(m, w);
    for (struct worker *w = NULL; (w = fleet_next(m, w)) != NULL;)
        run(m, w);
    for (struct worker *w = NULL; (w = fleet_next(m, w)) != NULL;)
        await_worker(m, 0, w);
    m->mixed_from = m->journal.count;
}

static const struct part *hear_of(struct mix *m, const struct worker *w)
{
    (void)fleet_hear(m);
    return part_of(w);
}

void fleet_end(struct mix *m)
{
    for (struct worker *w = NULL; (w = fleet_next(m, w)) != NULL;)
        part_of(w)->stops = true;
    for (struct worker *w = NULL; (w = fleet_next(m, w)) != NULL;) {
        if (!COMES(!hear_of(m, w)->runs, PATIENCE_MS))
            fail_msg("%s does not end", w->name);
    }
    for (struct worker *w = NULL; (w = fleet_next(m, w)) != NULL;)
        worker_do(w, "closed", "close");
    is_busy = false;
    wait_children(m->held, 0);
    wait_children(m->queue, 0);
}

void fleet_replace(struct mix *m, struct worker *w)
{
    size_t from = m->journal.count;

    join(m, w);
    run(m, w);
    await_worker(m, from, w);
}

size_t fleet_catch(struct mix *m, const struct worker *w, const char *mode)
{
    part_of(w)->catch = mode;
    if (!COMES(hear_of(m, w)->catch == NULL, PATIENCE_MS))
        fail_msg("%s does not enter as %s", w->name, mode);
    return part_of(w)->section;
}

bool fleet_let_go(struct mix *m, struct worker *w)
{
    size_t i = part_of(w)->section;

    worker_tell(w, "%" PRId64, m->journal.sections[i].found);
    if (!COMES(fleet_hear(m)->sections[i].state != INSIDE, PATIENCE_MS))
        fail_msg("%s does not leave", w->name);
    return m->journal.sections[i].state == LEFT;
}

void fleet_check_shares(const struct mix *m)
{
    size_t all = m->journal.count - m->mixed_from;

    for (struct worker *w = NULL; (w = fleet_next(m, w)) != NULL;) {
        size_t count = 0;

        for (size_t i = m->mixed_from; i < m->journal.count; i++)
            count += m->journal.sections[i].kind == kind_of(w);
        if (count < all / 10)
            fail_msg("only %zu of %zu sections like %s", count, all, w->name);
    }
}

/* Waiting */

void await_sections(struct mix *m, size_t sections)
{
    if (!COMES(fleet_hear(m)->count >= m->mixed_from + sections, PATIENCE_MS))
        fail_msg("only %zu of %zu sections", m->journal.count - m->mixed_from,
                 sections);
}

void await_worker(struct mix *m, size_t from, const struct worker *w)
{
    if (!COMES(journal_has_enter(fleet_hear(m), from, w->name, false),
               PATIENCE_MS))
        fail_msg("%s does not enter", w->name);
}

static bool are_two_inside(const struct journal *j, size_t from)
{
    for (size_t i = from + 1; i < j->count; i++) {
        const struct section *s = &j->sections[i];

        if (s[-1].end > s->begin && strcmp(s->worker, s[-1].worker) != 0)
            return true;
    }
    return false;
}

void fleet_share(struct mix *m)
{
    const struct worker *first = fleet_worker(KIND_C, 0);
    const struct worker *other = strcmp(m->layout, "kazoo") == 0
                                     ? fleet_worker(KIND_C, 1)
                                     : fleet_worker(KIND_CURATOR, 0);
    size_t from = m->journal.count;

    for (struct worker *w = NULL; (w = fleet_next(m, w)) != NULL;)
        part_of(w)->stops = w != first && w != other;
    if (!COMES(are_two_inside(fleet_hear(m), from), PATIENCE_MS))
        fail_msg("%s and %s never share", first->name, other->name);
}

void await_enter(struct mix *m, size_t from, bool only_writers)
{
    if (!COMES(journal_has_enter(fleet_hear(m), from, NULL, only_writers),
               PATIENCE_MS))
        fail_msg("nobody enters any more");
}

/* The workers are heard before the node is looked for: a worker that has
 * entered by then was granted while the node was still there. */
void await_gone(struct mix *m, size_t from, size_t held)
{
    const struct section *s = &m->journal.sections[held];
    bool only_writers = m->limit == 0 && !s->writes;
    bool entered, gone;
    const char *node = textf("%s/%s", m->held, s->node);

    if (!COMES((entered =
                    journal_has_enter(fleet_hear(m), from, NULL, only_writers),
                gone = admin_exists(admin, node, NULL) == ZNONODE) ||
                   entered,
               PATIENCE_MS))
        fail_msg("%s stays", node);
    if (!gone)
        fail_msg("somebody entered while %s was there", node);
}

static bool is_queued(const char *path, int64_t session)
{
    char **names;
    size_t count;
    bool found = false;

    if (admin_children(admin, path, &names, &count) != ZOK)
        return false;
    for (size_t i = 0; i < count && !found; i++) {
        struct Stat stat;

        found =
            admin_exists(admin, textf("%s/%s", path, names[i]), &stat) == ZOK &&
            stat.ephemeralOwner == session;
    }
    admin_children_free(names, count);
    return found;
}

void await_queued(const struct mix *m, const struct worker *w)
{
    if (!COMES(is_queued(m->queue, w->session), PATIENCE_MS))
        fail_msg("%s does not queue", w->name);
}
