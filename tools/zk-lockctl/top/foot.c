/* What the keys of top do: the bottom line, and the help. */
#include "top/foot.h"

#include <stdio.h>
#include <string.h>

#include "common/plain.h"

void top_help_draw(struct top_line *lines, int count, int width)
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
        "Space        look now",
        "+ -          look less often, more often",
        "h ?          this help",
        "",
        "HELD         at most: since the node was made, or first seen to hold",
        "LONGEST      how long the one that waits longest has waited",
        "GRANTS       of the last minute, as far as looks have seen them:",
        "             between two of them there may be more",
        "TOKEN        fencing token of the holder, for break --token",
        "A lock that nobody uses any more is shown as free for a minute.",
    };

    for (int i = 0; i < count && i < (int)(sizeof(text) / sizeof(text[0])); i++)
        top_line_write(&lines[i], TOP_PLAIN, width, "%s", text[i]);
}

/* --- the keys, at the bottom --- */

struct hint {
    const char *text;
    size_t rank; /* the highest is given up first */
    bool locks;  /* where it is said */
    bool others;
};

static const struct hint hints[] = {
    { "Enter queue", 2, true, false }, { "/ filter", 3, true, false },
    { "s sort", 4, true, false },      { "r reverse", 6, true, false },
    { "Space now", 5, true, true },    { "+- interval", 7, true, true },
    { "? help", 1, true, true },       { "q quit", 0, true, false },
    { "q back", 0, false, true },
};
enum { HINT_COUNT = sizeof(hints) / sizeof(hints[0]) };

/* Those up to that rank. */
static void join_hints(bool locks, size_t rank, char *text, size_t size)
{
    text[0] = '\0';
    for (size_t i = 0; i < HINT_COUNT; i++) {
        size_t used = strlen(text);

        if (hints[i].rank <= rank && (locks ? hints[i].locks : hints[i].others))
            (void)snprintf(text + used, size - used, "%s%s",
                           used == 0 ? "" : "  ", hints[i].text);
    }
}

static void write_hints(struct top_line *line, int width,
                        const struct top_view *view)
{
    size_t rank = HINT_COUNT;
    char text[200];

    do {
        join_hints(view->mode == TOP_MODE_LOCKS, rank, text, sizeof(text));
    } while (grid_width(text) > width && rank-- > 0);
    top_line_write(line, TOP_BAR, width, "%s", text);
}

static void write_filter(struct top_line *line, int width,
                         const struct top_view *view)
{
    char text[sizeof(view->filter) * 16 + 16];
    char filter[sizeof(view->filter) * 16];

    (void)snprintf(text, sizeof(text), "/%s_",
                   plain_escape(view->filter, filter, sizeof(filter)));
    top_line_write_both(line, TOP_BAR, width, text, "Enter keep  Esc clear");
}

void top_foot_draw(struct top_line *line, int width,
                   const struct top_view *view)
{
    if (view->typing)
        write_filter(line, width, view);
    else
        write_hints(line, width, view);
}
