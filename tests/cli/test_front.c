/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of who begins to hold: of a few of a queue the same is told as of the
 * whole, whatever comes and goes. */

#include "model/past.h"
#include "protocol/roster.h"
#include "unit.h"

enum { CONTENDERS_MAX = 12, CHANGES = 20000 };

static uint64_t seed;
static struct pasts pasts;
static struct past *past;
static struct stay *stays[CONTENDERS_MAX];
static bool held[CONTENDERS_MAX]; /* by the list of all */
static size_t count;
static int64_t token;

static uint64_t below(uint64_t limit)
{
    return unit_random(&seed) % limit;
}

static int setup(void)
{
    pasts = (struct pasts){ .tree = NULL };
    past = pasts_make(&pasts, "/l");
    count = 0;
    token = 0;
    return past == NULL;
}

static int teardown(void)
{
    pasts_done(&pasts);
    return 0;
}

FIXTURE(setup, teardown)

/* The numbers are few, so that many are equal, and those that come later may be
 * before the others. */
static void come(bool semaphore)
{
    static const char *const names[] = { "holder",          "a-lock-",
                                         "b-__READ__",      "c-__READ__",
                                         "d-__WRIT__",      "leases/a-lease-",
                                         "leases/b-lease-", "locks/c-lock-" };
    uint64_t kind = below(semaphore ? 8 : 5);
    char name[64];

    if (kind == 0)
        (void)strcpy(name, names[kind]);
    else
        PRINT(name, "%s%010d", names[kind], (int)below(6));
    if (count == CONTENDERS_MAX || past_stay(past, name) != NULL)
        return;
    struct stay *stay = stay_new(past->path, name, "", 0);
    assert_non_null(stay);
    stay->node.token = below(4) == 0 ? 0 : ++token;
    stay->node.session_id = (int64_t)below(3);
    pasts_add(&pasts, past, stay);
    stays[count] = stay;
    held[count++] = false;
}

static void take(struct stay *stay, void *user)
{
    size_t *taken = user;

    assert_true(stay->node.holds);
    (*taken)++;
}

static void compare_with_the_whole(size_t taken)
{
    struct zkr_participant all[CONTENDERS_MAX];

    for (size_t i = 0; i < count; i++)
        all[i] = stays[i]->node;
    assert_int_equal(zkr__roster_order(all, count), count);
    zkr__roster_settle(all, count);
    for (size_t i = 0; i < count; i++) {
        const struct zkr_participant *p = all;

        while (p->name != stays[i]->name)
            p++;
        bool holds = p->holds;
        taken -= holds && !held[i];
        held[i] = held[i] || holds;
        if (stays[i]->node.holds != held[i])
            fail_msg("%s: %d, not %d", stays[i]->name, stays[i]->node.holds,
                     held[i]);
    }
    assert_int_equal(taken, 0);
}

static void change(bool semaphore)
{
    for (int i = 0; i < CHANGES; i++) {
        size_t taken = 0;
        uint64_t changes = 1 + below(2);

        for (; changes > 0; changes--) {
            if (below(20) < 11) {
                come(semaphore);
            } else if (count > 0) {
                size_t one = below(count);

                pasts_remove(&pasts, stays[one]);
                stay_free(stays[one]);
                stays[one] = stays[--count];
                held[one] = held[count];
            }
        }
        past_settle(past, take, &taken);
        compare_with_the_whole(taken);
    }
}

TEST(holders_are_those_of_the_whole_queue)
{
    seed = 7;
    change(false);
}

TEST(holders_of_permits_are_those_of_the_whole_queue)
{
    seed = 11;
    change(true);
}

/* --- long queues --- */

enum { LONG = 3000 };

/* All of the queue was once arranged for each change: 13 seconds of CPU for
 * 20,000 transactions with 3,000 waiters. */
TEST(only_the_front_of_a_long_queue_is_asked)
{
    size_t taken = 0;

    for (int i = 0; i < LONG; i++) {
        struct stay *stay = stay_new(past->path, textf("lock-%010d", i), "", 0);
        assert_non_null(stay);
        stay->node.session_id = 1;
        pasts_add(&pasts, past, stay);
    }
    for (size_t i = 1; i <= LONG; i++) {
        struct stay *first = past->parts[ZKR__PART_PATH].items[0];

        past_settle(past, take, &taken);
        assert_int_equal(taken, i);
        pasts_remove(&pasts, first);
        stay_free(first);
    }
    assert_null(past_any(past));
}
