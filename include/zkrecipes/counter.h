/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A counter: one number in one node, which many programs change.
 *
 * Add, compare and set, or set. A change reads the number, and writes it only
 * if nobody has written meanwhile; otherwise it reads again, until the
 * deadline. In each round somebody's change is made. After a round in vain a
 * change waits for a time of chance, which grows with each of them, up to 32
 * rounds or a second. Where many change one counter all the time, some wait for
 * long: then give them a lock_path. A change that has met others promote_after
 * times takes the mutex at that path, and the others that do so wait for it.
 * The number is right with and without: the mutex only keeps the programs from
 * disturbing each other.
 *
 * A change whose outcome is unknown (client.h: ZKR_EUNKNOWN) is not made again,
 * so nothing is counted twice. A caller that must know gives each change a node
 * of its own (zkr_txn_create() with zkr_txn_set() in one transaction), or
 * counts under a lock (grant.h).
 *
 * The node is that of Curator's DistributedAtomicLong: persistent, eight bytes,
 * the most significant first; with ZKR_COUNTER_INT32 that of SharedCount and
 * DistributedAtomicInteger: four bytes. All who use a path must agree. A node
 * that is missing, or has no data, is 0; a change creates it, and missing
 * parents as containers. The mutex is Curator's PromotedToLock: all who name
 * the same path take turns.
 *
 * A counter needs a path of its own, with no lock below it: where the servers
 * remove a container (ZKR_PERSISTENT_PARENTS, lockable.h), it is 0 again.
 *
 * There is no form with a callback: a caller that cannot wait has the requests
 * of client.h. zkr_session_watch() tells of changes.
 *
 * The version of the node tells whether somebody has written. It is of one
 * node: when the node is deleted and created again between the read and the
 * write of a change, the new node may have the same version, and the change
 * writes over its number. So set a counter that is in use to 0, and do not
 * delete it. After 2^31 - 1 writes the versions are used up, and a change is
 * ZKR_EEXHAUSTED. Then let all programs stop, read the number, delete the node,
 * and set the number.
 *
 * Time      A timeout_ms is also for the mutex.
 * On error  The number was not changed by this call, except with ZKR_EUNKNOWN.
 * Errors    ZKR_EUNKNOWN: see above.
 *           ZKR_EOVERFLOW: the number would not fit.
 *           ZKR_EDAMAGED: the node has data of another length.
 *           ZKR_EEXHAUSTED: the versions of the node are used up, see above;
 *           not of a read without the version, nor of a set with
 *           ZKR_ANY_VERSION.
 *           ZKR_ETIMEDOUT: until the deadline others were always faster,
 *           deleted the parents of the node, or had the mutex; with a timeout
 *           of 0 ZKR_EBUSY, when they had the mutex.
 *           ZKR_EUNREACHABLE: no answer before the deadline; nothing was sent
 *           that changes the number. ZKR_ZNOAUTH, ZKR_ENOCHROOT; of the mutex
 *           those of zkr_mutex_acquire().
 * Source    Curator DistributedAtomicLong, SharedCount.
 * Example   examples/counter.c
 */
#ifndef ZKRECIPES_COUNTER_H
#define ZKRECIPES_COUNTER_H

#include <zkrecipes/client.h>
#include <zkrecipes/session.h>

ZKR__BEGIN_C

/** A counter. */
typedef struct zkr_counter zkr_counter;

/** The flags of zkr_counter_opts. */
enum zkr_counter_flags {
    /** Four bytes instead of eight: a number from INT32_MIN to INT32_MAX. */
    ZKR_COUNTER_INT32 = 1u << 0,
};
ZKR__FLAGS(zkr_counter_flags)

/** Zero means default, for every member. */
struct zkr_counter_opts {
    size_t size;                  /**< Set by ZKR_COUNTER_OPTS_INIT. */
    enum zkr_counter_flags flags; /**< Any of them, with |. */
    /** After so many rounds in vain a change takes the mutex; default 10.
     *  Without lock_path it means nothing. */
    uint32_t promote_after;
    /** Of that mutex; neither the path of the counter nor one below it
     *  (ZKR_EINVAL). Default: no mutex. */
    const char *lock_path;
};

#define ZKR_COUNTER_OPTS_INIT ZKR__DEFAULT_OPTS(struct zkr_counter_opts)

/** The version of a counter that has no node. */
#define ZKR_COUNTER_ABSENT (-2)

/** Make a handle for the counter at @p path. */
ZKR_CALL int zkr_counter_new(zkr_session *session, const char *path,
                             const struct zkr_counter_opts *opts,
                             zkr_counter **ret_counter);

/** Free the handle. No call may be under way. */
ZKR_API void zkr_counter_free(zkr_counter *counter);

/**
 * Read the number, and the version of its node (NULL is allowed), which is for
 * zkr_counter_set(): a read, as of client.h.
 */
ZKR_CALL int zkr_counter_get(zkr_counter *counter, int64_t timeout_ms,
                             int64_t *ret_value, int32_t *ret_version);

/**
 * Add @p delta, which may be negative. *ret_after (NULL is allowed) is the
 * number after the addition. As long as all only add 1, and nobody deletes the
 * node, nobody else is told the same one.
 */
ZKR_CALL int zkr_counter_add(zkr_counter *counter, int64_t delta,
                             int64_t timeout_ms, int64_t *ret_after);

/**
 * Write @p wanted if the number is @p expected. *ret_found is the number that
 * was found: @p wanted was written if *ret_found is @p expected, otherwise
 * nothing was. That it is another one is told only of what was there after the
 * call began.
 */
ZKR_CALL int zkr_counter_compare_and_set(zkr_counter *counter, int64_t expected,
                                         int64_t wanted, int64_t timeout_ms,
                                         int64_t *ret_found);

/**
 * Write @p value if the node has @p version, or in any case with
 * ZKR_ANY_VERSION. A version tells more than a number, which may have been
 * changed, and changed back. With ZKR_COUNTER_ABSENT the node is created, or
 * left as it is.
 *
 * It does not look at the data that it replaces. So it mends a counter that is
 * ZKR_EDAMAGED; and a handle of the wrong width makes four bytes of eight, or
 * eight of four, and the counter is ZKR_EDAMAGED for all others.
 *
 * Errors    ZKR_ZBADVERSION: it has another one. ZKR_ZNONODE: the node of that
 *           version has been deleted. ZKR_ZNODEEXISTS: for ZKR_COUNTER_ABSENT,
 *           there is one.
 */
ZKR_CALL int zkr_counter_set(zkr_counter *counter, int64_t value,
                             int32_t version, int64_t timeout_ms);

/** The path. */
ZKR_API const char *zkr_counter_path(const zkr_counter *counter);

ZKR__END_C

#endif
