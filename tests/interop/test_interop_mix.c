/* SPDX-License-Identifier: Apache-2.0 */
/* Fleets of C, Java and Python on one path, three processes of each, through
 * faults: no overlap, no lost update, first come first served.
 *
 * Each test lets the fleet take the lock INTEROP_CYCLES times in all (default
 * below), on a path of its own, and meanwhile does to it what the name of the
 * test says. */
#include <inttypes.h>

#include "fixture.h"

#include "txn_log.h"
#include "worker.h"

enum {
    PER_KIND = 3,
    FLEET = KINDS * PER_KIND,
    PATIENCE_MS = 120000,
    CYCLES = 45,
    WRITERS_PERCENT = 10,
    SHORT_SESSION_MS = 4000, /* when processes are killed */
    LONG_SESSION_MS = 15000,
    LIMIT = 3, /* of a semaphore */
    TWO_PERMITS_PERCENT = 25,
};

enum fault { NONE, KILL, EXPIRE, RESTART };

/* -- the resource ---------------------------------------------------------- */

/* The resource behind the lock of a mix: a counter that nothing protects but
 * the lock, a fence, and a journal of what the workers do while they hold it.
 *
 * Workers ask for each access (worker.h): reading the counter and writing it
 * are two. As rwlock.h asks of a resource, an access under a write lock is
 * refused when its token is lower than the highest that was seen, one under a
 * read lock when it is lower than the highest that came with a write lock.
 * Under a lease nothing is written, and so the fence refuses none. */

/* A worker holds the lock by one node, from its enter to its leave. */
struct section {
    char worker[16];
    enum kind kind;
    char node[96];
    bool writes;
    int64_t token;
    int64_t found; /* the counter */
    int64_t begin;
    int64_t end; /* JUDGE_NEVER: it holds the lock */
    enum { INSIDE, LEFT, REFUSED } state;
};

struct journal {
    struct section *sections;
    size_t count;
    size_t limit; /* of the leases of a semaphore; 0: it is a lock */
    int64_t now;  /* so many instants have been */
    int64_t counter;
    int64_t seen; /* the highest token; and of a writer */
    int64_t written;
    size_t refused;      /* enters and leaves */
    size_t readers;      /* most readers, or leases, at once */
    bool readers_differ; /* some of these were of different kinds */
};

static void blame(const struct section *s, const char *why)
{
    fail_msg("%s %s %s, token %" PRId64 ": %s", s->worker,
             s->writes ? "write" : "read", s->node, s->token, why);
}

static bool pass_fence(struct journal *j, const struct section *s)
{
    if (s->token < (s->writes ? j->seen : j->written))
        return false;
    j->seen = s->token > j->seen ? s->token : j->seen;
    j->written = s->writes ? s->token : j->written;
    return true;
}

/* Returns the counter, or -1: refused. */
static int64_t journal_enter(struct journal *j, const struct section *entered)
{
    size_t inside = 0;

    if (!pass_fence(j, entered)) {
        j->refused++;
        return -1;
    }
    j->sections = realloc(j->sections, (j->count + 1) * sizeof(*j->sections));
    assert_non_null(j->sections);
    struct section *s = &j->sections[j->count++];
    *s = *entered;
    s->found = j->counter;
    s->begin = ++j->now;
    s->end = JUDGE_NEVER;
    for (size_t i = 0; !s->writes && i < j->count; i++) {
        const struct section *other = &j->sections[i];

        if (other->end != JUDGE_NEVER)
            continue;
        inside++;
        if (other->kind != s->kind)
            j->readers_differ = true;
    }
    j->readers = inside > j->readers ? inside : j->readers;
    return j->counter;
}

/* The worker found the value, or has added 1 to it: the same again, or one more
 * than what is there. The fence refuses no section whose session lives, and
 * accepts none whose session has ended. */
