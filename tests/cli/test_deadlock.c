/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of finding cycles among locks, without a server. */
#include "model/deadlock.h"
#include "texts.h"
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
    w->contenders[i].node = p;
    w->contenders[i].owner.is_record = thread != 0;
    w->contenders[i].owner.tid = thread;
    lock->count++;
    return &w->contenders[i];
}

/* Reads "<SESSION": by its record the contender is inside that session;
 * "<SESSION!": and on another host. Returns the length of that text. */
static int read_nesting(struct contender *c, const char *text)
{
    int outer;
    int len;

    (void)strcpy(c->owner.host, "here");
    if (sscanf(text, "<%d%n", &outer, &len) != 1)
        return 0;
    c->owner.within = outer;
    c->owner.is_record = true;
    if (text[len] == '!')
        (void)strcpy(c->owner.host, "there");
    return len + (text[len] == '!');
}

/* Adds a lock with a queue of "SESSION.THREADx", or "s" for a shared contender;
 * thread 0: the record names none. */
static struct lock *add(struct world *w, const char *queue)
{
    struct lock *lock = &w->locks[w->count];
    int session, thread, len;
    char mode;

    (void)snprintf(w->paths[w->count], sizeof(w->paths[0]), "/%05zu", w->count);
    *lock = (struct lock){ .path = w->paths[w->count++],
                           .items = &w->contenders[w->used],
                           .kind = ZKR__KIND_RW };
    while (sscanf(queue, " %d.%d%c%n", &session, &thread, &mode, &len) == 3) {
        struct contender *c = add_node(w, lock, session, thread, mode);

        queue += len;
        queue += read_nesting(c, queue);
    }
    return lock;
}

static void find(void)
{
    assert_true(deadlocks_find(now.locks, now.count, NULL, 0, &found));
}

static void find_again(void)
{
    assert_true(deadlocks_find(now.locks, now.count, before.locks, before.count,
                               &found));
}

static int teardown(void)
{
    deadlocks_done(&found);
    memset(&now, 0, sizeof(now));
    memset(&before, 0, sizeof(before));
    return 0;
}

FIXTURE(NULL, teardown)

/* Compares each member of the cycle: the node that it holds, and its lock, ">",
 * the node with which it waits, and its lock. */
static void assert_cycle(size_t i, bool certain, const char *want)
{
    char text[512] = "";
    size_t len = 0;
    const struct deadlock *d = &found.items[i];
    int64_t since = -1;

    assert_true(i < found.count);
    assert_int_equal(d->certain, certain);
    for (size_t k = 0; k < d->count; k++) {
        const struct deadlock_member *m = &d->members[k];

        len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s@%s>%s@%s",
                                k == 0 ? "" : " ",
                                m->held == NULL ? "-" : m->held->node->name,
                                m->held == NULL ? "-" : m->held_lock->path + 5,
                                m->waits->node->name, m->waits_lock->path + 5);
        if (m->waits->node->since_ms > since)
            since = m->waits->node->since_ms;
    }
    assert_string_equal(text, want);
    assert_int_equal(d->since, since);
    assert_int_equal(d->youngest->waits->node->since_ms, since);
}

TEST(waiting_alone_is_no_deadlock)
{
    find();
    assert_int_equal(found.count, 0);
    add(&now, "1.1x 2.1x 3.1x");
    add(&now, "3.2x 1.2x");
    add(&now, "");
    add(&now, "4.1s 5.1s 1.3x");
    find();
    assert_int_equal(found.count, 0);
}

TEST(two_who_wait_for_each_other_are_found)
{
    add(&now, "1.1x 2.1x");
    add(&now, "2.1x 1.1x");
    find();
    assert_int_equal(found.count, 1);
    assert_cycle(0, true, "1.1x@0>1.1x@1 2.1x@1>2.1x@0");
    assert_string_equal(found.items[0].youngest->waits->node->name, "1.1x");
}

/* Each run has a session of its own. Regression: each counted as an owner of
 * its own. */
TEST(nested_runs_that_wait_for_each_other_are_found)
{
    add(&now, "1.5x 4.5x<3");
    add(&now, "3.5x 2.5x<1");
    find();
    assert_int_equal(found.count, 1);
    assert_cycle(0, true, "1.5x@0>2.5x@1 3.5x@1>4.5x@0");
    assert_true(deadlock_is_nested(&found.items[0].members[0]));
    assert_true(deadlock_is_nested(&found.items[0].members[1]));
}

