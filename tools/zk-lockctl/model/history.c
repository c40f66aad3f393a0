/* SPDX-License-Identifier: Apache-2.0 */
/* The history of locks, out of transactions: who held each, who waited, and how
 * it ended. */
#include "model/history.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/lockctl.h"
#include "model/arrange.h"
#include "model/past.h"
#include "model/place.h"

/* A contender that was there when a segment began. */
struct seed {
    size_t segment;
    char *path; /* with the chroot */
    char *data;
    size_t data_size;
    int64_t czxid, ctime_ms, owner; /* 0: not known */
};

/* Transactions between two gaps. */
struct segment {
    int64_t zxid;     /* of the first; 0: none yet */
    bool whole;       /* a snapshot has told what was there before */
    int64_t begin_ms; /* 0: not played yet */
    int64_t until_ms; /* from then on nothing is known */
    size_t contenders;
    bool unsure; /* another one may have held than those that are known */
};

struct history {
    char *chroot;
    char *root;
    struct history_fns fns;
    bool learning; /* the first time */
    struct places places;
    struct pasts pasts;
    struct segment *segments;
    size_t segment_count;
    size_t segment; /* the present one */
    bool begun;     /* it has had a transaction */
    struct seed *seeds;
    size_t seed_count;
    size_t contenders;
    size_t strange;
    int64_t last_zxid; /* that the first time has seen */
    int64_t begin_ms, end_ms;
    int64_t now_ms;
    bool unsure;
    bool failed; /* out of memory */
};

/* --- the end of a stay --- */

static void end_item(struct history *h, struct past *past, size_t i)
{
    struct stay *stay = past_remove(&h->pasts, past, i);

    if (h->learning)
        stay_free(stay);
    else
        h->fns.stay(stay, h->fns.user);
}

static void end_as(struct history *h, struct past *past, size_t i,
                   enum ending ending, int64_t by, int64_t at_ms)
{
    struct stay *stay = stay_of(past->items[i].name);

    stay->ending = ending;
    stay->ended_by = by;
    stay->ended_ms = at_ms;
    end_item(h, past, i);
}

/* --- who holds --- */

/* `before`: they may have held before this moment. */
static void settle(struct history *h, struct past *past, bool before)
{
    if (!past->changed || h->learning)
        return;
    past->changed = false;
    h->failed = !arrange(past->items, past->count) || h->failed;
    for (size_t i = 0; i < past->count; i++) {
        struct stay *stay = stay_of(past->items[i].name);

        if (!past->items[i].holds || stay->held_ms != 0)
            continue;
        stay->held_ms = h->now_ms;
        stay->held_before = before;
        stay->sure = h->segments[h->segment].whole || past->known;
        h->segments[h->segment].unsure |= !stay->sure;
        h->unsure = h->unsure || !stay->sure;
    }
}

static void settle_first(struct past *past, void *history)
{
    settle(history, past, true);
}

/* One who gets a permit of a semaphore leaves the queue: its wait was that of
 * its lease. */
static void pass_on(const struct past *past, size_t claim)
{
    const struct zkr_participant *c = &past->items[claim];
    struct stay *stay = stay_of(c->name);
    struct stay *lease = NULL;

    for (size_t i = 0; i < past->count; i++) {
        const struct zkr_participant *p = &past->items[i];

        if (strcmp(p->marker, "lease-") == 0 && p->session_id != 0 &&
            p->session_id == c->session_id && p->token > c->token &&
            (lease == NULL || p->token > lease->node.token))
            lease = stay_of(p->name);
    }
    if (lease == NULL || lease->held_ms != 0)
        return;
    lease->queued_ms = stay->queued_ms;
    stay->is_claim = true;
}

/* --- what was there before --- */

static bool copy_seed(struct history *h, const struct seed *seed,
                      struct bytes path, struct bytes data)
{
    struct seed *grown =
        realloc(h->seeds, (h->seed_count + 1) * sizeof(*grown));
    struct seed copy = *seed;

    copy.path = strndup(path.at, path.size);
    copy.data = malloc(data.size + 1);
    if (grown != NULL)
        h->seeds = grown;
    if (grown == NULL || copy.path == NULL || copy.data == NULL) {
        free(copy.path);
        free(copy.data);
        h->failed = true;
        return false;
    }
    memcpy(copy.data, data.at, data.size);
    copy.data_size = data.size;
    copy.segment = h->segment;
    h->seeds[h->seed_count++] = copy;
    return true;
}

