/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Retry policies: when a request that failed with its connection is sent again.
 *
 * A policy is data: it says how often and after which delays a request to
 * ZooKeeper is sent again when its connection failed. It never extends a
 * deadline: every call has one absolute deadline, and that ends all its
 * attempts. While there is no connection at all, requests wait for one without
 * using up attempts. When the policy gives up, the caller gets ZooKeeper's code
 * of the last attempt; a lock node that may exist by then is still searched for
 * and deleted in the background, whatever the policy says.
 *
 * Source    Curator's RetryPolicy classes; the jitter is drawn from
 *           getrandom(2), between half of the delay and the whole.
 */
#ifndef ZKRECIPES_RETRY_H
#define ZKRECIPES_RETRY_H

#include <stdint.h>

#include <zkrecipes/version.h>

#ifdef __cplusplus
extern "C" {
#endif

/** How the delays grow. */
enum zkr_retry_kind {
    ZKR_RETRY_DEFAULT = 0,     /**< Exponential, 20 ms to 2 s, no end. */
    ZKR_RETRY_NONE = 1,        /**< One attempt. */
    ZKR_RETRY_FIXED = 2,       /**< base_ms between attempts, no jitter. */
    ZKR_RETRY_EXPONENTIAL = 3, /**< base_ms, doubled up to cap_ms, jitter. */
};

/** All zero is the default policy. */
struct zkr_retry {
    enum zkr_retry_kind kind; /**< The meaning of the others. */
    uint32_t base_ms;         /**< First delay; at least 1 for FIXED, EXPON. */
    uint32_t cap_ms;          /**< Longest delay; 0 is 2000. */
    uint32_t max_retries;     /**< Attempts after the first; 0 is no limit. */
    uint64_t max_elapsed_ms;  /**< Since the first attempt; 0 is no limit. */
};

/* clang-format off */
/* Each macro is a value, for an initialization and for an assignment. (In
 * pedantic C an object of static storage is initialized with the members
 * instead, such as { .kind = ZKR_RETRY_NONE }.) */
#ifdef __cplusplus
#define ZKR__RETRY          zkr_retry
#else
#define ZKR__RETRY          (struct zkr_retry)
#endif
/** Curator: RetryNTimes (and RetryOneTime with n = 1). */
#define ZKR_RETRY_N_TIMES_INIT(n, ms)                                          \
    ZKR__RETRY { ZKR_RETRY_FIXED, (ms), 0, (n), 0 }
/** Curator: RetryForever. */
#define ZKR_RETRY_FOREVER_INIT(ms)                                             \
    ZKR__RETRY { ZKR_RETRY_FIXED, (ms), 0, 0, 0 }
/** Curator: RetryUntilElapsed. */
#define ZKR_RETRY_UNTIL_INIT(total_ms, ms)                                     \
    ZKR__RETRY { ZKR_RETRY_FIXED, (ms), 0, 0, (total_ms) }
/** Curator: BoundedExponentialBackoffRetry. */
#define ZKR_RETRY_EXPONENTIAL_INIT(base, cap, n)                               \
    ZKR__RETRY { ZKR_RETRY_EXPONENTIAL, (base), (cap), (n), 0 }
/** No retry at all. */
#define ZKR_RETRY_NONE_INIT                                                    \
    ZKR__RETRY { ZKR_RETRY_NONE, 0, 0, 0, 0 }
/* clang-format on */

#ifdef __cplusplus
}
#endif

#endif
