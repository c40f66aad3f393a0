/* SPDX-License-Identifier: Apache-2.0 */
#include "text/stays.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/grow.h"
#include "common/now.h"
#include "text/envelope.h"
#include "text/lock_fields.h"

bool stay_holds_at(const struct stay *stay, int64_t ms)
{
    return stay->held_ms != 0 && stay->held_ms <= ms;
}

/* A row, and what is reckoned for it. */
struct stay_row {
    struct contender contender; /* first, for its fields */
    const struct past_rows *rows;
    const struct stay *stay;
    int64_t held_ms;
    int64_t waited_ms;
    bool holds;
};

static const struct stay *stay_at(const void *item)
{
    return ((const struct stay_row *)item)->stay;
}

/* --- texts --- */

static const char *state_word(const void *item)
{
    return ((const struct stay_row *)item)->holds ? "held" : "waited";
}

static const char *state_text(const void *item, char room[FIELD_ROOM])
{
    const struct stay_row *e = item;

    (void)room;
    if (e->rows->at_ms == 0)
        return state_word(item);
    return e->holds ? "HELD" : "wait";
}

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

static const char *from_text(const void *item, char room[FIELD_ROOM])
{
    const struct stay *s = stay_at(item);

    return print_time(!s->sure         ? "?"
                      : s->held_before ? "<="
                                       : "",
                      s->held_ms, room);
}

/* Of one that was there before a gap it is not known when it went. */
static const char *until_text(const void *item, char room[FIELD_ROOM])
{
    const struct stay *s = stay_at(item);

    return print_time(s->ending == ENDING_UNKNOWN ? ">=" : "", s->ended_ms,
                      room);
}

/* It may have held before the history, and after it. */
static const char *held_text(const void *item, char room[FIELD_ROOM])
{
    const struct stay_row *e = item;
    const struct stay *s = e->stay;
    char age[WORD_MAX];
    bool more =
        s->held_before || s->ended_ms == 0 || s->ending == ENDING_UNKNOWN;

    if (e->held_ms < 0)
        return NULL;
    (void)snprintf(room, WORD_MAX, "%s%.30s", more ? ">=" : "",
                   word_age(e->held_ms, age));
    return room;
}

/* The word for programs, and those for people: of one that held, and of one
 * that did not. */
static const char *const endings[ENDING_COUNT][3] = {
    [ENDING_NONE] = { "present", "still held", "still waits" },
    [ENDING_RELEASED] = { "released", "released", "gave up" },
    [ENDING_DELETED] = { "deleted", "broken", "deleted" },
    [ENDING_CLOSED] = { "session_closed", "session closed", "session closed" },
    [ENDING_EXPIRED] = { "session_expired", "session expired",
                         "session expired" },
    [ENDING_GONE] = { "gone", "deleted", "deleted" },
    [ENDING_UNKNOWN] = { "unknown", "not known", "not known" },
};

/* "broken by 0x1, asked by 0x2". */
static const char *ended_text(const void *item, char room[FIELD_ROOM])
{
    const struct stay *s = stay_at(item);
    char by[WORD_MAX];

    int len = snprintf(room, FIELD_ROOM, "%s",
                       endings[s->ending][s->held_ms != 0 ? 1 : 2]);
    if (s->ended_by != 0)
        len += snprintf(room + len, WORD_MAX + 8, " by %s",
                        word_id(s->ended_by, by));
    if (s->asked_ms != 0)
        (void)snprintf(room + len, WORD_MAX + 16, ", asked by %s",
                       word_id(s->asked_by, by));
    return room;
}

static const char *ending_word(const void *item)
{
    return endings[stay_at(item)->ending][0];
}

/* --- the fields --- */

