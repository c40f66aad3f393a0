/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the queue of a lock: who is ahead of us, and in which order. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "lock/queue.h"
#include "unit.h"

/* Two markers that are short here. */
#define W "lock-"
#define R "__READ__"

static const uint32_t markers =
    ZKR__MARKER_BIT(ZKR__CURATOR_LOCK) | ZKR__MARKER_BIT(ZKR__CURATOR_READ);

/* A queue, as the contender `self` sees it; NULL: as somebody who is not in
 * it. */
struct view {
    struct zkr__queue queue;
    size_t self;
    bool listed;
};

#define PARSE(view, names, self) parse(view, names, COUNT(names), self)

static void parse(struct view *view, const char *const *names, size_t count,
                  const char *self)
{
    memset(view, 0x5a, sizeof(*view)); /* whatever was there before */
    assert_int_equal(zkr__queue_parse(&view->queue, names, count, markers),
                     ZKR_OK);
    view->self =
        self == NULL ? ZKR__NOBODY : zkr__queue_find(&view->queue, self);
    view->listed = view->self != ZKR__NOBODY;
}

static bool leave_out(struct view *view, const char *name)
{
    size_t i = zkr__queue_find(&view->queue, name);

    if (i == ZKR__NOBODY)
        return false;
    view->queue.all[i].left_out = true;
    return true;
}

static const char *name_at(const struct view *view, size_t i)
{
    return i == ZKR__NOBODY ? "nobody" : view->queue.all[i].name;
}

static const char *nearest_any(const struct view *view)
{
    struct zkr__nearest n = zkr__queue_nearest(&view->queue, view->self);

    return name_at(view, zkr__nearest_any(&n));
}

static const char *nearest_exclusive(const struct view *view)
{
    struct zkr__nearest n = zkr__queue_nearest(&view->queue, view->self);

    return name_at(view, zkr__nearest_exclusive(&n));
}

/* Checks the names of the contenders ahead, in order, and frees the queue. */
static void assert_ahead(struct view *view, const char *const *names,
                         size_t count)
{
    const struct zkr__contender *all = view->queue.all;
    size_t n = 0;

    for (size_t i = 0; i < view->queue.count; i++) {
        if (i == view->self || all[i].left_out ||
            (view->listed && !zkr__queue_is_ahead(&all[i], &all[view->self])))
            continue;
        assert_true(n < count);
        assert_string_equal(all[i].name, names[n++]);
    }
    assert_int_equal(n, count);
    zkr__queue_done(&view->queue);
}

TEST(order_is_by_number_not_by_text)
{
    static const char *const names[] = { W "100", "zzz-" W "0000000009", W "20",
                                         "aaa-" W "0000000011", W "3" };
    static const char *const expected[] = { W "3", "zzz-" W "0000000009",
                                            "aaa-" W "0000000011", W "20",
                                            W "100" };
    struct view queue;

    PARSE(&queue, names, NULL);
    assert_ahead(&queue, expected, COUNT(expected));
}

TEST(nearest_before_us_is_last)
{
    static const char *const names[] = { W "7", W "1", "me-" W "5",
                                         R "4", W "6", W "2" };
    static const char *const expected[] = { W "1", W "2", R "4" };
    struct view queue;

    PARSE(&queue, names, "me-" W "5");
    assert_true(queue.listed);
    assert_ahead(&queue, expected, COUNT(expected));
}

TEST(the_first_has_nobody_ahead)
{
    static const char *const names[] = { W "3", "me-" W "1", W "2" };
    struct view queue;

    PARSE(&queue, names, "me-" W "1");
    assert_true(queue.listed);
    assert_ahead(&queue, NULL, 0);
}

TEST(kind_and_sequence_are_told)
{
    static const char *const names[] = { R "2", W "-3" };
    struct view queue;

    PARSE(&queue, names, NULL);
    assert_int_equal(queue.queue.count, 2);
    assert_int_equal(queue.queue.all[0].kind, ZKR__EXCLUSIVE);
    assert_int_equal(queue.queue.all[0].seq, -3);
    assert_int_equal(queue.queue.all[1].kind, ZKR__SHARED);
    assert_int_equal(queue.queue.all[1].seq, 2);
    zkr__queue_done(&queue.queue);
}

TEST(equal_sequence_counts_as_ahead)
{
    static const char *const names[] = { "b-" W "5", "me-" W "5", "z-" R "5",
                                         W "6" };
    static const char *const expected[] = { "z-" R "5", "b-" W "5" };
    struct view queue;

    PARSE(&queue, names, "me-" W "5");
    assert_ahead(&queue, expected, COUNT(expected));
}

