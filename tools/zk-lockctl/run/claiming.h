/* SPDX-License-Identifier: Apache-2.0 */
/* Acquires the locks of a run, all or none, so that a descriptor tells of the
 * outcome. */
#pragma once

#include <stdbool.h>
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

/* The grants of all locks of a run, as one grant: it is held as long as each of
 * them is. */
struct grants {
    zkr_grant *items[GRANTS_MAX];
    size_t count; /* 0: nothing was granted */
};

/* Until when all of them are provably held; 0: one is not. */
int64_t grants_valid_until(const struct grants *g);
/* That of the one which is worst off. */
enum zkr_grant_state_kind grants_state(const struct grants *g);
/* The first that is lost; NULL: none. */
zkr_grant *grants_lost(const struct grants *g);

/* For each of them, as zkr_grant_listen() and so on. */
void grants_listen(const struct grants *g, zkr_grant_fn fn, void *user);

struct claim;

/* Begin. `event_fd`, an eventfd, is written when it has ended; until
 * claim_free() `wanted` and `ret_grants` are its own. ZKR_OK, or an error of
 * the library. */
int claim_start(zkr_session *session, const struct wanted *wanted,
                int64_t timeout_ms, int event_fd, struct grants *ret_grants,
                struct claim **ret_claim);

/* Tells whether it has ended, with the error. After ZKR_OK the grants are
 * there, in the order of what is wanted. */
bool claim_outcome(const struct claim *claim, int *ret_error);

/* Returns the sentence of the error. */
const char *claim_detail(const struct claim *claim);

/* Ends it with that error, unless it has its outcome. */
void claim_cancel(struct claim *claim, int error);

/* Gives back what was granted, as zkr_grant_release(). */
int claim_release(struct claim *claim);

/* Frees it, after its outcome, with the grants: a leader leads no more then.
 * NULL is allowed. */
void claim_free(struct claim *claim);
