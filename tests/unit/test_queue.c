/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the queue of a lock: who is ahead of us, and in which order. */
#include "protocol/queue.h"
#include "unit.h"

/* Two markers that are short here. */
#define W "lock-"
#define R "__READ__"

static const uint32_t markers =
    ZKR__MARKER_BIT(ZKR__CURATOR_LOCK) | ZKR__MARKER_BIT(ZKR__CURATOR_READ);

/* A queue, as the contender `self` sees it; NULL: as somebody outside. */
struct view {
    struct zkr__queue queue;
    size_t self;
    bool listed;
};

static void parse(struct view *view, const char *const *names, size_t count,
                  const char *self)
{
    memset(view, 0x5a, sizeof(*view)); /* whatever was there before */
    ok(zkr__queue_parse(&view->queue, names, count, markers));
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

/* clang-format off */
static const struct row {
    const char *name;
    const char *names[9];
    const char *self;
    const char *left_out[3];
    const char *ahead[7]; /* in order; of one who is not in the queue: all */
    const char *any;       /* the nearest; NULL: not asked */
    const char *exclusive; /* the nearest of them */
    bool absent; /* self is not in the queue */
} rows[] = {
    { "order is by number, not by text",
      { W "100", "zzz-" W "0000000009", W "20", "aaa-" W "0000000011", W "3" },
      .ahead = { W "3", "zzz-" W "0000000009", "aaa-" W "0000000011", W "20",
                 W "100" } },
    { "nearest before us is last",
      { W "7", W "1", "me-" W "5", R "4", W "6", W "2" }, "me-" W "5",
      .ahead = { W "1", W "2", R "4" } },
    { "equal sequence counts as ahead",
      { "b-" W "5", "me-" W "5", "z-" R "5", W "6" }, "me-" W "5",
      .ahead = { "z-" R "5", "b-" W "5" } },
    /* Two nodes with our number in another width, from an exhausted counter. */
    { "the same number is equal in any width",
      { "x-" W "5", W "0000000005" }, W "0000000005",
      .ahead = { "x-" W "5" } },
    { "order of equal sequences does not depend on the list: one",
      { "c-" W "5", "a-" W "5", "b-" W "5" },
      .ahead = { "a-" W "5", "b-" W "5", "c-" W "5" } },
    { "order of equal sequences does not depend on the list: another",
      { "b-" W "5", "c-" W "5", "a-" W "5" },
      .ahead = { "a-" W "5", "b-" W "5", "c-" W "5" } },
    /* A reader that replaces a writer has the same number. */
    { "of equal sequences the exclusive ones are last",
      { "a-" W "5", "b-" R "5", "z-" R "5", "me-" W "6" }, "me-" W "6",
      .ahead = { "b-" R "5", "z-" R "5", "a-" W "5" } },
    { "foreign children are ignored, and not in the queue",
      { "0", "", "-", "latch-1", W, W "1x", W "2", W "99999999999999999999" },
      "0", .ahead = { W "2" }, .absent = true },
    { "missing self is not listed",
      { W "1", "me-" W "50", "e-" W "5" }, "me-" W "5",
      .ahead = { W "1", "e-" W "5", "me-" W "50" }, .absent = true },
    { "without self all are listed",
      { W "2147483647", R "0", W "-2147483648" },
      .ahead = { W "-2147483648", R "0", W "2147483647" } },
    { "empty list is an empty queue", .any = "nobody" },
    { "nobody is in an empty queue", .self = W "1", .absent = true },
    { "negative sequences come first",
      { W "0000000000", W "-2147483647", "me-" W "-0000000005",
        W "-2147483648", W "-0000000004" }, "me-" W "-0000000005",
      .ahead = { W "-2147483648", W "-2147483647" } },
    { "the last ahead is waited for",
      { W "3", R "7", "me-" W "9", W "12" }, "me-" W "9",
      .ahead = { W "3", R "7" }, .any = R "7" },
    { "the nearest exclusive has our number",
      { R "8", W "5", R "7", W "3", R "1", W "9", "me-" R "9" }, "me-" R "9",
      .ahead = { R "1", W "3", W "5", R "7", R "8", W "9" },
      .exclusive = W "9" },
    { "the nearest exclusive is behind those who share",
      { R "8", W "5", R "7", W "3", R "1", W "9", "me-" R "9" }, "me-" R "9",
      { W "9" }, { R "1", W "3", W "5", R "7", R "8" }, .exclusive = W "5" },
    { "the nearest of a try, which is not in the queue",
      { R "8", W "5", R "9" }, .ahead = { W "5", R "8", R "9" },
      .exclusive = W "5", .any = R "9" },
    /* The first place must be found, too: index 0 does not mean nobody. */
    { "the first place is not nobody, of exclusive ones",
      { W "1", R "2", R "3" }, R "3", .ahead = { W "1", R "2" },
      .exclusive = W "1" },
    { "the first place is not nobody, of any",
      { W "1", R "2", R "3" }, R "2", .ahead = { W "1" }, .any = W "1" },
    { "nobody is waited for without one ahead",
      { R "2", R "3", "me-" W "1", W "9" }, "me-" W "1",
      .any = "nobody", .exclusive = "nobody" },
    { "nobody exclusive is waited for among readers",
      { R "2", R "3", "me-" W "1", W "9" }, R "3", { "me-" W "1" },
      { R "2" }, .any = R "2", .exclusive = "nobody" },
    { "one left out leaves the others in order",
      { W "1", W "2", W "3", W "4", "me-" W "5" }, "me-" W "5", { W "2" },
      { W "1", W "3", W "4" }, .any = W "4" },
    { "the ends left out leave the others in order",
      { W "1", W "2", W "3", W "4", "me-" W "5" }, "me-" W "5",
      { W "1", W "4" }, { W "2", W "3" }, .any = W "3" },
    { "all can be left out", { W "1", "me-" R "1" }, "me-" R "1", { W "1" }, .any = "nobody" },
    { "a name that is there twice counts once, before it",
      { W "2", W "1", W "2" }, W "2", .ahead = { W "1" }, .any = W "1" },
    { "a name that is there twice counts once",
      { W "2", W "1", W "2" }, .ahead = { W "1", W "2" } },
};
/* clang-format on */

TEST_ROWS(queue, rows, row)
{
    size_t count = count_texts(row->names);
    struct view view;

    parse(&view, count == 0 ? NULL : row->names, count, row->self);
    for (size_t i = 0; row->left_out[i] != NULL; i++)
        assert_true(leave_out(&view, row->left_out[i]));
    assert_int_equal(view.listed, row->self != NULL && !row->absent);
    struct zkr__nearest nearest = zkr__queue_nearest(&view.queue, view.self);
    if (row->any != NULL)
        assert_string_equal(name_at(&view, zkr__nearest_any(&nearest)),
                            row->any);
    if (row->exclusive != NULL)
        assert_string_equal(name_at(&view, zkr__nearest_exclusive(&nearest)),
                            row->exclusive);
    assert_ahead(&view, row->ahead, count_texts(row->ahead));
}

/* Whole names are compared: another name with our number is another. */
TEST(a_name_that_is_not_there_is_not_found)
{
    static const char *const names[] = { "a" W "5", W "5", "me-" R "5", W "6",
                                         "0" };
    static const char *const ahead[] = { "a" W "5", W "5" };
    static const char *const others[] = { W, W "05", "b" W "5", "0", "" };
    struct view queue;

    parse(&queue, names, COUNT(names), "me-" R "5");
    for (size_t i = 0; i < COUNT(others); i++)
        assert_false(leave_out(&queue, others[i]));
    assert_ahead(&queue, ahead, COUNT(ahead));

    parse(&queue, NULL, 0, NULL);
    assert_false(leave_out(&queue, W "5"));
    zkr__queue_done(&queue.queue);
}

/* A session looks for the nearest that is not its own. */
TEST(the_nearest_of_others_is_found)
{
    static const char *const names[] = { W "1", R "2", W "3", R "4", W "4" };
    static const struct {
        unsigned ours, left_out; /* bit i: names[i] */
        const char *other;       /* of the reader with the number 4 */
    } cases[] = {
        { 0x00, 0x0, W "4" }, { 0x10, 0x0, W "3" },    { 0x14, 0x0, R "2" },
        { 0x16, 0x0, W "1" }, { 0x17, 0x0, "nobody" }, { 0x14, 0x2, W "1" },
        { 0x10, 0x4, R "2" }, { 0x11, 0x6, "nobody" },
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct view view;

        parse(&view, names, COUNT(names), R "4");
        for (size_t j = 0; j < COUNT(names); j++) {
            view.queue.all[j].ours = (cases[i].ours >> j & 1) != 0;
            view.queue.all[j].left_out = (cases[i].left_out >> j & 1) != 0;
        }
        zkr__queue_link(&view.queue);
        assert_string_equal(
            name_at(&view, zkr__queue_other(&view.queue, view.self)),
            cases[i].other);
        zkr__queue_done(&view.queue);
    }
}

TEST(kind_and_sequence_are_told_and_freed_once)
{
    static const char *const names[] = { R "2", W "-3", "foreign" };
    struct view queue;

    parse(&queue, names, COUNT(names), NULL);
    assert_int_equal(queue.queue.count, 2);
    assert_int_equal(queue.queue.foreign, 1);
    assert_int_equal(queue.queue.all[0].kind, ZKR__EXCLUSIVE);
    assert_int_equal(queue.queue.all[0].seq, -3);
    assert_int_equal(queue.queue.all[1].kind, ZKR__SHARED);
    assert_int_equal(queue.queue.all[1].seq, 2);
    zkr__queue_done(&queue.queue);
    assert_null(queue.queue.all);
    assert_int_equal(queue.queue.count, 0);
    zkr__queue_done(&queue.queue);
}

TEST(five_thousand_contenders_are_in_order)
{
    enum { NAMES = 5000, SELF = 3210 };
    const char *names[NAMES];
    struct view queue;
    uint64_t random = UINT64_C(0x9e3779b97f4a7c15);

    for (size_t i = 0; i < NAMES; i++)
        names[i] = textf(W "%010zu", i);
    const char *self = names[SELF];
    for (size_t i = NAMES - 1; i > 0; i--) {
        size_t j = unit_random(&random) % (i + 1);
        const char *swap = names[i];

        names[i] = names[j];
        names[j] = swap;
    }
    parse(&queue, names, NAMES, self);
    assert_true(queue.listed);
    assert_int_equal(queue.self, SELF);
    for (size_t i = 0; i < NAMES; i++)
        assert_int_equal(queue.queue.all[i].seq, i);
    zkr__queue_done(&queue.queue);
}