TEST(runs_in_the_middle_hold_what_nobody_wants)
{
    add(&now, "1.5x 9.5x 6.5x<5");
    add(&now, "2.5x<1");
    add(&now, "3.5x<2 8.5x");
    add(&now, "5.5x 4.5x<3");
    find();
    assert_int_equal(found.count, 1);
    assert_cycle(0, true, "1.5x@0>4.5x@3 5.5x@3>6.5x@0");
}

/* Without the node of the run between them, nothing ties the two. */
TEST(a_run_that_waits_for_the_one_around_it_is_found)
{
    add(&now, "1.5x 2.5x<1");
    find();
    assert_cycle(0, true, "1.5x@0>2.5x@0");
    deadlocks_done(&found);
    memset(&now, 0, sizeof(now));
    add(&now, "1.5x 3.5x<2");
    find();
    assert_int_equal(found.count, 0);
}

/* Anybody may write a record that names any session: a foreign one, its own, or
 * sessions in a circle. */
TEST(a_session_that_a_record_names_proves_nothing)
{
    add(&now, "1.5x 4.5x<3!");
    add(&now, "3.5x 2.5x<1");
    find();
    assert_int_equal(found.count, 1);
    assert_cycle(0, false, "1.5x@0>2.5x@1 3.5x@1>4.5x@0");
    deadlocks_done(&found);
    memset(&now, 0, sizeof(now));
    add(&now, "1.5x<1 7.7x<77");
    add(&now, "2.5x<3");
    add(&now, "3.5x<2");
    find();
    assert_int_equal(found.count, 0);
}

/* As signed numbers they are below all others. */
TEST(sessions_above_2_to_63_are_told_apart)
{
    add(&now, "-1.5x 4.5x<-3");
    add(&now, "-3.5x -2.5x<-1");
    add(&now, "1.5x -7.5x");
    add(&now, "-7.5x 1.5x");
    find();
    assert_int_equal(found.count, 2);
    assert_cycle(0, true, "-1.5x@0>-2.5x@1 -3.5x@1>4.5x@0");
    assert_cycle(1, true, "1.5x@2>1.5x@3 -7.5x@3>-7.5x@2");
}

TEST(a_circle_of_three_is_found_whoever_else_waits)
{
    add(&now, "1.1x 9.1x 3.1x 8.1x");
    add(&now, "2.1x 1.1x");
    add(&now, "3.1x 7.1x 2.1x");
    add(&now, "8.1x 9.2x");
    find();
    assert_int_equal(found.count, 1);
    assert_cycle(0, true, "1.1x@0>1.1x@1 2.1x@1>2.1x@2 3.1x@2>3.1x@0");
}

TEST(two_circles_are_two)
{
    add(&now, "1.1x 2.1x");
    add(&now, "2.1x 1.1x");
    add(&now, "3.1x 4.1x");
    add(&now, "4.1x 3.1x");
    find();
    assert_int_equal(found.count, 2);
}

TEST(other_threads_of_a_session_are_others)
{
    add(&now, "1.1x 2.1x");
    add(&now, "2.2x 1.2x");
    find();
    assert_int_equal(found.count, 0);
}

TEST(without_a_record_it_is_possible)
{
    add(&now, "1.0x 2.1x");
    add(&now, "2.1x 1.0x");
    find();
    assert_int_equal(found.count, 1);
    assert_cycle(0, false, "1.0x@0>1.0x@1 2.1x@1>2.1x@0");
}

/* A node without a thread may belong to either thread, but not to both at
 * once. */
TEST(waiters_without_a_record_are_not_one_owner)
{
    add(&now, "1.1x 2.1x");
    add(&now, "2.1x 1.2x");
    add(&now, "1.0x 9.9x");
    find();
    assert_int_equal(found.count, 0);
}

/* A program with many threads at one lock looks like that, and so does one
 * thread with two objects for it. Regression: the latter was not found. */
TEST(a_session_behind_its_own_node_is_possible)
{
    add(&now, "1.0x 9.0x 1.0x 1.0x 8.0x");
    add(&now, "1.0s 7.0s 1.0x");
    find();
    assert_int_equal(found.count, 2);
    assert_cycle(0, false, "1.0x@0>1.0x@0");
    assert_cycle(1, false, "1.0s@1>1.0x@1");
}

/* The threads are known. */
TEST(threads_of_a_session_may_wait_for_each_other)
{
    add(&now, "1.1x 1.2x 1.3x");
    find();
    assert_int_equal(found.count, 0);
}

/* The reader is made at the place of the writer, before that goes. */
TEST(a_downgrade_is_no_deadlock)
{
    for (int thread = 0; thread < 2; thread++) {
        char queue[64];

        PRINT(queue, "5.1s 1.%ds 1.%dx 2.1x", thread, thread);
        add(&now, queue);
        now.nodes[4 * thread + 2].sequence = 1;
    }
    find();
    assert_int_equal(found.count, 0);
}

