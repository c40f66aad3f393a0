/* SPDX-License-Identifier: Apache-2.0 */
/* One-shot watches whose context outlives every late or repeated event. */
#pragma once

#include "session/locked.h"
#include "session/op.h"

/* A node that the session watches. */
struct zkr__watched {
    size_t users;     /* all watches on it, of both kinds */
    size_t wanted[2]; /* those that somebody cares about: data, children */
    char path[];
};

struct zkr__watch {
    struct zkr_session *session;
    struct zkr__list link; /* in session->watches, until freed */
    struct zkr__watched *node;
    const char *path; /* of the node */
    void *owner;      /* NULL: nobody cares any more */
    void (*fired)(void *owner, bool deleted);
    void (*lost)(void *owner); /* may be NULL; see the flush */
    bool children;             /* it is on the children, else a data watch */
    bool set;                  /* the client has it, or may have it */
    bool again;  /* the read that sets it is sent again: that one tells more */
    bool spent;  /* it has fired or was refused: no event comes */
    bool wanted; /* it counts in node->wanted */
    struct zkr__op unwatch;
};

/* Makes a context for a request that sets a watch, on the children of the node
 * or on the node. `fired` runs under the lock, once, and then the watch is
 * gone. Returns NULL when out of memory. */
struct zkr__watch *
zkr__watch_new_locked(struct zkr_session *s, const char *path, bool children,
                      void *owner,
                      void (*fired)(void *owner, bool deleted)) ZKR__LOCKED;

/* The read that sets the watch was answered with `rc`. `again`: it will be sent
 * again, with the same watch. Until then the watch does not fire, because the
 * next answer shows what has changed. */
void zkr__watch_answered_locked(struct zkr__watch *w, enum zkr__zk_type type,
                                int rc, bool again) ZKR__LOCKED;

/* Forgets a watch whose read was not sent, or has failed, and frees it, unless
 * the client may have it. */
void zkr__watch_drop_locked(struct zkr__watch *w) ZKR__LOCKED;

/* The request that would have set the watch was answered with ZNOAUTH. The
 * watch is kept, because it names the node. It never fires, unless an earlier
 * answer to that request has set it. */
void zkr__watch_refused_locked(struct zkr__watch *w) ZKR__LOCKED;

/* Forgets the watch. It may still fire, so the context is kept. */
void zkr__watch_forget_locked(struct zkr__watch *w) ZKR__LOCKED;

/* Forgets a watch that has been set, and removes it from the server, unless the
 * session watches that node for another caller, too. A watch that was refused
 * is freed at once. */
void zkr__watch_remove_locked(struct zkr__watch *w) ZKR__LOCKED;

/* Upcall of the seam. */
void zkr__watch_on_event(struct zkr__watch *w, bool deleted);

/* Called when the handle is closed: no watch fires any more. The owner of one
 * with `lost` is told, after it is gone, and may make another. */
void zkr__watch_flush_locked(struct zkr_session *s) ZKR__LOCKED;
