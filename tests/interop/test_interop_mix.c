/* SPDX-License-Identifier: Apache-2.0 */
/* Fleets of C, Java and Python on one path, three processes of each, through
 * faults: no overlap, no lost update, first come first served.
 *
 * Each test lets the fleet take the lock INTEROP_CYCLES times in all (default
 * below), on a path of its own, and meanwhile does to it what the name of the
 * test says. section.h says what the workers do while they hold it, and how the
 * test catches one of them there; journal.h how the outcome is judged. */
#include <inttypes.h>

#include "fleet.h"

enum {
    CYCLES = 45,
    WRITERS_PERCENT = 10,
    SHORT_SESSION_MS = 4000, /* when processes are killed */
    LONG_SESSION_MS = 15000,
    LIMIT = 3, /* of a semaphore */
    TWO_PERMITS_PERCENT = 25,
};

/* A fault: it strikes a fleet that is at work. */
typedef void (*fault_fn)(struct mix *m);

/* Faults */

/* SIGKILL for one that holds and, if not NULL, one that waits: the waiter
 * first, as it could enter once the holder has ended. */
static void kill_two(struct mix *m, struct worker *holder, const char *mode,
                     struct worker *waiter)
{
    struct entry held = fleet_catch(m, holder, mode);
    size_t from = m->journal.count;

    if (waiter != NULL) {
        await_queued(m, waiter);
        worker_kill(waiter);
    }
    journal_note_ended(m->dir, holder->name);
    worker_kill(holder);
    await_gone(m, from, &held);
    await_enter(m, from, true);
    fleet_replace(m, holder);
    if (waiter != NULL)
        fleet_replace(m, waiter);
}

static void kill_some_of_each_kind(struct mix *m)
{
    for (int kind = 0; kind < KINDS; kind++)
        kill_two(m, fleet_worker(kind, 0), "write",
                 fleet_worker((kind + 1) % KINDS, 1));
    for (int kind = 0; kind < KINDS && m->writers < 100; kind++)
        kill_two(m, fleet_worker(kind, 2), "read", NULL);
}

/* The holder sleeps through the end of its session, somebody else works, and
 * the fence refuses what the sleeper then writes. */
static void expire_two(struct mix *m, struct worker *holder, const char *mode,
                       struct worker *waiter)
{
    (void)fleet_catch(m, holder, mode);
    size_t from = m->journal.count;
    if (waiter != NULL) {
        await_queued(m, waiter);
        worker_expire(waiter);
    }
    journal_note_ended(m->dir, holder->name);
    worker_expire(holder);
    await_enter(m, from, true);
    fleet_let_go(m, holder, mode);
    assert_int_equal(await_entry(m, from, "LEAVE", holder->name).value, -1);
    (void)await_entry(m, from, "ENTER", holder->name);
    if (waiter != NULL)
        (void)await_entry(m, from, "ENTER", waiter->name);
}

static void expire_some_of_each_kind(struct mix *m)
{
    for (int kind = 0; kind < KINDS; kind++)
        expire_two(m, fleet_worker(kind, 0), "write",
                   fleet_worker((kind + 1) % KINDS, 1));
    for (int kind = 0; kind < KINDS && m->writers < 100; kind++)
        expire_two(m, fleet_worker(kind, 2), "read", NULL);
}

/* The clients reach the server through a proxy that keeps them away while it
 * starts: a server forgets those who come too early, and lets them wait. */
static struct proxy *proxy;

/* The fault comes while a worker of each kind holds the lock, and the worker
 * still holds it afterwards. */
static void restart_under_each_kind(struct mix *m)
{
    for (int kind = 0; kind < KINDS; kind++) {
        struct worker *holder = fleet_worker(kind, 0);

        (void)fleet_catch(m, holder, "write");
        size_t from = m->journal.count;
        proxy_cut(proxy);
        restart_server();
        proxy_heal(proxy);
        fleet_let_go(m, holder, "write");
        assert_true(await_entry(m, from, "LEAVE", holder->name).value > 0);
        for (struct worker *w = NULL; (w = fleet_next(m, w)) != NULL;)
            (void)await_entry(m, from, "ENTER", w->name);
    }
}

/* Faults of a semaphore: all leases are held meanwhile, so that nobody enters,
 * and all others wait. The first holder is one of that kind. */
struct full {
    struct worker *holders[LIMIT];
    struct worker *waiter;
    struct entry held; /* by the first */
    size_t from;
};

static void fill(struct mix *m, int kind, struct full *ret)
{
    int other = kind == KIND_C ? KIND_CURATOR : KIND_C;

    assert_int_equal(m->limit, LIMIT);
    ret->holders[0] = fleet_worker(kind, 0);
    ret->holders[1] = fleet_worker(other, 0);
    ret->holders[2] = fleet_worker(kind, 1);
    ret->waiter = fleet_worker(other, 1);
    ret->held = fleet_catch(m, ret->holders[0], "1");
    for (int i = 1; i < LIMIT; i++)
        (void)fleet_catch(m, ret->holders[i], "1");
    await_queued(m, ret->waiter);
    ret->from = m->journal.count;
}