static void journal_leave(struct journal *j, const char *worker, int64_t token,
                          int64_t value)
{
    size_t i = j->count;

    while (i-- > 0 && (strcmp(j->sections[i].worker, worker) != 0 ||
                       j->sections[i].token != token))
        continue;
    assert_true(i < j->count);
    struct section *s = &j->sections[i];
    bool lives = s->end == JUDGE_NEVER;
    s->end = lives ? ++j->now : s->end;
    if (!pass_fence(j, s)) {
        s->state = REFUSED;
        j->refused++;
        if (lives)
            blame(s, "refused though its session lives");
        return;
    }
    s->state = LEFT;
    if (!lives && j->limit == 0)
        blame(s, "accepted though its lock had gone");
    if (value != j->counter + s->writes)
        blame(s, "an update is lost");
    j->counter = value;
}

/* The test has killed the worker, or is about to end its session: from now on
 * its sections do not count. */
static void journal_end(struct journal *j, const char *worker)
{
    j->now++;
    for (size_t i = 0; i < j->count; i++) {
        struct section *s = &j->sections[i];

        if (s->end == JUDGE_NEVER && strcmp(s->worker, worker) == 0)
            s->end = j->now;
    }
}

/* Tells whether that worker, or NULL: any, or a writer of them, has entered
 * from section number `from` on. */
static bool journal_has_enter(const struct journal *j, size_t from,
                              const char *worker, bool only_writers)
{
    for (size_t i = from; i < j->count; i++) {
        const struct section *s = &j->sections[i];

        if ((worker == NULL || strcmp(s->worker, worker) == 0) &&
            (s->writes || !only_writers))
            return true;
    }
    return false;
}

/* By the rules of judge.h, with the lives of the nodes in the log of the
 * server. That has another clock, so that only the order of its deletions
 * counts. */
static void journal_judge(const struct journal *j, const struct life *lives,
                          size_t count)
{
    struct judge_grant *grants = judge_array(j->count, sizeof(*grants));
    struct judge_node *nodes = history_nodes(lives, count);
    struct judge_records records = { .grants = grants,
                                     .grant_count = j->count,
                                     .nodes = nodes,
                                     .node_count = count,
                                     .limit = j->limit };
    struct judgement judgement;

    for (size_t i = 0; i < j->count; i++) {
        const struct section *s = &j->sections[i];

        grants[i] = (struct judge_grant){ .shared = !s->writes,
                                          .token = s->token,
                                          .node = s->node,
                                          .begin = s->begin,
                                          .end = s->end };
        PRINT(grants[i].who, "%s", s->worker);
    }
    judge_lock(&records, &judgement);
    free(grants);
    free(nodes);
    if (judgement.violations > 0)
        fail_msg("%s", judgement.first);
}

/* -- the fleet ------------------------------------------------------------- */

/* Three workers of each kind, busy with one lock, or one semaphore, on a path
 * and with a journal of its own. */
struct mix {
    const char *recipe;
    const char *layout; /* without Curator when it is not its own */
    size_t limit;       /* of a semaphore, which kazoo does not know; or 0 */
    int writers;        /* per cent; see worker.h */
    int session_ms;
    const char *hosts; /* NULL: the server itself */

    /* Set by fleet_begin(): */
    const char *path;
    const char *held; /* the directory of the nodes that hold it */
    const char *queue;
    struct journal journal;
    size_t mixed_from; /* the sections when each worker had entered */
};

static struct worker workers[FLEET];
static int last_number; /* in the name of a worker; never used twice */
static bool is_busy;    /* also after a test that failed in the middle */

/* The test tells each of them what to do, and knows what it does. */
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

static int run_fleets(void)
{
    return test_run_between(NULL, kill_all);
}

/* Number 0 to PER_KIND - 1 of a kind. */
static struct worker *fleet_worker(int kind, int number)
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

/* Returns the next worker of the mix after `w`: the first for NULL, and NULL
 * after the last. */
static struct worker *fleet_next(const struct mix *m, struct worker *w)
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

/* Answers what the workers have asked. Else they hold still. */
static const struct journal *fleet_hear(struct mix *m)
{
    for (struct worker *w = NULL; (w = fleet_next(m, w)) != NULL;) {
        if (w->pid != 0 && worker_hear(w, 0) != NULL)
            on_answer(m, w);
    }
    return &m->journal;
}

