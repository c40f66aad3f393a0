/* SPDX-License-Identifier: Apache-2.0 */
/* Acquires the lock so that a descriptor tells of the outcome. */
#ifndef RUN_CLAIM_H
#define RUN_CLAIM_H

#include <stdbool.h>
#include <stdint.h>

#include <zkrecipes/zkrecipes.h>

enum claim_kind { CLAIM_MUTEX, CLAIM_READ, CLAIM_WRITE };

/* "mutex", "read", "write" */
const char *claim_kind_name(enum claim_kind kind);

struct claim;

/* Begin. `event_fd`, an eventfd, is written when it has ended. ZKR_OK, or an
 * error of the library. */
int claim_start(zkr_session *session, enum claim_kind kind, const char *path,
                const char *label, int64_t timeout_ms, int event_fd,
                struct claim **ret_claim);

/* Tells whether it has ended, with the error and the grant, which becomes the
 * caller's. */
bool claim_outcome(struct claim *claim, int *ret_error, zkr_grant **ret_grant);

/* Returns the sentence of the error. */
const char *claim_detail(const struct claim *claim);

void claim_cancel(struct claim *claim);

/* Frees it, after its outcome. NULL is allowed. */
void claim_free(struct claim *claim);

#endif
