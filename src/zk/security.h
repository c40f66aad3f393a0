/* SPDX-License-Identifier: Apache-2.0 */
/* The security of connections: checks what the options of a session say of TLS
 * and SASL, and the files that they name. The client has neither without tls_ca
 * and sasl_mechanism. */
#pragma once

struct zkr_session_opts;

/* Called when a session is opened. Reads the password of sasl_password_file
 * into sasl_password, to be freed. Errors: ZKR_EINVAL, ZKR_ENOTSUP, ZKR_ENOMEM,
 * ZKR_ESYSTEM. */
int zkr__security_load(struct zkr_session_opts *opts);

/* Reads the first line of a file with a password, to be freed. The same errors.
 */
int zkr__security_read_password(const char *name, char **ret_password);

/* The error of an option whose file cannot be opened, with errno `error`:
 * ZKR_ESYSTEM when this process gets no descriptor, else ZKR_EINVAL. */
int zkr__security_fail_to_open(const char *option, const char *name, int error);
