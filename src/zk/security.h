/* SPDX-License-Identifier: Apache-2.0 */
/* The security of connections: TLS and SASL, as the options of a session say.
 * Files are read and checked when a session is opened. */
#ifndef ZKR__SECURITY_H
#define ZKR__SECURITY_H

#include <stdbool.h>

struct zkr_session_opts;

/* Copies of the options; the client has neither TLS nor SASL without the
 * first member of each. */
struct zkr__security {
    char *tls_ca;
    char *tls_cert;
    char *tls_key;
    char *tls_password; /* NULL without */

    char *sasl_mechanism;
    char *sasl_service;
    char *sasl_host;
    char *sasl_realm;
    char *sasl_user;
    char *sasl_password;
};

/* Errors: ZKR_EINVAL, ZKR_ENOTSUP, ZKR_ENOMEM, ZKR_ESYSTEM. After an error it
 * is empty. */
int zkr__security_load(struct zkr__security *security,
                       const struct zkr_session_opts *opts);

/* The error of an option whose file cannot be opened, with errno `error`:
 * ZKR_ESYSTEM when this process gets no descriptor, else ZKR_EINVAL. */
int zkr__security_fail_to_open(const char *option, const char *name, int error);

/* Also wipes the passwords. */
void zkr__security_done(struct zkr__security *security);

#endif