/* A contender that nothing has created. */
static void learn(struct history *h, struct bytes path, int64_t owner)
{
    struct seed seed = { .owner = owner };

    if (h->learning)
        (void)copy_seed(h, &seed, path, (struct bytes){ "", 0 });
}

/* What is known of a node that is there now. */
struct arrival {
    struct bytes path;
    struct bytes data;
    bool ephemeral;
    int64_t czxid, ctime_ms, owner;
};

static bool add_stay(struct history *h, struct past *past, const char *name,
                     const struct arrival *a)
{
    struct stay *stay = stay_new(past->path, name, a->data.at, a->data.size);

    if (stay == NULL)
        return false;
    stay->exact = stay->sure = true;
    stay->queued_ms = a->ctime_ms;
    stay->seen_ms = h->now_ms;
    stay->node.token = a->czxid;
    stay->node.session_id = a->owner;
    stay->node.since_ms = a->ctime_ms;
    if (!past_add(&h->pasts, past, stay))
        return false;
    h->contenders++;
    if (!h->learning)
        h->segments[h->segment].contenders++;
    return true;
}

/* NULL: it is no contender that is wanted, or is there already. */
static struct past *arrive(struct history *h, const struct arrival *a)
{
    struct past *past;
    struct place p;

    if (!places_find(&h->places, a->path, a->ephemeral, &p))
        return NULL;
    past = pasts_make(&h->pasts, p.lock);
    if (past != NULL && past_find(past, p.name) != PAST_NOBODY)
        return NULL;
    if (past != NULL && add_stay(h, past, p.name, a))
        return past;
    h->failed = true;
    return NULL;
}

static void plant(struct history *h, const struct seed *seed)
{
    const struct arrival a = {
        .path = { seed->path, strlen(seed->path) },
        .data = { seed->data, seed->data_size },
        .ephemeral = true,
        .czxid = seed->czxid,
        .ctime_ms = seed->ctime_ms,
        .owner = seed->owner,
    };

    (void)arrive(h, &a);
}

static void begin_segment(struct history *h, const struct txn *txn)
{
    h->begun = true;
    if (h->learning && h->segments[h->segment].zxid == 0)
        h->segments[h->segment].zxid = txn->zxid;
    for (size_t i = 0; !h->learning && i < h->seed_count; i++) {
        if (h->seeds[i].segment == h->segment)
            plant(h, &h->seeds[i]);
    }
    pasts_each(&h->pasts, settle_first, h);
}

static bool add_segment(struct history *h)
{
    struct segment *grown =
        realloc(h->segments, (h->segment_count + 1) * sizeof(*grown));

    h->failed = h->failed || grown == NULL;
    if (grown == NULL)
        return false;
    h->segments = grown;
    h->segments[h->segment_count++] = (struct segment){ .whole = false };
    return true;
}

/* The last moment is known only as long as no gap begins there. */
static void lengthen_segment(struct history *h)
{
    struct segment *segment = &h->segments[h->segment];

    if (h->learning)
        return;
    if (segment->begin_ms == 0)
        segment->begin_ms = h->now_ms;
    segment->until_ms = h->now_ms + 1;
}

/* --- transactions --- */

