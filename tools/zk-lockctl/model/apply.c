/* SPDX-License-Identifier: Apache-2.0 */
/* Tells what a transaction does to the locks of a history. */
#include "model/apply.h"

#include <string.h>

#include "protocol/node_name.h"
#include "protocol/owner.h"
#include "protocol/parts.h"

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

/* --- the whole --- */

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

bool apply_txn(struct present *present, const struct txn *txn)
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
