/* Tests of the queue of a lock: who is ahead of us, and in which order. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "lock/queue.h"
#include "unit.h"

static const char *const exclusive[] = { "w-", NULL };
static const char *const shared[] = { "r-", NULL };
static const struct zkr__markers markers = { exclusive, shared };

#define PARSE(queue, names, self) parse(queue, names, COUNT(names), self)

static void parse(struct zkr__queue *queue, const char *const *names,
                  size_t count, const char *self)
{
    memset(queue, 0x5a, sizeof(*queue)); /* whatever was there before */
    assert_int_equal(zkr__queue_parse(queue, names, count, &markers, self),
                     ZKR_OK);
}

/* Who is ahead, by name, and frees the queue. */
static void assert_ahead(struct zkr__queue *queue, const char *const *names,
                         size_t count)
{
    assert_int_equal(queue->count, count);
    for (size_t i = 0; i < count; i++)
        assert_string_equal(queue->ahead[i].name, names[i]);
    zkr__queue_done(queue);
}

static void order_is_by_number_not_by_text(void **state)
{
    static const char *const names[] = { "w-100", "zzz-w-0000000009", "w-20",
                                         "aaa-w-0000000011", "w-3" };
    static const char *const expected[] = { "w-3", "zzz-w-0000000009",
                                            "aaa-w-0000000011", "w-20",
                                            "w-100" };
    struct zkr__queue queue;

    (void)state;
    PARSE(&queue, names, NULL);
    assert_ahead(&queue, expected, COUNT(expected));
}

static void nearest_before_us_is_last(void **state)
{
    static const char *const names[] = { "w-7", "w-1", "me-w-5",
                                         "r-4", "w-6", "w-2" };
    static const char *const expected[] = { "w-1", "w-2", "r-4" };
    struct zkr__queue queue;

    (void)state;
    PARSE(&queue, names, "me-w-5");
    assert_true(queue.listed);
    assert_ahead(&queue, expected, COUNT(expected));
}

static void the_first_has_nobody_ahead(void **state)
{
    static const char *const names[] = { "w-3", "me-w-1", "w-2" };
    struct zkr__queue queue;

    (void)state;
    PARSE(&queue, names, "me-w-1");
    assert_true(queue.listed);
    assert_ahead(&queue, NULL, 0);
}

static void kind_and_sequence_are_told(void **state)
{
    static const char *const names[] = { "r-2", "w--3" };
    struct zkr__queue queue;

    (void)state;
    PARSE(&queue, names, NULL);
    assert_int_equal(queue.count, 2);
    assert_int_equal(queue.ahead[0].kind, ZKR__EXCLUSIVE);
    assert_int_equal(queue.ahead[0].seq, -3);
    assert_int_equal(queue.ahead[1].kind, ZKR__SHARED);
    assert_int_equal(queue.ahead[1].seq, 2);
    zkr__queue_done(&queue);
}

static void equal_sequence_counts_as_ahead(void **state)
{
    static const char *const names[] = { "b-w-5", "me-w-5", "z-r-5", "w-6" };
    static const char *const expected[] = { "z-r-5", "b-w-5" };
    struct zkr__queue queue;

    (void)state;
    PARSE(&queue, names, "me-w-5");
    assert_ahead(&queue, expected, COUNT(expected));
}

/* Two nodes with our number in another width, from an exhausted counter. */
static void the_same_number_is_equal_in_any_width(void **state)
{
    static const char *const names[] = { "x-w-5", "w-0000000005" };
    static const char *const expected[] = { "x-w-5" };
    struct zkr__queue queue;

    (void)state;
    PARSE(&queue, names, "w-0000000005");
    assert_ahead(&queue, expected, COUNT(expected));
}

static void order_of_equal_sequences_does_not_depend_on_the_list(void **state)
{
    static const char *const one[] = { "c-w-5", "a-w-5", "b-w-5" };
    static const char *const other[] = { "b-w-5", "c-w-5", "a-w-5" };
    static const char *const expected[] = { "a-w-5", "b-w-5", "c-w-5" };
    struct zkr__queue queue;

    (void)state;
    PARSE(&queue, one, NULL);
    assert_ahead(&queue, expected, COUNT(expected));
    PARSE(&queue, other, NULL);
    assert_ahead(&queue, expected, COUNT(expected));
}

/* A reader that replaces a writer has the same number. */
static void of_equal_sequences_the_exclusive_ones_are_last(void **state)
{
    static const char *const names[] = { "a-w-5", "b-r-5", "z-r-5", "me-w-6" };
    static const char *const expected[] = { "b-r-5", "z-r-5", "a-w-5" };
    struct zkr__queue queue;

    (void)state;
    PARSE(&queue, names, "me-w-6");
    assert_ahead(&queue, expected, COUNT(expected));
}

