/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A grant: the handle of a held lock, which tells the holder whether it still
 * holds it.
 *
 * A ZooKeeper lock is a lease. While you hold it, the server can end your
 * session (after a pause, a partition, a slow disk), and grant the lock to
 * somebody else before you know. So:
 *
 *  - where the lock protects data in the same ensemble, write it with
 *    guarded writes (below): a late write is refused there;
 *  - otherwise give zkr_grant_token() to the resource, and let it refuse a
 *    token lower than the highest it has seen (fencing, fence.h). Tokens grow
 *    from grant to grant of a lock, also across re-creation of its directory.
 *    They begin again when the servers lose their data, or are restored from a
 *    copy of it: then the resource has to forget the tokens it has seen;
 *  - ask zkr_grant_check() before each step, and stop when it does not say
 *    ZKR_OK;
 *  - listen with zkr_grant_listen() to be told of a loss.
 *
 * Lease. "Connected" is no evidence that a session lives: a follower that is
 * cut off from the leader says so for seconds after the lock has gone to
 * somebody else. So while something is held, the library has the servers commit
 * three writes in each session timeout (up to fifty where answers are slow),
 * and derives from them an instant before which the servers cannot have ended
 * the session: zkr_grant_valid_until(). There is always such an instant while
 * no answer takes longer than a sixth of the session timeout; a fifth, where
 * all have long taken about the same time. With longer ones there is none, and
 * the grant is UNSURE, for moments or for good. The rule, which docs/design.md
 * derives ("The lease"), assumes
 *
 *  - that clocks differ by less than 0.1 %;
 *  - that every server between ours and the leader is pinged as often as
 *    lease_ping_gap_ms of the session says, and that there are no more of these
 *    hops than lease_hops (session.h);
 *  - that a leader which ends many sessions at once needs less than a twentieth
 *    of the session timeout, or 250 ms if that is more, for all of them, the
 *    time included in which it stands still meanwhile. This counts where a
 *    lease begins again after a gap;
 *  - that no server which answers us all the time has had a stalled link to the
 *    leader for a third of the session timeout. This counts for the first lock
 *    of an idle session, until its next write: for a tenth of that;
 *  - that no server grants a far smaller session timeout at a reconnect than
 *    was granted before.
 *
 * Session timeouts below half a second are too short for a lease.
 *
 * When nothing has been held or waited for in the last session timeout, the
 * next acquire takes one round trip more. After a pause of the process or of a
 * link, or on a slow link, there may be no proof of a live session when our
 * turn comes. Then the lock is granted when there is one, up to two thirds of a
 * session timeout, a twentieth (or 250 ms) and four round trips later; it is
 * not granted while answers take longer than half a session timeout.
 *
 * zkr_grant_valid_until() is a bound at the moment of the call: the next
 * instruction may run ten seconds later. It covers the session only: when an
 * operator deletes the node, a watch reports it, within a round trip where
 * there is a connection. A hypervisor can stop all clocks of a guest: then only
 * the token helps.
 */
#ifndef ZKRECIPES_GRANT_H
#define ZKRECIPES_GRANT_H

#include <zkrecipes/client.h>
#include <zkrecipes/error.h>

ZKR__BEGIN_C

/** A held lock, or one that was held. */
typedef struct zkr_grant zkr_grant;

/** The states of a grant, as this process knows it. */
enum zkr_grant_state_kind {
    ZKR_GRANT_HELD = 1,      /**< Ours, proven until zkr_grant_valid_until(). */
    ZKR_GRANT_SUSPENDED = 2, /**< Connection lost, or a proof is late (for a
                                  third of the session timeout); the lease
                                  still runs. */
    ZKR_GRANT_UNSURE = 3,    /**< The lease has run out and we do not know. */
    ZKR_GRANT_LOST = 4,      /**< Node or session is gone; never comes back. */
    ZKR_GRANT_RELEASED = 5,  /**< Given back. */
};

/**
 * Check whether the lock is still held. Sends no request.
 *
 * The clock decides at the moment of the call, also in a process that has just
 * woken from a pause. ZKR_OK: the lock is provably ours.
 *
 * SUSPENDED and UNSURE become HELD again only when a write that the quorum has
 * committed has found our node in place, and when the lease runs until the next
 * write can be answered. Both that write and the watch on the node need the
 * permission to read the node: where our own ACL withholds it from us, there is
 * no proof, and a deletion by others may go unnoticed.
 *
 * With ZKR_SESSION_NO_LEASE: ZKR_OK when HELD, which then means no more than
 * that there is a connection; ZKR_EUNSURE when SUSPENDED.
 *
 * Errors    ZKR_EUNSURE when UNSURE: pause the work;
 *           ZKR_ELOST: stop; ZKR_ENOTHELD after release.
 */