/* Two nodes with our number in another width, from an exhausted counter. */
TEST(the_same_number_is_equal_in_any_width)
{
    static const char *const names[] = { "x-" W "5", W "0000000005" };
    static const char *const expected[] = { "x-" W "5" };
    struct view queue;

    PARSE(&queue, names, W "0000000005");
    assert_ahead(&queue, expected, COUNT(expected));
}

TEST(order_of_equal_sequences_does_not_depend_on_the_list)
{
    static const char *const one[] = { "c-" W "5", "a-" W "5", "b-" W "5" };
    static const char *const other[] = { "b-" W "5", "c-" W "5", "a-" W "5" };
    static const char *const expected[] = { "a-" W "5", "b-" W "5",
                                            "c-" W "5" };
    struct view queue;

    PARSE(&queue, one, NULL);
    assert_ahead(&queue, expected, COUNT(expected));
    PARSE(&queue, other, NULL);
    assert_ahead(&queue, expected, COUNT(expected));
}

/* A reader that replaces a writer has the same number. */
TEST(of_equal_sequences_the_exclusive_ones_are_last)
{
    static const char *const names[] = { "a-" W "5", "b-" R "5", "z-" R "5",
                                         "me-" W "6" };
    static const char *const expected[] = { "b-" R "5", "z-" R "5",
                                            "a-" W "5" };
    struct view queue;

    PARSE(&queue, names, "me-" W "6");
    assert_ahead(&queue, expected, COUNT(expected));
}

TEST(foreign_children_are_ignored)
{
    static const char *const names[] = {
        "0", "", "-", "latch-1", W, W "1x", W "2", W "99999999999999999999"
    };
    static const char *const expected[] = { W "2" };
    struct view queue;

    PARSE(&queue, names, "0");
    assert_false(queue.listed);
    zkr__queue_done(&queue.queue);
    PARSE(&queue, names, NULL);
    assert_ahead(&queue, expected, COUNT(expected));
}

TEST(missing_self_is_not_listed)
{
    static const char *const names[] = { W "1", "me-" W "50", "e-" W "5" };
    struct view queue;

    PARSE(&queue, names, "me-" W "5");
    assert_false(queue.listed);
    zkr__queue_done(&queue.queue);
}

TEST(without_self_all_are_listed)
{
    static const char *const names[] = { W "2147483647", R "0",
                                         W "-2147483648" };
    static const char *const expected[] = { W "-2147483648", R "0",
                                            W "2147483647" };
    struct view queue;

    PARSE(&queue, names, NULL);
    assert_false(queue.listed);
    assert_ahead(&queue, expected, COUNT(expected));
}

TEST(empty_list_is_an_empty_queue)
{
    struct view queue;

    parse(&queue, NULL, 0, NULL);
    assert_false(queue.listed);
    assert_ahead(&queue, NULL, 0);
    parse(&queue, NULL, 0, W "1");
    assert_false(queue.listed);
    assert_ahead(&queue, NULL, 0);
}

TEST(negative_sequences_come_first)
{
    static const char *const names[] = { W "0000000000", W "-2147483647",
                                         "me-" W "-0000000005", W "-2147483648",
                                         W "-0000000004" };
    static const char *const expected[] = { W "-2147483648", W "-2147483647" };
    struct view queue;

    PARSE(&queue, names, "me-" W "-0000000005");
    assert_ahead(&queue, expected, COUNT(expected));
}

TEST(the_last_ahead_is_waited_for)
{
    static const char *const names[] = { W "3", R "7", "me-" W "9", W "12" };
    struct view queue;

    PARSE(&queue, names, "me-" W "9");
    assert_string_equal(nearest_any(&queue), R "7");
    zkr__queue_done(&queue.queue);
}

TEST(the_nearest_exclusive_is_behind_those_who_share)
{
    static const char *const names[] = { R "8", W "5", R "7",      W "3",
                                         R "1", W "9", "me-" R "9" };
    static const char *const without_us[] = { R "8", W "5", R "9" };
    struct view queue;

    PARSE(&queue, names, "me-" R "9"); /* r1 w3 w5 r7 r8 w9 */
    assert_string_equal(nearest_exclusive(&queue), W "9");
    assert_true(leave_out(&queue, W "9"));
    assert_string_equal(nearest_exclusive(&queue), W "5");
    zkr__queue_done(&queue.queue);

    PARSE(&queue, without_us, NULL); /* a try */
    assert_string_equal(nearest_exclusive(&queue), W "5");
    assert_string_equal(nearest_any(&queue), R "9");
    zkr__queue_done(&queue.queue);
}

