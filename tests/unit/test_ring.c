/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the ring of events: it keeps the order, and drops the oldest when it
 * is full. */
#include "base/ring.h"
#include "unit.h"

static struct {
    struct zkr__ring ring;
    int of[ZKR__RING_MAX];
} numbers;

static int setup(void)
{
    memset(&numbers, 0, sizeof(numbers));
    return 0;
}

FIXTURE(setup, NULL)

static void push(int from, int to)
{
    for (int i = from; i <= to; i++) {
        unsigned slot = zkr__ring_push(&numbers.ring);

        assert_in_range(slot, 0, ZKR__RING_MAX - 1);
        numbers.of[slot] = i;
    }
}

static void assert_pops(int from, int to)
{
    for (int i = from; i <= to; i++) {
        unsigned slot = ZKR__RING_MAX;

        assert_true(zkr__ring_pop(&numbers.ring, &slot));
        assert_in_range(slot, 0, ZKR__RING_MAX - 1);
        assert_int_equal(numbers.of[slot], i);
    }
}

static void assert_empty(void)
{
    unsigned slot = 77;

    assert_false(zkr__ring_pop(&numbers.ring, &slot));
    assert_int_equal(slot, 77);
}

TEST(overflow_alone_drops_the_oldest)
{
    assert_int_equal(ZKR__RING_MAX, 16); /* as session.h says */
    assert_empty();
    push(1, ZKR__RING_MAX);
    assert_pops(1, ZKR__RING_MAX);
    assert_empty();
    push(1, ZKR__RING_MAX + 1);
    assert_pops(2, ZKR__RING_MAX + 1);
    assert_empty();
    push(1, 10 * ZKR__RING_MAX + 5);
    assert_pops(9 * ZKR__RING_MAX + 6, 10 * ZKR__RING_MAX + 5);
    assert_empty();
}

/* Starts at every position of the first event, so that each one wraps. */
TEST(order_is_kept_around_the_end)
{
    for (int turn = 0; turn < 2 * ZKR__RING_MAX; turn++) {
        push(1, 5);
        assert_pops(1, 2);
        push(6, 9);
        assert_pops(3, 9);
        assert_empty();
    }
}
