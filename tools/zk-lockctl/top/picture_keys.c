/* SPDX-License-Identifier: Apache-2.0 */
/* Draws the help, and the last line: the keys, the filter, what came of a key.
 */
#include "top/picture_parts.h"

#include <stdio.h>

#include "common/plain.h"

#define COUNT(items) ((int)(sizeof(items) / sizeof((items)[0])))

void picture_help(const struct drawing *d, int count)
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
static const struct grid_column lock_hints[] = {
    { .name = "Enter queue ", .width = 12, .rank = 2 },
    { .name = "/ filter ", .width = 9, .rank = 3 },
    { .name = "s sort ", .width = 7, .rank = 4 },
    { .name = "R ask ", .width = 6, .rank = 5 },
    { .name = "K break ", .width = 8, .rank = 6 },
    { .name = "Space now ", .width = 10, .rank = 7 },
    { .name = "r reverse ", .width = 10, .rank = 8 },
    { .name = "+- interval ", .width = 12, .rank = 9 },
    { .name = "? help ", .width = 7, .rank = 1 },
    { .name = "q quit", .width = 6, .rank = 0 },
};

static const struct grid_column other_hints[] = {
    { .name = "R ask ", .width = 6, .rank = 2 },
    { .name = "K break ", .width = 8, .rank = 3 },
    { .name = "Space now ", .width = 10, .rank = 4 },
    { .name = "+- interval ", .width = 12, .rank = 5 },
    { .name = "? help ", .width = 7, .rank = 1 },
    { .name = "q back", .width = 6, .rank = 0 },
};
/* clang-format on */

void picture_hints(const struct drawing *d, struct top_line *line)
{
    struct grid grid;

    if (d->view->mode == TOP_MODE_LOCKS)
        grid_start(&grid, lock_hints, COUNT(lock_hints));
    else
        grid_start(&grid, other_hints, COUNT(other_hints));
    grid_fit(&grid, d->width);
    top_line_write_names(line, &grid);
}

/* Draws the filter while it is being typed. */
void picture_filter(const struct drawing *d, struct top_line *line)
{
    char filter[sizeof(d->view->filter) * 16];
    char text[sizeof(filter) + 16];

    (void)snprintf(text, sizeof(text), "/%s_",
                   plain_escape(d->view->filter, filter, sizeof(filter)));
    top_line_write_both(line, TOP_BAR, d->width, text, "Enter keep  Esc clear");
}
void picture_said(const struct drawing *d, struct top_line *line)
{
    char plain[EXPLAINED_MAX * 4];

    top_line_write(line, d->view->said.code == 0 ? TOP_GOOD : TOP_BAD, d->width,
                   "%s", plain_copy(d->view->said.text, plain, sizeof(plain)));
}