ZKR_CALL int zkr_grant_check(zkr_grant *grant);

/**
 * Tell whether the lock is provably ours now: true when zkr_grant_check() would
 * return ZKR_OK, by the same clock. Sends no request. It only looks, while a
 * check that is the first to see that the lease has run out makes the grant
 * UNSURE, and tells the listener; after a look this comes some milliseconds
 * later, from a thread of the library.
 */
ZKR_CALL bool zkr_grant_is_held(const zkr_grant *grant);

/**
 * Return the instant until which the lock is provably ours, in milliseconds of
 * CLOCK_BOOTTIME, which counts the time that a machine is suspended. It grows
 * as long as the servers answer. It is 0 when the lock is not ours, or nothing
 * is proven (UNSURE, or ZKR_SESSION_NO_LEASE).
 */
ZKR_API int64_t zkr_grant_valid_until(zkr_grant *grant);

/**
 * Ask the servers now whether the lock is held, with a write that the quorum
 * commits only if our node is there.
 *
 * Errors    ZKR_EUNSURE: no answer before the deadline, or the answer took so
 *           long that it proves nothing any more. ZKR_ELOST, ZKR_ENOTHELD;
 *           ZKR_ZNOAUTH where an ACL withholds our own node from us.
 */
ZKR_CALL int zkr_grant_verify(zkr_grant *grant, int64_t timeout_ms);

/** The present state. For NULL and after fork: ZKR_GRANT_LOST. */
ZKR_API enum zkr_grant_state_kind zkr_grant_state(zkr_grant *grant);

/** "HELD", "LOST"... Never NULL. */
ZKR_API const char *zkr_grant_state_name(enum zkr_grant_state_kind state);

/**
 * The fencing token: the czxid of the lock node, a positive number that is
 * higher for every later grant of the same lock (rwlock.h says what that means
 * for readers; zkr_grant_handoff(), for locks that stay). It never changes, and
 * is readable in every state.
 *
 * Source    The transaction id of ZooKeeper; "sequencer" in the Chubby paper.
 */
ZKR_API int64_t zkr_grant_token(zkr_grant *grant);

/**
 * The number of grants that this lock node has had before: 0 for the first
 * holder, and always 0 without retain_ms (mutex.h). It never changes.
 *
 * Holders that took the lock from each other here have the same token. A
 * resource that must also refuse a late write of one of them to the next (a
 * request that a thread has sent and not awaited before its release) compares
 * this count when the tokens are equal, as fence.h does.
 */
ZKR_API uint64_t zkr_grant_handoff(zkr_grant *grant);

/**
 * Return how often the lock is held: 1, or more when its thread has acquired a
 * reentrant lock several times; 0 when it has been released. A lost grant keeps
 * its count until its thread has released it as often.
 */
ZKR_API uint32_t zkr_grant_depth(zkr_grant *grant);

/** Return the path of the lock node, without the chroot:
 *  "/locks/orders/_c_...-lock-0000000007". */
ZKR_API const char *zkr_grant_node(zkr_grant *grant);

/** Return the data with which the lock node was created: the owner record, a
 *  line of JSON, or the id of a candidate. A request to give the lock back
 *  replaces it (ZKR_GRANT_REVOKE_REQUESTED): a program that keeps the lock may
 *  write it again, so that others see whose the lock is. */
ZKR_API const char *zkr_grant_record(zkr_grant *grant);

/** Why a grant is LOST. */
enum zkr_loss {
    ZKR_LOSS_NONE = 0,    /**< It is not LOST. */
    ZKR_LOSS_DELETED = 1, /**< Its node was deleted, by an operator, say. */
    ZKR_LOSS_REVOKED = 2, /**< The same, after ZKR_GRANT_REVOKE_REQUESTED. */
    ZKR_LOSS_EXPIRED = 3, /**< The servers have ended the session, or serve
                               others and not this one. */
    ZKR_LOSS_CLOSED = 4,  /**< zkr_session_close(), or the servers refuse the
                               credentials of the session. */
};

/**
 * Return why the grant is LOST. zkr_error_detail() says it, too, after a
 * ZKR_ELOST of this grant.
 *
 * When the servers end a session, they delete its nodes first, and a client
 * that is connected may hear of that first: DELETED then becomes EXPIRED as
 * soon as the end is known, if the session was given no answer in between. It
 * is to be asked for before the next session ends, too.
 */
ZKR_API enum zkr_loss zkr_grant_loss(zkr_grant *grant);

