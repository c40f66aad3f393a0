/* SPDX-License-Identifier: Apache-2.0 */
#include "model/history.h"

#include <stdlib.h>
#include <string.h>

#include "common/grow.h"
#include "protocol/dialect.h"
#include "protocol/node_name.h"
#include "protocol/owner.h"
#include "protocol/roster.h"

/* --- segments --- */

/* Transactions between two gaps. Of the moments in it, all contenders are
 * known, or not. */
struct segment {
    int64_t zxid;     /* of the first transaction; 0: none yet */
    bool whole;       /* a snapshot has told what was there before */
    int64_t begin_ms; /* 0: not played yet */
    int64_t until_ms; /* from then on nothing is known */
    size_t contenders;
    bool unsure; /* another one may have held than those that are known */
    struct node *items; /* seeds: contenders that were there before */
    size_t count;
};

static struct segment *present(const struct history *h)
{
    return &h->segments.items[h->segment];
}

/* Keeps a copy of a node as a seed: one block has both texts. */
static void keep_seed(struct history *h, const struct node *node)
{
    char *text = enough(malloc(node->path.size + node->data.size + 1));
    struct node *copy = GROW(present(h));

    *copy = *node;
    memcpy(text, node->path.at, node->path.size);
    memcpy(text + node->path.size, node->data.at, node->data.size);
    copy->path.at = text;
    copy->data.at = text + node->path.size;
}

/* Without a snapshot all is known only of locks that are from this segment. */
static bool tells_all(const struct segment *segment)
{
    return segment->whole || (segment->contenders > 0 && !segment->unsure);
}

bool history_knows(const struct history *h, int64_t ms)
{
    for (size_t i = 0; i < h->segments.count; i++) {
        const struct segment *segment = &h->segments.items[i];

        if (segment->begin_ms != 0 && segment->begin_ms <= ms &&
            ms < segment->until_ms && tells_all(segment))
            return true;
    }
    return false;
}

/* --- where a node is --- */

enum { NODE_MAX = 4 * ZKR_PATH_MAX };

/* The path of a lock, and the name of a node in it. */
struct place {
    char lock[NODE_MAX];
    char name[NODE_MAX + 8]; /* also "leases/" before it */
};

static bool is_below(const char *path, const char *root)
{
    size_t len = strlen(root);

    if (len <= 1)
        return true;
    return strncmp(path, root, len) == 0 &&
           (path[len] == '\0' || path[len] == '/');
}

static bool contends(const char *name, bool ephemeral)
{
    struct zkr_participant p = { .name = name };

    return (ephemeral || zkr__node_name_is_numbered(name)) &&
           zkr__roster_order(&p, 1) == 1 && p.kind != ZKR_PARTICIPANT_FOREIGN;
}

/* Turns ".../pool/leases" and "lease-1" into ".../pool" and "leases/lease-1".
 */
static void join_part(struct place *p, enum zkr__part part)
{
    const char *dir = zkr__part_dirs[part];
    char *slash = strrchr(p->lock, '/');
    size_t len = strlen(dir);

    memmove(p->name + len + 1, p->name, strlen(p->name) + 1);
    memcpy(p->name, dir, len);
    p->name[len] = '/';
    slash[slash == p->lock] = '\0';
}

/* Tells whether the node contends. A lease tells that the directory above is a
 * semaphore; until all nodes were seen, its directories are locks of their own,
 * and a directory with such a name counts, so that its end is one of what came.
 */
static bool settle_place(struct history *h, struct place *p, bool ephemeral)
{
    enum zkr__part part = zkr__part_of_dir(strrchr(p->lock, '/') + 1);
    bool counts = ephemeral || h->learning;

    if (part == ZKR__PART_PATH)
        return contends(p->name, counts);
    struct place whole = *p;
    join_part(&whole, part);
    if (part == ZKR__PART_LEASES && contends(whole.name, ephemeral)) {
        pasts_make(&h->pasts, whole.lock)->semaphore = true;
        if (!h->learning)
            *p = whole;
        return true;
    }
    const struct past *past = pasts_find(&h->pasts, whole.lock);
    if (!h->learning && past != NULL && past->semaphore)
        *p = whole;
    return contends(p->name, counts);
}

