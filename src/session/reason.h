/* SPDX-License-Identifier: Apache-2.0 */
/* The reason: why the session has no connection, or had none last. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <zkrecipes/session.h>

#include "session/locked.h"

enum { ZKR__REASONS = 8 };

/* Under the session lock. */
struct zkr__reason {
    struct zkr_session_error last; /* but for its age: */
    int64_t at;                    /* by the lease's clock */
    unsigned told;                 /* causes that the log has been told since
                                      there was a connection */
    /* Since then: the last of each server, and the last of no one; the very
     * last is at the end. */
    struct zkr_session_error each[ZKR__REASONS];
    size_t count;
};

/* The one place that sets it. `server` and `text` may be "", and are not of the
 * last reason. */
void zkr__reason_set_locked(struct zkr_session *s, enum zkr_cause cause,
                            const char *server, const char *text) ZKR__LOCKED;

/* Takes one fault of the handle, and tells whether there was one. Without a
 * connection the log is told of each cause, once. */
bool zkr__reason_take_locked(struct zkr_session *s) ZKR__LOCKED;

/* Takes them all. Returns the cause of the last one, or NONE. */
enum zkr_cause zkr__reason_look_locked(struct zkr_session *s) ZKR__LOCKED;

/* Tells whether a handshake failed. */
static inline bool zkr__reason_is_tls(enum zkr_cause cause)
{
    return cause == ZKR_CAUSE_TLS || cause == ZKR_CAUSE_CERTIFICATE_EXPIRED ||
           cause == ZKR_CAUSE_CERTIFICATE_HOST;
}

#define ZKR__WHY_MAX 512
/* Writes what each server did: "server 10.0.0.1:2181 does not answer; server
 * 10.0.0.2:2181 refuses the connection". */
const char *zkr__reason_all_locked(const struct zkr_session *s,
                                   char text[ZKR__WHY_MAX]) ZKR__LOCKED;

/* Returns "; server 10.0.0.1:2181 refuses the connection, 12 ms ago", or, with
 * a connection, "; the last answer was of server 10.0.0.1:2181, 12 ms ago". Of
 * several servers the time is that of the last. */
const char *zkr__reason_text_locked(struct zkr_session *s,
                                    char text[ZKR__WHY_MAX]) ZKR__LOCKED;

/* Append it to the sentence of the error `rc`, the thread's last one, and
 * return `rc`. */
int zkr__reason_explain_locked(struct zkr_session *s, int rc) ZKR__LOCKED;
int zkr__reason_explain(struct zkr_session *s, int rc);

/* Returns why the session is in its present state. */
enum zkr_cause
zkr__reason_of_state_locked(const struct zkr_session *s) ZKR__LOCKED;
