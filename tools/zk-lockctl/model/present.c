/* SPDX-License-Identifier: Apache-2.0 */
/* The locks at one moment of a history: contenders come and go, and begin to
 * hold. */
#include "model/present.h"

#include <stdlib.h>
#include <string.h>

#include "common/grow.h"
#include "model/front.h"

/* --- segments --- */

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

/* One block has both. */
bool segment_keep(struct segment *segment, const struct node *node)
{
    char *text = malloc(node->path.size + node->data.size + 1);
    struct node *copy = text == NULL ? NULL : GROW(segment);

    if (copy == NULL) {
        free(text);
        return false;
    }
    *copy = *node;
    memcpy(text, node->path.at, node->path.size);
    memcpy(text + node->path.size, node->data.at, node->data.size);
    copy->path.at = text;
    copy->data.at = text + node->path.size;
    return true;
}

void segment_drop_last(struct segment *segment)
{
    free((char *)(uintptr_t)segment->items[--segment->count].path.at);
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
    for (size_t i = 0; i < segments->count; i++) {
        while (segments->items[i].count > 0)
            segment_drop_last(&segments->items[i]);
        free(segments->items[i].items);
    }
    free(segments->items);
    *segments = (struct segments){ .items = NULL };
}

struct segment *present_segment(const struct present *p)
{
    return &p->segments.items[p->segment];
}

/* --- contenders --- */

bool present_find(struct present *p, struct bytes path, bool ephemeral,
                  struct place *ret_place, struct stay **ret_stay)
{
    if (!places_find(&p->places, path, ephemeral, ret_place))
        return false;
    *ret_stay =
        past_stay(pasts_find(&p->pasts, ret_place->lock), ret_place->name);
    return true;
}

/* --- coming --- */

static struct stay *make_stay(struct present *p, const struct place *place,
                              const struct node *node)
{
    struct past *past = pasts_make(&p->pasts, place->lock);
    struct stay *stay = NULL;

    if (past != NULL)
        stay =
            stay_new(past->path, place->name, node->data.at, node->data.size);
    if (stay == NULL)
        return NULL;
    stay->sure = true;
    stay->queued_ms = node->ctime_ms;
    stay->seen_ms = p->now_ms;
    stay->node.token = node->czxid;
    stay->node.session_id = node->owner;
    stay->node.since_ms = node->ctime_ms;
    return pasts_add(&p->pasts, past, stay) ? stay : NULL;
}

struct stay *present_arrive(struct present *p, const struct node *node,
                            bool ephemeral)
{
    struct place place;
    struct stay *stay;

    places_note_pool(&p->places, node->path, ephemeral);
    if (!present_find(p, node->path, ephemeral, &place, &stay) || stay != NULL)
        return NULL;
    stay = make_stay(p, &place, node);
    if (stay == NULL) {
        p->failed = true;
        return NULL;
    }
    p->contenders++;
    if (!p->learning)
        present_segment(p)->contenders++;
    return stay;
}

/* --- going --- */

void present_end(struct present *p, struct stay *stay)
{
    pasts_remove(&p->pasts, stay);
    if (p->learning)
        stay_free(stay);
    else
        p->stay(stay, p->user);
}

void present_end_as(struct present *p, struct stay *stay, enum ending ending,
                    int64_t by, int64_t at_ms)
{
    stay->ending = ending;
    stay->ended_by = by;
    stay->ended_ms = at_ms;
    present_end(p, stay);
}

/* --- holding --- */

struct settling {
    struct present *present;
    bool before;
};

static void begin_hold(struct stay *stay, void *user)
{
    const struct settling *s = user;
    struct present *p = s->present;
    struct segment *segment = present_segment(p);

    stay_hold(stay, p->now_ms, s->before);
    stay->sure = segment->whole || stay->past->known;
    segment->unsure = segment->unsure || !stay->sure;
    p->unsure = p->unsure || !stay->sure;
}

void present_settle(struct present *p, struct past *past, bool before)
{
    struct settling settling = { p, before };

    if (!p->learning)
        p->failed = !front_settle(past, begin_hold, &settling) || p->failed;
}
