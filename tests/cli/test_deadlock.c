/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of finding cycles among locks, without a server. */
#include "model/deadlock.h"
#include "unit.h"

enum { LOCKS_MAX = 2100, NODES_MAX = 4200 };

static struct world {
    struct lock locks[LOCKS_MAX];
    struct zkr_participant nodes[NODES_MAX];
    struct contender contenders[NODES_MAX];
    char names[NODES_MAX][16];
    char paths[LOCKS_MAX][16];
    size_t count;
    size_t used;
} now, before;

static struct deadlocks found;

/* Of nodes outside of the queue, and of candidates. */
static const char *const markers[] = { "lease-", "holder", "latch-" };

static struct contender *add_node(struct world *w, struct lock *lock,
                                  int session, int thread, char mode)
{
    size_t i = w->used++;
    struct zkr_participant *p = &w->nodes[i];
    bool first_shared = mode == 's';

    for (size_t k = 0; k < lock->count; k++)
        first_shared =
            first_shared && lock->items[k].node->kind == ZKR_PARTICIPANT_SHARED;
    PRINT(w->names[i], "%d.%d%c", session, thread, mode);
    *p = (struct zkr_participant){
        .name = w->names[i],
        .marker = "",
        .kind =
            mode == 's' ? ZKR_PARTICIPANT_SHARED : ZKR_PARTICIPANT_EXCLUSIVE,
        .holds = lock->count == 0 || first_shared,
        .sequence = (int64_t)lock->count,
        .token = 100,
        .session_id = session,
        .since_ms = (int64_t)i,
    };
    w->contenders[i].path = lock->path;
    w->contenders[i].node = p;
    w->contenders[i].owner.is_record = thread != 0;
    w->contenders[i].owner.tid = thread;
    (void)strcpy(w->contenders[i].owner.host, "here");
    lock->count++;
    return &w->contenders[i];
}

/* Reads what stands behind a contender:
 *
 *   <SESSION   by its record the contender is inside that session
 *   !          on another host
 *   r          it has a record
 *   =          its number is that of the contender before
 *
 * Returns the length of that text. */
static int read_suffix(struct contender *c, struct zkr_participant *p,
                       const char *text)
{
    int outer;
    int len = 0;

    if (sscanf(text, "<%d%n", &outer, &len) == 1) {
        c->owner.within = outer;
        c->owner.is_record = true;
    }
    for (; strchr("!r=", text[len]) != NULL && text[len] != '\0'; len++) {
        if (text[len] == '!')
            (void)strcpy(c->owner.host, "there");
        c->owner.is_record |= text[len] == 'r';
        p->sequence -= text[len] == '=';
    }
    return len;
}

/* What all nodes of a lock are, by the word before them. */
static const char *read_word(struct lock *lock, const char **marker, int *error,
                             const char *text)
{
    char word[16] = "";
    int len = 0;

    *marker = "";
    *error = ZKR_OK;
    text += strspn(text, " ");
    if (*text < 'a' || sscanf(text, "%15[a-z-]%n", word, &len) != 1)
        return text;
    if (strcmp(word, "mixed") == 0)
        lock->kind = ZKR__KIND_MIXED;
    else if (strcmp(word, "latch-") == 0)
        lock->kind = ZKR__KIND_LATCH;
    if (strcmp(word, "unread") == 0)
        *error = ZKR_ZNOAUTH;
    for (size_t i = 0; i < COUNT(markers); i++) {
        if (strcmp(word, markers[i]) == 0)
            *marker = markers[i];
    }
    return text + len;
}

/* Adds a lock with a queue of "SESSION.THREADx", or "s" for a shared contender;
 * thread 0: the record names none. Returns the rest behind "|". */
static const char *add(struct world *w, const char *queue)
{
    struct lock *lock = &w->locks[w->count];
    const char *marker;
    int session, thread, len, error;
    char mode;

    (void)snprintf(w->paths[w->count], sizeof(w->paths[0]), "/%05zu", w->count);
    *lock = (struct lock){ .path = w->paths[w->count++],
                           .items = &w->contenders[w->used],
                           .kind = ZKR__KIND_RW };
    queue = read_word(lock, &marker, &error, queue);
    while (sscanf(queue, " %d.%d%c%n", &session, &thread, &mode, &len) == 3) {
        struct zkr_participant *p = &w->nodes[w->used];
        struct contender *c = add_node(w, lock, session, thread, mode);

        p->marker = marker;
        p->error = error;
        queue += len;
        queue += read_suffix(c, p, queue);
    }
    queue += strspn(queue, " ");
    assert_true(*queue == '|' || *queue == '\0');
    return *queue == '|' ? queue + 1 : NULL;
}

