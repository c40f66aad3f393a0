/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the ring of events: it keeps the order, and drops the oldest when it
 * is full. */
#include "base/ring.h"
#include "unit.h"

struct numbers {
    struct zkr__ring ring;
    int of[ZKR__RING_MAX];
};

static void push(struct numbers *numbers, int from, int to)
{
    for (int i = from; i <= to; i++) {
        unsigned slot = zkr__ring_push(&numbers->ring);

        assert_in_range(slot, 0, ZKR__RING_MAX - 1);
        numbers->of[slot] = i;
    }
}

static void assert_pops(struct numbers *numbers, int from, int to)
{
    for (int i = from; i <= to; i++) {
        unsigned slot = ZKR__RING_MAX;

        assert_true(zkr__ring_pop(&numbers->ring, &slot));
        assert_in_range(slot, 0, ZKR__RING_MAX - 1);
        assert_int_equal(numbers->of[slot], i);
    }
}

static void assert_empty(struct numbers *numbers)
{
    unsigned slot = 77;

    assert_false(zkr__ring_pop(&numbers->ring, &slot));
    assert_int_equal(slot, 77);
}

TEST(new_ring_is_empty)
{
    struct numbers ring = { 0 };

    assert_int_equal(ZKR__RING_MAX, 16); /* as session.h says */
    assert_empty(&ring);
}

TEST(events_come_in_order)
{
    struct numbers ring = { 0 };

    push(&ring, 1, 3);
    assert_pops(&ring, 1, 3);
    assert_empty(&ring);
}

TEST(full_ring_keeps_all)
{
    struct numbers ring = { 0 };

    push(&ring, 1, ZKR__RING_MAX);
    assert_pops(&ring, 1, ZKR__RING_MAX);
    assert_empty(&ring);
}

TEST(overflow_drops_the_oldest)
{
    struct numbers ring = { 0 };

    push(&ring, 1, ZKR__RING_MAX + 1);
    assert_pops(&ring, 2, ZKR__RING_MAX + 1);
    assert_empty(&ring);

    push(&ring, 1, 10 * ZKR__RING_MAX + 5);
    assert_pops(&ring, 9 * ZKR__RING_MAX + 6, 10 * ZKR__RING_MAX + 5);
    assert_empty(&ring);
}

/* Starts at every position of the first event, so that each one wraps. */
TEST(order_is_kept_around_the_end)
{
    struct numbers ring = { 0 };

    for (int turn = 0; turn < 2 * ZKR__RING_MAX; turn++) {
        push(&ring, 1, 5);
        assert_pops(&ring, 1, 2);
        push(&ring, 6, 9);
        assert_pops(&ring, 3, 9);
        assert_empty(&ring);
    }
}
