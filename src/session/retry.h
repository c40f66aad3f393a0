/* SPDX-License-Identifier: Apache-2.0 */
/* Retries: computes from the policy when a request that failed is sent
 * again. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <zkrecipes/session.h>

/* Checks a policy and fills in its defaults. */
int zkr__retry_load(struct zkr_retry *policy);

/* Tells whether there may be another attempt after `retries` of them and
 * `elapsed_ms`, and after which delay. `random` is the jitter. Pure. */
bool zkr__retry_next(const struct zkr_retry *policy, uint32_t retries,
                     uint64_t elapsed_ms, uint64_t random,
                     uint32_t *ret_delay_ms);

/* Returns the delay of a request that must be carried out: the same delays, but
 * no last attempt. Pure. */
uint32_t zkr__retry_delay(const struct zkr_retry *policy, uint32_t retries,
                          uint64_t random);