/* Takes a path below the chroot apart, into directory and name. */
static bool split(const struct history *h, struct bytes path, struct place *p)
{
    size_t skip = strlen(h->chroot);

    if (path.size <= skip || path.size - skip >= NODE_MAX ||
        memcmp(path.at, h->chroot, skip) != 0 || path.at[skip] != '/')
        return false;
    size_t len = path.size - skip;
    memcpy(p->lock, path.at + skip, len);
    p->lock[len] = '\0';
    const char *slash = strrchr(p->lock, '/');
    (void)strcpy(p->name, slash + 1);
    p->lock[slash == p->lock ? 1 : slash - p->lock] = '\0';
    return p->name[0] != '\0';
}

/* Looks whether a node that is there is of a pool of kazoo. */
static void note_pool(struct history *h, struct bytes path, bool ephemeral)
{
    struct place p;

    if (ephemeral && !h->pool && split(h, path, &p))
        h->pool = strcmp(p.lock, h->root) == 0 && zkr__name_is_of_pool(p.name);
}

/* --- coming --- */

/* The lock and the contender that a path stands for. A node that is not
 * ephemeral needs a number of a server at its end. False: for none that is
 * wanted; the stay is NULL: it is not there. */
static bool find(struct history *h, struct bytes path, bool ephemeral,
                 struct place *p, struct stay **ret_stay)
{
    if (!split(h, path, p) || !is_below(p->lock, h->root) ||
        !settle_place(h, p, ephemeral) || !is_below(p->lock, h->root))
        return false;
    *ret_stay = past_stay(pasts_find(&h->pasts, p->lock), p->name);
    return true;
}

static struct stay *make_stay(struct history *h, const struct place *place,
                              const struct node *node)
{
    struct past *past = pasts_make(&h->pasts, place->lock);
    struct stay *stay =
        stay_new(past->path, place->name, node->data.at, node->data.size);

    stay->sure = true;
    stay->queued_ms = node->ctime_ms;
    stay->seen_ms = h->now_ms;
    stay->node.token = node->czxid;
    stay->node.session_id = node->owner;
    stay->node.since_ms = node->ctime_ms;
    pasts_add(&h->pasts, past, stay);
    return stay;
}

/* A node is there now. NULL: it is no contender that is wanted, or is there
 * already. */
static struct stay *arrive(struct history *h, const struct node *node,
                           bool ephemeral)
{
    struct place place;
    struct stay *stay;

    note_pool(h, node->path, ephemeral);
    if (!find(h, node->path, ephemeral, &place, &stay) || stay != NULL)
        return NULL;
    h->contenders++;
    if (!h->learning)
        present(h)->contenders++;
    return make_stay(h, &place, node);
}

/* --- going --- */

static void end_as(struct history *h, struct stay *stay, enum ending ending,
                   int64_t by, int64_t at_ms)
{
    stay->ending = ending;
    stay->ended_by = by;
    stay->ended_ms = at_ms;
    pasts_remove(&h->pasts, stay);
    if (h->learning)
        stay_free(stay);
    else
        h->fns.stay(stay, h->fns.user);
}

/* All that are there; ENDING_NONE: at the end of the history. */
static void end_all(struct history *h, enum ending ending, int64_t at_ms)
{
    struct stay *stay;

    for (struct past *past = h->pasts.first; past != NULL; past = past->next) {
        while ((stay = past_any(past)) != NULL)
            end_as(h, stay, ending, 0, at_ms);
        past->known = false;
    }
}

/* --- holding --- */

/* Who holds when a segment begins may have held before. */
static void begin_hold(struct stay *stay, void *user)
{
    struct history *h = user;
    struct segment *segment = present(h);

    stay_hold(stay, h->now_ms, !h->begun);
    stay->sure = segment->whole || stay->past->known;
    segment->unsure = segment->unsure || !stay->sure;
    h->unsure = h->unsure || !stay->sure;
}

static void settle(struct history *h, struct past *past)
{
    if (!h->learning)
        past_settle(past, begin_hold, h);
}

/* --- a node --- */

static void mark(struct history *h, struct past *past)
{
    if (past->listed)
        return;
    past->listed = true;
    past->next_listed = h->changed;
    h->changed = past;
}

