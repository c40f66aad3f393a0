/* Fleets of C, Java and Python on one path, three processes of each, through
 * faults: no overlap, no lost update, first come first served.
 *
 * Each test lets the fleet take the lock INTEROP_CYCLES times in all (default
 * below), on a path of its own, and meanwhile does to it what the name of the
 * test says. section.h says what the workers do while they hold it, and how the
 * test catches one of them there; journal.h how the outcome is judged. */
#include "fixture.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "history.h"
#include "journal.h"
#include "proxy.h"
#include "spawn.h"
#include "worker.h"

enum {
    PER_KIND = 3,
    CYCLES = 2000,
    WRITERS_PERCENT = 10,
    MIX_MS = 120000,
    SHORT_SESSION_MS = 4000, /* when processes are killed */
    LONG_SESSION_MS = 15000,
};

static struct worker fleet[KINDS][PER_KIND];
static char fleet_dir[64];
static struct guard fleet_guard;
static int last_number;    /* in the name of a worker; never used twice */
static bool fleet_is_busy; /* because a test failed in the middle */

struct mix {
    const char *path;
    const char *recipe;
    const char *layout;
    int writers;
    int session_ms;
    const char *hosts;
    char dir[PATH_MAX / 2];
    struct journal journal;
};

/* What is done to a fleet; the first call, when a third of the cycles is done.
 */
typedef void (*fault_fn)(struct mix *m);

static long cycles(void)
{
    const char *text = getenv("INTEROP_CYCLES");

    return text != NULL ? strtol(text, NULL, 10) : CYCLES;
}

/* The fleet */

static void kill_fleet(void)
{
    for (int kind = 0; kind < KINDS; kind++) {
        for (int i = 0; i < PER_KIND; i++)
            worker_kill(&fleet[kind][i]);
    }
}

static int fleet_set_up(void **state)
{
    (void)state;
    (void)snprintf(fleet_dir, sizeof(fleet_dir), "%s", "/tmp/interop-XXXXXX");
    assert_non_null(mkdtemp(fleet_dir));
    assert_int_equal(guard_start(&fleet_guard, fleet_dir), 0);
    return 0;
}

static int fleet_tear_down(void **state)
{
    (void)state;
    kill_fleet();
    guard_finish(&fleet_guard);
    return 0;
}

static bool takes_part(const struct mix *m, enum kind kind)
{
    return kind != KIND_CURATOR || strcmp(m->layout, "curator") == 0;
}

#define FOR_FLEET(m, w)                                                        \
    for (int k_ = 0; k_ < KINDS; k_++)                                         \
        for (struct worker *w = fleet[k_]; w < fleet[k_] + PER_KIND; w++)      \
            if (takes_part(m, (enum kind)k_))

/* kazoo's own read lock waits for writers behind it, so kazoo only writes. */
static int writers_of(const struct mix *m, const struct worker *w)
{
    return w->kind == KIND_KAZOO && strcmp(m->layout, "kazoo") == 0
               ? 100
               : m->writers;
}

static void join(const struct mix *m, struct worker *w, enum kind kind)
{
    if (w->pid == 0)
        worker_start(w, kind, ++last_number);
    worker_open(w, m->hosts, m->session_ms);
    worker_do(w, "lock", "lock %s %s %s", m->recipe, m->layout, m->path);
}

static void run(const struct mix *m, struct worker *w)
{
    worker_tell(w, "run %s %d", m->dir, writers_of(m, w));
}

static void touch(const struct mix *m, const char *name)
{
    char path[PATH_MAX];
    int fd;

    (void)snprintf(path, sizeof(path), "%s/%s", m->dir, name);
    fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    (void)close(fd);
}

/* Progress */

struct goal {
    struct mix *mix;
    size_t sections;
    const char *what;
    const char *worker;
    size_t from;
};

static bool has_sections(void *arg)
{
    struct goal *g = arg;

    journal_read(&g->mix->journal);
    return g->mix->journal.sections >= g->sections;
}

static void await_sections(struct mix *m, size_t sections)
{
    struct goal g = { .mix = m, .sections = sections };

    if (!wait_until(has_sections, &g, MIX_MS))
        fail_msg("only %zu of %zu sections", m->journal.sections, sections);
}

static bool has_entry(void *arg)
{
    struct goal *g = arg;

    journal_read(&g->mix->journal);
    return journal_last(&g->mix->journal, g->from, g->what, g->worker) != NULL;
}

static const struct entry *await_entry(struct mix *m, size_t from,
                                       const char *what, const char *worker)
{
    struct goal g = { m, 0, what, worker, from };

    if (!wait_until(has_entry, &g, MIX_MS))
        fail_msg("no %s of %s", what, worker != NULL ? worker : "anybody");
    return journal_last(&m->journal, from, what, worker);
}

