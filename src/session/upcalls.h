/* SPDX-License-Identifier: Apache-2.0 */
/* Observers and waiters: the upcalls by which a session tells its users of
 * changes.
 *
 * The session knows no lock: code with objects that live and end with the
 * session (the locks: claims, grants, their heartbeat) gives it a table of
 * upcalls. They run under the session lock, must not block, and may submit
 * requests. */
#pragma once

#include "base/list.h"

struct zkr_session;
struct zkr__session_observer;

struct zkr__session_upcalls {
    /* The connection is lost. */
    void (*suspended)(struct zkr_session *s);
    /* The connection is there, for the first time or again; the timeout, and
     * with it the lease, may have become shorter. */
    void (*resumed)(struct zkr_session *s);
    /* The epoch is over, or the session for good: every held lock is lost.
     * Requests may still be under way. */
    void (*lost)(struct zkr_session *s);
    /* The session is over for good, after lost(): no wait can succeed any more.
     * `why` is for people. */
    void (*failed)(struct zkr_session *s, int code, const char *why);
    /* The handle of a past epoch is closed, and all its requests have ended. */
    void (*flushed)(struct zkr_session *s);
    /* The last reference to the session is gone; not under the lock. */
    void (*freed)(struct zkr_session *s);
};

/* A member of the struct that the observer allocates. The session owns it as
 * soon as it is written to session->observer, under the lock. */
struct zkr__session_observer {
    const struct zkr__session_upcalls *upcalls;
    struct zkr_session *session;
};

/* A caller who waits; in session->waiters. */
struct zkr__waiter {
    struct zkr__list link;
    /* The session is over for good. May leave the list. */
    void (*over)(struct zkr__waiter *w);
};