/* The first place must be found, too: index 0 does not mean nobody. */
TEST(the_first_place_is_not_nobody)
{
    static const char *const names[] = { W "1", R "2", R "3" };
    struct view queue;

    PARSE(&queue, names, R "3");
    assert_string_equal(nearest_exclusive(&queue), W "1");
    zkr__queue_done(&queue.queue);
    PARSE(&queue, names, R "2");
    assert_string_equal(nearest_any(&queue), W "1");
    zkr__queue_done(&queue.queue);
}

TEST(nobody_is_waited_for_without_one_ahead)
{
    static const char *const names[] = { R "2", R "3", "me-" W "1", W "9" };
    struct view queue;

    PARSE(&queue, names, "me-" W "1");
    assert_string_equal(nearest_any(&queue), "nobody");
    assert_string_equal(nearest_exclusive(&queue), "nobody");
    zkr__queue_done(&queue.queue);

    PARSE(&queue, names, R "3"); /* readers ahead, and one writer more */
    assert_true(leave_out(&queue, "me-" W "1"));
    assert_string_equal(nearest_exclusive(&queue), "nobody");
    assert_string_equal(nearest_any(&queue), R "2");
    zkr__queue_done(&queue.queue);
}

TEST(a_contender_left_out_leaves_the_others_in_order)
{
    static const char *const names[] = { W "1", W "2", W "3", W "4",
                                         "me-" W "5" };
    static const char *const no_middle[] = { W "1", W "3", W "4" };
    static const char *const no_ends[] = { W "2", W "3" };
    struct view queue;

    PARSE(&queue, names, "me-" W "5");
    assert_true(leave_out(&queue, W "2"));
    assert_ahead(&queue, no_middle, COUNT(no_middle));

    PARSE(&queue, names, "me-" W "5");
    assert_true(leave_out(&queue, W "1"));
    assert_true(leave_out(&queue, W "4"));
    assert_ahead(&queue, no_ends, COUNT(no_ends));
}

TEST(all_can_be_left_out)
{
    static const char *const names[] = { W "1", "me-" R "1" };
    struct view queue;

    PARSE(&queue, names, "me-" R "1");
    assert_true(leave_out(&queue, W "1"));
    assert_string_equal(nearest_any(&queue), "nobody");
    assert_true(queue.listed); /* we are still there */
    assert_ahead(&queue, NULL, 0);
}

/* A name is compared as a whole: another name with the same number is another
 * contender. */
TEST(a_name_that_is_not_there_is_not_found)
{
    static const char *const names[] = { "a" W "5", W "5", "me-" R "5", W "6",
                                         "0" };
    static const char *const ahead[] = { "a" W "5", W "5" };
    static const char *const others[] = { W, W "05", "b" W "5", "0", "" };
    struct view queue;

    PARSE(&queue, names, "me-" R "5");
    for (size_t i = 0; i < COUNT(others); i++)
        assert_false(leave_out(&queue, others[i]));
    assert_ahead(&queue, ahead, COUNT(ahead));

    parse(&queue, NULL, 0, NULL);
    assert_false(leave_out(&queue, W "5"));
    zkr__queue_done(&queue.queue);
}

TEST(a_name_that_is_there_twice_counts_once)
{
    static const char *const names[] = { W "2", W "1", W "2" };
    static const char *const expected[] = { W "1", W "2" };
    struct view queue;

    PARSE(&queue, names, W "2");
    assert_string_equal(nearest_any(&queue), W "1");
    zkr__queue_done(&queue.queue);
    PARSE(&queue, names, NULL);
    assert_ahead(&queue, expected, COUNT(expected));
}

TEST(queue_can_be_freed_twice)
{
    static const char *const names[] = { W "1" };
    struct view queue;

    PARSE(&queue, names, NULL);
    zkr__queue_done(&queue.queue);
    assert_null(queue.queue.all);
    assert_int_equal(queue.queue.count, 0);
    zkr__queue_done(&queue.queue);
}

TEST(five_thousand_contenders_are_in_order)
{
    enum { NAMES = 5000, SELF = 3210 };
    static char texts[NAMES][16];
    const char *names[NAMES];
    struct view queue;
    uint64_t random = UINT64_C(0x9e3779b97f4a7c15);

    for (size_t i = 0; i < NAMES; i++) {
        (void)snprintf(texts[i], sizeof(texts[i]), W "%010zu", i);
        names[i] = texts[i];
    }
    for (size_t i = NAMES - 1; i > 0; i--) {
        size_t j = unit_random(&random) % (i + 1);
        const char *swap = names[i];

        names[i] = names[j];
        names[j] = swap;
    }
    parse(&queue, names, NAMES, texts[SELF]);
    assert_true(queue.listed);
    assert_int_equal(queue.self, SELF);
    for (size_t i = 0; i < NAMES; i++)
        assert_int_equal(queue.queue.all[i].seq, i);
    zkr__queue_done(&queue.queue);
}
