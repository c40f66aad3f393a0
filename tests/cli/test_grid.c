/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of columns on a screen: which fit, and which are cut. */
#include "text/grid.h"
#include "texts.h"
#include "unit.h"

#include <locale.h>

struct item {
    const char *name;
    const char *more;
    const char *n;
    const char *last;
};

#define AT(member) .type = FIELD_WORD, .at = offsetof(struct item, member)
static const struct field fields[] = {
    { "NAME", AT(name), .rank = 0, .narrow = 6, .tail = true },
    { "MORE", AT(more), .rank = 2 },
    { "N", AT(n), .rank = 1, .right = true },
    { "LAST", AT(last), .wide = true },
    { "ALSO", AT(last), .wide = true }, /* of the same rank */
    { .key = "member", AT(last) },
    { .key = NULL },
};

static void cut_is(const char *text, int width, bool tail, const char *want)
{
    char out[GRID_CELL_MAX];

    grid_cut(text, width, tail, out);
    assert_string_equal(out, want);
    assert_true(grid_width(out) <= (width < 0 ? 0 : width));
}

TEST(a_wide_text_is_cut)
{
    cut_is("orders", 6, false, "orders");
    cut_is("orders!", 6, false, "ord...");
    cut_is("/locks/orders", 9, true, "...orders");
    cut_is("orders", 2, false, "..");
    cut_is("orders", 0, false, "");
    cut_is("orders", -1, true, "");
}

TEST(wide_and_combining_characters_count_as_they_are_shown)
{
    assert_int_equal(grid_width("\u65e5\u672c"), 4);
    assert_int_equal(grid_width("e\u0301"), 1);
    cut_is("\u65e5\u672c\u8a9e", 5, false, "\u65e5...");
    cut_is("\u65e5\u672c\u8a9e", 5, true, "...\u8a9e");
    cut_is("abce\u0301f", 4, false, "a...");
    /* the accent stays with its letter, or goes with it */
    cut_is("abcde\u0301f", 4, true, "...f");
    cut_is("abcde\u0301f", 5, true, "...e\u0301f");
}

TEST(a_character_that_cannot_be_shown_is_a_question_mark)
{
    cut_is("a\033b\xff"
           "c",
           9, false, "a?b?c");
}

static void fit(struct grid *grid, int width, const struct item *item,
                const char *want)
{
    char line[GRID_CELL_MAX] = "";
    FILE *out = fmemopen(line, sizeof(line), "w");

    assert_non_null(out);
    grid_take(grid, item);
    grid_fit(grid, width);
    grid_write(grid, 0, out);
    assert_int_equal(fclose(out), 0);
    assert_string_equal(line, want);
    grid_forget(grid);
}

TEST(columns_are_given_up_by_rank)
{
    const struct item item = { "abcdef", "xyz", "7", "z" };
    struct grid grid;

    grid_start(&grid, fields, true);
    fit(&grid, 23, &item, "abcdef xyz  7 z    z");
    fit(&grid, 22, &item, "abcdef xyz  7 z");
    fit(&grid, 17, &item, "abcdef xyz  7");
    grid_start(&grid, fields, false);
    fit(&grid, 13, &item, "abcdef xyz  7");
    fit(&grid, 12, &item, "abcdef 7");
    fit(&grid, 8, &item, "abcdef 7");
    fit(&grid, 7, &item, "abcdef");
    fit(&grid, 4, &item, "...f");
}

TEST(room_goes_to_the_texts_that_want_it)
{
    const struct item item = { "a-long-name-it-is", "xy", "12", "" };
    const struct item empty = { "a", "", "", "" };
    struct grid grid;

    grid_start(&grid, fields, false);
    fit(&grid, 15, &item, "...t-is xy   12");
    fit(&grid, 40, &item, "a-long-name-it-is xy   12");
    /* a column that was wide once stays wide: it does not jump */
    fit(&grid, 40, &empty, "a                 -     -");
}

int main(void)
{

    if (setlocale(LC_CTYPE, "C.UTF-8") == NULL)
        return 77;
    return test_run_all();
}