static void add_all(struct world *w, const char *queues)
{
    while (queues != NULL)
        queues = add(w, queues);
}

/* Without a look before, `before` has no locks. */
static void find(void)
{
    const struct lock *locks = before.count > 0 ? before.locks : NULL;

    found = deadlocks_find(now.locks, now.count, locks, before.count);
}

static int teardown(void)
{
    deadlocks_done(&found);
    memset(&now, 0, sizeof(now));
    memset(&before, 0, sizeof(before));
    return 0;
}

FIXTURE(NULL, teardown)

/* Writes each cycle as " | " and its members, with "?" when it is not certain.
 * A member is the node that it holds, and its lock, ">", the node with which it
 * waits, and its lock; ">>" when that node is of a run inside of the one that
 * has the other. */
static const char *written(void)
{
    static char text[1024];
    size_t len = 0;

    text[0] = '\0';
    for (size_t i = 0; i < found.count; i++) {
        const struct deadlock *d = &found.items[i];
        int64_t since = -1;

        len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s",
                                i == 0 ? "" : " |", d->certain ? "" : " ?");
        for (size_t k = 0; k < d->count; k++) {
            const struct deadlock_member *m = &d->members[k];

            len += (size_t)snprintf(text + len, sizeof(text) - len,
                                    " %s@%s%s%s@%s",
                                    m->held == NULL ? "-" : m->held->node->name,
                                    m->held == NULL ? "-" : m->held->path + 5,
                                    deadlock_is_nested(m) ? ">>" : ">",
                                    m->waits->node->name, m->waits->path + 5);
            if (m->waits->node->since_ms > since)
                since = m->waits->node->since_ms;
        }
        assert_int_equal(d->since, since);
        assert_int_equal(d->youngest->waits->node->since_ms, since);
    }
    return text[0] == ' ' ? text + 1 : text;
}

