/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the history of locks: a stay in a lock, or a gap of what is known, is
 * one row of a table, or an item of JSON. */
#include "text/stays.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/escape.h"
#include "common/now.h"
#include "common/words.h"
#include "text/aligned.h"
#include "text/cells.h"
#include "text/describe.h"

enum {
    CELL_STATE,
    CELL_LOCK,
    CELL_FROM,
    CELL_UNTIL,
    CELL_HELD,
    CELL_OWNER,
    CELL_ENDED,
    CELL_WAITED,
    CELL_LABEL,
    CELL_SESSION,
    CELL_TOKEN,
    CELL_MODE,
    CELL_DIALECT,
    CELL_QUEUED,
    CELL_ASKED,
    CELL_NODE,
    CELL_COUNT,
};

static const struct column columns[CELL_COUNT] = {
    [CELL_STATE] = { .name = "STATE", .rank = 5 },
    [CELL_LOCK] = { .name = "LOCK", .rank = 2, .narrow = 14, .tail = true },
    [CELL_FROM] = { .name = "FROM", .rank = 0 },
    [CELL_UNTIL] = { .name = "UNTIL", .rank = 7 },
    [CELL_HELD] = { .name = "HELD", .rank = 3, .right = true },
    [CELL_OWNER] = { .name = "OWNER", .rank = 1, .narrow = 16 },
    [CELL_ENDED] = { .name = "ENDED", .rank = 4, .narrow = 16 },
    [CELL_WAITED] = { .name = "WAITED", .rank = 6, .right = true },
    [CELL_LABEL] = { .name = "LABEL", .rank = 8, .narrow = 12 },
    [CELL_SESSION] = { .name = "SESSION", .rank = 9 },
    [CELL_TOKEN] = { .name = "TOKEN", .rank = 10 },
    [CELL_MODE] = { .name = "MODE", .wide = true },
    [CELL_DIALECT] = { .name = "DIALECT", .wide = true },
    [CELL_QUEUED] = { .name = "QUEUED", .wide = true },
    [CELL_ASKED] = { .name = "ASKED", .wide = true },
    [CELL_NODE] = { .name = "NODE", .wide = true },
};

bool stay_holds_at(const struct stay *stay, int64_t ms)
{
    return stay->held_ms != 0 && stay->held_ms <= ms;
}

static bool holds(const struct past_rows *rows, const struct stay *stay)
{
    return rows->at_ms != 0 ? stay_holds_at(stay, rows->at_ms)
                            : stay->held_ms != 0;
}

static const char *state_of(const struct past_rows *rows,
                            const struct stay *stay)
{
    bool held = holds(rows, stay);

    if (rows->at_ms != 0)
        return held ? "HELD" : "wait";
    return held ? "held" : "waited";
}

/* --- the table --- */

struct cells {
    char path[PATH_TEXT_MAX];
    char from[WORD_MAX];
    char until[WORD_MAX];
    char held[WORD_MAX];
    char owner[WHO_MAX];
    char ended[200];
    char waited[WORD_MAX];
    char label[ZKR_LABEL_MAX * 4 + 1];
    char session[WORD_MAX];
    char token[WORD_MAX];
    char queued[WORD_MAX];
    char asked[WORD_MAX];
    char node[1200];
};

/* "<=" before a time that may have been earlier, '?' before one at which
 * another contender may have held. */
static const char *print_time(const char *before, int64_t ms,
                              char word[WORD_MAX])
{
    char time[WORD_MAX];

    if (ms == 0)
        return NULL;
    (void)snprintf(word, WORD_MAX, "%s%.30s", before, word_time(ms, time));
    return word;
}

static const char *print_from(const struct stay *s, char word[WORD_MAX])
{
    return print_time(!s->sure         ? "?"
                      : s->held_before ? "<="
                                       : "",
                      s->held_ms, word);
}

/* Of one that was there before a gap it is not known when it went. */
static const char *print_until(const struct stay *s, char word[WORD_MAX])
{
    return print_time(s->ending == ENDING_UNKNOWN ? ">=" : "", s->ended_ms,
                      word);
}

/* It may have held before the history, and after it. */
static const char *print_held(const struct past_rows *rows,
                              const struct stay *s, char word[WORD_MAX])
{
    int64_t ms = stay_held_for(s, rows->end_ms);
    char age[WORD_MAX];
    const char *bound = "";

    if (ms < 0)
        return NULL;
    if (s->held_before || s->ended_ms == 0 || s->ending == ENDING_UNKNOWN)
        bound = ">=";
    (void)snprintf(word, WORD_MAX, "%s%.30s", bound, word_age(ms, age));
    return word;
}

static const char *print_waited(const struct past_rows *rows,
                                const struct stay *s, char word[WORD_MAX])
{
    int64_t ms = stay_waited_for(s, rows->end_ms);

    return ms < 0 ? NULL : word_age(ms, word);
}

static const char *word_of_ending(const struct stay *s)
{
    bool held = s->held_ms != 0;

    switch (s->ending) {
    case ENDING_NONE:
        return held ? "still held" : "still waits";
    case ENDING_RELEASED:
        return held ? "released" : "gave up";
    case ENDING_DELETED:
        return held ? "broken" : "deleted";
    case ENDING_CLOSED:
        return "session closed";
    case ENDING_EXPIRED:
        return "session expired";
    case ENDING_GONE:
        return "deleted";
    case ENDING_UNKNOWN:
    case ENDING_COUNT:
        break;
    }
    return "not known";
}

