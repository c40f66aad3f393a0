/* SPDX-License-Identifier: Apache-2.0 */
/* The double barrier: members enter together, and leave together.
 *
 * Each has a node. A member that finds enough of them makes "ready", and all
 * others wait for that. To leave, the member whose node is the lowest waits
 * until the others have gone, the highest first, and the others go and wait for
 * the lowest: so all wait for all, and each watches one node. */
#include <zkrecipes/barrier.h>
#include <zkrecipes/client.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/opts.h"
#include "base/path.h"
#include "base/random.h"
#include "node.h"
#include "request/client.h"
#include "request/condition.h"
#include "session/session.h"

#define READY "ready"

static const char noun[] = "double barrier";

struct zkr_double_barrier {
    struct zkr__site at;
    char *ready;
    uint32_t members;
    /* of one thread at a time */
    struct zkr__request *discard; /* of our node; NULL: we are not inside */
    char *node; /* the path of our node, which is being deleted in the
                 * background while we are not inside; NULL: none */
};

/* -- the handle ------------------------------------------------------------ */

static void free_member(zkr_double_barrier *m)
{
    free(m->ready);
    free(m->node);
    zkr__site_free(&m->at);
}

int zkr_double_barrier_new(zkr_session *session, const char *path,
                           uint32_t members,
                           const struct zkr_barrier_opts *opts,
                           zkr_double_barrier **ret_member)
{
    zkr_double_barrier *m;
    void *made;
    int rc = ZKR__OUTPUT(ret_member);

    if (rc == ZKR_OK)
        rc = zkr__site_new(sizeof(*m), noun, session, path, opts, &made);
    if (rc != ZKR_OK)
        return rc;
    m = made;
    m->members = members;
    m->ready = zkr__path_join(path, READY);
    if (members == 0)
        rc = zkr__fail(ZKR_EINVAL, "%s '%.300s': 0 members", noun, path);
    else if (m->ready == NULL)
        rc = zkr__no_memory(noun, path);
    if (rc == ZKR_OK)
        *ret_member = m;
    else
        free_member(m);
    return rc;
}

static const char *our_name(const zkr_double_barrier *m)
{
    return zkr__path_name(m->node);
}

const char *zkr_double_barrier_path(const zkr_double_barrier *m)
{
    return m == NULL ? NULL : m->at.path;
}

/* Our node was not created, or has gone. */
static void forget_node(zkr_double_barrier *m)
{
    if (m->discard != NULL)
        zkr__request_unref(m->discard);
    m->discard = NULL;
    free(m->node);
    m->node = NULL;
}

/* A node of a new name, which is not created yet, in place of one that has
 * gone. On error nothing has changed. */
static int begin(zkr_double_barrier *m)
{
    char name[ZKR__UUID_LEN + 1];

    zkr__random_uuid(name);
    char *node = zkr__path_join(m->at.path, name);
    struct zkr__request *discard =
        node == NULL ? NULL : zkr__discard_new(m->at.session, node);
    if (discard == NULL) {
        free(node);
        return zkr__no_memory(noun, m->at.path);
    }
    forget_node(m);
    m->node = node;
    m->discard = discard;
    return ZKR_OK;
}

/* Our node is deleted in the background. */
static void end(zkr_double_barrier *m)
{
    zkr__discard_run(m->discard);
    m->discard = NULL;
}

/* Sees to it that the node of the time before has gone, because it would be
 * counted beside that of this time. Its deletion in the background may be
 * delayed, and come after the next create. */
static int clear(const zkr_double_barrier *m, int64_t deadline)
{
    return m->node == NULL ? ZKR_OK
                           : zkr__node_remove(&m->at, m->node, deadline);
}

void zkr_double_barrier_free(zkr_double_barrier *m)
{
    if (m == NULL || zkr__site_check(m, noun) != ZKR_OK)
        return;
    if (m->discard != NULL)
        end(m);
    free_member(m);
}