static void foreign_children_are_ignored(void **state)
{
    static const char *const names[] = {
        "0", "", "-", "lock-1", "w-", "w-1x", "w-2", "w-99999999999999999999"
    };
    static const char *const expected[] = { "w-2" };
    struct zkr__queue queue;

    (void)state;
    PARSE(&queue, names, "0");
    assert_true(queue.listed);
    zkr__queue_done(&queue);
    PARSE(&queue, names, NULL);
    assert_ahead(&queue, expected, COUNT(expected));
}

static void missing_self_is_not_listed(void **state)
{
    static const char *const names[] = { "w-1", "me-w-50", "e-w-5" };
    struct zkr__queue queue;

    (void)state;
    PARSE(&queue, names, "me-w-5");
    assert_false(queue.listed);
    assert_ahead(&queue, NULL, 0);
}

static void without_self_all_are_listed(void **state)
{
    static const char *const names[] = { "w-2147483647", "r-0",
                                         "w--2147483648" };
    static const char *const expected[] = { "w--2147483648", "r-0",
                                            "w-2147483647" };
    struct zkr__queue queue;

    (void)state;
    PARSE(&queue, names, NULL);
    assert_false(queue.listed);
    assert_ahead(&queue, expected, COUNT(expected));
}

static void empty_list_is_an_empty_queue(void **state)
{
    struct zkr__queue queue;

    (void)state;
    parse(&queue, NULL, 0, NULL);
    assert_false(queue.listed);
    assert_ahead(&queue, NULL, 0);
    parse(&queue, NULL, 0, "w-1");
    assert_false(queue.listed);
    assert_ahead(&queue, NULL, 0);
}

static void negative_sequences_come_first(void **state)
{
    static const char *const names[] = { "w-0000000000", "w--2147483647",
                                         "me-w--0000000005", "w--2147483648",
                                         "w--0000000004" };
    static const char *const expected[] = { "w--2147483648", "w--2147483647" };
    struct zkr__queue queue;

    (void)state;
    PARSE(&queue, names, "me-w--0000000005");
    assert_ahead(&queue, expected, COUNT(expected));
}

static void the_last_ahead_is_waited_for(void **state)
{
    static const char *const names[] = { "w-3", "r-7", "me-w-9", "w-12" };
    struct zkr__queue queue;
    size_t last;

    (void)state;
    PARSE(&queue, names, "me-w-9");
    last = zkr__queue_last(&queue);
    assert_int_equal(last, 1);
    assert_string_equal(queue.ahead[last].name, "r-7");
    zkr__queue_done(&queue);
}

static void the_nearest_exclusive_is_behind_those_who_share(void **state)
{
    static const char *const names[] = { "r-8", "w-5", "r-7",   "w-3",
                                         "r-1", "w-9", "me-r-9" };
    static const char *const without_us[] = { "r-8", "w-5", "r-9" };
    struct zkr__queue queue;

    (void)state;
    PARSE(&queue, names, "me-r-9"); /* r1 w3 w5 r7 r8 w9 */
    assert_int_equal(zkr__queue_last_exclusive(&queue), 5);
    assert_true(zkr__queue_leave_out(&queue, "w-9"));
    assert_int_equal(zkr__queue_last_exclusive(&queue), 2);
    assert_string_equal(queue.ahead[2].name, "w-5");
    zkr__queue_done(&queue);

    PARSE(&queue, without_us, NULL); /* a try */
    assert_int_equal(zkr__queue_last_exclusive(&queue), 0);
    assert_int_equal(zkr__queue_last(&queue), 2);
    zkr__queue_done(&queue);
}

/* The first place must be found too: it is number 0, not nobody. */
static void the_first_place_is_not_nobody(void **state)
{
    static const char *const names[] = { "w-1", "r-2", "r-3" };
    struct zkr__queue queue;

    (void)state;
    PARSE(&queue, names, "r-3");
    assert_int_equal(zkr__queue_last_exclusive(&queue), 0);
    zkr__queue_done(&queue);
    PARSE(&queue, names, "r-2");
    assert_int_equal(zkr__queue_last(&queue), 0);
    zkr__queue_done(&queue);
}

static void nobody_is_waited_for_without_one_ahead(void **state)
{
    static const char *const names[] = { "r-2", "r-3", "me-w-1", "w-9" };
    struct zkr__queue queue;

    (void)state;
    PARSE(&queue, names, "me-w-1");
    assert_true(zkr__queue_last(&queue) == ZKR__NOBODY);
    assert_true(zkr__queue_last_exclusive(&queue) == ZKR__NOBODY);
    zkr__queue_done(&queue);

    PARSE(&queue, names, "r-3"); /* readers ahead, and one writer more */
    assert_true(zkr__queue_leave_out(&queue, "me-w-1"));
    assert_true(zkr__queue_last_exclusive(&queue) == ZKR__NOBODY);
    assert_int_equal(zkr__queue_last(&queue), 0);
    zkr__queue_done(&queue);
}