/* `from` is the number of a section: earlier ones do not count. */
static void await_worker(struct mix *m, size_t from, const struct worker *w)
{
    if (!COMES(journal_has_enter(fleet_hear(m), from, w->name, false),
               PATIENCE_MS))
        fail_msg("%s does not enter", w->name);
}

/* Lets the workers run until each has had the lock: a virtual machine that
 * starts slowly counts for nothing. */
static void fleet_begin(struct mix *m)
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

static void fleet_end(struct mix *m)
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

/* Returns when the worker holds the lock in that mode: the number of its
 * section. Its enter is not answered before fleet_let_go(): so it can be
 * killed, or its session ended, while it certainly holds the lock. */
static size_t fleet_catch(struct mix *m, const struct worker *w,
                          const char *mode)
{
    part_of(w)->catch = mode;
    if (!COMES(hear_of(m, w)->catch == NULL, PATIENCE_MS))
        fail_msg("%s does not enter as %s", w->name, mode);
    return part_of(w)->section;
}

/* Returns whether the fence took what the worker then wrote. */
static bool fleet_let_go(struct mix *m, struct worker *w)
{
    size_t i = part_of(w)->section;

    worker_tell(w, "%" PRId64, m->journal.sections[i].found);
    if (!COMES(fleet_hear(m)->sections[i].state != INSIDE, PATIENCE_MS))
        fail_msg("%s does not leave", w->name);
    return m->journal.sections[i].state == LEFT;
}

/* A mix is one only when each kind has a fair part in it. */
static void fleet_check_shares(const struct mix *m)
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