/* -- entering -------------------------------------------------------------- */

/* No error: our node may have gone, with its session; or the list is old. */
#define ENTER_AGAIN 1
/* No error: there was an old "ready", so others may be leaving. */
#define START_OVER 2

/* One attempt. */
struct entry {
    struct zkr_session *session;
    uint64_t epoch; /* of our node */
    int64_t stale;  /* the czxid of an old "ready" */
    /* Under the session lock: */
    bool looked;
    int64_t before; /* the czxid of the "ready" that was there first; 0: none */
};

static const struct zkr__condition old_node_is_gone = {
    noun, "our node of the session before is still there", ZKR_WATCH_EXISTS,
    zkr__condition_absent, NULL
};

/* Sets *ret_stat, to zeros if there is no node of that name. */
static int find_stat(const zkr_double_barrier *m, const char *name,
                     int64_t deadline, struct zkr_stat *ret_stat)
{
    char *path = zkr__path_join(m->at.path, name);
    struct zkr_reply *reply;

    *ret_stat = (struct zkr_stat){ .czxid = 0 };
    if (path == NULL)
        return zkr__no_memory(noun, m->at.path);
    int rc = zkr__session_ask(m->at.session, ZKR__EXISTS(path), NULL, deadline,
                              &reply);
    free(path);
    if (rc != ZKR_OK)
        return rc == ZKR_ZNONODE ? ZKR_OK : rc;
    *ret_stat = reply->stat;
    zkr_reply_free(reply);
    return ZKR_OK;
}

/* Nobody else has this name. If the node is of a session that has ended, it
 * goes; two nodes of one member would be counted as two. */
static int put_node(const zkr_double_barrier *m, int64_t deadline)
{
    const struct zkr__time_limit until = { .deadline = deadline };

    for (;;) {
        struct zkr_stat stat;
        int rc = zkr__node_put(&m->at, m->node, ZKR_CREATE_EPHEMERAL, deadline);

        if (rc != ZKR_ZNODEEXISTS)
            return rc;
        rc = find_stat(m, our_name(m), deadline, &stat);
        if (rc != ZKR_OK ||
            stat.ephemeral_owner == zkr_session_id(m->at.session))
            return rc;
        rc = zkr__condition_await(&old_node_is_gone, m->at.session, m->node,
                                  NULL, &until);
        if (rc != ZKR_OK)
            return rc;
    }
}

static bool has_name(const struct zkr_reply *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(list->names[i], name) == 0)
            return true;
    }
    return false;
}

static int64_t first_ready(const struct entry *entry)
{
    zkr__session_lock(entry->session);
    int64_t czxid = entry->before;
    zkr__session_unlock(entry->session);
    return czxid;
}

/* "ready" has gone. If it was made after our node, it was for us, too. */
static int judge_gone(const zkr_double_barrier *m, const struct entry *entry,
                      int64_t deadline)
{
    struct zkr_stat own;
    int rc = find_stat(m, our_name(m), deadline, &own);

    if (rc != ZKR_OK)
        return rc;
    if (own.czxid == 0)
        return ENTER_AGAIN;
    return first_ready(entry) > own.czxid ? ZKR_OK : START_OVER;
}

/* "ready" is for those who were there when it was made. When all of them have
 * gone it is of a time that is over, and lets nobody in. */
static int judge_open(const zkr_double_barrier *m, const struct zkr_reply *list,
                      struct entry *entry, int64_t deadline)
{
    struct zkr_stat ready;
    struct zkr_stat one;
    bool is_older = false;
    int rc = find_stat(m, READY, deadline, &ready);

    if (rc == ZKR_OK && ready.czxid == 0)
        return judge_gone(m, entry, deadline);
    entry->stale = ready.czxid;
    for (size_t i = 0; rc == ZKR_OK && !is_older && i < list->count; i++) {
        if (strcmp(list->names[i], READY) == 0)
            continue;
        rc = find_stat(m, list->names[i], deadline, &one);
        is_older = one.czxid != 0 && one.czxid < ready.czxid;
    }
    return rc == ZKR_OK && !is_older ? START_OVER : rc;
}

