/* SPDX-License-Identifier: Apache-2.0 */
/* The oracle of the writes of users: judges the reported result of each by the
 * committed transactions. */

#include "oracle.h"

static OF_SCHEDULE struct write *writes;
static OF_SCHEDULE int write_count;

struct write *writes_asked(const struct attempt *a, enum zkr__zk_type type,
                           const char *path, bool guarded)
{
    struct write *w =
        ARENA_NEW(struct write, .next = writes, .number = ++write_count,
                  .attempt = a, .late = a->over, .asked = sim_now, .type = type,
                  .guarded = guarded, .path = arena_copy(path, strlen(path)));
    char data[32];

    writes = w;
    (void)snprintf(data, sizeof(data), "write %d", w->number);
    w->data = arena_copy(data, strlen(data));
    world_trace("process %d: write %d to %s, by attempt %d", a->process,
                w->number, path, a->number);
    return w;
}

/* The call of a write that is asked for in this instant may not have begun. */
void writes_race(const struct attempt *a)
{
    for (struct write *w = writes; w != NULL; w = w->next)
        w->late = w->late || (w->attempt == a && w->asked == sim_now);
}

void writes_told(struct write *w, int rc, const struct zkr_stat *stat)
{
    world_trace("process %d: write %d: %s", w->attempt->process, w->number,
                zkr_strerror(rc));
    WRONG_IF(++w->told > 1, "write %d is told twice: %d, then %d", w->number,
             w->rc, rc);
    w->rc = rc;
    WRONG_IF(!ONE_OF(rc, ZKR_OK, ZKR_EUNKNOWN, ZKR_ELOST, ZKR_ENOTHELD,
                     ZKR_EUNREACHABLE, ZKR_ECLOSED, ZKR_ENOMEM, ZKR_ZNONODE,
                     ZKR_ZNODEEXISTS, ZKR_ZBADVERSION) &&
                 !(rc == ZKR_ZNOAUTH && acls.denials > 0),
             "write %d ends with %d, %s: %s", w->number, rc, zkr_strerror(rc),
             zkr_error_detail());
    WRONG_IF(rc == ZKR_OK && w->made == 0,
             "write %d has succeeded, and was not made", w->number);
    WRONG_IF(rc != ZKR_OK && rc != ZKR_EUNKNOWN && w->made != 0,
             "write %d has failed with %s, and was made", w->number,
             zkr_strerror(rc));
    const struct txn *txn = &ensemble_log[w->made];
    WRONG_IF(rc == ZKR_OK && w->type == ZKR__ZK_SET && stat != NULL &&
                 (stat->mzxid != txn->zxid || stat->czxid != txn->node->czxid ||
                  stat->version != tree_data(txn->node, w->made)->number),
             "write %d is told another version than it has made", w->number);
}

static bool is_of(const struct write *w, const struct request *r)
{
    return w->guarded == (r->type == ZKR__ZK_MULTI) &&
           (int)w->type == r->write && strcmp(w->path, r->path) == 0 &&
           (w->type == ZKR__ZK_DELETE || strcmp(w->data, r->data) == 0);
}

/* The node of the lock is deleted on the same connection, so the write comes
 * when others may have been granted the lock. A write whose deadline has passed
 * is not sent any more. A break waits for no write. */
static bool is_overtaken(const struct write *w, const char *deleted,
                         int session)
{
    const struct node *n = w->attempt->node;

    return !w->sent && !w->late && w->told == 0 && w->until > sim_now &&
           n != NULL && n->session == session &&
           strcmp(n->path, deleted) == 0 &&
           !deletes_may_break(w->attempt->process, deleted);
}

void writes_sent(const struct request *r, int session)
{
    for (struct write *w = writes; w != NULL; w = w->next) {
        if (is_of(w, r))
            w->sent = true;
        else if (r->type == ZKR__ZK_DELETE && is_overtaken(w, r->path, session))
            world_fail("the release of attempt %d overtakes write %d",
                       w->attempt->number, w->number);
    }
}

static void made(struct write *w, int64_t version)
{
    const struct attempt *a = w->attempt;

    world_trace("%lld: write %d is made", (long long)version, w->number);
    WRONG_IF(w->made != 0, "write %d is made twice", w->number);
    WRONG_IF(w->told > 0 && w->rc != ZKR_EUNKNOWN,
             "write %d has failed with %s, and is made after that", w->number,
             zkr_strerror(w->rc));
    w->made = version;
    if (!w->guarded)
        return;
    WRONG_IF(!tree_has(a->node, version),
             "write %d is made by attempt %d, and %s has gone", w->number,
             a->number, a->node->path);
    WRONG_IF(oracle_is_handed_on(a),
             "write %d is made by attempt %d, and %s is handed on", w->number,
             a->number, a->node->path);
    const struct node *next = held_against(a);
    WRONG_IF(next != NULL,
             "P2: write %d is made by attempt %d when %s has been "
             "granted the lock",
             w->number, a->number, next->path);
}

void writes_committed(int64_t version, const struct txn *txn)
{
    const struct request *r = txn->request;

    if (r == NULL || r->id == 0 || txn->kind == TXN_ERROR)
        return;
    for (struct write *w = writes; w != NULL; w = w->next) {
        if (is_of(w, r)) {
            made(w, version);
            return;
        }
    }
    WRONG_IF(r->type == ZKR__ZK_MULTI &&
                 strcmp(r->path, DOUBLE_PATH "/ready") != 0,
             "a guarded write to %s that nobody has asked for", r->path);
}

void writes_end(void)
{
    for (const struct write *w = writes; w != NULL; w = w->next) {
        WRONG_IF(w->told != 1, "write %d is told %d times", w->number, w->told);
    }
}
