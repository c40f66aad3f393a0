/* SPDX-License-Identifier: Apache-2.0 */
/* One stay out of those of the same node that several sources tell of. */
#include "model/merge.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

/* --- two stays of one node --- */

/* The smaller one that is known. */
static int64_t earlier(int64_t a, int64_t b)
{
    return a == 0 || (b != 0 && b < a) ? b : a;
}

enum quality {
    NOTHING,
    DOUBTFUL, /* another one may have held */
    BOUND,
    EXACT,
};

static enum quality beginning_of(const struct stay *s)
{
    if (s->held_ms == 0)
        return NOTHING;
    if (!s->sure)
        return DOUBTFUL;
    return s->held_before || !s->exact ? BOUND : EXACT;
}

static enum quality end_of(const struct stay *s)
{
    if (s->ending == ENDING_NONE || s->ending == ENDING_UNKNOWN)
        return NOTHING;
    return s->ended_late ? BOUND : EXACT;
}

/* Of two upper bounds the lower one says more. */
static void merge_beginning(struct stay *into, const struct stay *from)
{
    enum quality a = beginning_of(into);
    enum quality b = beginning_of(from);

    into->queued_ms = earlier(into->queued_ms, from->queued_ms);
    into->seen_ms = earlier(into->seen_ms, from->seen_ms);
    if (b < a || b == NOTHING || (b == a && from->held_ms >= into->held_ms))
        return;
    into->held_ms = from->held_ms;
    into->held_before = from->held_before;
    into->exact = from->exact;
    into->sure = from->sure;
    into->node.holds = true;
}

/* The last moment at which a source without its end knows that it was there. */
static int64_t there_until(const struct stay *s)
{
    return s->ending == ENDING_NONE ? s->known_ms : s->ended_ms;
}

static bool ends_better(const struct stay *from, const struct stay *into)
{
    enum quality a = end_of(into);
    enum quality b = end_of(from);

    if (a != b)
        return b > a;
    return b == NOTHING ? there_until(from) > there_until(into)
                        : from->ended_ms < into->ended_ms;
}

static void merge_end_of(struct stay *into, const struct stay *from)
{
    if (!ends_better(from, into))
        return;
    into->ending = from->ending;
    into->ended_ms = from->ended_ms;
    into->ended_by = from->ended_by;
    into->ended_late = from->ended_late;
    into->known_ms = from->known_ms;
}

/* That of watch is for a stay of which watch alone knows both ends. */
static void merge_duration(struct stay *into, const struct stay *from)
{
    if (beginning_of(into) == EXACT || end_of(into) != BOUND)
        into->held_max_ms = -1;
    else if (into->held_max_ms < 0 ||
             (from->held_max_ms >= 0 && from->held_max_ms < into->held_max_ms))
        into->held_max_ms = from->held_max_ms;
}

/* The request to give the lock back has replaced what its owner said. */
static bool tells_owner(const struct stay *s)
{
    struct zkr__known_owner owner;

    zkr__owner_read(&owner, s->node.data, s->node.data_size);
    return s->node.data_size > 0 && (owner.is_record || !owner.is_asked);
}

static bool merge_node(struct stay *into, const struct stay *from)
{
    if (into->node.token == 0)
        into->node.token = from->node.token;
    if (into->node.session_id == 0)
        into->node.session_id = from->node.session_id;
    if (into->node.since_ms == 0)
        into->node.since_ms = from->node.since_ms;
    return tells_owner(into) || !tells_owner(from) ||
           stay_write(into, from->node.data, from->node.data_size);
}

/* Watch does not tell who asked. */
static void merge_request(struct stay *into, const struct stay *from)
{
    if (from->asked_ms == 0 || (into->asked_ms != 0 && from->asked_by == 0))
        return;
    into->asked_ms = from->asked_ms;
    into->asked_by = from->asked_by;
}

/* A session deleted the node, and now it is known whether it was its own. */
static void judge_end(struct stay *s)
{
    if (s->ending != ENDING_GONE || s->ended_by == 0 || s->node.session_id == 0)
        return;
    s->ending =
        s->ended_by == s->node.session_id ? ENDING_RELEASED : ENDING_DELETED;
    if (s->ending == ENDING_RELEASED)
        s->ended_by = 0;
}

