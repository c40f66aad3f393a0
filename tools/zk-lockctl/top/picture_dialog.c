/* SPDX-License-Identifier: Apache-2.0 */
/* Draws the question that top asks before it acts, in front of the list. */
#include "top/picture_parts.h"

#include <stdio.h>
#include <string.h>

/* Returns how many bytes of a word, which is too long, fit. */
static size_t fitting(const char *word, size_t size, int width)
{
    char part[GRID_CELL_MAX];

    while (size > 0) {
        (void)snprintf(part, sizeof(part), "%.*s", (int)size, word);
        if (((unsigned char)word[size] & 0xc0u) != 0x80u &&
            grid_width(part) <= width)
            break;
        size--;
    }
    return size;
}

/* Copies as many words as fit into `line`, or a part of one; returns the
 * rest, which is all of it when there is no room at all. */
static const char *wrap(const char *text, int width, char line[GRID_CELL_MAX])
{
    char longer[GRID_CELL_MAX];
    size_t used = 0;

    while (text[used] != '\0') {
        size_t end = used + strspn(text + used, " ");

        end += strcspn(text + end, " ");
        (void)snprintf(longer, sizeof(longer), "%.*s", (int)end, text);
        if (grid_width(longer) > width) {
            used = used > 0 ? used : fitting(text, end, width);
            break;
        }
        used = end;
    }
    (void)snprintf(line, GRID_CELL_MAX, "%.*s", (int)used, text);
    return text + used + (used > 0 ? strspn(text + used, " ") : 0);
}

/* One of its lines; returns false when the page has no room for all of it. */
static bool draw_wrapped(const struct drawing *d, const char *text, size_t page,
                         size_t *y)
{
    enum top_style style = strstr(text, "DANGER") != NULL ? TOP_BAD : TOP_PLAIN;
    const char *indent = "";
    char line[GRID_CELL_MAX];

    while (*text != '\0') {
        const char *rest = wrap(text, d->width - (int)strlen(indent), line);

        if (*y == page || rest == text)
            return false;
        top_line_write(&d->lines[HEAD_LINES + (*y)++], style, d->width, "%s%s",
                       indent, line);
        text = rest;
        indent = "    ";
    }
    return true;
}

bool picture_dialog(const struct drawing *d, size_t page)
{
    const struct notes *lines = &d->view->dialog.lines;
    bool is_whole = true;
    size_t y = 0;

    for (size_t i = 0; i < lines->count && is_whole; i++)
        is_whole = draw_wrapped(d, lines->texts[i], page, &y);
    return is_whole;
}

/* There is no question without what it is about. */
void picture_prompt(const struct drawing *d, struct top_line *line,
                    bool is_whole)
{
    char prompt[DIALOG_PROMPT_MAX];

    dialog_prompt(&d->view->dialog, prompt);
    top_line_write(
        line, TOP_BAR, d->width, "%s",
        is_whole ? prompt : "this does not fit: enlarge the terminal, or Esc");
}
