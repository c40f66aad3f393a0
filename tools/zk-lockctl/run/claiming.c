/* SPDX-License-Identifier: Apache-2.0 */
/* Acquires the locks of a run, all or none, so that a descriptor tells of the
 * outcome. One lock is a multi-lock of one; the leader of an election has
 * campaigned. */
#include "run/claiming.h"

#include <stdio.h>
#include <string.h>

#include <unistd.h>

const struct claim_kind_row claim_kinds[] = {
    [CLAIM_MUTEX] = { "mutex", "mutex", ZKR__PART_PATH, ZKR__CURATOR_LOCK,
                      ZKR__KIND_MUTEX, ZKR_EXCLUSIVE },
    [CLAIM_READ] = { "read", "read lock", ZKR__PART_PATH, ZKR__CURATOR_READ,
                     ZKR__KIND_RW, ZKR_SHARED },
    [CLAIM_WRITE] = { "write", "write lock", ZKR__PART_PATH, ZKR__CURATOR_WRITE,
                      ZKR__KIND_RW, ZKR_EXCLUSIVE },
    [CLAIM_SEMAPHORE] = { "semaphore", "semaphore", ZKR__PART_LEASES,
                          ZKR__CURATOR_LEASE, ZKR__KIND_SEMAPHORE,
                          ZKR_EXCLUSIVE },
    [CLAIM_LEADER] = { "leader", "leader election", ZKR__PART_PATH,
                       ZKR__CURATOR_LATCH, ZKR__KIND_LATCH, ZKR_EXCLUSIVE },
};

/* -- the outcome ---------------------------------------------------------- */

/* Tells whether it is a node of that lock. */
static bool is_of(const struct wanted *wanted, size_t i, const char *node)
{
    const char *part = zkr__part_dirs[claim_kinds[wanted->kind].part];
    const char *path = wanted->paths[i];
    char dir[ZKR_PATH_MAX + 16];

    (void)snprintf(dir, sizeof(dir), "%s%s%s/", path[1] == '\0' ? "" : path,
                   part[0] == '\0' ? "" : "/", part);
    return strncmp(node, dir, strlen(dir)) == 0 &&
           strchr(node + strlen(dir), '/') == NULL;
}

/* A multi-lock has an order of its own. */
static void take_grants(struct claim *c, zkr_grant *const *grants)
{
    for (size_t i = 0; i < c->wanted->count; i++) {
        for (size_t j = 0; j < c->wanted->count; j++) {
            if (is_of(c->wanted, i, zkr_grant_node(grants[j])))
                c->grants[i] = grants[j];
        }
    }
    c->count = c->wanted->count;
}

/* Set the outcome: what was granted is there, and the detail of the library is
 * that of the error. Once. */
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
    const struct wanted *wanted = c->wanted;

    opts.label = wanted->label;
    if (wanted->kind == CLAIM_SEMAPHORE)
        return zkr_semaphore_new(session, wanted->paths[i], wanted->slots,
                                 &opts, ret_lock);
    if (wanted->kind == CLAIM_MUTEX)
        return zkr_mutex_new(session, wanted->paths[i], &opts, ret_lock);
    return zkr_rwlock_new(session, wanted->paths[i], &opts, ret_lock);
}

static int start_all(struct claim *c, zkr_session *session, int64_t timeout_ms)
{
    struct zkr_lockable_opts opts = ZKR_LOCKABLE_OPTS_INIT;
    struct zkr_acquire_opts how = ZKR_ACQUIRE_OPTS_INIT;
    int rc = zkr_multi_lock_new(session, &opts, &c->all);

    how.mode = claim_kinds[c->wanted->kind].mode;
    for (size_t i = 0; rc == ZKR_OK && i < c->wanted->count; i++) {
        rc = new_lock(c, session, i, &c->locks[i]);
        if (rc == ZKR_OK)
            rc = zkr_multi_lock_add(c->all, c->locks[i], &how);
    }
    if (rc != ZKR_OK)
        return rc;
    return zkr_multi_lock_acquire_async(c->all, timeout_ms, on_outcome, c,
                                        &c->request);
}

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
               zkr_leader_grant(leader, &c->grants[0]) == ZKR_OK) {
        c->count = 1;
        decide(c, ZKR_OK);
    }
}

static void free_grants(struct claim *c)
{
    zkr_grants_free(c->grants, c->count);
    c->count = 0;
}

/* When it has returned, there is no event any more. */
static void cancel_campaign(struct claim *c, int error)
{
    zkr_leader_free(c->leader);
    c->leader = NULL;
    free_grants(c);
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

    opts.label = c->wanted->label;
    int rc = zkr_leader_new(session, c->wanted->paths[0], &opts, on_event, c,
                            leader);
    if (rc == ZKR_OK)
        rc = zkr_leader_campaign(*leader);
    return rc == ZKR_OK && timeout_ms == 0 ? try_once(c) : rc;
}

/* -- the interface -------------------------------------------------------- */

int claim_start(struct claim *c, zkr_session *session, int64_t timeout_ms)
{
    return c->wanted->kind == CLAIM_LEADER
               ? start_campaign(c, session, timeout_ms)
               : start_all(c, session, timeout_ms);
}

/* The library says the error of the multi-lock. */
void claim_cancel(struct claim *c, int error)
{
    if (c->wanted->kind == CLAIM_LEADER)
        cancel_campaign(c, error);
    else
        (void)zkr_request_cancel(c->request);
}

int claim_release(struct claim *c)
{
    return c->wanted->kind == CLAIM_LEADER
               ? zkr_leader_leave(c->leader)
               : zkr_grants_release(c->grants, c->count);
}

void claim_done(struct claim *c)
{
    free_grants(c);
    if (c->leader != NULL) /* or the sentence of an error were that of this */
        zkr_leader_free(c->leader);
    zkr_request_free(c->request);
    zkr_multi_lock_free(c->all);
    for (size_t i = 0; i < GRANTS_MAX; i++)
        zkr_lockable_free(c->locks[i]);
}

/* -- what was granted ----------------------------------------------------- */

zkr_grant *claim_lost(const struct claim *c)
{
    for (size_t i = 0; i < c->count; i++) {
        if (zkr_grant_state(c->grants[i]) == ZKR_GRANT_LOST)
            return c->grants[i];
    }
    return NULL;
}

void claim_listen(const struct claim *c, zkr_grant_fn fn, void *user)
{
    for (size_t i = 0; i < c->count; i++)
        (void)zkr_grant_listen(c->grants[i], fn, user);
}
