/* SPDX-License-Identifier: Apache-2.0 */
/* Acquires the locks of a run, all or none, so that a descriptor tells of the
 * outcome. */
#pragma once

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <zkrecipes/zkrecipes.h>

#include "protocol/dialect.h"
#include "protocol/markers.h"
#include "protocol/parts.h"

enum claim_kind {
    CLAIM_MUTEX,
    CLAIM_READ,
    CLAIM_WRITE,
    CLAIM_SEMAPHORE,
    CLAIM_LEADER, /* of one path; its limit of time is that of the caller */
};

extern const struct claim_kind_row {
    const char *name;         /* "read" */
    const char *noun;         /* "read lock" */
    enum zkr__part part;      /* where the node that holds is, */
    enum zkr__marker marker;  /* and what it is called */
    enum zkr__lock_kind lock; /* what such nodes make of a path */
    enum zkr_mode mode;
} claim_kinds[];

enum { GRANTS_MAX = 16 }; /* locks of one run */

/* What is wanted: all of these locks, in the way of that kind. */
struct wanted {
    enum claim_kind kind;
    uint32_t slots;    /* the limit of each semaphore */
    const char *label; /* shown to others; NULL: nothing */
    size_t count;
    char paths[GRANTS_MAX][ZKR_PATH_MAX + 1];
};

/* A claim lives from the request for all of its locks to their release. The
 * grants count as one, which is held as long as each of them is. */
struct claim {
    const struct wanted *wanted;
    zkr_grant *grants[GRANTS_MAX]; /* in the order of what is wanted */
    size_t count;                  /* 0: nothing was granted */
    int event_fd;                  /* an eventfd, written with the outcome: */
    atomic_bool done;
    int error;        /* of the library, */
    char detail[512]; /* and its sentence */

    zkr_lockable *locks[GRANTS_MAX];
    zkr_multi_lock *all; /* these */
    zkr_request *request;
    zkr_leader *leader; /* instead of locks */
};

/* Begins a claim whose `wanted` and `event_fd` are set, and all else zero.
 * ZKR_OK, or an error of the library. */
int claim_start(struct claim *claim, zkr_session *session, int64_t timeout_ms);

/* Ends it with that error, unless it has its outcome. */
void claim_cancel(struct claim *claim, int error);

/* Gives back what was granted, as zkr_grant_release(). */
int claim_release(struct claim *claim);

/* Frees what it has, after its outcome: a leader leads no more then. Also of
 * one that was not started. */
void claim_done(struct claim *claim);

/* The first that is lost; NULL: none. */
zkr_grant *claim_lost(const struct claim *claim);
/* Listens to each grant, as zkr_grant_listen() does. */
void claim_listen(const struct claim *claim, zkr_grant_fn fn, void *user);