/* Regression: each circle was one deadlock, 49 of them in an ordinary fleet. */
TEST(circles_of_the_same_sessions_are_one)
{
    for (int i = 0; i < 3; i++) {
        add(&now, "1.0x 2.0x");
        add(&now, "2.0x 1.0x");
    }
    add(&now, "1.0x 3.0x");
    add(&now, "3.0x 1.0x");
    find();
    assert_int_equal(found.count, 2);
}

TEST(a_circle_of_more_sessions_is_another_one)
{
    add(&now, "1.0x 2.0x");
    add(&now, "2.0x 1.0x");
    add(&now, "1.0x 3.0x");
    add(&now, "2.0x 1.0x");
    add(&now, "3.0x 2.0x");
    find();
    assert_int_equal(found.count, 2);
    assert_int_equal(found.items[0].count + found.items[1].count, 5);
    assert_ok(teardown());
    add(&now, "3.0x 2.0x");
    add(&now, "1.0x 3.0x");
    add(&now, "2.0x 1.0x 9.0x");
    add(&now, "1.0x 2.0x");
    find();
    assert_int_equal(found.count, 2);
}

static void make_latch(struct lock *lock)
{
    lock->kind = ZKR__KIND_LATCH;
    for (size_t i = 0; i < lock->count; i++)
        now.nodes[lock->items[i].node - now.nodes].marker = "latch-";
}

/* Regression: two programs that each led one election and stood in the other
 * were a deadlock. */
TEST(a_candidate_blocks_nobody)
{
    make_latch(add(&now, "1.0x 2.0x"));
    make_latch(add(&now, "2.0x 1.0x"));
    find();
    assert_int_equal(found.count, 0);
}

TEST(nested_candidates_wait_for_each_other)
{
    make_latch(add(&now, "1.0x 4.0x<3"));
    make_latch(add(&now, "3.0x 2.0x<1"));
    for (size_t i = 0; i < now.used; i++)
        now.contenders[i].owner.is_record = true;
    find();
    assert_int_equal(found.count, 1);
    assert_cycle(0, true, "1.0x@0>2.0x@1 3.0x@1>4.0x@0");
}

TEST(a_reader_that_waits_to_write_waits_for_itself)
{
    add(&now, "1.1s 2.1s 1.1x");
    find();
    assert_int_equal(found.count, 1);
    assert_cycle(0, true, "1.1s@0>1.1x@0");
}

TEST(a_mutex_taken_twice_waits_for_itself)
{
    add(&now, "1.1x 2.1x 1.1x");
    find();
    assert_int_equal(found.count, 1);
    assert_cycle(0, true, "1.1x@0>1.1x@0");
}

TEST(readers_do_not_wait_for_readers)
{
    add(&now, "1.1s 2.1s");
    add(&now, "2.1s 1.1s");
    find();
    assert_int_equal(found.count, 0);
}

/* The writer between two readers keeps the second from the lock. */
TEST(a_writer_in_the_queue_is_part_of_it)
{
    add(&now, "1.1s 3.1x 2.1s");
    add(&now, "2.1x 1.1x");
    find();
    assert_int_equal(found.count, 1);
    assert_cycle(0, true, "1.1s@0>1.1x@1 2.1x@1>2.1s@0 -@->3.1x@0");
}

/* An owner that only stands between two members, which exclude each other, is
 * no member. */
TEST(who_stands_between_two_is_no_member)
{
    add(&now, "1.1s 9.1x 2.1x");
    add(&now, "2.1x 1.1x");
    find();
    assert_cycle(0, true, "1.1s@0>1.1x@1 2.1x@1>2.1x@0");
    deadlocks_done(&found);
    memset(&now, 0, sizeof(now));
    add(&now, "1.1x 9.1x 2.1s");
    add(&now, "2.1x 1.1x");
    find();
    assert_cycle(0, true, "1.1x@0>1.1x@1 2.1x@1>2.1s@0");
}

/* The writer waits for all readers, not only for the last one. */
TEST(a_writer_waits_for_every_reader)
{
    add(&now, "1.1s 4.1s 5.1s 2.1x");
    add(&now, "2.1x 1.1x");
    find();
    assert_int_equal(found.count, 1);
    assert_cycle(0, true, "1.1s@0>1.1x@1 2.1x@1>2.1x@0");
}