static void empty(struct mix *m, const struct full *f, int first)
{
    for (int i = first; i < LIMIT; i++)
        fleet_let_go(m, f->holders[i], "1");
}

static void kill_lessees_of_each_kind(struct mix *m)
{
    for (int kind = KIND_C; kind <= KIND_CURATOR; kind++) {
        struct full f;

        fill(m, kind, &f);
        worker_kill(f.waiter);
        journal_note_ended(m->dir, f.holders[0]->name);
        worker_kill(f.holders[0]);
        await_gone(m, f.from, &f.held);
        await_enter(m, f.from, false);
        empty(m, &f, 1);
        fleet_replace(m, f.holders[0]);
        fleet_replace(m, f.waiter);
    }
}

/* The first holder sleeps through the end of its session. */
static void expire_lessees_of_each_kind(struct mix *m)
{
    for (int kind = KIND_C; kind <= KIND_CURATOR; kind++) {
        struct full f;

        fill(m, kind, &f);
        worker_expire(f.waiter);
        journal_note_ended(m->dir, f.holders[0]->name);
        worker_expire(f.holders[0]);
        await_gone(m, f.from, &f.held);
        await_enter(m, f.from, false);
        empty(m, &f, 0);
        (void)await_entry(m, f.from, "ENTER", f.holders[0]->name);
        (void)await_entry(m, f.from, "ENTER", f.waiter->name);
    }
}

/* All still hold their leases afterwards. */
static void restart_under_lessees_of_each_kind(struct mix *m)
{
    for (int kind = KIND_C; kind <= KIND_CURATOR; kind++) {
        struct full f;

        fill(m, kind, &f);
        proxy_cut(proxy);
        restart_server();
        proxy_heal(proxy);
        journal_read(&m->journal);
        assert_false(journal_has_enter(&m->journal, f.from, false));
        empty(m, &f, 0);
        for (struct worker *w = NULL; (w = fleet_next(m, w)) != NULL;)
            (void)await_entry(m, f.from, "ENTER", w->name);
    }
}

/* A mix */

static int64_t counter_of(const struct mix *m)
{
    int64_t counter = -1;
    FILE *f = fopen(textf("%s/resource", m->dir), "re");

    assert_non_null(f);
    assert_int_equal(fscanf(f, "%" SCNd64, &counter), 1);
    (void)fclose(f);
    return counter;
}

static void check_readers(const struct mix *m, const struct verdict *v)
{
    if (m->limit > 0) { /* the faults hold all leases at once */
        assert_in_range(v->readers, m->writers > 0 ? 2 : m->limit, m->limit);
        assert_true(v->readers_differ);
    } else if (m->writers < 100) {
        assert_in_range(v->readers, 2, KINDS * PER_KIND);
        assert_true(v->readers_differ || strcmp(m->layout, "kazoo") == 0);
    }
}

/* The last turn that a session had before it made that lease, or NULL. */
static const struct life *turn_of(const struct life *turns, size_t count,
                                  const struct life *lease)
{
    const struct life *turn = NULL;

    for (size_t i = 0; i < count; i++) {
        if (turns[i].owner == lease->owner && turns[i].begin < lease->begin)
            turn = &turns[i];
    }
    return turn;
}

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
        const struct life *turn = turn_of(turns, turn_count, &leases[i]);

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

static void judge(const struct mix *m, size_t expected_refusals)
{
    struct verdict v;
    size_t count;

    struct life *lives = history_read(the_server, m->held, &count);
    assert_non_null(lives);
    journal_judge(&m->journal, lives, count, &v);
    free(lives);
    assert_int_equal(v.writes, counter_of(m));
    /* A busy machine may end more sessions than the test does; a writer that is
     * refused while its session lives has failed in journal_judge(). */
    assert_true(v.refused >= expected_refusals);
    check_readers(m, &v);
    fleet_check_shares(m);
    print_message("%zu sections, %" PRId64 " writes, %zu readers at once, "
                  "%zu nodes, %zu refused\n",
                  m->journal.sections, v.writes, v.readers, count, v.refused);
}

static void mix(struct mix *m, fault_fn fault, size_t expected_refusals)
{
    size_t all = (size_t)test_number("INTEROP_CYCLES", CYCLES);
    int64_t began = now_ms();

    fleet_begin(m);
    await_sections(m, all / 3);
    if (fault != NULL)
        fault(m);
    await_sections(m, all);
    if (m->limit > 0 || m->writers < 100)
        fleet_share(m);
    fleet_end(m);
    judge(m, expected_refusals);
    print_message("in %" PRId64 " ms\n", now_ms() - began);
    journal_free(&m->journal);
}

