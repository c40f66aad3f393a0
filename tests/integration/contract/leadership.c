/* SPDX-License-Identifier: Apache-2.0 */
/* An election as a lock: each acquire is a participant of its own. */
#include "adapter.h"

struct election {
    zkr_session *session;
    uint32_t flags;
    char path[64];
};

struct participant {
    struct participant *next;
    const struct election *election;
    zkr_leader *leader;
    zkr_grant *grant; /* NULL: it waits */
};

/* All participants that campaign or lead. The thread that takes one out of the
 * list frees its leader. */
static struct participant *all;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void enlist(struct participant *p)
{
    (void)pthread_mutex_lock(&mutex);
    p->next = all;
    all = p;
    (void)pthread_mutex_unlock(&mutex);
}

/* Takes out that participant, or the first of that election, or the one with
 * that grant; NULL: there is none. */
static struct participant *take(const void *what)
{
    struct participant **at = &all;

    (void)pthread_mutex_lock(&mutex);
    while (*at != NULL && *at != what && (*at)->election != what &&
           (*at)->grant != what)
        at = &(*at)->next;
    struct participant *p = *at;
    if (p != NULL)
        *at = p->next;
    (void)pthread_mutex_unlock(&mutex);
    return p;
}

int leadership_make(zkr_session *s, const char *path,
                    const struct zkr_lockable_opts *opts, void **ret_lock)
{
    struct election *e = calloc(1, sizeof(*e));

    assert_non_null(e);
    e->session = s;
    e->flags = opts->flags;
    (void)snprintf(e->path, sizeof(e->path), "%s", path);
    *ret_lock = e;
    return ZKR_OK;
}

/* A participant that waits belongs to the thread that waits for it. */
void leadership_free(void *lock)
{
    struct participant *p;

    while (lock != NULL && (p = take(lock)) != NULL) {
        bool waits = p->grant == NULL;

        zkr_leader_free(p->leader);
        if (waits)
            continue;
        zkr_grant_free(p->grant);
        free(p);
    }
    free(lock);
}

static int lead(struct participant *p, int64_t timeout_ms)
{
    zkr_grant *grant = NULL;
    int rc = zkr_leader_campaign(p->leader);

    if (rc == ZKR_OK)
        rc = zkr_leader_wait(p->leader, timeout_ms);
    if (rc == ZKR_OK)
        rc = zkr_leader_grant(p->leader, &grant);
    (void)pthread_mutex_lock(&mutex);
    p->grant = grant; /* which others look for */
    (void)pthread_mutex_unlock(&mutex);
    return rc;
}

int leadership_acquire(void *lock, int64_t timeout_ms, zkr_grant **ret_grant)
{
    const struct election *e = lock;

    if (e == NULL)
        return ZKR_EINVAL;
    struct participant *p = calloc(1, sizeof(*p));
    assert_non_null(p);
    p->election = e;
    int rc =
        zkr_leader_new(e->session, e->path, OPTS(leader, .flags = e->flags),
                       NULL, NULL, &p->leader);
    if (rc != ZKR_OK) {
        free(p);
        return rc;
    }
    enlist(p);
    rc = lead(p, timeout_ms);
    if (rc == ZKR_OK) {
        *ret_grant = p->grant;
        return ZKR_OK;
    }
    if (take(p) != NULL)
        zkr_leader_free(p->leader);
    free(p);
    return rc;
}

int leadership_cancel(void *lock)
{
    if (lock == NULL)
        return ZKR_EINVAL;
    (void)pthread_mutex_lock(&mutex);
    for (struct participant *p = all; p != NULL; p = p->next) {
        if (p->election == lock && p->grant == NULL)
            (void)zkr_leader_leave_async(p->leader);
    }
    (void)pthread_mutex_unlock(&mutex);
    return ZKR_OK;
}

/* After a loss it is a campaign that is left, so the grant tells of the loss.
 */
int leadership_release(void *lock, zkr_grant *grant)
{
    struct participant *p = grant == NULL ? NULL : take(grant);

    if (p == NULL)
        return zkr_grant_release(grant);
    bool is_lost = zkr_grant_state(grant) == ZKR_GRANT_LOST;
    int rc = zkr_leader_leave(p->leader);
    zkr_leader_free(p->leader);
    free(p);
    return is_lost ? ZKR_ELOST : rc;
}

/* That of a participant is freed with it. */
void leadership_forget(void *lock, zkr_grant *grant)
{
    struct participant *p = grant == NULL ? NULL : take(grant);

    if (p == NULL)
        zkr_grant_free(grant);
    else
        enlist(p);
}