/* clang-format off */
static const struct row {
    const char *name;
    const char *queues; /* of one lock, "|", of the next */
    const char *cycles; /* as written() has them */
} rows[] = {
    { "no_lock_is_no_deadlock", "", "" },
    { "a_chain_is_no_deadlock", "1.1x 2.1x | 2.1x 3.1x | 3.1x", "" },
    { "waiting_alone_is_no_deadlock", "1.1x 2.1x 3.1x | 3.2x 1.2x | | 4.1s 5.1s 1.3x", "" },
    { "two_who_wait_for_each_other_are_found", "1.1x 2.1x | 2.1x 1.1x",
      "1.1x@0>1.1x@1 2.1x@1>2.1x@0" },

    /* Each run has a session of its own. Regression: each counted as an owner
     * of its own. */
    { "nested_runs_that_wait_for_each_other_are_found",
      "1.5x 4.5x<3 | 3.5x 2.5x<1", "1.5x@0>>2.5x@1 3.5x@1>>4.5x@0" },
    { "runs_in_the_middle_hold_what_nobody_wants",
      "1.5x 9.5x 6.5x<5 | 2.5x<1 | 3.5x<2 8.5x | 5.5x 4.5x<3", "1.5x@0>>4.5x@3 5.5x@3>>6.5x@0" },
    { "nested_runs_of_several_locks_too",
      "1.5x 4.5x<3 | 3.5x 2.5x<1 | 1.5x | 3.5x | 2.5x<1 | 4.5x<3",
      "1.5x@0>>2.5x@1 3.5x@1>>4.5x@0" },
    { "a_run_that_waits_for_the_one_around_it_is_found", "1.5x 2.5x<1", "1.5x@0>>2.5x@0" },
    { "nothing_ties_a_run_without_the_one_between", "1.5x 3.5x<2", "" },

    /* Anybody may write a record that names any session: a foreign one, its
     * own, or sessions in a circle. */
    { "a_session_that_a_record_of_another_host_names_proves_nothing",
      "1.5x 4.5x<3! | 3.5x 2.5x<1", "? 1.5x@0>>2.5x@1 3.5x@1>>4.5x@0" },
    { "sessions_that_records_name_in_a_circle_prove_nothing",
      "1.5x<1 7.7x<77 | 2.5x<3 | 3.5x<2", "" },

    /* As signed numbers they are below all others. */
    { "sessions_above_2_to_63_are_told_apart",
      "-1.5x 4.5x<-3 | -3.5x -2.5x<-1 | 1.5x -7.5x | -7.5x 1.5x",
      "-1.5x@0>>-2.5x@1 -3.5x@1>>4.5x@0 | 1.5x@2>1.5x@3 -7.5x@3>-7.5x@2" },
    { "a_circle_of_three_is_found_whoever_else_waits",
      "1.1x 9.1x 3.1x 8.1x | 2.1x 1.1x | 3.1x 7.1x 2.1x | 8.1x 9.2x",
      "1.1x@0>1.1x@1 2.1x@1>2.1x@2 3.1x@2>3.1x@0" },
    { "two_circles_are_two", "1.1x 2.1x | 2.1x 1.1x | 3.1x 4.1x | 4.1x 3.1x",
      "1.1x@0>1.1x@1 2.1x@1>2.1x@0 | 3.1x@2>3.1x@3 4.1x@3>4.1x@2" },
    { "other_threads_of_a_session_are_others", "1.1x 2.1x | 2.2x 1.2x", "" },
    { "what_else_a_session_has_is_of_other_owners", "1.2x 2.1x | 2.1x 1.2x | 3.1x 1.1x 9.2x<1",
      "1.2x@0>1.2x@1 2.1x@1>2.1x@0" },
    { "without_a_record_it_is_possible", "1.0x 2.1x | 2.1x 1.0x", "? 1.0x@0>1.0x@1 2.1x@1>2.1x@0" },

    /* A node without a thread may belong to either thread, but not to both. */
    { "waiters_without_a_record_are_not_one_owner", "1.1x 2.1x | 2.1x 1.2x | 1.0x 9.9x", "" },

    /* A program with many threads at one lock looks like that, and so does one
     * thread with two objects for it. Regression: the latter was not found. */
    { "a_session_behind_its_own_node_is_possible", "1.0x 9.0x 1.0x 1.0x 8.0x | 1.0s 7.0s 1.0x",
      "? 1.0x@0>1.0x@0 | ? 1.0s@1>1.0x@1" },

    /* The threads are known. */
    { "threads_of_a_session_may_wait_for_each_other", "1.1x 1.2x 1.3x", "" },

    /* The reader is made at the place of the writer, before that goes. */
    { "a_downgrade_is_no_deadlock", "5.1s 1.0s 1.0x= 2.1x | 5.1s 1.1s 1.1x= 2.1x", "" },

    /* Regression: each circle was a deadlock, 49 in an ordinary fleet. */
    { "circles_of_the_same_sessions_are_one",
      "1.0x 2.0x | 2.0x 1.0x | 1.0x 2.0x | 2.0x 1.0x | 1.0x 2.0x | 2.0x 1.0x |"
      "1.0x 3.0x | 3.0x 1.0x", "? 1.0x@0>1.0x@1 2.0x@1>2.0x@0 | ? 1.0x@6>1.0x@7 3.0x@7>3.0x@6" },
    { "a_circle_of_more_sessions_is_another_one",
      "1.0x 2.0x | 2.0x 1.0x | 1.0x 3.0x | 2.0x 1.0x | 3.0x 2.0x",
      "? 1.0x@0>1.0x@1 2.0x@1>2.0x@0 | "
      "? 1.0x@2>1.0x@1 2.0x@1>2.0x@4 3.0x@4>3.0x@2" },
    { "a_circle_of_more_sessions_is_another_one_in_any_order",
      "3.0x 2.0x | 1.0x 3.0x | 2.0x 1.0x 9.0x | 1.0x 2.0x",
      "? 3.0x@0>3.0x@1 1.0x@1>1.0x@2 2.0x@2>2.0x@0 | "
      "? 1.0x@3>1.0x@2 2.0x@2>2.0x@3" },

    /* Regression: two programs that each led one election and stood in the
     * other were a deadlock. */
    { "a_candidate_blocks_nobody", "latch- 1.0x 2.0x | latch- 2.0x 1.0x", "" },
    { "nested_candidates_wait_for_each_other", "latch- 1.0xr 4.0x<3 | latch- 3.0xr 2.0x<1",
      "1.0x@0>>2.0x@1 3.0x@1>>4.0x@0" },
    { "a_reader_that_waits_to_write_waits_for_itself", "1.1s 2.1s 1.1x", "1.1s@0>1.1x@0" },
    { "two_who_wait_for_themselves_are_two", "1.1s 2.1s 1.1x 2.1x",
      "1.1s@0>1.1x@0 | 2.1s@0>2.1x@0" },
    { "a_mutex_taken_twice_waits_for_itself", "1.1x 2.1x 1.1x", "1.1x@0>1.1x@0" },
    { "readers_do_not_wait_for_readers", "1.1s 2.1s | 2.1s 1.1s", "" },

    /* The writer between two readers keeps the second from the lock. */
    { "a_writer_in_the_queue_is_part_of_it", "1.1s 3.1x 2.1s | 2.1x 1.1x",
      "1.1s@0>1.1x@1 2.1x@1>2.1s@0 -@->3.1x@0" },

    /* An owner that only stands between two members, which exclude each other,
     * is no member. */
    { "who_stands_between_a_reader_and_a_writer_is_no_member",
      "1.1s 9.1x 2.1x | 2.1x 1.1x", "1.1s@0>1.1x@1 2.1x@1>2.1x@0" },
    { "who_stands_between_a_writer_and_a_reader_is_no_member",
      "1.1x 9.1x 2.1s | 2.1x 1.1x", "1.1x@0>1.1x@1 2.1x@1>2.1s@0" },

    /* The writer waits for all readers, not only for the last one. */
    { "a_writer_waits_for_every_reader", "1.1s 4.1s 5.1s 2.1x | 2.1x 1.1x",
      "1.1s@0>1.1x@1 2.1x@1>2.1x@0" },

    /* A thread waits in one place at most, so these are claims without
     * threads, in whatever order they are found. */
    { "an_owner_that_waits_in_two_places_is_not_certain",
      "1.1x 2.1x | 2.1x 1.1x | 3.1x 1.1x", "? 1.1x@0>1.1x@1 2.1x@1>2.1x@0" },
    { "an_owner_that_waits_elsewhere_first_is_not_certain",
      "3.1x 1.1x | 1.1x 2.1x | 2.1x 1.1x", "? 1.1x@1>1.1x@2 2.1x@2>2.1x@1" },

    /* Of one of the two nodes no thread is known, or no host. */
    { "a_holder_without_a_thread_is_not_certain", "1.0x 2.1x | 2.1x 1.1x",
      "? 1.0x@0>1.1x@1 2.1x@1>2.1x@0" },
    { "a_waiter_without_a_thread_is_not_certain", "1.1x 2.1x | 2.1x 1.0x",
      "? 1.1x@0>1.0x@1 2.1x@1>2.1x@0" },
    { "a_run_around_one_without_a_thread_is_not_certain", "1.0x 4.5x<3 | 3.5x 2.5x<1",
      "? 1.0x@0>>2.5x@1 3.5x@1>>4.5x@0" },
    { "the_order_of_equal_numbers_is_not_certain", "1.1x 2.1x= | 2.1x 1.1x",
      "? 1.1x@0>1.1x@1 2.1x@1>2.1x@0" },
    { "mixed_recipes_are_not_certain", "mixed 1.1x 2.1x | 2.1x 1.1x",
      "? 1.1x@0>1.1x@1 2.1x@1>2.1x@0" },

    /* Leases, who holds beside the queue, and who may not be read. */
    { "leases_block_nobody", "lease- 1.1x 2.1x | 2.1x 1.1x", "" },
    { "who_holds_beside_the_queue_blocks_nobody", "holder 1.1x 2.1x | 2.1x 1.1x", "" },
    { "who_may_not_be_read_blocks_nobody", "unread 1.1x 2.1x | 2.1x 1.1x", "" },
    { "nodes_of_no_session_have_no_owner", "0.0x 1.0x | 1.0x 0.0x", "" },
};
/* clang-format on */

