/* SPDX-License-Identifier: Apache-2.0 */
/* The locks at one moment of a history: contenders come and go, and begin to
 * hold. */
#include "model/present.h"

#include "model/front.h"

struct segment *present_segment(const struct present *p)
{
    return &p->segments.items[p->segment];
}

bool present_find(struct present *p, struct bytes path, bool ephemeral,
                  struct place *ret_place, struct stay **ret_stay)
{
    if (!places_find(&p->places, path, ephemeral, ret_place))
        return false;
    *ret_stay = pasts_stay(&p->pasts, pasts_find(&p->pasts, ret_place->lock),
                           ret_place->name);
    return true;
}

/* --- coming --- */

static struct stay *make_stay(struct present *p, const struct place *place,
                              const struct arrival *a)
{
    struct past *past = pasts_make(&p->pasts, place->lock);
    struct stay *stay = NULL;

    if (past != NULL)
        stay = stay_new(past->path, place->name, a->data.at, a->data.size);
    if (stay == NULL)
        return NULL;
    stay->sure = true;
    stay->queued_ms = a->ctime_ms;
    stay->seen_ms = p->now_ms;
    stay->node.token = a->czxid;
    stay->node.session_id = a->owner;
    stay->node.since_ms = a->ctime_ms;
    return pasts_add(&p->pasts, past, stay) ? stay : NULL;
}

struct stay *present_arrive(struct present *p, const struct arrival *a)
{
    struct place place;
    struct stay *stay;

    places_note_pool(&p->places, a->path, a->ephemeral);
    if (!present_find(p, a->path, a->ephemeral, &place, &stay) || stay != NULL)
        return NULL;
    stay = make_stay(p, &place, a);
    if (stay == NULL) {
        p->failed = true;
        return NULL;
    }
    p->contenders++;
    if (!p->learning)
        present_segment(p)->contenders++;
    return stay;
}

void present_plant(struct present *p, const struct seed *seed)
{
    const struct arrival a = {
        .path = seed->path,
        .data = seed->data,
        .ephemeral = true,
        .czxid = seed->czxid,
        .ctime_ms = seed->ctime_ms,
        .owner = seed->owner,
    };

    (void)present_arrive(p, &a);
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
