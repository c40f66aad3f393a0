/* SPDX-License-Identifier: Apache-2.0 */
/* Acquires the locks of a run, all or none, so that a descriptor tells of the
 * outcome. One lock is a multi-lock of one; the leader of an election has
 * campaigned. */
#include "run/claiming.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <unistd.h>

#include "protocol/parts.h"

struct claim;

/* By a multi-lock, or by a campaign. */
struct claim_way {
    /* ZKR_OK, or an error of the library. */
    int (*start)(struct claim *c, zkr_session *session, int64_t timeout_ms);
    void (*cancel)(struct claim *c, int error);
    int (*release)(struct claim *c, const struct grants *grants);
    void (*free)(struct claim *c); /* what start() has made of it, too */
};

struct claim {
    const struct claim_way *way;
    struct wanted wanted;
    zkr_lockable *locks[GRANTS_MAX];
    zkr_leader *leader; /* instead of locks */
    zkr_multi_lock *all;
    zkr_request *request;
    int event_fd;

    /* Written by a callback, read when `done`. */
    int error;
    struct grants grants;
    char detail[512];
    atomic_bool done;
};

/* -- the kinds of locks --------------------------------------------------- */

static const struct {
    const char *name;
    enum zkr__part part; /* where the nodes of holders are */
    int (*new_lock)(zkr_session *session, const char *path,
                    const struct zkr_lockable_opts *opts,
                    zkr_lockable **ret_lock); /* NULL: it has other arguments */
    enum zkr_mode mode;
} kinds[] = {
    [CLAIM_MUTEX] = { "mutex", ZKR__PART_PATH, zkr_mutex_new, ZKR_EXCLUSIVE },
    [CLAIM_READ] = { "read", ZKR__PART_PATH, zkr_rwlock_new, ZKR_SHARED },
    [CLAIM_WRITE] = { "write", ZKR__PART_PATH, zkr_rwlock_new, ZKR_EXCLUSIVE },
    [CLAIM_SEMAPHORE] = { "semaphore", ZKR__PART_LEASES, NULL, ZKR_EXCLUSIVE },
    [CLAIM_LEADER] = { "leader", ZKR__PART_PATH, NULL, ZKR_EXCLUSIVE },
};

const char *claim_kind_name(enum claim_kind kind)
{
    return kinds[kind].name;
}

/* -- the outcome ---------------------------------------------------------- */

static bool is_of(const struct wanted *wanted, size_t i, const char *node)
{
    enum zkr__part part = kinds[wanted->kind].part;
    size_t len = strlen(wanted->paths[i]);
    size_t dir_len = strlen(zkr__part_dirs[part]);

    if (len == 1) /* the root */
        len = 0;
    if (strncmp(node, wanted->paths[i], len) != 0 || node[len] != '/' ||
        zkr__part_of(node + len + 1) != part)
        return false;
    len += 1 + dir_len + (dir_len > 0);
    return strchr(node + len, '/') == NULL;
}

/* A multi-lock has an order of its own. */
static void take_grants(struct claim *c, zkr_grant *const *grants)
{
    for (size_t i = 0; i < c->wanted.count; i++) {
        for (size_t j = 0; j < c->wanted.count; j++) {
            if (is_of(&c->wanted, i, zkr_grant_node(grants[j])))
                c->grants.items[i] = grants[j];
        }
    }
    c->grants.count = c->wanted.count;
}

/* Set the outcome: `grants` has what was granted, and the detail of the library
 * is that of the error. Once. */
static void decide(struct claim *c, int error)
{
    int event_fd = c->event_fd;
    uint64_t one = 1;

    c->error = error;
    (void)snprintf(c->detail, sizeof(c->detail), "%s",
                   error == ZKR_OK ? "" : zkr_error_detail());
    atomic_store(&c->done, true);
    (void)!write(event_fd, &one, sizeof(one));
}

static void on_outcome(int error, zkr_grant *const *grants, size_t count,
                       void *user)
{
    struct claim *c = user;

    (void)count;
    if (error == ZKR_OK)
        take_grants(c, grants);
    decide(c, error);
}

/* -- all locks as one ----------------------------------------------------- */

static int new_lock(const struct claim *c, zkr_session *session, size_t i,
                    zkr_lockable **ret_lock)
{
    struct zkr_lockable_opts opts = ZKR_LOCKABLE_OPTS_INIT;
    const char *path = c->wanted.paths[i];

    opts.label = c->wanted.label;
    return c->wanted.kind == CLAIM_SEMAPHORE
               ? zkr_semaphore_new(session, path, c->wanted.slots, &opts,
                                   ret_lock)
               : kinds[c->wanted.kind].new_lock(session, path, &opts, ret_lock);
}

