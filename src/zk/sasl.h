/* SPDX-License-Identifier: Apache-2.0 */
/* SASL by Cyrus, where the client is inside: the answers that a mechanism asks
 * for, as the options of a session say. */
#pragma once

struct zkr_session_opts;
struct zkr__credentials;

/* The answers for one handle. */
struct zkr__sasl;

/* Prepares Cyrus SASL in this process, and tells whether it has the mechanism.
 * Errors: ZKR_EINVAL, ZKR_ENOMEM, ZKR_ESYSTEM. */
int zkr__sasl_check(const struct zkr_session_opts *opts);

/* Copies what it needs, because a handle may outlive its session. Returns NULL
 * without memory. */
struct zkr__sasl *zkr__sasl_new(const struct zkr_session_opts *opts,
                                struct zkr__credentials *credentials);

/* Gives it others, from the next login on, with a name and a password if, and
 * only if, it has had them. On any thread. */
void zkr__sasl_renew(struct zkr__sasl *sasl,
                     struct zkr__credentials *credentials);

/* To be called when the handle is closed. NULL is allowed. */
void zkr__sasl_free(struct zkr__sasl *sasl);

/* They are a sasl_callback_t[], which only the client needs to know. */
const void *zkr__sasl_callbacks(const struct zkr__sasl *sasl);