/* A thread waits in one place at most, so these are claims without threads. */
TEST(an_owner_that_waits_in_two_places_is_not_certain)
{
    add(&now, "1.1x 2.1x");
    add(&now, "2.1x 1.1x");
    add(&now, "3.1x 1.1x");
    find();
    assert_int_equal(found.count, 1);
    assert_cycle(0, false, "1.1x@0>1.1x@1 2.1x@1>2.1x@0");
}

/* ... in whatever order they are found. */
TEST(an_owner_that_waits_elsewhere_first_is_not_certain)
{
    add(&now, "3.1x 1.1x");
    add(&now, "1.1x 2.1x");
    add(&now, "2.1x 1.1x");
    find();
    assert_int_equal(found.count, 1);
    assert_false(found.items[0].certain);
}

/* Of one of the two nodes no thread is known, or no host. */
TEST(half_of_an_owner_is_not_certain)
{
    static const char *const queues[][2] = {
        { "1.0x 2.1x", "2.1x 1.1x" },
        { "1.1x 2.1x", "2.1x 1.0x" },
        { "1.0x 4.5x<3", "3.5x 2.5x<1" },
    };

    for (size_t i = 0; i < COUNT(queues); i++) {
        add(&now, queues[i][0]);
        add(&now, queues[i][1]);
        find();
        assert_int_equal(found.count, 1);
        assert_false(found.items[0].certain);
        assert_ok(teardown());
    }
}

TEST(the_order_of_equal_numbers_is_not_certain)
{
    add(&now, "1.1x 2.1x");
    add(&now, "2.1x 1.1x");
    now.nodes[1].sequence = 0;
    find();
    assert_int_equal(found.count, 1);
    assert_false(found.items[0].certain);
}

/* Leases, who holds beside the queue, and who may not be read. */
TEST(nodes_outside_of_the_queue_block_nobody)
{
    static const char *const markers[] = { "lease-", "holder", "lock-" };

    for (size_t i = 0; i < COUNT(markers); i++) {
        add(&now, "1.1x 2.1x");
        add(&now, "2.1x 1.1x");
        for (size_t k = 0; k < 2; k++) {
            now.nodes[k].marker = markers[i];
            now.nodes[k].error = i == 2 ? ZKR_ZNOAUTH : ZKR_OK;
        }
        find();
        assert_int_equal(found.count, 0);
        assert_ok(teardown());
    }
}

TEST(mixed_recipes_are_not_certain)
{
    add(&now, "1.1x 2.1x")->kind = ZKR__KIND_MIXED;
    add(&now, "2.1x 1.1x");
    find();
    assert_int_equal(found.count, 1);
    assert_false(found.items[0].certain);
}

TEST(nodes_of_no_session_have_no_owner)
{
    add(&now, "0.0x 1.0x");
    add(&now, "1.0x 0.0x");
    find();
    assert_int_equal(found.count, 0);
}

TEST(only_what_was_there_before_counts)
{
    add(&before, "1.1x 2.1x");
    add(&before, "2.1x 1.1x");
    add(&now, "1.1x 2.1x");
    add(&now, "2.1x 1.1x");
    find_again();
    assert_int_equal(found.count, 1);
    deadlocks_done(&found);

    now.nodes[3].token++; /* another node of that name */
    find_again();
    assert_int_equal(found.count, 0);
    now.nodes[3].token--;

    before.nodes[2].holds = false; /* it did not hold then */
    find_again();
    assert_int_equal(found.count, 0);
    before.nodes[2].holds = true;

    before.locks[1].path[1] = '9'; /* the lock was not there then */
    find_again();
    assert_int_equal(found.count, 0);
}

TEST(a_long_circle_is_found)
{
    char queue[64];

    for (int i = 0; i < 2000; i++) {
        PRINT(queue, "%d.1x %d.1x", i + 1, (i + 1) % 2000 + 1);
        add(&now, queue);
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

/* Returns the lock of a node. */
static void number_locks(void)
{
    for (size_t i = 0; i < now.count; i++) {
        for (size_t k = 0; k < now.locks[i].count; k++)
            now.nodes[now.locks[i].items - now.contenders + (ptrdiff_t)k]
                .full_size = i;
    }
}

static bool any_reaches_itself(void)
{
    for (size_t i = 0; i < now.used; i++) {
        bool seen[64] = { false };

        if (reaches(i, i, seen))
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
        add(&now, queue);
    }
    number_locks();
}

TEST(it_agrees_with_trying_all)
{
    uint64_t random = 20261121;
    int with = 0;

    for (int i = 0; i < 20000; i++) {
        bool want;

        now.count = now.used = 0;
        add_random(&random);
        want = any_reaches_itself();
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
