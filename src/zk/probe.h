/* SPDX-License-Identifier: Apache-2.0 */
/* The probe: finds out why no server answered, by one TCP connection per
 * server, for the error text. */
#pragma once

#include <stdbool.h>

struct zkr_session_opts;

/* Sets the detail and returns ZKR_EREFUSED, ZKR_ENOTZK, ZKR_EUNREACHABLE,
 * ZKR_ZSSLCONNECTIONERROR, or ZKR_ESYSTEM when there is no descriptor.
 * `ret_verdict`: what they have all said, at each of their addresses. */
enum zkr__verdict {
    ZKR__NO_VERDICT,
    ZKR__ALL_REFUSE,     /* the connection, or else the handshake */
    ZKR__ALL_REFUSE_TLS, /* the handshake, after a connection */
};
int zkr__probe(const char *servers, const struct zkr_session_opts *opts,
               int timeout_ms, enum zkr__verdict *ret_verdict);

/* Tells whether the server, an address and a port, says that it follows, or
 * observes. */
bool zkr__probe_follows(const char *server, int timeout_ms);

/* Returns 0, or the errno when this process gets no descriptor now. A resolver
 * that got none says that there is no such name. */
int zkr__probe_descriptor(void);