TEST_ROWS(deadlocks_are, rows, row)
{
    if (row->queues[0] != '\0')
        add_all(&now, row->queues);
    find();
    assert_string_equal(written(), row->cycles);
}

TEST(only_what_was_there_before_counts)
{
    add_all(&before, "1.1x 2.1x | 2.1x 1.1x");
    add_all(&now, "1.1x 2.1x | 2.1x 1.1x");
    find();
    assert_int_equal(found.count, 1);
    deadlocks_done(&found);

    now.nodes[3].token++; /* another node of that name */
    find();
    assert_int_equal(found.count, 0);
    now.nodes[3].token--;

    before.nodes[2].holds = false; /* it did not hold then */
    find();
    assert_int_equal(found.count, 0);
    before.nodes[2].holds = true;

    before.locks[1].path[1] = '9'; /* the lock was not there then */
    find();
    assert_int_equal(found.count, 0);
}

TEST(more_than_a_thousand_are_cut)
{
    for (int i = 1; i <= 1001; i++)
        (void)add(&now, textf("%d.1x %d.1x", i, i));
    find();
    assert_int_equal(found.count, 1000);
    assert_true(found.cut);
}

TEST(a_long_circle_is_found)
{
    char queue[64];

    for (int i = 0; i < 2000; i++) {
        PRINT(queue, "%d.1x %d.1x", i + 1, (i + 1) % 2000 + 1);
        (void)add(&now, queue);
    }
    find();
    assert_int_equal(found.count, 1);
    assert_int_equal(found.items[0].count, 2000);
    assert_true(found.items[0].certain);
}