static bool merge_stays(struct stay *into, const struct stay *from)
{
    merge_beginning(into, from);
    merge_end_of(into, from);
    merge_duration(into, from);
    merge_request(into, from);
    into->is_claim = into->is_claim || from->is_claim;
    if (!merge_node(into, from))
        return false;
    judge_end(into);
    return true;
}

/* --- all stays --- */

/* Those of one key. More than one is there only where the token is not known,
 * as of a node that was there before the logs. */
struct slot {
    const char *lock;
    const char *name;
    int64_t token;
    struct stay *first;
};

static int by_key(const void *a, const void *b)
{
    const struct slot *x = a;
    const struct slot *y = b;
    int order = strcmp(x->lock, y->lock);

    if (order == 0)
        order = strcmp(x->name, y->name);
    return order != 0 ? order : (x->token > y->token) - (x->token < y->token);
}

static struct slot *find(const struct merge *m, const struct stay *stay,
                         int64_t token)
{
    const struct slot key = { .lock = stay->lock,
                              .name = stay->name,
                              .token = token };
    struct slot *const *found = tfind(&key, &m->tree, by_key);

    return found == NULL ? NULL : *found;
}

static bool ended_before(const struct stay *a, const struct stay *b)
{
    return end_of(a) != NOTHING &&
           a->ended_ms < earlier(b->queued_ms, b->seen_ms);
}

/* Names come again where a directory is made anew, so without a token the times
 * decide. */
static bool is_same(const struct stay *a, const struct stay *b)
{
    if (a->node.token != 0 && b->node.token != 0)
        return a->node.token == b->node.token;
    return !ended_before(a, b) && !ended_before(b, a);
}

static struct stay *find_same(const struct merge *m, const struct stay *stay,
                              int64_t token)
{
    const struct slot *slot = find(m, stay, token);
    struct stay *same = slot == NULL ? NULL : slot->first;

    while (same != NULL && !is_same(same, stay))
        same = same->next;
    return same;
}

static struct slot *make(struct merge *m, const struct stay *stay)
{
    struct slot *slot = find(m, stay, stay->node.token);

    if (slot != NULL)
        return slot;
    slot = calloc(1, sizeof(*slot));
    if (slot == NULL)
        return NULL;
    slot->lock = stay->lock;
    slot->name = stay->name;
    slot->token = stay->node.token;
    if (tsearch(slot, &m->tree, by_key) != NULL)
        return slot;
    free(slot);
    return NULL;
}

static bool put(struct merge *m, struct stay *stay)
{
    struct slot *slot = make(m, stay);

    if (slot == NULL) {
        stay_free(stay);
        return false;
    }
    stay->next = slot->first;
    slot->first = stay;
    return true;
}

bool merge_add(struct merge *m, struct stay *stay)
{
    struct stay *same = find_same(m, stay, stay->node.token);
    bool done;

    if (same == NULL)
        same = find_same(m, stay, 0);
    if (same == NULL)
        return put(m, stay);
    done = merge_stays(same, stay);
    stay_free(stay);
    return done;
}

/* --- handing them over --- */

struct handing {
    int64_t begin_ms;
    stay_fn *fn;
    void *user;
};

static void hand_over(const struct handing *h, struct stay *stay)
{
    if (stay->ending == ENDING_NONE && stay->known_ms < h->begin_ms) {
        stay->ending = ENDING_UNKNOWN;
        stay->ended_ms = stay->known_ms;
    }
    h->fn(stay, h->user);
}

static void hand_over_slot(const void *node, VISIT order, void *closure)
{
    struct slot *slot = *(struct slot *const *)node;

    if (order != preorder && order != leaf)
        return;
    for (struct stay *stay = slot->first; stay != NULL; stay = slot->first) {
        slot->first = stay->next;
        hand_over(closure, stay);
    }
}

void merge_end(struct merge *m, int64_t begin_ms, stay_fn *fn, void *user)
{
    struct handing h = { begin_ms, fn, user };

    twalk_r(m->tree, hand_over_slot, &h);
}

static void free_slot(void *node)
{
    struct slot *slot = node;

    for (struct stay *stay = slot->first; stay != NULL; stay = slot->first) {
        slot->first = stay->next;
        stay_free(stay);
    }
    free(slot);
}

void merge_done(struct merge *m)
{
    tdestroy(m->tree, free_slot);
    m->tree = NULL;
}