struct story {
    const char *name;
    const char *recipe; /* NULL: a semaphore */
    const char *layout;
    int writers;    /* in percent; of a semaphore: those who take two permits */
    fault_fn fault; /* or NULL */
    size_t refusals; /* by the fence, at the least */
    bool by_proxy;   /* the server restarts */
    bool brief;      /* sessions, as processes are killed */
    bool at_length;  /* only when INTEROP_CYCLES is given: the fault, and the
                      * recipe with another fault or none, are in other rows */
};

/* clang-format off */
static const struct story stories[] = {
    { "three_languages_take_turns", "mutex", "curator", .writers = 100,
      .at_length = true },
    { "mutex_outlives_killed_clients_of_each_kind", "mutex", "curator",
      .writers = 100, .fault = kill_some_of_each_kind, .brief = true },
    { "mutex_outlives_restarts_of_the_server", "mutex", "curator",
      .writers = 100, .fault = restart_under_each_kind, .by_proxy = true,
      .at_length = true },
    { "mutex_outlives_expired_sessions_of_each_kind", "mutex", "curator",
      .writers = 100, .fault = expire_some_of_each_kind, .refusals = KINDS,
      .at_length = true },

    { "readers_share_and_writers_are_alone", "rw", "curator",
      .writers = WRITERS_PERCENT,
      .at_length = true },
    { "rwlock_outlives_killed_clients_of_each_kind", "rw", "curator",
      .writers = WRITERS_PERCENT, .fault = kill_some_of_each_kind,
      .brief = true,
      .at_length = true },
    { "rwlock_outlives_restarts_of_the_server", "rw", "curator",
      .writers = WRITERS_PERCENT, .fault = restart_under_each_kind,
      .by_proxy = true,
      .at_length = true },
    { "rwlock_outlives_expired_sessions_of_each_kind", "rw", "curator",
      .writers = WRITERS_PERCENT, .fault = expire_some_of_each_kind,
      .refusals = 2 * KINDS },

    /* At no moment two lead. */
    { "three_languages_lead_in_turn", "latch", "curator", .writers = 100 },
    { "leadership_outlives_killed_clients_of_each_kind", "latch", "curator",
      .writers = 100, .fault = kill_some_of_each_kind, .brief = true,
      .at_length = true },
    { "leadership_outlives_restarts_of_the_server", "latch", "curator",
      .writers = 100, .fault = restart_under_each_kind, .by_proxy = true,
      .at_length = true },
    { "leadership_outlives_expired_sessions_of_each_kind", "latch", "curator",
      .writers = 100, .fault = expire_some_of_each_kind, .refusals = KINDS,
      .at_length = true },

    { "c_and_kazoo_as_it_is_lead_in_turn", "latch", "kazoo", .writers = 100,
      .at_length = true },
    { "c_and_kazoo_as_it_is_take_turns", "mutex", "kazoo", .writers = 100 },
    { "readers_of_ours_share_with_writers_of_kazoo", "rw", "kazoo",
      .writers = WRITERS_PERCENT },

    /* Ours acquire two leases at once now and then. Curator does not: it would
     * take a turn for each, and two that each have a part would wait for
     * ever. */
    { "never_more_leases_than_the_limit", NULL, "curator",
      .writers = TWO_PERMITS_PERCENT },
    { "leases_outlive_killed_clients_of_each_kind", NULL, "curator",
      .fault = kill_lessees_of_each_kind, .brief = true,
      .at_length = true },
    { "leases_outlive_restarts_of_the_server", NULL, "curator",
      .fault = restart_under_lessees_of_each_kind, .by_proxy = true },
    { "leases_outlive_expired_sessions_of_each_kind", NULL, "curator",
      .fault = expire_lessees_of_each_kind,
      .at_length = true },

};
/* clang-format on */

TEST_ROWS(fleet, stories, story)
{
    struct mix m = { .recipe = story->recipe,
                     .layout = story->layout,
                     .writers = story->writers,
                     .limit = story->recipe == NULL ? LIMIT : 0,
                     .session_ms =
                         story->brief ? SHORT_SESSION_MS : LONG_SESSION_MS };

    if (story->at_length && getenv("INTEROP_CYCLES") == NULL)
        skip();
    if (story->by_proxy) {
        assert_int_equal(proxy_start(server_hosts(the_server), &proxy), 0);
        m.hosts = proxy_hosts(proxy);
    }
    mix(&m, story->fault, story->refusals);
    if (story->by_proxy)
        proxy_stop(proxy);
    if (m.limit > 0 && story->fault == NULL)
        check_turns(&m);
}

static int run_group(void)
{
    return test_run_between(fleet_set_up, fleet_tear_down);
}

int main(void)
{
    return workers_installed() ? run_with_server(NULL, run_group) : 77;
}
