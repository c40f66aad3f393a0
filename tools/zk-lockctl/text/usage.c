/* SPDX-License-Identifier: Apache-2.0 */
/* Prints how locks were used: the grants of each lock or owner, how long they
 * were waited for, and for how long they were held. */
#include "text/stays.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/now.h"
#include "text/lock_fields.h"

/* One grant. */
struct sample {
    char name[512];    /* of the lock, or of its owner */
    int64_t waited_ms; /* -1: not known, as the next */
    int64_t held_ms;
};

/* Durations: half of them are no longer, 99 of 100 are no longer, the
 * longest. -1: none is known. */
struct spread {
    int64_t half_ms;
    int64_t most_ms;
    int64_t longest_ms;
};

struct usage {
    const char *name;
    size_t grants;
    struct spread waited;
    struct spread held;
};

/* clang-format off */
#define AT(member) offsetof(struct usage, member)
static const struct field usage_fields[] = {
    { "NAME", "name", FIELD_WORD, .at = AT(name), .rank = 0, .narrow = 20, .tail = true },
    { "GRANTS", "grants", FIELD_COUNT, .at = AT(grants), .rank = 1, .right = true },
    { "WAIT_P50", "wait_ms_p50", FIELD_MS, .at = AT(waited.half_ms), .rank = 4, .right = true },
    { "WAIT_P99", "wait_ms_p99", FIELD_MS, .at = AT(waited.most_ms), .rank = 2, .right = true },
    { "WAIT_MAX", "wait_ms_max", FIELD_MS, .at = AT(waited.longest_ms), .rank = 6, .right = true },
    { "HELD_P50", "held_ms_p50", FIELD_MS, .at = AT(held.half_ms), .rank = 5, .right = true },
    { "HELD_P99", "held_ms_p99", FIELD_MS, .at = AT(held.most_ms), .rank = 3, .right = true },
    { "HELD_MAX", "held_ms_max", FIELD_MS, .at = AT(held.longest_ms), .rank = 7, .right = true },
    { .key = NULL },
};
#undef AT
/* clang-format on */
const struct kind usage_kind = { "usage", "UsageList", usage_fields };

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct sample *)a)->name,
                  ((const struct sample *)b)->name);
}

static int by_number(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* Sorts them; those that are not known come first. */
static struct spread spread_of(int64_t *ms, size_t count)
{
    size_t unknown = 0;
    size_t known;

    qsort(ms, count, sizeof(*ms), by_number);
    while (unknown < count && ms[unknown] < 0)
        unknown++;
    known = count - unknown;
    if (known == 0)
        return (struct spread){ -1, -1, -1 };
    ms += unknown - 1; /* the rank of the first is 1 */
    return (struct spread){ ms[(known + 1) / 2], ms[(known * 99 + 99) / 100],
                            ms[known] };
}

/* Grants of one name, from the first on. `ms` has room for all of them. */
static struct usage usage_of(const struct sample *first, size_t count,
                             int64_t *ms)
{
    struct usage usage = { .name = first->name, .grants = count };

    for (size_t i = 0; i < count; i++)
        ms[i] = first[i].waited_ms;
    usage.waited = spread_of(ms, count);
    for (size_t i = 0; i < count; i++)
        ms[i] = first[i].held_ms;
    usage.held = spread_of(ms, count);
    return usage;
}

static size_t collect(const struct past_rows *rows, enum usage_by by,
                      struct sample *samples)
{
    size_t count = 0;

    for (size_t i = 0; i < rows->count; i++) {
        const struct stay *s = rows->items[i];
        struct sample *sample = &samples[count];
        char who[PATH_TEXT_MAX];
        struct contender c;

        if (s->held_ms == 0)
            continue;
        c = stay_contender(s);
        (void)snprintf(sample->name, sizeof(sample->name), "%.500s",
                       by == USAGE_BY_LOCK ? cell_path(s->lock, who)
                                           : contender_who(&c, who));
        sample->waited_ms = stay_waited_for(s, rows->end_ms);
        sample->held_ms = stay_held_for(s, rows->end_ms);
        count++;
    }
    qsort(samples, count, sizeof(*samples), by_name);
    return count;
}

static size_t sum_up(const struct sample *samples, size_t count, int64_t *ms,
                     struct usage *usages)
{
    size_t usage_count = 0;
    size_t first = 0;

    for (size_t i = 1; i <= count; i++) {
        if (i < count && by_name(&samples[i], &samples[first]) == 0)
            continue;
        usages[usage_count++] = usage_of(&samples[first], i - first, ms);
        first = i;
    }
    return usage_count;
}

int usage_print(const struct lockctl *ctl, const struct past_rows *rows,
                enum usage_by by, const struct notes *notes)
{
    struct sample *samples = calloc(rows->count + 1, sizeof(*samples));
    struct usage *usages = calloc(rows->count + 1, sizeof(*usages));
    int64_t *ms = calloc(rows->count + 1, sizeof(*ms));
    struct rows all = { .kind = &usage_kind,
                        .of = usages,
                        .size = sizeof(*usages),
                        .at_ms = clock_wall_ms(),
                        .notes = notes };
    int code;

    if (samples == NULL || usages == NULL || ms == NULL) {
        code = lockctl_fail_error(ZKR_ENOMEM, "");
    } else {
        all.count = sum_up(samples, collect(rows, by, samples), ms, usages);
        code = rows_print(ctl, &all);
    }
    free(ms);
    free(usages);
    free(samples);
    return code;
}