/** A short text: "its node was deleted". Never NULL. */
ZKR_API const char *zkr_loss_text(enum zkr_loss loss);

/** The kinds of events of a grant. */
enum zkr_grant_event_kind {
    ZKR_GRANT_STATE_CHANGED = 1,    /**< See state. */
    ZKR_GRANT_REVOKE_REQUESTED = 2, /**< Somebody asks for the lock, in the way
                                         of Curator's Revoker. */
};

/** An event of a grant. */
struct zkr_grant_event {
    enum zkr_grant_event_kind kind;  /**< The kind of event. */
    enum zkr_grant_state_kind state; /**< At that time. */
    enum zkr_loss loss; /**< If state is LOST: why, as far as is known now. */
};

/** The listener of a grant. */
typedef void (*zkr_grant_fn)(zkr_grant *grant,
                             const struct zkr_grant_event *event, void *user);

/**
 * Let @p fn be called for SUSPENDED, HELD again, LOST, RELEASED, and for
 * requests to give the lock back. If the grant is not HELD any more, that state
 * is the first event. A grant has one listener: a second call replaces it, and
 * NULL for @p fn removes it. From now on the library watches the lock node
 * (without a listener it begins to when the lock has been held for 50 ms).
 */
ZKR_API int zkr_grant_listen(zkr_grant *grant, zkr_grant_fn fn, void *user);

/**
 * Give the lock back and wait until its node is gone, or return at once when it
 * stays (retain_ms, mutex.h). A lock that is held several times loses one
 * count, and nothing is sent.
 *
 * Owns      The grant stays yours: free it.
 * On error  The grant is released here whatever is returned, except
 *           ZKR_EDEADLK, ZKR_ENOTOWNER (a reentrant lock of another thread),
 *           ZKR_EINVAL and ZKR_EFORKED.
 *           ZKR_EPENDING: the deletion of the node is not confirmed yet and is
 *           repeated in the background until it is, or the session is over. It
 *           comes behind all writes that the program has posted before: see
 *           client.h.
 *           ZKR_ELOST: it was not ours any more. ZKR_ENOTHELD: released before.
 *           ZKR_ZNOAUTH: ACLs forbid the deletion: others wait for the node.
 *           It is tried again after each session timeout, and before the next
 *           acquire of this session on that path, until it is done or the
 *           session is over. The log tells of both, and zkr_counters.refusals
 *           counts such nodes, also of a lock that stays and is given back
 *           later, when there is no caller to be told.
 */
ZKR_API int zkr_grant_release(zkr_grant *grant);

/** Called with the value that zkr_grant_release() would have returned. */
typedef void (*zkr_release_fn)(int error, void *user);

/**
 * Give the lock back without waiting; @p fn is called when the release has been
 * confirmed, however late. Of several releases of a reentrant lock only the
 * last sends a request: @p fn of the others is not called.
 *
 * Errors    ZKR_ELOST, ZKR_ENOTHELD, ZKR_ENOTOWNER.
 */
ZKR_API int zkr_grant_release_async(zkr_grant *grant, zkr_release_fn fn,
                                    void *user);

/**
 * Free the handle. A lock that is still held is released in the background;
 * one that is held several times, with a handle for each, when the last of them
 * is freed.
 */
ZKR_API void zkr_grant_free(zkr_grant *grant);

/* -- several grants -------------------------------------------------------- */

/* Of an acquire that gives several (semaphore.h, multi_lock.h). */

/** Check that all of them are held: zkr_grant_check() of each, and the first
 *  error. */
ZKR_CALL int zkr_grants_check(zkr_grant *const *grants, size_t count);

/**
 * Release all of them, the last one first: the deletes are sent in one flight.
 * Each is tried, whatever becomes of the others.
 *
 * Errors    The first error of zkr_grant_release().
 */
ZKR_API int zkr_grants_release(zkr_grant *const *grants, size_t count);

/** zkr_grant_free() of each, the last one first; the array is NULL then. Those
 *  that are held are released in the background. */
ZKR_API void zkr_grants_free(zkr_grant **grants, size_t count);

/* -- guarded writes -------------------------------------------------------- */