/* clang-format off */
enum { STATE, LOCK }; /* which a table need not have */
static const struct field stay_fields[] = {
    [STATE] = { "STATE", "state", FIELD_WORD, .word = state_word, .text = state_text, .words = "held waited", .rank = 5 },
    [LOCK] = { "LOCK", "lock", FIELD_PATH, .at = AT(stay, lock), .in = AT(stay_row, stay), .rank = 2, .narrow = 14, .tail = true },
    { "FROM", .text = from_text, .rank = 0 },
    { "UNTIL", .text = until_text, .rank = 7 },
    { "HELD", "held_ms", FIELD_MS, .at = AT(stay_row, held_ms), .text = held_text, .rank = 3, .right = true },
    { "OWNER", .text = contender_owner_text, .rank = 1, .narrow = 16 },
    { "ENDED", .text = ended_text, .rank = 4, .narrow = 16 },
    { "WAITED", "waited_ms", FIELD_MS, .at = AT(stay_row, waited_ms), .rank = 6, .right = true },
    { "LABEL", NULL, FIELD_CHARS, .at = AT(stay_row, contender.owner.label), .rank = 8, .narrow = 12 },
    { "SESSION", NULL, FIELD_SESSION, .at = AT(zkr_participant, session_id), .in = AT(stay_row, contender.node), .rank = 9 },
    { "TOKEN", NULL, FIELD_TOKEN, .at = AT(zkr_participant, token), .in = AT(stay_row, contender.node), .rank = 10 },
    { "MODE", NULL, FIELD_WORD, .word = contender_mode, .wide = true },
    { "DIALECT", NULL, FIELD_WORD, .word = contender_dialect, .wide = true },
    { "QUEUED", "queued_at", FIELD_TIME, .at = AT(stay, queued_ms), .in = AT(stay_row, stay), .wide = true },
    { "ASKED", "asked_at", FIELD_TIME, .at = AT(stay, asked_ms), .in = AT(stay_row, stay), .wide = true },
    { "REASON", "reason", FIELD_TEXT, .at = AT(stay, reason), .in = AT(stay_row, stay), .wide = true },
    { "NODE", NULL, FIELD_TEXT, .at = AT(zkr_participant, name), .in = AT(stay_row, contender.node), .wide = true },
    { .key = "held_from", .type = FIELD_TIME, .at = AT(stay, held_ms), .in = AT(stay_row, stay) },
    { .key = "held_before", .type = FIELD_BOOL, .at = AT(stay, held_before), .in = AT(stay_row, stay) },
    { .key = "until", .type = FIELD_TIME, .at = AT(stay, ended_ms), .in = AT(stay_row, stay) },
    { .key = "ended", .type = FIELD_WORD, .in = AT(stay_row, stay), .word = ending_word, .words = "released deleted session_closed session_expired gone unknown present" },
    { .key = "ended_by", .type = FIELD_SESSION, .at = AT(stay, ended_by), .in = AT(stay_row, stay) },
    { .key = "asked_by", .type = FIELD_SESSION, .at = AT(stay, asked_by), .in = AT(stay_row, stay) },
    { .key = "sure", .type = FIELD_BOOL, .at = AT(stay, sure), .in = AT(stay_row, stay) },
    { .key = "contender", .type = FIELD_OBJECT, .kind = &contender_kind },
    { .key = NULL },
};
/* clang-format on */
const struct kind stay_kind = { "stay", "History", stay_fields };

/* One at a time is printed. */
static const void *entry_at(const void *of, size_t i)
{
    static struct stay_row entry;
    const struct past_rows *rows = of;
    const struct stay *s = rows->items[i];

    entry = (struct stay_row){ .rows = rows, .stay = s };
    entry.contender = stay_contender(s);
    entry.held_ms = stay_held_for(s, rows->end_ms);
    entry.waited_ms = stay_waited_for(s, rows->end_ms);
    entry.holds =
        rows->at_ms != 0 ? stay_holds_at(s, rows->at_ms) : s->held_ms != 0;
    return &entry;
}

/* Who asks for one lock knows its path. */
static bool is_one_lock(const struct past_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        if (strcmp(rows->items[i]->lock, rows->root) != 0)
            return false;
    }
    return true;
}

int stays_print(const struct lockctl *ctl, const struct past_rows *rows,
                const struct notes *notes)
{
    struct field chosen[sizeof(stay_fields) / sizeof(stay_fields[0])];
    const struct rows all = { .kind = &stay_kind,
                              .columns = chosen,
                              .of = rows,
                              .item = entry_at,
                              .count = rows->count,
                              .at_ms = clock_wall_ms(),
                              .notes = notes };

    memcpy(chosen, stay_fields, sizeof(chosen));
    chosen[STATE].wide = !rows->states;
    chosen[LOCK].wide = is_one_lock(rows);
    return rows_print(ctl, &all);
}

/* --- how locks were used: the grants of each lock or owner, how long they were
 * waited for, and for how long they were held --- */

/* Durations: half of them are no longer, 99 of 100 are no longer, the
 * longest. -1: none is known. */
struct spread {
    int64_t half_ms;
    int64_t most_ms;
    int64_t longest_ms;
};

/* A row: one grant, whose durations are the longest, or all grants of a name.
 */
struct usage {
    char *name; /* the path of the lock, or, escaped, its owner */
    bool is_path;
    size_t grants;
    struct spread waited;
    struct spread held;
};

static const char *usage_text(const void *item, char room[FIELD_ROOM])
{
    const struct usage *u = item;

    return u->is_path ? cell_path(u->name, room) : u->name;
}