static void who_is_left_out_leaves_the_others_in_order(void **state)
{
    static const char *const names[] = { "w-1", "w-2", "w-3", "w-4", "me-w-5" };
    static const char *const no_middle[] = { "w-1", "w-3", "w-4" };
    static const char *const no_ends[] = { "w-2", "w-3" };
    struct zkr__queue queue;

    (void)state;
    PARSE(&queue, names, "me-w-5");
    assert_true(zkr__queue_leave_out(&queue, "w-2"));
    assert_ahead(&queue, no_middle, COUNT(no_middle));

    PARSE(&queue, names, "me-w-5");
    assert_true(zkr__queue_leave_out(&queue, "w-1"));
    assert_true(zkr__queue_leave_out(&queue, "w-4"));
    assert_ahead(&queue, no_ends, COUNT(no_ends));
}

static void all_can_be_left_out(void **state)
{
    static const char *const names[] = { "w-1", "me-r-1" };
    struct zkr__queue queue;

    (void)state;
    PARSE(&queue, names, "me-r-1");
    assert_true(zkr__queue_leave_out(&queue, "w-1"));
    assert_true(zkr__queue_last(&queue) == ZKR__NOBODY);
    assert_false(zkr__queue_leave_out(&queue, "w-1"));
    assert_true(queue.listed); /* we are still there */
    assert_ahead(&queue, NULL, 0);
}

/* A name is compared as a whole: one with the same number is somebody else. */
static void who_is_not_ahead_cannot_be_left_out(void **state)
{
    static const char *const names[] = { "aw-5", "w-5", "me-r-5", "w-6", "0" };
    static const char *const ahead[] = { "aw-5", "w-5" };
    static const char *const others[] = { "me-r-5", "w-6", "w-", "w-05",
                                          "bw-5",   "0",   "" };
    struct zkr__queue queue;

    (void)state;
    PARSE(&queue, names, "me-r-5");
    for (size_t i = 0; i < COUNT(others); i++)
        assert_false(zkr__queue_leave_out(&queue, others[i]));
    assert_ahead(&queue, ahead, COUNT(ahead));

    parse(&queue, NULL, 0, NULL);
    assert_false(zkr__queue_leave_out(&queue, "w-5"));
    zkr__queue_done(&queue);
}

static void queue_can_be_freed_twice(void **state)
{
    static const char *const names[] = { "w-1" };
    struct zkr__queue queue;

    (void)state;
    PARSE(&queue, names, NULL);
    zkr__queue_done(&queue);
    assert_null(queue.ahead);
    assert_int_equal(queue.count, 0);
    zkr__queue_done(&queue);
}

static void five_thousand_contenders_are_in_order(void **state)
{
    enum { NAMES = 5000, SELF = 3210 };
    static char texts[NAMES][16];
    const char *names[NAMES];
    struct zkr__queue queue;
    uint64_t random = UINT64_C(0x9e3779b97f4a7c15);

    (void)state;
    for (size_t i = 0; i < NAMES; i++) {
        (void)snprintf(texts[i], sizeof(texts[i]), "w-%010zu", i);
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
    assert_int_equal(queue.count, SELF);
    for (size_t i = 0; i < SELF; i++)
        assert_int_equal(queue.ahead[i].seq, i);
    zkr__queue_done(&queue);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_is_by_number_not_by_text),
        cmocka_unit_test(nearest_before_us_is_last),
        cmocka_unit_test(the_first_has_nobody_ahead),
        cmocka_unit_test(kind_and_sequence_are_told),
        cmocka_unit_test(equal_sequence_counts_as_ahead),
        cmocka_unit_test(the_same_number_is_equal_in_any_width),
        cmocka_unit_test(order_of_equal_sequences_does_not_depend_on_the_list),
        cmocka_unit_test(of_equal_sequences_the_exclusive_ones_are_last),
        cmocka_unit_test(foreign_children_are_ignored),
        cmocka_unit_test(missing_self_is_not_listed),
        cmocka_unit_test(without_self_all_are_listed),
        cmocka_unit_test(empty_list_is_an_empty_queue),
        cmocka_unit_test(negative_sequences_come_first),
        cmocka_unit_test(the_last_ahead_is_waited_for),
        cmocka_unit_test(the_nearest_exclusive_is_behind_those_who_share),
        cmocka_unit_test(the_first_place_is_not_nobody),
        cmocka_unit_test(nobody_is_waited_for_without_one_ahead),
        cmocka_unit_test(who_is_left_out_leaves_the_others_in_order),
        cmocka_unit_test(all_can_be_left_out),
        cmocka_unit_test(who_is_not_ahead_cannot_be_left_out),
        cmocka_unit_test(queue_can_be_freed_twice),
        cmocka_unit_test(five_thousand_contenders_are_in_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