/**
 * Guarded writes: data in ZooKeeper that only the holder of a lock changes.
 *
 * A guarded write is a transaction (client.h) whose guard is the grant: the
 * servers check that our lock node exists, and make the writes only then. So it
 * needs no lease and no clock: when the lock has gone to somebody else, a write
 * that comes late is refused, and changes nothing. In the order of the servers'
 * transactions, all guarded writes of one holder come before all of the next
 * holder. The protected data must be in the same ensemble, and everybody must
 * write it in this way; for other resources see fence.h.
 *
 * The servers decide whether the lock is still held, so a grant that is
 * SUSPENDED or UNSURE may be used; one that is LOST or RELEASED is refused at
 * once.
 *
 * The unknown outcome (client.h): a write with ZKR_EUNKNOWN is made at once,
 * later, or never; but never after the lock has gone to somebody else. The
 * caller can
 *
 *  - repeat a set that names the expected version: if the first was made, the
 *    second returns ZKR_ZBADVERSION; then read the data;
 *  - create again, and take ZKR_ZNODEEXISTS for success; or delete again, and
 *    take ZKR_ZNONODE for success;
 *  - repeat a set with ZKR_ANY_VERSION, when the value does not depend on the
 *    old one;
 *  - otherwise read the node. A read through another connection needs a sync
 *    before it.
 *
 * As long as the lock is held, only a write of your own can come in between. If
 * a repeated call returns ZKR_ELOST, read the node, or leave it to the next
 * holder.
 *
 * Without waiting, by zkr_txn_commit_async(), wait for the answer before the
 * next write to the same node, and before the release: after a reconnect, or
 * when the servers throttle, a write may be sent late, and so be overtaken. A
 * write that arrives after the release is not made (ZKR_ENOTHELD). The grant
 * may be freed before the answer.
 *
 * The node of an unfair mutex has the same name for all its holders, so it
 * cannot guard anything (ZKR_EINVAL).
 *
 * Errors    Those of a transaction, and
 *           ZKR_ELOST: the lock is not ours any more; the grant is LOST from
 *           then on. ZKR_ENOTHELD: it was released.
 *           ZKR_ZNOAUTH also when an ACL keeps us from reading our own lock
 *           node; the sentence says which.
 * Source    "ZooKeeper Programmer's Guide", multi; the guard is what etcd calls
 *           a compare in a transaction.
 * Example   examples/guarded.c
 */

/** zkr_txn_new() with the grant as the guard: for several writes, and for those
 *  without waiting. */
ZKR_SHORT ZKR_MUST_CHECK int zkr_txn_new_guarded(zkr_grant *grant,
                                                 zkr_txn **ret_txn)
{
    struct zkr_txn_opts opts = ZKR_TXN_OPTS_INIT;

    opts.guard = grant;
    return zkr_txn_new(NULL, &opts, ret_txn);
}

/** One guarded zkr_session_set(). *ret_version (NULL is allowed) is the version
 *  that the data has now. */
ZKR_SHORT ZKR_MUST_CHECK int
zkr_grant_guarded_set(zkr_grant *grant, const char *path, const void *data,
                      size_t len, int32_t version, int64_t timeout_ms,
                      int32_t *ret_version)
{
    zkr_txn *txn = NULL;
    int rc = zkr_txn_new_guarded(grant, &txn);

    if (rc == ZKR_OK)
        rc = zkr_txn_set(txn, path, data, len, version);
    if (rc == ZKR_OK)
        rc = zkr_txn_commit(txn, timeout_ms);
    if (ret_version != NULL)
        *ret_version = rc == ZKR_OK ? zkr_txn_stat(txn, 0)->version : 0;
    zkr_txn_free(txn);
    return rc;
}

/** One guarded zkr_session_create(), of a persistent node with the ACL of the
 *  session. Its version is 0. */
ZKR_SHORT ZKR_MUST_CHECK int
zkr_grant_guarded_create(zkr_grant *grant, const char *path, const void *data,
                         size_t len, int64_t timeout_ms)
{
    zkr_txn *txn = NULL;
    int rc = zkr_txn_new_guarded(grant, &txn);

    if (rc == ZKR_OK)
        rc = zkr_txn_create(txn, path, data, len, NULL);
    if (rc == ZKR_OK)
        rc = zkr_txn_commit(txn, timeout_ms);
    zkr_txn_free(txn);
    return rc;
}

/** One guarded zkr_session_delete(). */
ZKR_SHORT ZKR_MUST_CHECK int zkr_grant_guarded_delete(zkr_grant *grant,
                                                      const char *path,
                                                      int32_t version,
                                                      int64_t timeout_ms)
{
    zkr_txn *txn = NULL;
    int rc = zkr_txn_new_guarded(grant, &txn);

    if (rc == ZKR_OK)
        rc = zkr_txn_delete(txn, path, version);
    if (rc == ZKR_OK)
        rc = zkr_txn_commit(txn, timeout_ms);
    zkr_txn_free(txn);
    return rc;
}

ZKR__END_C

#endif