/* A contender that nothing has created was there before. */
static void learn(struct history *h, struct bytes path, int64_t owner)
{
    const struct node node = { .path = path,
                               .data = { "", 0 },
                               .owner = owner };

    if (h->learning)
        keep_seed(h, &node);
}

/* The first number that a directory gives: nobody was there before. */
static bool is_first(const struct stay *stay)
{
    return zkr__part_of(stay->name) != ZKR__PART_QUEUE &&
           zkr__node_name_is_numbered(stay->name) && stay->node.sequence == 0;
}

static void create_node(struct history *h, const struct txn *txn,
                        const struct change *c)
{
    const struct node node = {
        .path = c->path,
        .data = c->data,
        .czxid = txn->zxid,
        .ctime_ms = txn->time_ms,
        .owner = c->ephemeral ? txn->session : 0,
    };
    struct stay *stay = arrive(h, &node, c->ephemeral);

    if (stay == NULL)
        return;
    if (is_first(stay))
        stay->past->known = true;
    mark(h, stay->past);
}

/* One who gets a permit of a semaphore leaves the queue: its wait was that of
 * its lease. */
static void pass_on(struct stay *claim)
{
    const struct queue *leases = &claim->past->parts[ZKR__PART_LEASES];
    struct stay *lease = NULL;

    for (size_t i = 0; i < leases->count; i++) {
        struct stay *s = leases->items[i];

        if (s->node.session_id == claim->node.session_id &&
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
static void delete_node(struct history *h, const struct txn *txn,
                        const struct change *c)
{
    struct place place;
    struct stay *stay;

    if (!find(h, c->path, true, &place, &stay))
        return;
    if (stay == NULL) {
        if (txn->type != TXN_DELETE_CONTAINER ||
            zkr__node_name_is_numbered(place.name))
            learn(h, c->path, 0);
        return;
    }
    int64_t owner = stay->node.session_id;
    mark(h, stay->past);
    if (owner == txn->session && owner != 0 &&
        zkr__part_of(place.name) == ZKR__PART_QUEUE)
        pass_on(stay);
    if (owner == 0)
        end_as(h, stay, ENDING_GONE, txn->session, txn->time_ms);
    else if (owner == txn->session)
        end_as(h, stay, ENDING_RELEASED, 0, txn->time_ms);
    else
        end_as(h, stay, ENDING_DELETED, txn->session, txn->time_ms);
}

static void write_data(struct history *h, const struct txn *txn,
                       const struct change *c)
{
    size_t request = strlen(ZKR__REVOKE_BECAUSE);
    struct place place;
    struct stay *stay;

    if (!find(h, c->path, true, &place, &stay) || stay == NULL)
        return;
    if (!zkr__owner_is_asked(c->data.at, c->data.size)) {
        node_set_data(&stay->node, c->data.at, c->data.size);
    } else if (stay->asked_ms == 0) {
        stay->asked_ms = txn->time_ms;
        stay->asked_by = txn->session;
        if (c->data.size > request)
            stay->reason =
                strndup(c->data.at + request, c->data.size - request);
    }
}

/* The number of a request by the client is not 0; the servers close a session
 * without a request when it has expired. With a path it is one of its nodes. */
static void close_session(struct history *h, const struct txn *txn,
                          const struct change *c)
{
    enum ending ending = txn->cxid == 0 ? ENDING_EXPIRED : ENDING_CLOSED;
    struct place place;
    struct stay *stay;

    if (c->path.size != 0) {
        if (h->learning && find(h, c->path, true, &place, &stay) &&
            stay == NULL)
            learn(h, c->path, txn->session);
        return;
    }
    while ((stay = pasts_of_session(&h->pasts, txn->session)) != NULL) {
        mark(h, stay->past);
        end_as(h, stay, ending, 0, txn->time_ms);
    }
}

/* --- transactions --- */

static void on_change(const struct txn *txn, const struct change *c, void *user)
{
    static void (*const fns[])(struct history *, const struct txn *,
                               const struct change *) = {
        [CHANGE_CREATE] = create_node,
        [CHANGE_DELETE] = delete_node,
        [CHANGE_WRITE] = write_data,
        [CHANGE_CLOSE] = close_session,
    };

    fns[c->kind](user, txn, c);
}

/* All of a transaction is one moment: who holds is told when it is over. */
static void apply(struct history *h, const struct txn *txn)
{
    h->changed = NULL;
    if (!txn_changes(txn, on_change, h) && !h->learning)
        h->strange++;
    for (struct past *past = h->changed; past != NULL;
         past = past->next_listed) {
        past->listed = false;
        settle(h, past);
    }
}

static void begin_segment(struct history *h, const struct txn *txn)
{
    struct segment *segment = present(h);

    if (h->learning && segment->zxid == 0)
        segment->zxid = txn->zxid;
    for (size_t i = 0; !h->learning && i < segment->count; i++)
        (void)arrive(h, &segment->items[i], true);
    for (struct past *past = h->pasts.first; past != NULL; past = past->next)
        settle(h, past);
    h->begun = true;
}

/* The last moment is known only as long as no gap begins there. */
static void lengthen(struct segment *segment, int64_t now_ms)
{
    if (segment->begin_ms == 0)
        segment->begin_ms = now_ms;
    segment->until_ms = now_ms + 1;
}

static void on_txn(const struct txn *txn, void *user)
{
    struct history *h = user;

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
    if (!h->learning)
        lengthen(present(h), h->now_ms);
    apply(h, txn);
}

static void on_gap(const struct gap *gap, void *user)
{
    struct history *h = user;

    if (!h->learning && gap->zxid_after > h->last_zxid)
        return;
    end_all(h, ENDING_UNKNOWN, gap->from_ms);
    if (!h->learning)
        h->fns.gap(gap, h->fns.user);
    present(h)->until_ms = gap->from_ms;
    h->begun = false;
    if (++h->segment == h->segments.count)
        (void)GROW(&h->segments);
}

/* --- snapshots --- */

/* What a later transaction has created may be in it, too. */
static void load(const struct node *node, void *user)
{
    struct history *h = user;
    const struct segment *segment = present(h);
    struct place place;
    struct stay *stay;

    note_pool(h, node->path, node->owner != 0);
    if (node->czxid > h->snapshot ||
        (segment->zxid != 0 && node->czxid >= segment->zxid) ||
        !find(h, node->path, node->owner != 0, &place, &stay) || stay != NULL)
        return;
    if (node->owner != 0 || zkr__node_name_is_numbered(place.name))
        keep_seed(h, node);
    (void)arrive(h, node, true);
}

/* One is enough for each segment. */
static const char *on_snapshot(const char *file, int64_t zxid, void *user)
{
    struct history *h = user;

    if (present(h)->whole)
        return NULL;
    h->snapshot = zxid;
    const char *failure = snapshot_read(file, load, h);
    present(h)->whole = failure == NULL;
    return failure;
}

/* --- the whole --- */

void history_init(struct history *h, const char *chroot, const char *root,
                  const struct history_fns *fns)
{
    *h = (struct history){ .fns = *fns, .chroot = chroot, .root = root };
    (void)GROW(&h->segments);
}

void history_done(struct history *h)
{
    pasts_done(&h->pasts);
    for (size_t i = 0; i < h->segments.count; i++) {
        struct segment *segment = &h->segments.items[i];

        while (segment->count > 0)
            free((char *)(uintptr_t)segment->items[--segment->count].path.at);
        free(segment->items);
    }
    free(h->segments.items);
}

static int play(struct history *h, struct txnlogs *logs, bool learning)
{
    const struct player player = {
        .txn = on_txn,
        .gap = on_gap,
        .snapshot = learning ? on_snapshot : NULL,
        .user = h,
    };

    h->learning = learning;
    h->segment = 0;
    h->contenders = 0;
    h->begun = false;
    h->begin_ms = 0;
    int code = txnlogs_play(logs, &player);
    end_all(h, ENDING_NONE, 0);
    return code;
}

int history_play(struct history *h, struct txnlogs *logs)
{
    int code = play(h, logs, true);

    return code == 0 ? play(h, logs, false) : code;
}

bool history_lacks_begin(const struct history *h)
{
    return !h->segments.items[0].whole && (h->unsure || h->contenders == 0);
}
