/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the linked list: order, removal anywhere, splicing. */
#include "base/list.h"
#include "unit.h"

struct item {
    int number;
    struct zkr__list link;
};

/* A list of the items 0, 1, ... */
static void fill(struct zkr__list *list, struct item *items, int count)
{
    zkr__list_init(list);
    for (int i = 0; i < count; i++) {
        items[i].number = i;
        zkr__list_append(list, &items[i].link);
    }
}

/* The numbers in the list, forwards and backwards. */
static void assert_numbers(const struct zkr__list *list, const int *numbers,
                           size_t count)
{
    const struct zkr__list *l = list;

    for (size_t i = 0; i < count; i++) {
        l = l->next;
        assert_ptr_not_equal(l, list);
        assert_int_equal(ZKR__CONTAINER(l, struct item, link)->number,
                         numbers[i]);
    }
    assert_ptr_equal(l->next, list);
    assert_ptr_equal(list->prev, l);
    for (size_t i = count; i > 0; i--, l = l->prev)
        assert_int_equal(ZKR__CONTAINER(l, struct item, link)->number,
                         numbers[i - 1]);
    assert_ptr_equal(l, list);
    assert_int_equal(zkr__list_empty(list), count == 0);
}

TEST(new_list_is_empty)
{
    struct zkr__list list;

    zkr__list_init(&list);
    assert_true(zkr__list_empty(&list));
    assert_null(zkr__list_pop(&list));
}

TEST(items_stay_in_order)
{
    struct zkr__list list;
    struct item items[3];

    fill(&list, items, 3);
    assert_numbers(&list, (int[]){ 0, 1, 2 }, 3);
}

TEST(first_middle_and_last_can_be_removed)
{
    struct zkr__list list;
    struct item items[5];

    fill(&list, items, 5);
    zkr__list_remove(&items[2].link);
    assert_numbers(&list, (int[]){ 0, 1, 3, 4 }, 4);
    zkr__list_remove(&items[0].link);
    assert_numbers(&list, (int[]){ 1, 3, 4 }, 3);
    zkr__list_remove(&items[4].link);
    assert_numbers(&list, (int[]){ 1, 3 }, 2);
    zkr__list_remove(&items[1].link);
    zkr__list_remove(&items[3].link);
    assert_numbers(&list, NULL, 0);
}

TEST(removing_twice_is_harmless)
{
    struct zkr__list list;
    struct item items[3];

    fill(&list, items, 3);
    zkr__list_remove(&items[1].link);
    assert_true(zkr__list_empty(&items[1].link));
    zkr__list_remove(&items[1].link);
    assert_numbers(&list, (int[]){ 0, 2 }, 2);
}

TEST(removed_item_can_be_appended_again)
{
    struct zkr__list list;
    struct item items[3];

    fill(&list, items, 3);
    zkr__list_remove(&items[0].link);
    zkr__list_append(&list, &items[0].link);
    assert_numbers(&list, (int[]){ 1, 2, 0 }, 3);
}

TEST(pop_takes_the_first)
{
    struct zkr__list list;
    struct item items[2];

    fill(&list, items, 2);
    assert_ptr_equal(zkr__list_pop(&list), &items[0].link);
    assert_true(zkr__list_empty(&items[0].link));
    assert_numbers(&list, (int[]){ 1 }, 1);
    assert_ptr_equal(zkr__list_pop(&list), &items[1].link);
    assert_null(zkr__list_pop(&list));
}

TEST(splice_moves_all_to_the_end)
{
    struct zkr__list to;
    struct zkr__list from;
    struct item a[2];
    struct item b[3];

    fill(&to, a, 2);
    fill(&from, b, 3);
    zkr__list_splice(&to, &from);
    assert_numbers(&to, (int[]){ 0, 1, 0, 1, 2 }, 5);
    assert_numbers(&from, NULL, 0);
}

TEST(splice_of_nothing_changes_nothing)
{
    struct zkr__list to;
    struct zkr__list from;
    struct item a[2];

    fill(&to, a, 2);
    zkr__list_init(&from);
    zkr__list_splice(&to, &from);
    assert_numbers(&to, (int[]){ 0, 1 }, 2);
    zkr__list_splice(&from, &to);
    assert_numbers(&from, (int[]){ 0, 1 }, 2);
    assert_numbers(&to, NULL, 0);
}
