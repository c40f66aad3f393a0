/* What a session tells those that were opened on it.
 *
 * The session knows no lock: whoever keeps something that lives and ends with
 * the session (the locks: claims, grants, their heartbeat) gives it a table of
 * upcalls. They run under the session lock, must not block, and may submit
 * requests. */
#ifndef ZKR__TENANT_H
#define ZKR__TENANT_H

struct zkr_session;
struct zkr__tenant;

struct zkr__tenant_upcalls {
    /* The connection is lost. */
    void (*suspended)(struct zkr__tenant *t);
    /* It is there, for the first time or again; the timeout, and with it the
     * lease, may have become shorter. */
    void (*resumed)(struct zkr__tenant *t);
    /* The epoch is over, or the session for good: whatever was held is lost.
     * Requests may still be under way. */
    void (*lost)(struct zkr__tenant *t);
    /* The session is over for good, after lost(): nothing that waits can
     * succeed any more. `why` is for people. */
    void (*failed)(struct zkr__tenant *t, int code, const char *why);
    /* The handle of a past epoch is closed, and all its requests have ended. */
    void (*flushed)(struct zkr__tenant *t);
    /* The last reference to the session is gone; not under the lock. */
    void (*freed)(struct zkr__tenant *t);
};

/* Part of what the tenant allocates. It belongs to the session from when it is
 * written to session->tenant, under the lock. */
struct zkr__tenant {
    const struct zkr__tenant_upcalls *upcalls;
    struct zkr_session *session;
};

#endif