/* Since fleet_begin(). */
static void await_sections(struct mix *m, size_t sections)
{
    if (!COMES(fleet_hear(m)->count >= m->mixed_from + sections, PATIENCE_MS))
        fail_msg("only %zu of %zu sections", m->journal.count - m->mixed_from,
                 sections);
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

/* In a mix those who may share meet by chance. So all come to their end but
 * two, of different kinds where both share; returns when both were inside at
 * once. */
static void fleet_share(struct mix *m)
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

/* The node of a dead holder goes, and no conflicting worker has entered before;
 * of a semaphore, nobody. The workers are heard before the node is looked for:
 * one that has entered by then was granted while the node was still there. */
static void await_gone(struct mix *m, size_t from, size_t held)
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

/* The worker has a node; so while another one holds, it waits. */
static void await_queued(const struct mix *m, const struct worker *w)
{
    if (!COMES(is_queued(m->queue, w->session), PATIENCE_MS))
        fail_msg("%s does not queue", w->name);
}

/* Faults: they strike a fleet that is at work. */

static void end(struct worker *w, enum fault fault)
{
    if (fault == KILL)
        worker_kill(w);
    else
        worker_expire(w);
}

/* The worker, or a new one in its place, enters. */
static void come_back(struct mix *m, size_t from, struct worker *w,
                      enum fault fault)
{
    if (fault == KILL) {
        join(m, w);
        run(m, w);
    }
    await_worker(m, from, w);
}

/* The clients reach a server that is to start again through a proxy, which
 * keeps them away while it starts: it forgets those who come too early, and
 * lets them wait. */
static struct proxy *proxy;

/* Nobody else enters while these hold the lock, or all leases. SIGKILL, or the
 * end of the session, for the first of them and, if not NULL, one that waits:
 * the waiter first, as it could enter once the holder has ended. A holder
 * sleeps through the end of its session, somebody else works, and the fence
 * refuses what the sleeper then writes. After a restart of the server all still
 * hold it. */
static void strike(struct mix *m, enum fault fault,
                   struct worker *const holders[], int count, const char *mode,
                   struct worker *waiter)
{
    size_t held = fleet_catch(m, holders[0], mode);

    for (int i = 1; i < count; i++)
        (void)fleet_catch(m, holders[i], mode);
    if (waiter != NULL)
        await_queued(m, waiter);
    size_t from = m->journal.count;
    if (fault == RESTART) {
        proxy_cut(proxy);
        restart_server();
        proxy_heal(proxy);
        assert_int_equal(fleet_hear(m)->count, from);
    } else {
        if (waiter != NULL)
            end(waiter, fault);
        journal_end(&m->journal, holders[0]->name);
        end(holders[0], fault);
        await_gone(m, from, held);
        if (!COMES(journal_has_enter(fleet_hear(m), from, NULL, m->limit == 0),
                   PATIENCE_MS))
            fail_msg("nobody enters any more");
    }
    for (int i = fault == KILL; i < count; i++)
        assert_int_equal(fleet_let_go(m, holders[i]),
                         fault != EXPIRE || m->limit > 0);
    if (fault == RESTART) {
        for (struct worker *w = NULL; (w = fleet_next(m, w)) != NULL;)
            await_worker(m, from, w);
        return;
    }
    come_back(m, from, holders[0], fault);
    if (waiter != NULL)
        come_back(m, from, waiter, fault);
}

/* Each kind is struck: of a semaphore those that know it, else a reader. */
static void strike_all(struct mix *m, enum fault fault)
{
    for (int kind = 0; kind < (m->limit > 0 ? KIND_KAZOO : KINDS); kind++) {
        int other = (kind + 1) % (m->limit > 0 ? KIND_KAZOO : KINDS);
        struct worker *holders[LIMIT] = { fleet_worker(kind, 0),
                                          fleet_worker(other, 0),
                                          fleet_worker(kind, 1) };

        strike(m, fault, holders, m->limit > 0 ? LIMIT : 1,
               m->limit > 0 ? "1" : "write", fleet_worker(other, 1));
    }
    for (int kind = 0;
         kind < KINDS && fault != RESTART && m->limit == 0 && m->writers < 100;
         kind++) {
        struct worker *reader = fleet_worker(kind, 2);

        strike(m, fault, &reader, 1, "read", NULL);
    }
}

/* A mix */

/* First come, first served, also across the kinds: who makes a lease has its
 * turn, and nobody ahead waits for one. */
static void check_turns(const struct mix *m)
{
    size_t turn_count;
    size_t lease_count;
    struct life *turns = history_read(the_server, m->queue, &turn_count);
    struct life *leases = history_read(the_server, m->held, &lease_count);

    assert_non_null(turns);
    assert_non_null(leases);
    for (size_t i = 0; i < lease_count; i++) {
        const struct life *turn = NULL; /* the last before it, of its session */

        for (size_t k = 0; k < turn_count; k++) {
            if (turns[k].owner == leases[i].owner &&
                turns[k].begin < leases[i].begin)
                turn = &turns[k];
        }
        assert_non_null(turn);
        assert_true(turn->end > leases[i].begin);
        for (const struct life *t = turns; t < turn; t++) {
            if (t->end > leases[i].begin)
                fail_msg("%s came before %s, and waits", t->name,
                         leases[i].name);
        }
    }
    free(turns);
    free(leases);
}

static void judge(const struct mix *m, enum fault fault)
{
    const struct journal *j = &m->journal;
    size_t count;
    struct life *lives = history_read(the_server, m->held, &count);

    assert_non_null(lives);
    journal_judge(j, lives, count);
    free(lives);
    /* A busy machine may end more sessions than the test does; a writer that is
     * refused while its session lives has failed in journal_leave(). */
    if (fault == EXPIRE && m->limit == 0)
        assert_true(j->refused >= (m->writers < 100 ? 2 : 1) * KINDS);
    if (m->limit > 0) { /* the faults hold all leases at once */
        assert_in_range(j->readers, m->writers > 0 ? 2 : m->limit, m->limit);
        assert_true(j->readers_differ);
    } else if (m->writers < 100) {
        assert_in_range(j->readers, 2, KINDS * PER_KIND);
        assert_true(j->readers_differ || strcmp(m->layout, "kazoo") == 0);
    }
    fleet_check_shares(m);
    print_message("%zu sections, %" PRId64 " writes, %zu readers at once, "
                  "%zu nodes, %zu refused\n",
                  j->count, j->counter, j->readers, count, j->refused);
}

struct story {
    const char *name;
    const char *recipe; /* NULL: a semaphore */
    const char *layout;
    enum fault fault;
    /* At length: only when INTEROP_CYCLES is given. The fault, and the recipe
     * with another fault or none, are in other rows. */
    enum { ALWAYS, AT_LENGTH } when;
};

/* clang-format off */
static const struct story stories[] = {
    { "three_languages_take_turns", "mutex", "curator", NONE, AT_LENGTH },
    { "mutex_outlives_killed_clients_of_each_kind", "mutex", "curator", KILL, ALWAYS },
    { "mutex_outlives_restarts_of_the_server", "mutex", "curator", RESTART, AT_LENGTH },
    { "mutex_outlives_expired_sessions_of_each_kind", "mutex", "curator", EXPIRE, AT_LENGTH },

    { "readers_share_and_writers_are_alone", "rw", "curator", NONE, AT_LENGTH },
    { "rwlock_outlives_killed_clients_of_each_kind", "rw", "curator", KILL, AT_LENGTH },
    { "rwlock_outlives_restarts_of_the_server", "rw", "curator", RESTART, AT_LENGTH },
    { "rwlock_outlives_expired_sessions_of_each_kind", "rw", "curator", EXPIRE, ALWAYS },

    /* At no moment two lead. */
    { "three_languages_lead_in_turn", "latch", "curator", NONE, ALWAYS },
    { "leadership_outlives_killed_clients_of_each_kind", "latch", "curator", KILL, AT_LENGTH },
    { "leadership_outlives_restarts_of_the_server", "latch", "curator", RESTART, AT_LENGTH },
    { "leadership_outlives_expired_sessions_of_each_kind", "latch", "curator", EXPIRE, AT_LENGTH },

    { "c_and_kazoo_as_it_is_lead_in_turn", "latch", "kazoo", NONE, AT_LENGTH },
    { "c_and_kazoo_as_it_is_take_turns", "mutex", "kazoo", NONE, ALWAYS },
    { "readers_of_ours_share_with_writers_of_kazoo", "rw", "kazoo", NONE, ALWAYS },

    { "never_more_leases_than_the_limit", NULL, "curator", NONE, ALWAYS },
    { "leases_outlive_killed_clients_of_each_kind", NULL, "curator", KILL, AT_LENGTH },
    { "leases_outlive_restarts_of_the_server", NULL, "curator", RESTART, ALWAYS },
    { "leases_outlive_expired_sessions_of_each_kind", NULL, "curator", EXPIRE, AT_LENGTH },
};
/* clang-format on */

/* Of a semaphore, ours acquire two leases at once now and then, without faults.
 * Curator does not: it would take a turn for each, and two that each have a
 * part would wait for ever. */
static int writers_of(const struct story *story)
{
    if (story->recipe == NULL)
        return story->fault == NONE ? TWO_PERMITS_PERCENT : 0;
    return strcmp(story->recipe, "rw") == 0 ? WRITERS_PERCENT : 100;
}

TEST_ROWS(fleet, stories, story)
{
    size_t all = (size_t)test_number("INTEROP_CYCLES", CYCLES);
    int64_t began = now_ms();
    struct mix m = { .recipe = story->recipe,
                     .layout = story->layout,
                     .writers = writers_of(story),
                     .limit = story->recipe == NULL ? LIMIT : 0,
                     .session_ms = story->fault == KILL ? SHORT_SESSION_MS
                                                        : LONG_SESSION_MS };

    if (story->when == AT_LENGTH && getenv("INTEROP_CYCLES") == NULL)
        skip();
    if (story->fault == RESTART) {
        assert_int_equal(proxy_start(server_hosts(the_server), &proxy), 0);
        m.hosts = proxy_hosts(proxy);
    }
    fleet_begin(&m);
    await_sections(&m, all / 3);
    if (story->fault != NONE)
        strike_all(&m, story->fault);
    await_sections(&m, all);
    if (m.limit > 0 || m.writers < 100)
        fleet_share(&m);
    fleet_end(&m);
    judge(&m, story->fault);
    print_message("in %" PRId64 " ms\n", now_ms() - began);
    free(m.journal.sections);
    if (story->fault == RESTART)
        proxy_stop(proxy);
    if (m.limit > 0 && story->fault == NONE)
        check_turns(&m);
}

int main(void)
{
    return workers_installed() ? run_with_server(NULL, run_fleets) : 77;
}