static json_t *usage_json(const void *item)
{
    const char *name = ((const struct usage *)item)->name;

    return json_text(name, strlen(name));
}

/* clang-format off */
static const struct field usage_fields[] = {
    { "NAME", "name", FIELD_WORD, .text = usage_text, .json = usage_json, .rank = 0, .narrow = 20, .tail = true },
    { "GRANTS", "grants", FIELD_COUNT, .at = AT(usage, grants), .rank = 1, .right = true },
    { "WAIT_P50", "wait_ms_p50", FIELD_MS, .at = AT(usage, waited.half_ms), .rank = 4, .right = true },
    { "WAIT_P99", "wait_ms_p99", FIELD_MS, .at = AT(usage, waited.most_ms), .rank = 2, .right = true },
    { "WAIT_MAX", "wait_ms_max", FIELD_MS, .at = AT(usage, waited.longest_ms), .rank = 6, .right = true },
    { "HELD_P50", "held_ms_p50", FIELD_MS, .at = AT(usage, held.half_ms), .rank = 5, .right = true },
    { "HELD_P99", "held_ms_p99", FIELD_MS, .at = AT(usage, held.most_ms), .rank = 3, .right = true },
    { "HELD_MAX", "held_ms_max", FIELD_MS, .at = AT(usage, held.longest_ms), .rank = 7, .right = true },
    { .key = NULL },
};
/* clang-format on */
const struct kind usage_kind = { "usage", "UsageList", usage_fields };

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct usage *)a)->name,
                  ((const struct usage *)b)->name);
}

static int by_number(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* Returns the spread of the durations at that place of so many grants. The
 * durations that are not known are first in the order. */
static struct spread spread_of(const struct usage *grants, size_t count,
                               size_t at, int64_t *ms)
{
    size_t unknown = 0;

    for (size_t i = 0; i < count; i++)
        memcpy(&ms[i], (const char *)&grants[i] + at, sizeof(*ms));
    qsort(ms, count, sizeof(*ms), by_number);
    while (unknown < count && ms[unknown] < 0)
        unknown++;
    size_t known = count - unknown;
    if (known == 0)
        return (struct spread){ -1, -1, -1 };
    ms += unknown - 1; /* the rank of the first is 1 */
    return (struct spread){ ms[(known + 1) / 2], ms[(known * 99 + 99) / 100],
                            ms[known] };
}

static size_t collect(const struct past_rows *rows, enum usage_by by,
                      struct usage *grants)
{
    size_t count = 0;

    for (size_t i = 0; i < rows->count; i++) {
        const struct stay *s = rows->items[i];
        struct contender c = stay_contender(s);
        char who[WHO_MAX];

        if (s->held_ms == 0)
            continue;
        grants[count].is_path = by == USAGE_BY_LOCK;
        grants[count].name = enough(
            strdup(by == USAGE_BY_LOCK ? s->lock : contender_who(&c, who)));
        grants[count].waited.longest_ms = stay_waited_for(s, rows->end_ms);
        grants[count++].held.longest_ms = stay_held_for(s, rows->end_ms);
    }
    qsort(grants, count, sizeof(*grants), by_name);
    return count;
}

/* Puts the sum of the grants of one name in their place. */
static size_t sum_up(struct usage *all, size_t count, int64_t *ms)
{
    size_t sums = 0;
    size_t end;

    for (size_t first = 0; first < count; first = end) {
        struct usage sum = { .name = all[first].name,
                             .is_path = all[first].is_path };

        for (end = first + 1;
             end < count && by_name(&all[end], &all[first]) == 0; end++)
            free(all[end].name);
        sum.grants = end - first;
        sum.waited = spread_of(&all[first], sum.grants,
                               AT(usage, waited.longest_ms), ms);
        sum.held =
            spread_of(&all[first], sum.grants, AT(usage, held.longest_ms), ms);
        all[sums++] = sum;
    }
    return sums;
}

int usage_print(const struct lockctl *ctl, const struct past_rows *rows,
                enum usage_by by, const struct notes *notes)
{
    size_t room = rows->count + 1;
    struct usage *usages = enough(calloc(room, sizeof(*usages)));
    int64_t *ms = enough(calloc(room, sizeof(*ms)));
    struct rows all = { .kind = &usage_kind,
                        .of = usages,
                        .size = sizeof(*usages),
                        .at_ms = clock_wall_ms(),
                        .notes = notes };

    all.count = sum_up(usages, collect(rows, by, usages), ms);
    int code = rows_print(ctl, &all);
    while (all.count > 0)
        free(usages[--all.count].name);
    free(ms);
    free(usages);
    return code;
}