struct applying {
    struct history *history;
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

/* The first number that a directory gives: nobody was there before. */
static bool is_first(const char *name)
{
    size_t len = strlen(name);

    return strncmp(name, "locks/", 6) != 0 && len >= 10 &&
           strcmp(name + len - 10, "0000000000") == 0;
}

static void create_node(struct applying *a, const struct txn *txn,
                        const struct change *c)
{
    const struct arrival arrival = {
        .path = c->path,
        .data = c->data,
        .ephemeral = c->ephemeral,
        .czxid = txn->zxid,
        .ctime_ms = txn->time_ms,
        .owner = c->ephemeral ? txn->session : 0,
    };
    struct past *past = arrive(a->history, &arrival);

    if (past == NULL)
        return;
    if (is_first(past->items[past->count - 1].name))
        past->known = true;
    mark(a, past);
}

static void delete_node(struct applying *a, const struct txn *txn,
                        const struct change *c)
{
    struct history *h = a->history;
    struct past *past;
    struct place p;
    int64_t owner;
    size_t i;

    if (!places_find(&h->places, c->path, true, &p))
        return;
    past = pasts_find(&h->pasts, p.lock);
    i = past_find(past, p.name);
    if (i == PAST_NOBODY) {
        learn(h, c->path, 0);
        return;
    }
    owner = past->items[i].session_id;
    if (owner == txn->session && owner != 0 &&
        strncmp(p.name, "locks/", 6) == 0)
        pass_on(past, i);
    if (owner == 0) /* or that of a session which is not known */
        end_as(h, past, i, ENDING_GONE, txn->session, txn->time_ms);
    else if (owner == txn->session)
        end_as(h, past, i, ENDING_RELEASED, 0, txn->time_ms);
    else
        end_as(h, past, i, ENDING_DELETED, txn->session, txn->time_ms);
    mark(a, past);
}

static void write_data(struct applying *a, const struct txn *txn,
                       const struct change *c)
{
    static const char request[] = "__REVOKE__";
    struct history *h = a->history;
    struct past *past;
    struct place p;
    struct stay *stay;
    size_t i;

    if (!places_find(&h->places, c->path, true, &p))
        return;
    past = pasts_find(&h->pasts, p.lock);
    i = past_find(past, p.name);
    if (i == PAST_NOBODY)
        return;
    stay = stay_of(past->items[i].name);
    if (c->data.size != strlen(request) ||
        memcmp(c->data.at, request, c->data.size) != 0) {
        h->failed =
            !stay_write(stay, &past->items[i], c->data.at, c->data.size) ||
            h->failed;
    } else if (stay->asked_ms == 0) {
        stay->asked_ms = txn->time_ms;
        stay->asked_by = txn->session;
    }
}

/* The number of a request by the client is not 0; the servers close a session
 * without a request when it has expired. */
static void end_session(struct applying *a, const struct txn *txn)
{
    enum ending ending = txn->cxid == 0 ? ENDING_EXPIRED : ENDING_CLOSED;
    struct history *h = a->history;
    const struct stay *stay;

    while ((stay = pasts_stay_of(&h->pasts, txn->session)) != NULL) {
        struct past *past = stay->past;

        end_as(h, past, past_find(past, stay->name), ending, 0, txn->time_ms);
        mark(a, past);
    }
}

static void close_session(struct applying *a, const struct txn *txn,
                          const struct change *c)
{
    struct history *h = a->history;
    struct place p;

    if (c->path.size == 0) {
        end_session(a, txn);
    } else if (h->learning && places_find(&h->places, c->path, true, &p) &&
               past_find(pasts_find(&h->pasts, p.lock), p.name) ==
                   PAST_NOBODY) {
        learn(h, c->path, txn->session);
    }
}

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

static void on_txn(const struct txn *txn, void *user)
{
    struct history *h = user;
    struct applying a = { .history = h };

    if (h->learning)
        h->last_zxid = txn->zxid;
    if (txn->zxid > h->last_zxid) /* a server has written it meanwhile */
        return;
    h->now_ms = txn->time_ms;
    if (!h->begun)
        begin_segment(h, txn);
    if (h->begin_ms == 0)
        h->begin_ms = txn->time_ms;
    h->end_ms = txn->time_ms;
    lengthen_segment(h);
    if (!txn_changes(txn, apply, &a) && !h->learning)
        h->strange++;
    for (struct past *past = a.changed; past != NULL;
         past = past->next_listed) {
        past->listed = false;
        settle(h, past, false);
    }
}

/* --- gaps and snapshots --- */

struct losing {
    struct history *history;
    const struct gap *gap;
};

static void lose_all(struct past *past, void *user)
{
    const struct losing *losing = user;

    while (past->count > 0)
        end_as(losing->history, past, past->count - 1, ENDING_UNKNOWN, 0,
               losing->gap->from_ms);
    past->known = false;
}

static void on_gap(const struct gap *gap, void *user)
{
    struct history *h = user;
    struct losing losing = { h, gap };

    if (!h->learning && gap->zxid_after > h->last_zxid)
        return;
    pasts_each(&h->pasts, lose_all, &losing);
    if (!h->learning)
        h->fns.gap(gap, h->fns.user);
    h->segments[h->segment].until_ms = gap->from_ms;
    h->begun = false;
    if (h->segment + 1 == h->segment_count && !add_segment(h))
        return;
    h->segment++;
}

struct loading {
    struct history *history;
    int64_t zxid;
};

/* What a later transaction has created may be in it, too. */
static void load(const struct snapshot_node *node, void *user)
{
    const struct loading *l = user;
    struct history *h = l->history;
    const struct segment *segment = &h->segments[h->segment];
    const struct seed seed = { .czxid = node->czxid,
                               .ctime_ms = node->ctime_ms,
                               .owner = node->owner };
    struct place p;

    if (node->czxid > l->zxid ||
        (segment->zxid != 0 && node->czxid >= segment->zxid) ||
        !places_find(&h->places, node->path, node->owner != 0, &p) ||
        past_find(pasts_find(&h->pasts, p.lock), p.name) != PAST_NOBODY)
        return;
    if (copy_seed(h, &seed, node->path, node->data))
        plant(h, &h->seeds[h->seed_count - 1]);
}

static void drop_seeds(struct history *h, size_t from)
{
    while (h->seed_count > from) {
        struct seed *seed = &h->seeds[--h->seed_count];
        struct place p;
        struct past *past = NULL;
        size_t i = PAST_NOBODY;

        if (places_find(&h->places,
                        (struct bytes){ seed->path, strlen(seed->path) }, true,
                        &p))
            past = pasts_find(&h->pasts, p.lock);
        i = past_find(past, p.name);
        if (i != PAST_NOBODY)
            end_item(h, past, i);
        free(seed->path);
        free(seed->data);
    }
}

/* One is enough for each segment. */
static bool on_snapshot(const char *file, int64_t zxid, void *user)
{
    struct history *h = user;
    struct loading l = { h, zxid };
    size_t before = h->seed_count;
    int rc;

    if (h->segments[h->segment].whole)
        return true;
    rc = snapshot_read(file, load, &l);
    if (rc == 0)
        h->segments[h->segment].whole = true;
    else
        drop_seeds(h, before);
    return rc == 0;
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
    h->places.chroot = h->chroot;
    h->places.root = h->root;
    if (h->chroot != NULL && h->root != NULL && add_segment(h))
        return h;
    history_free(h);
    return NULL;
}

void history_free(struct history *h)
{
    if (h == NULL)
        return;
    pasts_done(&h->pasts);
    places_done(&h->places);
    for (size_t i = 0; i < h->seed_count; i++) {
        free(h->seeds[i].path);
        free(h->seeds[i].data);
    }
    free(h->seeds);
    free(h->segments);
    free(h->chroot);
    free(h->root);
    free(h);
}

static void end_past(struct past *past, void *history)
{
    while (past->count > 0)
        end_item(history, past, past->count - 1);
}

static int play(struct history *h, struct txnlogs *logs, bool learning)
{
    const struct player player = {
        .txn = on_txn,
        .gap = on_gap,
        .snapshot = learning ? on_snapshot : NULL,
        .user = h,
    };
    int code;

    h->learning = h->places.learning = learning;
    h->segment = 0;
    h->begun = false;
    h->contenders = 0;
    h->begin_ms = 0;
    code = txnlogs_play(logs, &player);
    pasts_each(&h->pasts, end_past, h);
    if (learning)
        pasts_done(&h->pasts);
    h->failed = h->failed || h->places.failed;
    return code;
}

int history_play(struct history *h, struct txnlogs *logs)
{
    int code = play(h, logs, true);

    if (code == 0)
        code = play(h, logs, false);
    if (code == 0 && h->failed)
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
    return h->contenders;
}

bool history_lacks_begin(const struct history *h)
{
    return !h->segments[0].whole && (h->unsure || h->contenders == 0);
}

/* Without a snapshot all is known only of locks that are from this segment. */
static bool tells_all(const struct segment *segment)
{
    return segment->whole || (segment->contenders > 0 && !segment->unsure);
}

bool history_knows(const struct history *h, int64_t ms)
{
    for (size_t i = 0; i < h->segment_count; i++) {
        const struct segment *segment = &h->segments[i];

        if (segment->begin_ms != 0 && segment->begin_ms <= ms &&
            ms < segment->until_ms && tells_all(segment))
            return true;
    }
    return false;
}

size_t history_strange(const struct history *h)
{
    return h->strange;
}
