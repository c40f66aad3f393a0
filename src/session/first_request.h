/* SPDX-License-Identifier: Apache-2.0 */
/* The first request: finds out whether a new session is served, or why not, and
 * tells it once. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <zkrecipes/session.h>

#include "base/error.h"
#include "base/timer.h"
#include "session/dispatch.h"
#include "session/locked.h"
#include "session/op.h"

/* Under the session lock. */
struct zkr__first_request {
    struct zkr__op hello; /* the first request, which waits for a connection */
    struct zkr__timer limit;
    int64_t probe_at;    /* when the connector asks why nobody has answered */
    int64_t probe_again; /* when it may, if there is another reason to */
    int64_t pause_ms;    /* until then */
    bool done;
    int rc;
    char detail[ZKR__DETAIL_MAX];
    struct zkr__notice notice;
    zkr_open_fn fn;
    void *user;
};

void zkr__first_request_init(struct zkr_session *s);

/* Sends the first request as soon as there is a connection. The first request
 * ends with its answer, or with the session, or soon after connect_timeout_ms:
 * then the session is over, too. `fn` (it may be NULL) is told by the
 * dispatcher. */
void zkr__first_request_begin_locked(struct zkr_session *s, zkr_open_fn fn,
                                     void *user) ZKR__LOCKED;

/* Ends it, unless it has ended. After an error, whose sentence is that of this
 * thread, the session is over. */
void zkr__first_request_end_locked(struct zkr_session *s, int rc) ZKR__LOCKED;

/* A server has refused a handshake: the others are to be asked. */
void zkr__first_request_hurry_locked(struct zkr_session *s) ZKR__LOCKED;

/* For the connector, at `probe_at`: asks the servers why none has answered. */
void zkr__first_request_probe_unlocks(struct zkr_session *s,
                                      const char *servers) ZKR__UNLOCKS;

/* Waits for its end. Returns its outcome, with the sentence for an error. */
int zkr__first_request_await_unlocks(struct zkr_session *s) ZKR__UNLOCKS;
