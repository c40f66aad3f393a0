/* SPDX-License-Identifier: Apache-2.0 */
/* The credentials of a session. An object never changes: a session that gets
 * others has another object, and a handle keeps those that it uses. */
#pragma once

#include "base/ref.h"

struct zkr_session_opts;

struct zkr__credentials {
    struct zkr__ref ref;
    char *auth_scheme; /* each may be NULL */
    char *auth;
    char *user; /* of SASL */
    char *password;
};

/* Copies those of the options. Returns NULL without memory. */
struct zkr__credentials *
zkr__credentials_new(const struct zkr_session_opts *opts);

/* NULL is allowed. The last reference wipes them. */
struct zkr__credentials *zkr__credentials_ref(struct zkr__credentials *c);
void zkr__credentials_unref(struct zkr__credentials *c);

/* Wipes a secret and frees it. NULL is allowed. */
void zkr__credentials_wipe(char *secret);