/* Catching workers */

static void stall_name(const struct worker *w, const char *mode, char name[64])
{
    (void)snprintf(name, 64, "stall-%s-%s", w->name, mode);
}

/* Returns when it holds the lock in that mode, and goes on holding. */
static struct entry catch (struct mix *m, const struct worker *w,
                           const char *mode)
{
    char name[64];

    stall_name(w, mode, name);
    touch(m, name);
    return *await_entry(m, m->journal.count, "STALL", w->name);
}

static void let_go(const struct mix *m, const struct worker *w,
                   const char *mode)
{
    char path[PATH_MAX];
    char name[64];

    stall_name(w, mode, name);
    (void)snprintf(path, sizeof(path), "%s/%s", m->dir, name);
    assert_int_equal(unlink(path), 0);
}

struct queued {
    const char *path;
    int64_t session;
};

static bool is_queued(void *arg)
{
    const struct queued *q = arg;
    char **names;
    size_t count;
    bool found = false;

    if (admin_children(admin, q->path, &names, &count) != ZOK)
        return false;
    for (size_t i = 0; i < count && !found; i++) {
        struct Stat stat;
        char node[512];

        (void)snprintf(node, sizeof(node), "%s/%s", q->path, names[i]);
        found = admin_exists(admin, node, &stat) == ZOK &&
                stat.ephemeralOwner == q->session;
    }
    admin_children_free(names, count);
    return found;
}

/* While another one holds, having a node is waiting. */
static void await_queued(const struct mix *m, const struct worker *w)
{
    struct queued q = { m->path, w->session };

    if (!wait_until(is_queued, &q, MIX_MS))
        fail_msg("%s does not queue", w->name);
}

static bool has_entered(const struct journal *j, size_t from, bool only_writers)
{
    for (size_t i = from; i < j->count; i++) {
        if (strcmp(j->entries[i].what, "ENTER") == 0 &&
            (j->entries[i].writes || !only_writers))
            return true;
    }
    return false;
}

struct left {
    struct mix *mix;
    char node[512];
    size_t from;
    bool only_writers;
    bool early;
};

/* The journal first: who is in it was granted while the node was there. */
static bool has_left(void *arg)
{
    struct left *l = arg;
    bool entered;

    journal_read(&l->mix->journal);
    entered = has_entered(&l->mix->journal, l->from, l->only_writers);
    if (admin_exists(admin, l->node, NULL) == ZNONODE)
        return true;
    l->early = entered;
    return l->early;
}

/* Nobody who conflicts enters before the node of a dead holder has gone. */
static void await_left(struct mix *m, const struct entry *held)
{
    struct left l = { .mix = m,
                      .from = m->journal.count,
                      .only_writers = !held->writes };

    (void)snprintf(l.node, sizeof(l.node), "%s/%s", m->path, held->node);
    if (!wait_until(has_left, &l, MIX_MS))
        fail_msg("%s stays", l.node);
    if (l.early)
        fail_msg("somebody entered while %s was there", l.node);
}

struct entered {
    struct mix *mix;
    size_t from;
    bool only_writers;
};

static bool has_entered_now(void *arg)
{
    struct entered *e = arg;

    journal_read(&e->mix->journal);
    return has_entered(&e->mix->journal, e->from, e->only_writers);
}

static void await_entered(struct mix *m, size_t from, bool only_writers)
{
    struct entered e = { m, from, only_writers };

    if (!wait_until(has_entered_now, &e, MIX_MS))
        fail_msg("nobody enters any more");
}

/* Faults */

static void no_fault(struct mix *m)
{
    (void)m;
}

static void bury_and_replace(struct mix *m, struct worker *w)
{
    worker_kill(w);
    join(m, w, w->kind);
    run(m, w);
    (void)await_entry(m, m->journal.count, "ENTER", w->name);
}

/* SIGKILL for one that holds and, if not NULL, one that waits. */
static void kill_two(struct mix *m, struct worker *holder, const char *mode,
                     struct worker *waiter)
{
    struct entry held = catch (m, holder, mode);
    size_t from = m->journal.count;

    if (waiter != NULL)
        await_queued(m, waiter);
    journal_note_ended(m->dir, holder->name);
    worker_kill(holder);
    if (waiter != NULL)
        worker_kill(waiter);
    await_left(m, &held);
    await_entered(m, from, true);
    bury_and_replace(m, holder);
    if (waiter != NULL)
        bury_and_replace(m, waiter);
}

static void kill_some_of_each_kind(struct mix *m)
{
    for (int kind = 0; kind < KINDS; kind++)
        kill_two(m, &fleet[kind][0], "write", &fleet[(kind + 1) % KINDS][1]);
    for (int kind = 0; kind < KINDS && m->writers < 100; kind++)
        kill_two(m, &fleet[kind][2], "read", NULL);
}

