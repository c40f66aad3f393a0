/* SPDX-License-Identifier: Apache-2.0 */
/* One line of the screen of top: a text in one style. */
#include "top/screen_line.h"

#include <stdarg.h>
#include <stdio.h>

void top_line_write(struct top_line *line, enum top_style style, int width,
                    const char *format, ...)
{
    char text[GRID_CELL_MAX];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    *line = (struct top_line){ .style = style };
    grid_cut(text, width, false, line->text);
}

void top_line_write_both(struct top_line *line, enum top_style style, int width,
                         const char *left, const char *right)
{
    char text[GRID_CELL_MAX];
    int rest = width - grid_width(right) - 2;

    if (rest < width / 4) {
        top_line_write(line, style, width, "%s", left);
        return;
    }
    grid_cut(left, rest, false, text);
    top_line_write(line, style, width, "%s%*s%s", text,
                   rest + 2 - grid_width(text), "", right);
}

void top_line_write_row(struct top_line *line, const struct grid *grid,
                        size_t row)
{
    FILE *out = fmemopen(line->text, sizeof(line->text) - 1, "w");

    if (out == NULL)
        return;
    grid_write(grid, row, out);
    (void)fclose(out);
}