static int start_all(struct claim *c, zkr_session *session, int64_t timeout_ms)
{
    struct zkr_lockable_opts opts = ZKR_LOCKABLE_OPTS_INIT;
    struct zkr_acquire_opts how = ZKR_ACQUIRE_OPTS_INIT;
    int rc = zkr_multi_lock_new(session, &opts, &c->all);

    how.mode = kinds[c->wanted.kind].mode;
    for (size_t i = 0; rc == ZKR_OK && i < c->wanted.count; i++) {
        rc = new_lock(c, session, i, &c->locks[i]);
        if (rc == ZKR_OK)
            rc = zkr_multi_lock_add(c->all, c->locks[i], &how);
    }
    if (rc != ZKR_OK)
        return rc;
    return zkr_multi_lock_acquire_async(c->all, timeout_ms, on_outcome, c,
                                        &c->request);
}

/* The library says the error. */
static void cancel_all(struct claim *c, int error)
{
    (void)error;
    (void)zkr_request_cancel(c->request);
}

static int release_all(struct claim *c, const struct grants *grants)
{
    (void)c;
    return zkr_grants_release(grants->items, grants->count);
}

static void free_all(struct claim *c)
{
    zkr_request_free(c->request);
    zkr_multi_lock_free(c->all);
    for (size_t i = 0; i < c->wanted.count; i++)
        zkr_lockable_free(c->locks[i]);
}

static const struct claim_way by_multi_lock = { start_all, cancel_all,
                                                release_all, free_all };

/* -- a campaign ------------------------------------------------------------ */

/* It is granted when this program leads, and the grant is that of the term.
 * Others end a campaign that has no time left. */

/* A term that was over before its grant was had is none: another may follow. */
static void on_event(zkr_leader *leader, const struct zkr_leader_event *event,
                     void *user)
{
    struct claim *c = user;

    if (atomic_load(&c->done))
        return;
    if (event->kind == ZKR_LEADER_FAILED) {
        decide(c, event->error);
    } else if (event->kind == ZKR_LEADER_GAINED &&
               zkr_leader_grant(leader, &c->grants.items[0]) == ZKR_OK) {
        c->grants.count = 1;
        decide(c, ZKR_OK);
    }
}

static void give_up(struct claim *c)
{
    zkr_leader_free(c->leader);
    c->leader = NULL;
}

/* When it has returned, there is no event any more. */
static void cancel_campaign(struct claim *c, int error)
{
    give_up(c);
    grants_free(&c->grants);
    if (atomic_load(&c->done))
        c->error = error;
    else
        decide(c, error);
}

/* Without time it is asked at once whether others come first. */
static int try_once(struct claim *c)
{
    int rc = zkr_leader_wait(c->leader, 0);

    if (rc == ZKR_EBUSY || rc == ZKR_ZOPERATIONTIMEOUT) {
        cancel_campaign(c, rc == ZKR_EBUSY ? rc : ZKR_ETIMEDOUT);
        return ZKR_OK;
    }
    return rc;
}

static int start_campaign(struct claim *c, zkr_session *session,
                          int64_t timeout_ms)
{
    struct zkr_leader_opts opts = ZKR_LEADER_OPTS_INIT;
    zkr_leader **leader = &c->leader;
    int rc;

    opts.label = c->wanted.label;
    rc =
        zkr_leader_new(session, c->wanted.paths[0], &opts, on_event, c, leader);
    if (rc == ZKR_OK)
        rc = zkr_leader_campaign(*leader);
    return rc == ZKR_OK && timeout_ms == 0 ? try_once(c) : rc;
}

static int release_term(struct claim *c, const struct grants *grants)
{
    (void)grants;
    return zkr_leader_leave(c->leader);
}

static const struct claim_way by_campaign = { start_campaign, cancel_campaign,
                                              release_term, give_up };

/* -- the interface -------------------------------------------------------- */

int claim_start(zkr_session *session, const struct wanted *wanted,
                int64_t timeout_ms, int event_fd, struct claim **ret_claim)
{
    struct claim *c = calloc(1, sizeof(*c));
    int rc;

    if (c == NULL)
        return ZKR_ENOMEM;
    c->way = wanted->kind == CLAIM_LEADER ? &by_campaign : &by_multi_lock;
    c->wanted = *wanted;
    c->event_fd = event_fd;
    rc = c->way->start(c, session, timeout_ms);
    if (rc == ZKR_OK)
        *ret_claim = c;
    else
        claim_free(c);
    return rc;
}

bool claim_outcome(struct claim *c, int *ret_error, struct grants *ret_grants)
{
    if (!atomic_load(&c->done))
        return false;
    *ret_error = c->error;
    *ret_grants = c->grants;
    return true;
}

const char *claim_detail(const struct claim *c)
{
    return c->detail;
}

void claim_cancel(struct claim *c, int error)
{
    c->way->cancel(c, error);
}

int claim_release(struct claim *c, const struct grants *grants)
{
    return c->way->release(c, grants);
}

void claim_free(struct claim *c)
{
    if (c == NULL)
        return;
    c->way->free(c);
    free(c);
}