/* The holder sleeps through the end of its session, somebody else works, and
 * the fence refuses what the sleeper then writes. */
static void expire_two(struct mix *m, struct worker *holder, const char *mode,
                       struct worker *waiter)
{
    size_t from;

    (void)catch (m, holder, mode);
    from = m->journal.count;
    if (waiter != NULL)
        await_queued(m, waiter);
    journal_note_ended(m->dir, holder->name);
    worker_expire(holder);
    if (waiter != NULL)
        worker_expire(waiter);
    await_entered(m, from, true);
    let_go(m, holder, mode);
    assert_int_equal(await_entry(m, from, "LEAVE", holder->name)->value, -1);
    (void)await_entry(m, from, "ENTER", holder->name);
    if (waiter != NULL)
        (void)await_entry(m, from, "ENTER", waiter->name);
}

static void expire_some_of_each_kind(struct mix *m)
{
    for (int kind = 0; kind < KINDS; kind++)
        expire_two(m, &fleet[kind][0], "write", &fleet[(kind + 1) % KINDS][1]);
    for (int kind = 0; kind < KINDS && m->writers < 100; kind++)
        expire_two(m, &fleet[kind][2], "read", NULL);
}

/* The clients reach the server through a proxy that keeps them away while it
 * starts: a server forgets those who come too early, and lets them wait. */
static struct proxy *proxy;

/* While one of each kind holds the lock, and still does afterwards. */
static void restart_under_each_kind(struct mix *m)
{
    for (int kind = 0; kind < KINDS; kind++) {
        struct worker *holder = &fleet[kind][0];
        size_t from;

        (void)catch (m, holder, "write");
        from = m->journal.count;
        proxy_cut(proxy);
        server_kill9(the_server);
        restart_server();
        proxy_heal(proxy);
        let_go(m, holder, "write");
        assert_true(await_entry(m, from, "LEAVE", holder->name)->value > 0);
        FOR_FLEET(m, w)
        (void)await_entry(m, from, "ENTER", w->name);
    }
}

/* A mix */

static void begin(struct mix *m)
{
    if (fleet_is_busy)
        kill_fleet();
    fleet_is_busy = true;
    m->path = new_path();
    (void)snprintf(m->dir, sizeof(m->dir), "%s/%s", fleet_dir,
                   strrchr(m->path, '/') + 1);
    assert_int_equal(mkdir(m->dir, 0700), 0);
    journal_create(&m->journal, m->dir);
    if (m->hosts == NULL)
        m->hosts = server_hosts(the_server);
    FOR_FLEET(m, w)
    join(m, w, (enum kind)k_);
    FOR_FLEET(m, w)
    run(m, w);
}

static void end(struct mix *m)
{
    touch(m, "stop");
    FOR_FLEET(m, w)
    worker_expect(w, "ran ");
    FOR_FLEET(m, w)
    worker_do(w, "closed", "close");
    fleet_is_busy = false;
    wait_children(m->path, 0);
    journal_read(&m->journal);
}

static int64_t counter_of(const struct mix *m)
{
    char path[PATH_MAX];
    int64_t counter = -1;
    FILE *f;

    (void)snprintf(path, sizeof(path), "%s/resource", m->dir);
    f = fopen(path, "re");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%" SCNd64, &counter), 1);
    (void)fclose(f);
    return counter;
}

/* A mix is one only when everybody has a fair part in it. */
static void check_shares(const struct mix *m)
{
    size_t of[KINDS] = { 0 };

    for (size_t i = 0; i < m->journal.count; i++) {
        const struct entry *e = &m->journal.entries[i];

        for (int kind = 0; kind < KINDS; kind++) {
            if (strcmp(e->what, "ENTER") == 0 &&
                journal_same_kind(e->worker, fleet[kind][0].name))
                of[kind]++;
        }
    }
    for (int kind = 0; kind < KINDS; kind++) {
        print_message("%zu like %s, ", of[kind], fleet[kind][0].name);
        if (takes_part(m, (enum kind)kind))
            assert_true(of[kind] >= m->journal.sections / 10);
    }
}

static void judge(const struct mix *m, size_t expected_refusals)
{
    struct verdict v;
    struct life *lives;
    size_t count;

    journal_replay(&m->journal, &v);
    assert_int_equal(v.writes, counter_of(m));
    assert_int_equal(v.refused, expected_refusals);
    if (m->writers < 100) {
        assert_in_range(v.readers, 2, KINDS * PER_KIND);
        assert_true(v.readers_differ || strcmp(m->layout, "kazoo") == 0);
    }
    check_shares(m);
    lives = history_read(the_server, m->path, &count);
    assert_non_null(lives);
    journal_compare(&m->journal, lives, count);
    free(lives);
    print_message("%zu sections, %" PRId64 " writes, %zu readers at once, "
                  "%zu nodes, %zu refused\n",
                  m->journal.sections, v.writes, v.readers, count, v.refused);
}

