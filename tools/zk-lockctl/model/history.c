/* SPDX-License-Identifier: Apache-2.0 */
/* The history of locks, out of transactions: who held each, who waited, and how
 * it ended. */
#include "model/history.h"

#include <string.h>

#include "common/grow.h"
#include "common/lockctl.h"

/* --- transactions --- */

static void begin_segment(struct history *h, const struct txn *txn)
{
    struct present *p = &h->present;
    struct segment *segment = present_segment(p);

    h->begun = true;
    if (p->learning && segment->zxid == 0)
        segment->zxid = txn->zxid;
    for (size_t i = 0; !p->learning && i < segment->count; i++)
        (void)present_arrive(p, &segment->items[i], true);
    for (struct past *past = p->pasts.first; past != NULL; past = past->next)
        present_settle(p, past, true);
}

static void on_txn(const struct txn *txn, void *user)
{
    struct history *h = user;
    struct present *p = &h->present;

    if (p->learning)
        h->last_zxid = txn->zxid;
    if (txn->zxid > h->last_zxid) /* a server has written it meanwhile */
        return;
    p->now_ms = txn->time_ms;
    if (!h->begun)
        begin_segment(h, txn);
    if (h->begin_ms == 0)
        h->begin_ms = txn->time_ms;
    h->end_ms = txn->time_ms;
    if (!p->learning)
        segment_lengthen(present_segment(p), p->now_ms);
    if (!present_apply(p, txn) && !p->learning)
        h->strange++;
}

/* --- gaps --- */

static void lose_all(struct present *p, int64_t at_ms)
{
    struct stay *stay;

    for (struct past *past = p->pasts.first; past != NULL; past = past->next) {
        while ((stay = past_any(past)) != NULL)
            present_end_as(p, stay, ENDING_UNKNOWN, 0, at_ms);
        past->known = false;
    }
}

static void on_gap(const struct gap *gap, void *user)
{
    struct history *h = user;
    struct present *p = &h->present;

    if (!p->learning && gap->zxid_after > h->last_zxid)
        return;
    lose_all(p, gap->from_ms);
    if (!p->learning)
        p->fns.gap(gap, p->fns.user);
    present_segment(p)->until_ms = gap->from_ms;
    h->begun = false;
    if (p->segment + 1 == p->segments.count && GROW(&p->segments) == NULL)
        p->failed = true;
    else
        p->segment++;
}

/* --- snapshots --- */

struct loading {
    struct present *present;
    int64_t zxid;
};

/* What a later transaction has created may be in it, too. */
static void load(const struct node *node, void *user)
{
    const struct loading *l = user;
    struct present *p = l->present;
    struct segment *segment = present_segment(p);
    struct place place;
    struct stay *stay;

    places_note_pool(&p->places, node->path, node->owner != 0);
    if (node->czxid > l->zxid ||
        (segment->zxid != 0 && node->czxid >= segment->zxid) ||
        !present_find(p, node->path, node->owner != 0, &place, &stay) ||
        stay != NULL)
        return;
    if (segment_keep(segment, node))
        (void)present_arrive(p, node, true);
    else
        p->failed = true;
}

/* What a snapshot that cannot be read has told is not believed. */
static void drop_seeds(struct present *p, size_t from)
{
    struct segment *segment = present_segment(p);

    while (segment->count > from) {
        struct place place;
        struct stay *stay;

        if (present_find(p, segment->items[segment->count - 1].path, true,
                         &place, &stay) &&
            stay != NULL)
            present_end(p, stay);
        segment_drop_last(segment);
    }
}

/* One is enough for each segment. */
static const char *on_snapshot(const char *file, int64_t zxid, void *user)
{
    struct history *h = user;
    struct present *p = &h->present;
    struct loading l = { p, zxid };
    size_t before = present_segment(p)->count;
    const char *failure;

    if (present_segment(p)->whole)
        return NULL;
    failure = snapshot_read(file, load, &l);
    if (failure == NULL)
        present_segment(p)->whole = true;
    else
        drop_seeds(p, before);
    return failure;
}

/* --- the whole --- */

bool history_init(struct history *h, const char *chroot, const char *root,
                  const struct history_fns *fns)
{
    struct places *places = &h->present.places;

    *h = (struct history){ .present.fns = *fns };
    places->chroot = strdup(strcmp(chroot, "/") == 0 ? "" : chroot);
    places->root = strdup(root);
    return places->chroot != NULL && places->root != NULL &&
           GROW(&h->present.segments) != NULL;
}

void history_done(struct history *h)
{
    pasts_done(&h->present.pasts);
    places_done(&h->present.places);
    segments_done(&h->present.segments);
}

static void end_all(struct present *p)
{
    struct stay *stay;

    for (struct past *past = p->pasts.first; past != NULL; past = past->next) {
        while ((stay = past_any(past)) != NULL)
            present_end(p, stay);
    }
}

static int play(struct history *h, struct txnlogs *logs, bool learning)
{
    const struct player player = {
        .txn = on_txn,
        .gap = on_gap,
        .snapshot = learning ? on_snapshot : NULL,
        .user = h,
    };
    struct present *p = &h->present;
    int code;

    p->learning = p->places.learning = learning;
    p->segment = 0;
    p->contenders = 0;
    h->begun = false;
    h->begin_ms = 0;
    code = txnlogs_play(logs, &player);
    end_all(p);
    if (learning)
        pasts_done(&p->pasts);
    p->failed = p->failed || p->places.failed;
    return code;
}

int history_play(struct history *h, struct txnlogs *logs)
{
    int code = play(h, logs, true);

    if (code == 0)
        code = play(h, logs, false);
    if (code == 0 && h->present.failed)
        code = lockctl_fail_error(ZKR_ENOMEM, "");
    return code;
}

bool history_lacks_begin(const struct history *h)
{
    return !h->present.segments.items[0].whole &&
           (h->present.unsure || h->present.contenders == 0);
}
