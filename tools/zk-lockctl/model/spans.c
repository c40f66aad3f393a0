/* SPDX-License-Identifier: Apache-2.0 */
/* The times of which records tell all: who held then is known, or that nobody
 * did. */
#include "model/spans.h"

#include <stdlib.h>

bool spans_begin(struct spans *spans, int64_t at_ms)
{
    struct span *grown = spans->items;

    if ((spans->count & (spans->count + 1)) == 0) /* doubles from 1 on */
        grown = realloc(spans->items, (spans->count + 1) * 2 * sizeof(*grown));
    if (grown == NULL)
        return false;
    spans->items = grown;
    spans->items[spans->count++] = (struct span){ at_ms, at_ms };
    spans->open = true;
    return true;
}

void spans_lengthen(struct spans *spans, int64_t at_ms)
{
    struct span *last;

    if (!spans->open)
        return;
    last = &spans->items[spans->count - 1];
    if (at_ms > last->until_ms)
        last->until_ms = at_ms;
}

bool spans_know(const struct spans *spans, int64_t ms)
{
    for (size_t i = 0; i < spans->count; i++) {
        if (spans->items[i].from_ms <= ms && ms <= spans->items[i].until_ms)
            return true;
    }
    return false;
}

void spans_done(struct spans *spans)
{
    free(spans->items);
    *spans = (struct spans){ .items = NULL };
}
