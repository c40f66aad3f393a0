/* SPDX-License-Identifier: Apache-2.0 */
/* A fleet: three workers of each kind, busy with one lock, or one semaphore. */
#include "fleet.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "spawn.h"

enum { FLEET = KINDS * PER_KIND, PATIENCE_MS = 120000 };

static struct worker workers[FLEET];
static int last_number; /* in the name of a worker; never used twice */
static bool is_busy;    /* also after a test that failed in the middle */
static char base[PATH_MAX / 4];
static struct guard guard;

static void kill_all(void)
{
    for (int i = 0; i < FLEET; i++)
        worker_kill(&workers[i]);
}

static int set_up(void)
{
    return guard_make(&guard, base, sizeof(base));
}

static int tear_down(void)
{
    kill_all();
    guard_finish(&guard);
    return 0;
}

int run_fleets(void)
{
    return test_run_between(set_up, tear_down);
}

struct worker *fleet_worker(int kind, int number)
{
    return &workers[kind * PER_KIND + number];
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

    worker_tell(w, "run %s %d", m->dir, writes ? 100 : m->writers);
}

static void touch(const struct mix *m, const char *name)
{
    int fd = open(textf("%s/%s", m->dir, name), O_WRONLY | O_CREAT | O_CLOEXEC,
                  0600);
    assert_true(fd >= 0);
    (void)close(fd);
}

void fleet_begin(struct mix *m)
{
    if (is_busy)
        kill_all();
    is_busy = true;
    m->path = new_path();
    (void)snprintf(m->held, sizeof(m->held), "%s%s", m->path,
                   m->limit > 0 ? "/leases" : "");
    (void)snprintf(m->queue, sizeof(m->queue), "%s%s", m->path,
                   m->limit > 0 ? "/locks" : "");
    (void)snprintf(m->dir, sizeof(m->dir), "%s/%s", base,
                   strrchr(m->path, '/') + 1);
    assert_int_equal(mkdir(m->dir, 0700), 0);
    journal_create(&m->journal, m->dir);
    m->journal.limit = m->limit;
    if (m->hosts == NULL)
        m->hosts = server_hosts(the_server);
    for (struct worker *w = NULL; (w = fleet_next(m, w)) != NULL;)
        join(m, w);
    for (struct worker *w = NULL; (w = fleet_next(m, w)) != NULL;)
        run(m, w);
    for (struct worker *w = NULL; (w = fleet_next(m, w)) != NULL;)
        (void)await_entry(m, 0, "ENTER", w->name);
    m->mixed_from = m->journal.count;
    m->sections_before = m->journal.sections;
}

static void stop(struct mix *m, const struct worker *w)
{
    touch(m, textf("stop-%s", w->name));
}

void fleet_end(struct mix *m)
{
    for (struct worker *w = NULL; (w = fleet_next(m, w)) != NULL;)
        stop(m, w);
    for (struct worker *w = NULL; (w = fleet_next(m, w)) != NULL;)
        worker_expect(w, "ran ");
    for (struct worker *w = NULL; (w = fleet_next(m, w)) != NULL;)
        worker_do(w, "closed", "close");
    is_busy = false;
    wait_children(m->held, 0);
    wait_children(m->queue, 0);
    journal_read(&m->journal);
}

void fleet_replace(struct mix *m, struct worker *w)
{
    size_t from = m->journal.count;

    join(m, w);
    run(m, w);
    (void)await_entry(m, from, "ENTER", w->name);
}

struct entry fleet_catch(struct mix *m, const struct worker *w,
                         const char *mode)
{
    touch(m, textf("stall-%s-%s", w->name, mode));
    return await_entry(m, m->journal.count, "STALL", w->name);
}

void fleet_let_go(const struct mix *m, const struct worker *w, const char *mode)
{
    ok(unlink(textf("%s/stall-%s-%s", m->dir, w->name, mode)));
}

void fleet_check_shares(const struct mix *m)
{
    size_t all = m->journal.sections - m->sections_before;

    for (struct worker *w = NULL; (w = fleet_next(m, w)) != NULL;) {
        size_t count = 0;

        for (size_t i = m->mixed_from; i < m->journal.count; i++) {
            const struct entry *e = &m->journal.entries[i];

            count += strcmp(e->what, "ENTER") == 0 &&
                     journal_same_kind(e->worker, w->name);
        }
        if (count < all / 10)
            fail_msg("only %zu of %zu sections like %s", count, all, w->name);
    }
}

/* Waiting */

void await_sections(struct mix *m, size_t sections)
{
    if (!COMES((journal_read(&m->journal),
                m->journal.sections >= m->sections_before + sections),
               PATIENCE_MS))
        fail_msg("only %zu of %zu sections", m->journal.sections, sections);
}

struct entry await_entry(struct mix *m, size_t from, const char *what,
                         const char *worker)
{
    const struct entry *found;

    if (!COMES((journal_read(&m->journal),
                found = journal_find(&m->journal, from, what, worker)) != NULL,
               PATIENCE_MS))
        fail_msg("no %s of %s", what, worker);
    return *found;
}

static bool has_enter(struct mix *m, size_t from, bool only_writers)
{
    journal_read(&m->journal);
    return journal_has_enter(&m->journal, from, only_writers);
}

static bool are_two_inside(struct journal *j, size_t from)
{
    journal_read(j);
    for (size_t i = from + 1; i < j->count; i++) {
        const struct entry *e = &j->entries[i];

        if (strcmp(e->what, "ENTER") == 0 && strcmp(e[-1].what, "ENTER") == 0 &&
            strcmp(e->worker, e[-1].worker) != 0)
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

    for (struct worker *w = NULL; (w = fleet_next(m, w)) != NULL;) {
        if (w != first && w != other)
            stop(m, w);
    }
    if (!COMES(are_two_inside(&m->journal, from), PATIENCE_MS))
        fail_msg("%s and %s never share", first->name, other->name);
}

void await_enter(struct mix *m, size_t from, bool only_writers)
{
    if (!COMES(has_enter(m, from, only_writers), PATIENCE_MS))
        fail_msg("nobody enters any more");
}

/* The journal is read before the node is looked for: a worker that has entered
 * by then was granted while the node was still there. */
void await_gone(struct mix *m, size_t from, const struct entry *held)
{
    bool only_writers = m->limit == 0 && !held->writes;
    bool entered, gone;
    const char *node = textf("%s/%s", m->held, held->node);

    if (!COMES((entered = has_enter(m, from, only_writers),
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