/* Those who leave may wait for our node, because it was there when they began
 * to leave, and we would wait for them to come again. So we go, and come under
 * another name. Our node goes first: then a new "ready" was not made for us, if
 * another member deletes the old one at the same time, and others are enough
 * without us. Those have been told of it when we delete it. */
static int start_over(zkr_double_barrier *m, int64_t stale, int64_t deadline)
{
    struct zkr_stat ready;
    int rc = zkr__node_remove(&m->at, m->node, deadline);

    if (rc == ZKR_OK)
        rc = begin(m);
    if (rc == ZKR_OK)
        rc = find_stat(m, READY, deadline, &ready);
    if (rc == ZKR_OK && ready.czxid == stale && stale != 0)
        rc = zkr__node_remove(&m->at, m->ready, deadline);
    return rc;
}

/* A "ready" that was made after our node was there has counted us, or lets us
 * in beside those that it has. The first result came after our node: what it
 * shows may be old, and what comes after it is not. */
static int judge_ready(const struct zkr__zk_reply *reply, void *user)
{
    struct entry *entry = user;
    int rc = zkr__condition_present(reply, NULL);

    if (entry->session->epoch != entry->epoch)
        return ENTER_AGAIN;
    if (!entry->looked && (rc == ZKR_OK || rc == ZKR_EBUSY)) {
        entry->looked = true;
        entry->before = rc == ZKR_OK ? reply->stat.czxid : 0;
    }
    if (rc != ZKR_OK)
        return rc;
    return reply->stat.czxid == entry->before ? ZKR_EBUSY : ZKR_OK;
}

/* It may have gone since: kazoo deletes it when the first one leaves. */
static int judge_creation(void *user)
{
    const struct entry *entry = user;

    return entry->session->epoch == entry->epoch ? ZKR_OK : ENTER_AGAIN;
}

static const struct zkr__condition is_ready = { noun, "too few have entered",
                                                ZKR_WATCH_EXISTS, judge_ready,
                                                judge_creation };

/* One try to make "ready", which is not made when our own node has gone. */
static int try_open(const zkr_double_barrier *m, int64_t deadline)
{
    zkr_txn *txn;
    int rc = zkr_txn_new(m->at.session, NULL, &txn);

    if (rc == ZKR_OK)
        rc = zkr_txn_check(txn, m->node, ZKR_ANY_VERSION);
    if (rc == ZKR_OK)
        rc = zkr_txn_create(txn, m->ready, "", 0, NULL);
    if (rc == ZKR_OK)
        rc = zkr_txn_commit(txn, zkr__clock_left_ms(deadline));
    zkr_txn_free(txn);
    return rc;
}

/* The sentence of a transaction names no node. */
static int say_not_opened(const zkr_double_barrier *m, int rc)
{
    char why[256];

    (void)snprintf(why, sizeof(why), "%s", zkr_error_detail());
    return zkr__fail(rc, "%s '%.300s': \"ready\" is not made: %s", noun,
                     m->at.path, why);
}

/* A create of "ready" alone could be carried out in the next session, when the
 * nodes that were counted have gone. */
static int open_for_all(const zkr_double_barrier *m, int64_t deadline)
{
    int rc;

    do
        rc = try_open(m, deadline);
    while (rc == ZKR_EUNKNOWN && zkr__clock_now() < deadline);
    if (rc == ZKR_OK || rc == ZKR_ZNODEEXISTS)
        return ZKR_OK;
    return rc == ZKR_ZNONODE ? ENTER_AGAIN : say_not_opened(m, rc);
}

