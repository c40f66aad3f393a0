/* SPDX-License-Identifier: Apache-2.0 */
/* TLS by OpenSSL, where the client is inside: checks the files of a session,
 * and finds out why a server and the session do not get along. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct zkr_session_opts;

/* Loads the files as the client will. ZKR_EINVAL names the one that is no good,
 * ZKR_ESYSTEM the one for which this process gets no descriptor. */
int zkr__tls_check(const struct zkr_session_opts *opts);

/* Shakes hands with `server` ("host:port") on a connection that has just been
 * made, as the client does, and listens for a moment to what the server has
 * against it. Returns
 * ZKR_ZSSLCONNECTIONERROR with the reason when they do not get along,
 * ZKR_ESYSTEM with the reason when this process gets no descriptor; ZKR_OK also
 * when the server has not answered at the deadline. `ret_hangs_up`: that is all
 * that it does. */
int zkr__tls_try(const struct zkr_session_opts *opts, const char *server,
                 int fd, int64_t deadline, char *reason, size_t size,
                 bool *ret_hangs_up);
