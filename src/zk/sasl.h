/* SPDX-License-Identifier: Apache-2.0 */
/* SASL by Cyrus, where the client has it: the answers that a mechanism asks
 * for, as the options of a session say. */
#pragma once

#include <stdbool.h>

struct zkr_session_opts;

/* The answers for one handle. */
struct zkr__sasl;

#ifdef HAVE_CYRUS_SASL_H
#define ZKR__HAS_SASL true
#else /* then nothing of this file is called */
#define ZKR__HAS_SASL false
#endif

/* Prepares Cyrus SASL in this process, and tells whether it has the mechanism.
 * Errors: ZKR_EINVAL, ZKR_ENOMEM, ZKR_ESYSTEM. */
int zkr__sasl_check(const struct zkr_session_opts *opts);

/* Copies what it needs, because a handle may outlive its session. Returns NULL
 * without memory. */
struct zkr__sasl *zkr__sasl_new(const struct zkr_session_opts *opts);

/* To be called when the handle is closed. NULL is allowed. */
void zkr__sasl_free(struct zkr__sasl *sasl);

/* They are a sasl_callback_t[], which only the client needs to know. */
const void *zkr__sasl_callbacks(const struct zkr__sasl *sasl);
