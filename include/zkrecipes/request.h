/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A request: the handle of an asynchronous acquire, of any recipe, that is
 * under way.
 *
 * The callback receives the outcome; the request only serves to cancel the
 * acquire, and need not be kept.
 */
#ifndef ZKRECIPES_REQUEST_H
#define ZKRECIPES_REQUEST_H

#include <stddef.h>

#include <zkrecipes/grant.h>

#ifdef __cplusplus
extern "C" {
#endif

/** An acquire that is under way. */
typedef struct zkr_request zkr_request;

/**
 * Called once when a claim has ended: either @p error is ZKR_OK and @p grant is
 * yours, or @p grant is NULL and @p error is one of those that the blocking
 * call returns.
 */
typedef void (*zkr_acquire_fn)(int error, zkr_grant *grant, void *user);

/**
 * Called once when claims that are granted together have ended: either @p error
 * is ZKR_OK and the @p count grants are yours, each of them; or @p error is one
 * of those that the blocking call returns, and @p grants is NULL. The array is
 * not yours: it ends with the callback.
 */
typedef void (*zkr_acquire_all_fn)(int error, zkr_grant *const *grants,
                                   size_t count, void *user);

/**
 * Ask that a claim be given up. If the claim has not been decided yet, its
 * callback receives ZKR_ECANCELED; if it has, nothing changes and a grant
 * remains yours.
 *
 * Threads   Any, callbacks too.
 * Errors    ZKR_EINVAL, ZKR_EFORKED.
 */
ZKR_API enum zkr_error zkr_request_cancel(zkr_request *request);

/** Free the handle, not the claim. NULL is allowed. */
ZKR_API void zkr_request_free(zkr_request *request);

#ifdef __cplusplus
}
#endif

#endif
