/* SPDX-License-Identifier: Apache-2.0 */
/* The segments of a history: transactions between two gaps. */
#include "model/segments.h"

#include "common/grow.h"

bool segments_add(struct segments *segments)
{
    return GROW(segments) != NULL;
}

/* The last moment is known only as long as no gap begins there. */
void segment_lengthen(struct segment *segment, int64_t now_ms)
{
    if (segment->begin_ms == 0)
        segment->begin_ms = now_ms;
    segment->until_ms = now_ms + 1;
}

/* Without a snapshot all is known only of locks that are from this segment. */
static bool tells_all(const struct segment *segment)
{
    return segment->whole || (segment->contenders > 0 && !segment->unsure);
}

bool segments_know(const struct segments *segments, int64_t ms)
{
    for (size_t i = 0; i < segments->count; i++) {
        const struct segment *segment = &segments->items[i];

        if (segment->begin_ms != 0 && segment->begin_ms <= ms &&
            ms < segment->until_ms && tells_all(segment))
            return true;
    }
    return false;
}

void segments_done(struct segments *segments)
{
    free(segments->items);
    *segments = (struct segments){ .items = NULL };
}