static void mix(struct mix *m, fault_fn fault, size_t expected_refusals)
{
    size_t all = (size_t)cycles();
    int64_t began = now_ms();

    if (m->session_ms == 0)
        m->session_ms = LONG_SESSION_MS;
    begin(m);
    await_sections(m, all / 3);
    fault(m);
    await_sections(m, all);
    end(m);
    judge(m, expected_refusals);
    print_message("in %" PRId64 " ms\n", now_ms() - began);
    journal_free(&m->journal);
}

static void mix_through_proxy(struct mix *m, fault_fn fault)
{
    assert_int_equal(proxy_start(server_hosts(the_server), &proxy), 0);
    m->hosts = proxy_hosts(proxy);
    mix(m, fault, 0);
    proxy_stop(proxy);
}

static void three_languages_take_turns(void **state)
{
    struct mix m = { .recipe = "mutex", .layout = "curator", .writers = 100 };

    (void)state;
    mix(&m, no_fault, 0);
}

static void mutex_outlives_killed_clients_of_each_kind(void **state)
{
    struct mix m = { .recipe = "mutex",
                     .layout = "curator",
                     .writers = 100,
                     .session_ms = SHORT_SESSION_MS };

    (void)state;
    mix(&m, kill_some_of_each_kind, 0);
}

static void mutex_outlives_restarts_of_the_server(void **state)
{
    struct mix m = { .recipe = "mutex", .layout = "curator", .writers = 100 };

    (void)state;
    mix_through_proxy(&m, restart_under_each_kind);
}

static void mutex_outlives_expired_sessions_of_each_kind(void **state)
{
    struct mix m = { .recipe = "mutex", .layout = "curator", .writers = 100 };

    (void)state;
    mix(&m, expire_some_of_each_kind, KINDS);
}

static void readers_share_and_writers_are_alone(void **state)
{
    struct mix m = { .recipe = "rw",
                     .layout = "curator",
                     .writers = WRITERS_PERCENT };

    (void)state;
    mix(&m, no_fault, 0);
}

static void rwlock_outlives_killed_clients_of_each_kind(void **state)
{
    struct mix m = { .recipe = "rw",
                     .layout = "curator",
                     .writers = WRITERS_PERCENT,
                     .session_ms = SHORT_SESSION_MS };

    (void)state;
    mix(&m, kill_some_of_each_kind, 0);
}

static void rwlock_outlives_restarts_of_the_server(void **state)
{
    struct mix m = { .recipe = "rw",
                     .layout = "curator",
                     .writers = WRITERS_PERCENT };

    (void)state;
    mix_through_proxy(&m, restart_under_each_kind);
}

static void rwlock_outlives_expired_sessions_of_each_kind(void **state)
{
    struct mix m = { .recipe = "rw",
                     .layout = "curator",
                     .writers = WRITERS_PERCENT };

    (void)state;
    mix(&m, expire_some_of_each_kind, 2 * KINDS);
}

static void c_and_kazoo_as_it_is_take_turns(void **state)
{
    struct mix m = { .recipe = "mutex", .layout = "kazoo", .writers = 100 };

    (void)state;
    mix(&m, no_fault, 0);
}

static void readers_of_ours_share_with_writers_of_kazoo(void **state)
{
    struct mix m = { .recipe = "rw",
                     .layout = "kazoo",
                     .writers = WRITERS_PERCENT };

    (void)state;
    mix(&m, no_fault, 0);
}

static int run_group(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(three_languages_take_turns),
        cmocka_unit_test(mutex_outlives_killed_clients_of_each_kind),
        cmocka_unit_test(mutex_outlives_restarts_of_the_server),
        cmocka_unit_test(mutex_outlives_expired_sessions_of_each_kind),
        cmocka_unit_test(readers_share_and_writers_are_alone),
        cmocka_unit_test(rwlock_outlives_killed_clients_of_each_kind),
        cmocka_unit_test(rwlock_outlives_restarts_of_the_server),
        cmocka_unit_test(rwlock_outlives_expired_sessions_of_each_kind),
        cmocka_unit_test(c_and_kazoo_as_it_is_take_turns),
        cmocka_unit_test(readers_of_ours_share_with_writers_of_kazoo),
    };

    return cmocka_run_group_tests_name("interop-mix", tests, fleet_set_up,
                                       fleet_tear_down);
}

int main(void)
{
    return workers_installed() ? run_with_server(NULL, run_group) : 77;
}
