/* SPDX-License-Identifier: Apache-2.0 */
/* Acquires the lock so that a descriptor tells of the outcome. */
#include "run/claim.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include <unistd.h>

struct claim {
    zkr_mutex *mutex;
    zkr_rwlock *rwlock;
    zkr_request *request;
    int event_fd;

    /* Written by the callback, read when `done`. */
    int error;
    zkr_grant *grant;
    char detail[512];
    atomic_bool done;
};

const char *claim_kind_name(enum claim_kind kind)
{
    return kind == CLAIM_READ    ? "read"
           : kind == CLAIM_WRITE ? "write"
                                 : "mutex";
}

static void on_outcome(int error, zkr_grant *grant, void *user)
{
    struct claim *c = user;
    int event_fd = c->event_fd;
    uint64_t one = 1;

    c->error = error;
    c->grant = grant;
    (void)snprintf(c->detail, sizeof(c->detail), "%s",
                   error == ZKR_OK ? "" : zkr_error_detail());
    atomic_store(&c->done, true);
    (void)!write(event_fd, &one, sizeof(one));
}

static int start_mutex(struct claim *c, zkr_session *session, const char *path,
                       const char *label, int64_t timeout_ms)
{
    struct zkr_mutex_opts opts = ZKR_MUTEX_OPTS_INIT;
    int rc;

    opts.label = label;
    rc = zkr_mutex_new(session, path, &opts, &c->mutex);
    if (rc != ZKR_OK)
        return rc;
    return zkr_mutex_acquire_async(c->mutex, timeout_ms, on_outcome, c,
                                   &c->request);
}

static int start_rwlock(struct claim *c, zkr_session *session, bool write,
                        const char *path, const char *label, int64_t timeout_ms)
{
    struct zkr_rwlock_opts opts = ZKR_RWLOCK_OPTS_INIT;
    int rc;

    opts.label = label;
    rc = zkr_rwlock_new(session, path, &opts, &c->rwlock);
    if (rc != ZKR_OK)
        return rc;
    return (write ? zkr_rwlock_acquire_write_async
                  : zkr_rwlock_acquire_read_async)(c->rwlock, timeout_ms,
                                                   on_outcome, c, &c->request);
}

int claim_start(zkr_session *session, enum claim_kind kind, const char *path,
                const char *label, int64_t timeout_ms, int event_fd,
                struct claim **ret_claim)
{
    struct claim *c = calloc(1, sizeof(*c));
    int rc;

    if (c == NULL)
        return ZKR_ENOMEM;
    c->event_fd = event_fd;
    rc = kind == CLAIM_MUTEX ? start_mutex(c, session, path, label, timeout_ms)
                             : start_rwlock(c, session, kind == CLAIM_WRITE,
                                            path, label, timeout_ms);
    if (rc == ZKR_OK)
        *ret_claim = c;
    else
        claim_free(c);
    return rc;
}

bool claim_outcome(struct claim *c, int *ret_error, zkr_grant **ret_grant)
{
    if (!atomic_load(&c->done))
        return false;
    *ret_error = c->error;
    *ret_grant = c->grant;
    return true;
}

const char *claim_detail(const struct claim *c)
{
    return c->detail;
}

void claim_cancel(struct claim *c)
{
    (void)zkr_request_cancel(c->request);
}

void claim_free(struct claim *c)
{
    if (c == NULL)
        return;
    zkr_request_free(c->request);
    zkr_mutex_free(c->mutex);
    zkr_rwlock_free(c->rwlock);
    free(c);
}