/* Tells whether there is a way from w to itself: tries all ways, without the
 * code under test. */
static bool reaches(size_t from, size_t goal, bool *seen)
{
    const struct contender *c = &now.contenders[from];

    for (size_t i = 0; i < now.used; i++) {
        const struct contender *d = &now.contenders[i];
        const char *a = c->node->name;
        const char *b = d->node->name;
        bool edge;

        if (c->node->holds)
            edge = !d->node->holds && strncmp(a, b, strlen(a) - 1) == 0 &&
                   strlen(a) == strlen(b);
        else
            edge = i < from && now.nodes[i].full_size == c->node->full_size &&
                   (a[strlen(a) - 1] == 'x' || b[strlen(b) - 1] == 'x');
        if (!edge || seen[i])
            continue;
        if (i == goal)
            return true;
        seen[i] = true;
        if (reaches(i, goal, seen))
            return true;
    }
    return false;
}

/* As real threads, each waits in one place at most. */
static void add_random(uint64_t *random)
{
    bool waits[8] = { false };

    for (int i = 0; i < 4; i++) {
        char queue[128] = "";
        size_t len = 0;
        bool held = false;

        for (int k = 0; k < 4; k++) {
            int who = (int)(unit_random(random) % 7) + 1;
            char mode = unit_random(random) % 3 == 0 ? 's' : 'x';
            bool holds = !held || (mode == 's' && strchr(queue, 'x') == NULL);

            if (unit_random(random) % 3 == 0 || (!holds && waits[who]))
                continue;
            if (!holds)
                waits[who] = true;
            held = true;
            len += (size_t)snprintf(queue + len, sizeof(queue) - len, "%d.1%c ",
                                    who, mode);
        }
        (void)add(&now, queue);
    }
    for (size_t i = 0; i < now.count; i++) { /* the lock of each node */
        for (size_t k = 0; k < now.locks[i].count; k++)
            now.nodes[now.locks[i].items - now.contenders + (ptrdiff_t)k]
                .full_size = i;
    }
}

TEST(it_agrees_with_trying_all)
{
    uint64_t random = 20261121;
    int with = 0;

    for (int i = 0; i < 20000; i++) {
        now.count = now.used = 0;
        add_random(&random);
        bool want = false;
        for (size_t k = 0; k < now.used && !want; k++)
            want = reaches(k, k, (bool[64]){ false });
        find();
        if ((found.count > 0) != want)
            fail_msg("in world %d", i);
        for (size_t k = 0; k < found.count; k++)
            assert_true(found.items[k].certain);
        with += want;
        deadlocks_done(&found);
    }
    assert_in_range(with, 2000, 18000);
}
