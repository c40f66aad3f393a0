/* SPDX-License-Identifier: Apache-2.0 */
/* Shrinking: finds the simplest schedule that fails in the same way. */
#include "runs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Tries are cheap, but not free. */
#define TRIES 6000

struct shrinking {
    struct report *report;
    uint64_t seed;
    char kind[16]; /* how the text of the failure begins */
    uint32_t best[CHOICES_MAX];
    size_t count;
    uint32_t next[CHOICES_MAX];
    int tries;
};

/* "at 12.345 ms: P1: ..." */
static void kind_of(char kind[16], const char *text)
{
    const char *p = strstr(text, "ms: ");

    (void)snprintf(kind, 16, "%.15s", p == NULL ? text : p + 4);
}

static bool fails(struct shrinking *s, size_t count)
{
    char kind[16];

    s->tries++;
    if (run_script(s->report, s->next, count, s->seed))
        return false;
    kind_of(kind, s->report->text);
    if (strcmp(kind, s->kind) != 0)
        return false;
    s->count =
        s->report->choices.count < count ? s->report->choices.count : count;
    memcpy(s->best, s->next, s->count * sizeof(*s->best));
    return true;
}

static bool without(struct shrinking *s, size_t from, size_t len)
{
    memcpy(s->next, s->best, from * sizeof(*s->best));
    memcpy(s->next + from, s->best + from + len,
           (s->count - from - len) * sizeof(*s->best));
    return fails(s, s->count - len);
}

static bool zeroed(struct shrinking *s, size_t from, size_t len)
{
    bool any = false;

    memcpy(s->next, s->best, s->count * sizeof(*s->best));
    for (size_t i = from; i < from + len; i++) {
        any = any || s->next[i] != 0;
        s->next[i] = 0;
    }
    return any && fails(s, s->count);
}

static bool halved(struct shrinking *s, size_t at)
{
    memcpy(s->next, s->best, s->count * sizeof(*s->best));
    if (s->next[at] < 2)
        return false;
    s->next[at] /= 2;
    return fails(s, s->count);
}

static bool pass(struct shrinking *s, size_t len)
{
    bool better = false;

    for (size_t from = 0; from + len <= s->count && s->tries < TRIES;) {
        if (without(s, from, len))
            better = true;
        else if (zeroed(s, from, len))
            better = true, from += len;
        else
            from += len;
    }
    return better;
}

static bool pass_values(struct shrinking *s)
{
    bool better = false;

    for (size_t at = 0; at < s->count && s->tries < TRIES; at++) {
        while (s->tries < TRIES && at < s->count && halved(s, at))
            better = true;
    }
    return better;
}

size_t shrink(struct report *r)
{
    static struct shrinking s;
    bool better = true;

    s = (struct shrinking){ .report = r, .seed = r->seed };
    s.count = r->choices.count;
    memcpy(s.best, r->choices.made, s.count * sizeof(*s.best));
    kind_of(s.kind, r->text);
    while (better && s.tries < TRIES) {
        better = false;
        for (size_t len = s.count / 2; len > 0; len /= 2)
            better = pass(&s, len) || better;
        better = pass_values(&s) || better;
    }
    (void)run_script(r, s.best, s.count, r->seed);
    while (s.count > 0 && r->choices.made[s.count - 1] == 0)
        s.count--;
    return s.count;
}