/* The last one to enter sees the nodes of all. */
static int join_those(const zkr_double_barrier *m, const struct zkr_reply *list,
                      struct zkr__request *ready, struct entry *entry,
                      int64_t deadline)
{
    if (!has_name(list, our_name(m)))
        return ENTER_AGAIN;
    if (has_name(list, READY))
        return judge_open(m, list, entry, deadline);
    if (list->count < m->members)
        return first_ready(entry) != 0 ? judge_gone(m, entry, deadline)
                                       : zkr__request_wait(ready);
    return open_for_all(m, deadline);
}

/* "ready" is watched before the list is asked for: it may come and go before we
 * know that we have to wait for it. */
static int join(const zkr_double_barrier *m, struct entry *entry,
                const struct zkr__time_limit *until)
{
    struct zkr__request *ready;
    struct zkr_reply *list;
    int rc = zkr__condition_begin(&is_ready, m->at.session, m->ready, entry,
                                  until, &ready);

    if (rc != ZKR_OK)
        return rc;
    rc = zkr__session_ask(m->at.session, ZKR__CHILDREN(m->at.path), NULL,
                          until->deadline, &list);
    if (rc == ZKR_OK) {
        rc = join_those(m, list, ready, entry, until->deadline);
        zkr_reply_free(list);
    } else if (rc == ZKR_ZNONODE) {
        rc = ENTER_AGAIN;
    }
    if ((rc == ENTER_AGAIN || rc == START_OVER) &&
        zkr__request_has_succeeded(ready))
        rc = ZKR_OK;
    zkr__condition_end(ready);
    return rc;
}

static int enter_once(zkr_double_barrier *m,
                      const struct zkr__time_limit *until)
{
    struct entry entry = { m->at.session, zkr_session_epoch(m->at.session), 0,
                           false, 0 };
    int rc = put_node(m, until->deadline);

    if (rc == ZKR_OK)
        rc = join(m, &entry, until);
    if (rc != START_OVER)
        return rc;
    rc = start_over(m, entry.stale, until->deadline);
    return rc == ZKR_OK ? ENTER_AGAIN : rc;
}

static int enter(zkr_double_barrier *m, const struct zkr__time_limit *until)
{
    int rc;

    do {
        if (zkr__clock_now() >= until->deadline)
            return zkr__reason_explain(
                m->at.session,
                zkr__fail(ZKR_ETIMEDOUT,
                          "%s '%.300s': its nodes changed until the deadline",
                          noun, m->at.path));
        rc = enter_once(m, until);
    } while (rc == ENTER_AGAIN);
    return rc;
}

int zkr_double_barrier_enter(zkr_double_barrier *m, int64_t timeout_ms)
{
    int rc = zkr__site_check(m, noun);

    if (rc == ZKR_OK && m->discard != NULL)
        rc = zkr__fail(ZKR_EINVAL, "%s '%.300s': it has entered already", noun,
                       m->at.path);
    if (rc != ZKR_OK)
        return rc;
    struct zkr__time_limit limit = zkr__time_limit(m->at.session, timeout_ms);
    rc = clear(m, limit.deadline);
    if (rc == ZKR_OK)
        rc = begin(m);
    if (rc != ZKR_OK)
        return rc;
    rc = enter(m, &limit);
    if (rc == ZKR_EDEADLK)
        forget_node(m);
    else if (rc != ZKR_OK)
        end(m);
    return rc;
}

/* -- leaving --------------------------------------------------------------- */

static const struct zkr__condition another_has_left = {
    noun, "another is inside", ZKR_WATCH_EXISTS, zkr__condition_absent, NULL
};

/* No error: all others have left. */
#define ALONE 1

struct leaving {
    const zkr_double_barrier *member;
    struct zkr__time_limit until;
    struct zkr_reply *first; /* the list at the beginning: whom to wait for */
    /* Our node is there; has gone by our delete; has gone before that. */
    enum { INSIDE, LEFT, LOST } state;
};

struct others {
    bool has_us;
    const char *lowest; /* NULL: there is nobody */
    const char *highest;
};

