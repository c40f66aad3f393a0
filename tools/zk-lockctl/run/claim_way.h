/* SPDX-License-Identifier: Apache-2.0 */
/* The ways in which a claim gets its grants: by a multi-lock, or by a
 * campaign. */
#ifndef RUN_CLAIM_WAY_H
#define RUN_CLAIM_WAY_H

#include <stdatomic.h>

#include "run/claiming.h"

struct claim;

struct claim_way {
    /* ZKR_OK, or an error of the library. */
    int (*start)(struct claim *c, zkr_session *session, int64_t timeout_ms);
    void (*cancel)(struct claim *c, int error);
    int (*release)(struct claim *c, const struct grants *grants);
    void (*free)(struct claim *c); /* what start() has made of it, too */
};

extern const struct claim_way claim_by_campaign; /* campaign.c */

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

/* Set the outcome: `grants` has what was granted, and the detail of the library
 * is that of the error. Once. */
void claim_decide(struct claim *c, int error);

#endif
