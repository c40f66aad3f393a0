/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the linked list: order, removal anywhere, splicing; and of the ring
 * of events: it keeps the order, and drops the oldest when it is full. */
#include "base/list.h"
#include "base/ring.h"
#include "unit.h"

struct item {
    int number;
    struct zkr__list link;
};

static struct zkr__list list;
static struct zkr__list other;
static struct item items[5];
static struct item others[2];

static void fill_with(struct zkr__list *l, struct item *all, int count)
{
    zkr__list_init(l);
    for (int i = 0; i < count; i++) {
        all[i].number = i;
        zkr__list_append(l, &all[i].link);
    }
}

/* The numbers in the list, forwards and backwards. */
static void assert_numbers(const struct zkr__list *all, const int *numbers,
                           size_t count)
{
    const struct zkr__list *l = all;

    for (size_t i = 0; i < count; i++) {
        l = l->next;
        assert_ptr_not_equal(l, all);
        assert_int_equal(ZKR__CONTAINER(l, struct item, link)->number,
                         numbers[i]);
    }
    assert_ptr_equal(l->next, all);
    assert_ptr_equal(all->prev, l);
    for (size_t i = count; i > 0; i--, l = l->prev)
        assert_int_equal(ZKR__CONTAINER(l, struct item, link)->number,
                         numbers[i - 1]);
    assert_ptr_equal(l, all);
    assert_int_equal(zkr__list_empty(all), count == 0);
}

#define ASSERT_NUMBERS(...)                                                    \
    assert_numbers(&list, (const int[]){ __VA_ARGS__ },                        \
                   COUNT(((const int[]){ __VA_ARGS__ })))

TEST(items_stay_in_order_and_each_can_be_removed)
{
    fill_with(&list, items, 5);
    ASSERT_NUMBERS(0, 1, 2, 3, 4);
    zkr__list_remove(&items[2].link);
    ASSERT_NUMBERS(0, 1, 3, 4);
    zkr__list_remove(&items[0].link);
    ASSERT_NUMBERS(1, 3, 4);
    zkr__list_remove(&items[4].link);
    ASSERT_NUMBERS(1, 3);
    zkr__list_remove(&items[1].link);
    zkr__list_remove(&items[3].link);
    assert_numbers(&list, NULL, 0);
}

TEST(removing_twice_is_harmless_and_appending_again)
{
    fill_with(&list, items, 3);
    zkr__list_remove(&items[1].link);
    assert_true(zkr__list_empty(&items[1].link));
    zkr__list_remove(&items[1].link);
    ASSERT_NUMBERS(0, 2);
    zkr__list_append(&list, &items[1].link);
    ASSERT_NUMBERS(0, 2, 1);
    zkr__list_remove(&items[0].link);
    zkr__list_append(&list, &items[0].link);
    ASSERT_NUMBERS(2, 1, 0);
}

TEST(pop_takes_the_first)
{
    fill_with(&list, items, 0);
    assert_true(zkr__list_empty(&list));
    assert_null(zkr__list_pop(&list));
    fill_with(&list, items, 2);
    assert_ptr_equal(zkr__list_pop(&list), &items[0].link);
    assert_true(zkr__list_empty(&items[0].link));
    ASSERT_NUMBERS(1);
    assert_ptr_equal(zkr__list_pop(&list), &items[1].link);
    assert_null(zkr__list_pop(&list));
}

TEST(splice_moves_all_to_the_end)
{
    fill_with(&other, others, 2);
    fill_with(&list, items, 3);
    zkr__list_splice(&other, &list);
    assert_numbers(&other, (const int[]){ 0, 1, 0, 1, 2 }, 5);
    assert_numbers(&list, NULL, 0);
    zkr__list_splice(&other, &list); /* nothing is moved */
    assert_numbers(&other, (const int[]){ 0, 1, 0, 1, 2 }, 5);
    zkr__list_splice(&list, &other); /* to an empty list */
    ASSERT_NUMBERS(0, 1, 0, 1, 2);
    assert_numbers(&other, NULL, 0);
}

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