/* Those who have entered since are of the next time. */
static struct others find_others(const struct leaving *l,
                                 const struct zkr_reply *list)
{
    const char *own = our_name(l->member);
    struct others others = { .has_us = has_name(list, own) };

    for (size_t i = 0; i < list->count; i++) {
        const char *name = list->names[i];

        if (strcmp(name, READY) == 0 || strcmp(name, own) == 0 ||
            !has_name(l->first, name))
            continue;
        if (others.lowest == NULL || strcmp(name, others.lowest) < 0)
            others.lowest = name;
        if (others.highest == NULL || strcmp(name, others.highest) > 0)
            others.highest = name;
    }
    return others;
}

static int wait_for(const struct leaving *l, const char *name)
{
    char *path = zkr__path_join(l->member->at.path, name);

    if (path == NULL)
        return zkr__no_memory(noun, l->member->at.path);
    int rc = zkr__condition_await(&another_has_left, l->member->at.session,
                                  path, NULL, &l->until);
    free(path);
    return rc;
}

static int go(struct leaving *l)
{
    int rc = ZKR_OK;

    if (l->state == INSIDE)
        rc = zkr__node_remove(&l->member->at, l->member->node,
                              l->until.deadline);
    if (l->state == INSIDE && rc == ZKR_OK)
        l->state = LEFT;
    return rc;
}

/* Returns ZKR_OK when one that was waited for has gone. */
static int step(struct leaving *l, const struct zkr_reply *list)
{
    struct others others = find_others(l, list);

    if (!others.has_us && l->state == INSIDE)
        l->state = LOST;
    if (others.lowest == NULL)
        return ALONE;
    if (l->state == INSIDE && strcmp(our_name(l->member), others.lowest) < 0)
        return wait_for(l, others.highest);
    int rc = go(l);
    return rc == ZKR_OK ? wait_for(l, others.lowest) : rc;
}

static int look_and_step(struct leaving *l)
{
    const zkr_double_barrier *m = l->member;
    struct zkr_reply *list;
    int rc = zkr__session_ask(m->at.session, ZKR__CHILDREN(m->at.path), NULL,
                              l->until.deadline, &list);

    if (rc == ZKR_ZNONODE) { /* all nodes have gone, and then this one */
        if (l->state == INSIDE)
            l->state = LOST;
        return ALONE;
    }
    if (rc != ZKR_OK)
        return rc;
    if (l->first == NULL)
        l->first = list;
    rc = step(l, list);
    if (list != l->first)
        zkr_reply_free(list);
    return rc;
}

static int leave(struct leaving *l)
{
    const zkr_double_barrier *m = l->member;
    /* a member that has entered through another server is to be seen, too */
    int rc = zkr__session_catch_up(m->at.session, noun, m->at.path,
                                   l->until.deadline);

    while (rc == ZKR_OK)
        rc = look_and_step(l);
    if (rc == ALONE)
        rc = go(l);
    if (rc == ZKR_OK)
        rc = zkr__node_remove(&m->at, m->ready, l->until.deadline);
    if (rc == ZKR_OK && l->state == LOST)
        rc = zkr__fail(ZKR_ELOST,
                       "%s '%.300s': our node had gone while we were inside",
                       noun, m->at.path);
    return rc;
}

int zkr_double_barrier_leave(zkr_double_barrier *m, int64_t timeout_ms)
{
    struct leaving l = { .member = m };
    int rc = zkr__site_check(m, noun);

    if (rc == ZKR_OK && m->discard == NULL)
        rc = zkr__fail(ZKR_ENOTHELD, "%s '%.300s': it is not inside", noun,
                       m->at.path);
    if (rc != ZKR_OK)
        return rc;
    l.until = zkr__time_limit(m->at.session, timeout_ms);
    rc = leave(&l);
    zkr_reply_free(l.first);
    if (rc == ZKR_EDEADLK)
        return rc;
    if (l.state == LEFT)
        forget_node(m);
    else
        end(m);
    return rc;
}
