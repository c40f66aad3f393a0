/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of columns on a screen: which fit, and which are cut. */
#include "text/grid.h"
#include "texts.h"
#include "unit.h"

#include <locale.h>

static const struct grid_column columns[] = {
    { "NAME", 6, 0, .flexible = true, .tail = true },
    { "MORE", 6, 2, .flexible = true },
    { "N", 3, 1, .right = true },
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

static void fit(struct grid *grid, int width, const char *const *cells,
                const char *want)
{
    char line[GRID_CELL_MAX];

    grid_see(grid, cells);
    grid_fit(grid, width);
    grid_line(grid, cells, line);
    assert_string_equal(line, want);
}

TEST(columns_are_given_up_by_rank)
{
    const char *const cells[] = { "abcdef", "xyz", "7" };
    struct grid grid;

    grid_start(&grid, columns, COUNT(columns));
    fit(&grid, 17, cells, "abcdef xyz    7");
    fit(&grid, 16, cells, "abcdef   7");
    fit(&grid, 10, cells, "abcdef   7");
    fit(&grid, 9, cells, "abcdef");
    fit(&grid, 4, cells, "...f");
}

TEST(room_goes_to_the_texts_that_want_it)
{
    const char *const cells[] = { "a-long-name-it-is", "xy", "12" };
    const char *const empty[] = { "a", NULL, "" };
    struct grid grid;
    int x;

    grid_start(&grid, columns, COUNT(columns));
    fit(&grid, 17, cells, "...it-is xy    12");
    fit(&grid, 40, cells, "a-long-name-it-is xy    12");
    /* a column that was wide once stays wide: it does not jump */
    fit(&grid, 40, empty, "a                 -      -");
    assert_true(grid_place(&grid, 2, &x));
    assert_int_equal(x, 23);
    grid_fit(&grid, 10);
    assert_false(grid_place(&grid, 1, &x));
}

int main(void)
{

    if (setlocale(LC_CTYPE, "C.UTF-8") == NULL)
        return 77;
    return test_run_all();
}
