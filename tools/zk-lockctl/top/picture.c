/* SPDX-License-Identifier: Apache-2.0 */
/* Draws the screen of top as lines of text: a head of three lines, a list of
 * locks or of the queue of one, and the keys. */
#include "top/picture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/plain.h"
#include "top/picture_parts.h"

#define COUNT(items) ((int)(sizeof(items) / sizeof((items)[0])))

static void draw_help(const struct drawing *d, int count)
{
    static const char *const text[] = {
        "Up Down j k  PgUp PgDn  Home End g G",
        "             move; the cursor follows its lock, but on the first line",
        "             it stays",
        "Enter        the queue of the lock: who holds, who waits for whom",
        "Esc q        back; Esc also ends a filter, q at last the program",
        "s > <        sort by the next, or the previous column",
        "r            the other way round",
        "/            only locks and holders with this text; Enter keeps it",
        "o            the owners, by the locks they hold; Enter: those of one",
        "R            ask the holder to give the lock back: zk-lockctl revoke",
        "K            break the lock, the last resort: zk-lockctl break",
        "Space        look now",
        "+ -          look less often, more often",
        "h ?          this help",
        "HELD         at most: since the node was made, or first seen to hold",
        "LONGEST      how long the one that waits longest has waited",
        "GRANTS       of the last minute, as far as looks have seen them:",
        "             between two of them there may be more",
        "TOKEN        fencing token of the holder, for break --token",
        "CLIENT WATCH as the servers tell; MISSING: it will not wake up",
        "A lock that nobody uses any more is shown as free for a minute.",
    };

    for (int i = 0; i < count && i < COUNT(text); i++)
        top_line_write(&d->lines[2 + i], TOP_PLAIN, d->width, "%s", text[i]);
}

/* clang-format off */
static const struct field lock_hints[] = {
    { "Enter queue ", .rank = 2 },
    { "/ filter ", .rank = 3 },
    { "s sort ", .rank = 4 },
    { "R ask ", .rank = 5 },
    { "K break ", .rank = 6 },
    { "Space now ", .rank = 7 },
    { "r reverse ", .rank = 8 },
    { "+- interval ", .rank = 9 },
    { "? help ", .rank = 1 },
    { "q quit", .rank = 0 },
    { .key = NULL },
};

static const struct field other_hints[] = {
    { "R ask ", .rank = 2 },
    { "K break ", .rank = 3 },
    { "Space now ", .rank = 4 },
    { "+- interval ", .rank = 5 },
    { "? help ", .rank = 1 },
    { "q back", .rank = 0 },
    { .key = NULL },
};
/* clang-format on */

static void draw_hints(const struct drawing *d, struct top_line *line)
{
    struct grid grid;

    grid_start(&grid,
               d->view->mode == TOP_MODE_LOCKS ? lock_hints : other_hints,
               false);
    if (grid_take(&grid, NULL)) {
        grid_fit(&grid, d->width);
        top_line_write_row(line, &grid, 0);
    }
    line->style = TOP_BAR;
    grid_forget(&grid);
}

/* Draws the filter while it is being typed. */
static void draw_filter(const struct drawing *d, struct top_line *line)
{
    char filter[sizeof(d->view->filter) * 16];
    char text[sizeof(filter) + 16];

    (void)snprintf(text, sizeof(text), "/%s_",
                   plain_escape(d->view->filter, filter, sizeof(filter)));
    top_line_write_both(line, TOP_BAR, d->width, text, "Enter keep  Esc clear");
}

bool top_picture_resize(struct top_picture *p, struct top_size size)
{
    top_picture_done(p);
    if (size.height < HEAD_LINES + FOOT_LINES + 1)
        size.height = HEAD_LINES + FOOT_LINES + 1;
    if (size.width < 1)
        size.width = 1;
    p->size = size;
    p->lines = calloc((size_t)size.height, sizeof(*p->lines));
    picture_list_start(p);
    return p->lines != NULL;
}

size_t top_picture_page(const struct top_picture *p)
{
    return (size_t)(p->size.height - HEAD_LINES - FOOT_LINES);
}

void top_picture_draw(struct top_picture *p, const struct top_view *view,
                      const struct top_model *model,
                      const struct top_status *status)
{
    const struct drawing d = { p->lines, p->size.width, view, model, status };
    struct top_line *last = &p->lines[p->size.height - 1];

    memset(p->lines, 0, (size_t)p->size.height * sizeof(*p->lines));
    picture_title(&d);
    if (view->mode == TOP_MODE_HELP) {
        draw_help(&d, p->size.height - 2 - FOOT_LINES);
    } else {
        picture_head(&d);
        picture_list(p, &d, top_picture_page(p));
    }
    if (view->typing)
        draw_filter(&d, last);
    else if (view->said != NULL)
        top_line_write(last, TOP_BAD, d.width, "%s", view->said);
    else
        draw_hints(&d, last);
}

void top_picture_done(struct top_picture *p)
{
    free(p->lines);
    *p = (struct top_picture){ .lines = NULL };
}