/* "broken by 0x1, asked by 0x2". */
static const char *print_ending(const struct stay *s, char *text, size_t size)
{
    char by[WORD_MAX];
    size_t len = (size_t)snprintf(text, size, "%s", word_of_ending(s));

    if (s->ended_by != 0)
        len += (size_t)snprintf(text + len, size - len, " by %s",
                                word_id(s->ended_by, by));
    if (s->asked_ms != 0)
        (void)snprintf(text + len, size - len, ", asked by %s",
                       word_id(s->asked_by, by));
    return text;
}

static enum style style_of(const struct stay *s)
{
    if (s->ending == ENDING_DELETED || s->ending == ENDING_EXPIRED)
        return STYLE_BAD;
    return s->held_ms == 0 ? STYLE_DIM : STYLE_PLAIN;
}

static bool print_stay(struct table *table, const struct past_rows *rows,
                       const struct stay *s)
{
    const struct contender c = stay_contender(s);
    const char *cells[CELL_COUNT] = { NULL };
    struct cells x;

    cells[CELL_STATE] = state_of(rows, s);
    cells[CELL_LOCK] = cell_path(s->lock, x.path);
    cells[CELL_FROM] = print_from(s, x.from);
    cells[CELL_UNTIL] = print_until(s, x.until);
    cells[CELL_HELD] = print_held(rows, s, x.held);
    cells[CELL_OWNER] = contender_who(&c, x.owner);
    cells[CELL_ENDED] = print_ending(s, x.ended, sizeof(x.ended));
    cells[CELL_WAITED] = print_waited(rows, s, x.waited);
    cells[CELL_LABEL] = escape_string(c.owner.label, x.label, sizeof(x.label));
    cells[CELL_SESSION] = cell_session(&c, x.session);
    cells[CELL_TOKEN] = cell_token(&c, x.token);
    cells[CELL_MODE] = cell_mode(&c);
    cells[CELL_DIALECT] = zkr__dialect_name(c.dialect);
    cells[CELL_QUEUED] = print_time("", s->queued_ms, x.queued);
    cells[CELL_ASKED] = print_time("", s->asked_ms, x.asked);
    cells[CELL_NODE] = escape_string(s->name, x.node, sizeof(x.node));
    return table_row(table, cells, style_of(s));
}

static bool print_gap(struct table *table, const struct gap *gap)
{
    const char *cells[CELL_COUNT] = { NULL };
    struct cells x;
    char before[WORD_MAX];
    char after[WORD_MAX];

    cells[CELL_STATE] = "gap";
    cells[CELL_FROM] = print_time("", gap->from_ms, x.from);
    cells[CELL_UNTIL] = print_time("", gap->until_ms, x.until);
    (void)snprintf(
        x.ended, sizeof(x.ended), "GAP: nothing is known between %s and %s",
        word_id(gap->zxid_before, before), word_id(gap->zxid_after, after));
    cells[CELL_ENDED] = x.ended;
    return table_row(table, cells, STYLE_BAD);
}

static bool print_row(struct table *table, const void *of, size_t i)
{
    const struct past_rows *rows = of;
    const struct past_row *row = &rows->items[i];

    return row->gap != NULL ? print_gap(table, row->gap)
                            : print_stay(table, rows, row->stay);
}

/* Who asks for one lock knows its path. */
static bool is_one_lock(const struct past_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        const struct stay *stay = rows->items[i].stay;

        if (stay != NULL && strcmp(stay->lock, rows->root) != 0)
            return false;
    }
    return true;
}

static int print_table(const struct lockctl *ctl, const struct past_rows *rows)
{
    struct column chosen[CELL_COUNT];

    memcpy(chosen, columns, sizeof(chosen));
    chosen[CELL_STATE].wide = !rows->states;
    chosen[CELL_LOCK].wide = is_one_lock(rows);
    return table_print(ctl, chosen, CELL_COUNT, print_row, rows, rows->count);
}

/* --- JSON --- */

static json_t *describe_gap(const struct gap *gap)
{
    return json_pack("{s:s, s:o, s:o, s:o, s:o}", "state", "gap", "from",
                     json_time(gap->from_ms), "until", json_time(gap->until_ms),
                     "zxid_before", json_token(gap->zxid_before), "zxid_after",
                     json_token(gap->zxid_after));
}

static json_t *describe_stay(const struct past_rows *rows, const struct stay *s)
{
    static const struct lock none;
    const struct contender c = stay_contender(s);

    return json_pack(
        "{s:s, s:o, s:o, s:o, s:b, s:o, s:o, s:o, s:s, s:o, s:o, s:o, s:b, "
        "s:b, s:o}",
        "state", holds(rows, s) ? "held" : "waited", "lock",
        json_text(s->lock, strlen(s->lock)), "queued_at",
        json_time(s->queued_ms), "held_from", json_time(s->held_ms),
        "held_before", (int)s->held_before, "until", json_time(s->ended_ms),
        "held_ms", json_ms(stay_held_for(s, rows->end_ms)), "waited_ms",
        json_ms(stay_waited_for(s, rows->end_ms)), "ended",
        ending_name(s->ending), "ended_by", json_session(s->ended_by),
        "asked_at", json_time(s->asked_ms), "asked_by",
        json_session(s->asked_by), "exact", 1, "sure", (int)s->sure,
        "contender", describe_contender(&none, &c));
}

static json_t *describe(const void *of, size_t i)
{
    const struct past_rows *rows = of;
    const struct past_row *row = &rows->items[i];

    return row->gap != NULL ? describe_gap(row->gap)
                            : describe_stay(rows, row->stay);
}

int stays_print(const struct lockctl *ctl, const struct past_rows *rows,
                const struct notes *notes)
{
    int code = output_is_json(ctl)
                   ? output_items(ctl, "History", clock_wall_ms(), describe,
                                  rows, rows->count, notes)
                   : print_table(ctl, rows);

    notes_say(notes, ctl);
    return code;
}
