/* SPDX-License-Identifier: Apache-2.0 */
/* The history of locks, out of transactions: who held each, who waited, and how
 * it ended. */
#include "model/history.h"

#include <stdlib.h>
#include <string.h>

#include "common/lockctl.h"
#include "model/present.h"

struct history {
    char *chroot;
    char *root;
    struct history_fns fns;
    struct present present;
    bool begun;        /* the present segment has had a transaction */
    int64_t last_zxid; /* that the first time has seen */
    size_t strange;
    int64_t begin_ms, end_ms;
};

/* --- transactions --- */

static void settle_first(struct past *past, void *present)
{
    present_settle(present, past, true);
}

static void begin_segment(struct history *h, const struct txn *txn)
{
    struct present *p = &h->present;
    struct segment *segment = present_segment(p);

    h->begun = true;
    if (p->learning && segment->zxid == 0)
        segment->zxid = txn->zxid;
    for (size_t i = 0; !p->learning && i < segment->count; i++)
        (void)present_arrive(p, &segment->items[i], true);
    pasts_each(&p->pasts, settle_first, p);
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

struct losing {
    struct present *present;
    const struct gap *gap;
};

static void lose_all(struct past *past, void *user)
{
    const struct losing *losing = user;
    struct stay *stay;

    while ((stay = past_any(past)) != NULL)
        present_end_as(losing->present, stay, ENDING_UNKNOWN, 0,
                       losing->gap->from_ms);
    past->known = false;
}

static void on_gap(const struct gap *gap, void *user)
{
    struct history *h = user;
    struct present *p = &h->present;
    struct losing losing = { p, gap };

    if (!p->learning && gap->zxid_after > h->last_zxid)
        return;
    pasts_each(&p->pasts, lose_all, &losing);
    if (!p->learning)
        h->fns.gap(gap, h->fns.user);
    present_segment(p)->until_ms = gap->from_ms;
    h->begun = false;
    if (p->segment + 1 == p->segments.count && !segments_add(&p->segments))
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
static int on_snapshot(const char *file, int64_t zxid, void *user)
{
    struct history *h = user;
    struct present *p = &h->present;
    struct loading l = { p, zxid };
    size_t before = present_segment(p)->count;
    int rc;

    if (present_segment(p)->whole)
        return 0;
    rc = snapshot_read(file, load, &l);
    if (rc == 0)
        present_segment(p)->whole = true;
    else
        drop_seeds(p, before);
    return rc;
}

/* --- the whole --- */

struct history *history_new(const char *chroot, const char *root,
                            const struct history_fns *fns)
{
    struct history *h = calloc(1, sizeof(*h));

    if (h == NULL)
        return NULL;
    h->chroot = strdup(strcmp(chroot, "/") == 0 ? "" : chroot);
    h->root = strdup(root);
    h->fns = *fns;
    h->present.places.chroot = h->chroot;
    h->present.places.root = h->root;
    h->present.stay = fns->stay;
    h->present.user = fns->user;
    if (h->chroot != NULL && h->root != NULL &&
        segments_add(&h->present.segments))
        return h;
    history_free(h);
    return NULL;
}

void history_free(struct history *h)
{
    if (h == NULL)
        return;
    pasts_done(&h->present.pasts);
    places_done(&h->present.places);
    segments_done(&h->present.segments);
    free(h->chroot);
    free(h->root);
    free(h);
}

static void end_past(struct past *past, void *present)
{
    struct stay *stay;

    while ((stay = past_any(past)) != NULL)
        present_end(present, stay);
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
    pasts_each(&p->pasts, end_past, p);
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

int64_t history_begin_ms(const struct history *h)
{
    return h->begin_ms;
}

int64_t history_end_ms(const struct history *h)
{
    return h->end_ms;
}

size_t history_contenders(const struct history *h)
{
    return h->present.contenders;
}

bool history_lacks_begin(const struct history *h)
{
    return !h->present.segments.items[0].whole &&
           (h->present.unsure || h->present.contenders == 0);
}

bool history_knows(const struct history *h, int64_t ms)
{
    return segments_know(&h->present.segments, ms);
}

bool history_has_pool(const struct history *h)
{
    return h->present.places.pool;
}

size_t history_strange(const struct history *h)
{
    return h->strange;
}
