/* SPDX-License-Identifier: Apache-2.0 */
/* The locks at one moment of a history: contenders come and go, and begin to
 * hold. */
#include "model/present.h"

#include <stdlib.h>
#include <string.h>

#include "common/grow.h"
#include "model/front.h"
#include "protocol/node_name.h"
#include "protocol/owner.h"

/* --- segments --- */

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
        p->fns.stay(stay, p->fns.user);
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

/* --- a transaction --- */

struct applying {
    struct present *present;
    struct past *changed; /* a list */
};

static void mark(struct applying *a, struct past *past)
{
    if (past->listed)
        return;
    past->listed = true;
    past->next_listed = a->changed;
    a->changed = past;
}

/* A contender that nothing has created was there before. */
static void learn(struct applying *a, struct bytes path, int64_t owner)
{
    struct present *p = a->present;
    const struct node node = { .path = path,
                               .data = { "", 0 },
                               .owner = owner };

    if (p->learning)
        p->failed = !segment_keep(present_segment(p), &node) || p->failed;
}

/* --- a node --- */

/* The first number that a directory gives: nobody was there before. */
static bool is_first(const struct stay *stay)
{
    return zkr__part_of(stay->name) != ZKR__PART_QUEUE &&
           zkr__node_name_is_numbered(stay->name) && stay->node.sequence == 0;
}

static void create_node(struct applying *a, const struct txn *txn,
                        const struct change *c)
{
    const struct node node = {
        .path = c->path,
        .data = c->data,
        .czxid = txn->zxid,
        .ctime_ms = txn->time_ms,
        .owner = c->ephemeral ? txn->session : 0,
    };
    struct stay *stay = present_arrive(a->present, &node, c->ephemeral);

    if (stay == NULL)
        return;
    if (is_first(stay))
        stay->past->known = true;
    mark(a, stay->past);
}

/* One who gets a permit of a semaphore leaves the queue: its wait was that of
 * its lease. */
static void pass_on(const struct applying *a, struct stay *claim)
{
    struct stay *lease = NULL;

    for (struct stay *s =
             pasts_of_session(&a->present->pasts, claim->node.session_id);
         s != NULL; s = s->next) {
        if (s->past == claim->past && zkr__is_lease(&s->node) &&
            s->node.token > claim->node.token &&
            (lease == NULL || s->node.token > lease->node.token))
            lease = s;
    }
    if (lease == NULL || lease->held_ms != 0)
        return;
    lease->queued_ms = claim->queued_ms;
    claim->is_claim = true;
}

/* Where the owner is not known, the session that deletes the node may be it. */
static void delete_node(struct applying *a, const struct txn *txn,
                        const struct change *c)
{
    struct present *p = a->present;
    struct place place;
    struct stay *stay;
    int64_t owner;

    if (!present_find(p, c->path, true, &place, &stay))
        return;
    if (stay == NULL) {
        learn(a, c->path, 0);
        return;
    }
    owner = stay->node.session_id;
    mark(a, stay->past);
    if (owner == txn->session && owner != 0 &&
        zkr__part_of(place.name) == ZKR__PART_QUEUE)
        pass_on(a, stay);
    if (owner == 0)
        present_end_as(p, stay, ENDING_GONE, txn->session, txn->time_ms);
    else if (owner == txn->session)
        present_end_as(p, stay, ENDING_RELEASED, 0, txn->time_ms);
    else
        present_end_as(p, stay, ENDING_DELETED, txn->session, txn->time_ms);
}

static void write_data(struct applying *a, const struct txn *txn,
                       const struct change *c)
{
    size_t request = strlen(ZKR__REVOKE_BECAUSE);
    struct present *p = a->present;
    struct place place;
    struct stay *stay;

    if (!present_find(p, c->path, true, &place, &stay) || stay == NULL)
        return;
    if (!zkr__owner_is_asked(c->data.at, c->data.size)) {
        p->failed = !stay_write(stay, c->data.at, c->data.size) || p->failed;
    } else if (stay->asked_ms == 0) {
        stay->asked_ms = txn->time_ms;
        stay->asked_by = txn->session;
        if (c->data.size > request)
            stay->reason =
                strndup(c->data.at + request, c->data.size - request);
    }
}

/* --- a session --- */

/* The number of a request by the client is not 0; the servers close a session
 * without a request when it has expired. */
static void end_session(struct applying *a, const struct txn *txn)
{
    enum ending ending = txn->cxid == 0 ? ENDING_EXPIRED : ENDING_CLOSED;
    struct present *p = a->present;
    struct stay *stay;

    while ((stay = pasts_of_session(&p->pasts, txn->session)) != NULL) {
        mark(a, stay->past);
        present_end_as(p, stay, ending, 0, txn->time_ms);
    }
}

static void close_session(struct applying *a, const struct txn *txn,
                          const struct change *c)
{
    struct place place;
    struct stay *stay;

    if (c->path.size == 0)
        end_session(a, txn);
    else if (a->present->learning &&
             present_find(a->present, c->path, true, &place, &stay) &&
             stay == NULL)
        learn(a, c->path, txn->session);
}

/* --- all of it --- */

static void apply(const struct txn *txn, const struct change *c, void *user)
{
    struct applying *a = user;

    switch (c->kind) {
    case CHANGE_CREATE:
        create_node(a, txn, c);
        break;
    case CHANGE_DELETE:
        delete_node(a, txn, c);
        break;
    case CHANGE_WRITE:
        write_data(a, txn, c);
        break;
    case CHANGE_CLOSE:
        close_session(a, txn, c);
        break;
    }
}

bool present_apply(struct present *present, const struct txn *txn)
{
    struct applying a = { .present = present };
    bool known = txn_changes(txn, apply, &a);

    for (struct past *past = a.changed; past != NULL;
         past = past->next_listed) {
        past->listed = false;
        present_settle(present, past, false);
    }
    return known;
}
