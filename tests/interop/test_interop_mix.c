/* SPDX-License-Identifier: Apache-2.0 */
/* Fleets of C, Java and Python on one path, three processes of each, through
 * faults: no overlap, no lost update, first come first served.
 *
 * Each test lets the fleet take the lock INTEROP_CYCLES times in all (default
 * below), on a path of its own, and meanwhile does to it what the name of the
 * test says. journal.h says what the workers do while they hold it, and how
 * that is judged; fleet.h how the test catches one of them there. */
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

enum fault { NONE, KILL, EXPIRE, RESTART };

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
    if (fault == KILL)
        fleet_replace(m, w);
    else
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
        await_enter(m, from, m->limit == 0);
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

/* Each kind is struck: of a semaphore those that know it, else also one that
 * reads. */
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
    { "mutex_outlives_killed_clients_of_each_kind", "mutex", "curator", KILL,
      ALWAYS },
    { "mutex_outlives_restarts_of_the_server", "mutex", "curator", RESTART,
      AT_LENGTH },
    { "mutex_outlives_expired_sessions_of_each_kind", "mutex", "curator",
      EXPIRE, AT_LENGTH },

    { "readers_share_and_writers_are_alone", "rw", "curator", NONE, AT_LENGTH },
    { "rwlock_outlives_killed_clients_of_each_kind", "rw", "curator", KILL,
      AT_LENGTH },
    { "rwlock_outlives_restarts_of_the_server", "rw", "curator", RESTART,
      AT_LENGTH },
    { "rwlock_outlives_expired_sessions_of_each_kind", "rw", "curator", EXPIRE,
      ALWAYS },

    /* At no moment two lead. */
    { "three_languages_lead_in_turn", "latch", "curator", NONE, ALWAYS },
    { "leadership_outlives_killed_clients_of_each_kind", "latch", "curator",
      KILL, AT_LENGTH },
    { "leadership_outlives_restarts_of_the_server", "latch", "curator",
      RESTART, AT_LENGTH },
    { "leadership_outlives_expired_sessions_of_each_kind", "latch", "curator",
      EXPIRE, AT_LENGTH },

    { "c_and_kazoo_as_it_is_lead_in_turn", "latch", "kazoo", NONE, AT_LENGTH },
    { "c_and_kazoo_as_it_is_take_turns", "mutex", "kazoo", NONE, ALWAYS },
    { "readers_of_ours_share_with_writers_of_kazoo", "rw", "kazoo", NONE,
      ALWAYS },

    { "never_more_leases_than_the_limit", NULL, "curator", NONE, ALWAYS },
    { "leases_outlive_killed_clients_of_each_kind", NULL, "curator", KILL,
      AT_LENGTH },
    { "leases_outlive_restarts_of_the_server", NULL, "curator", RESTART,
      ALWAYS },
    { "leases_outlive_expired_sessions_of_each_kind", NULL, "curator", EXPIRE,
      AT_LENGTH },
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
