/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Barriers: programs wait until they may go on.
 *
 * A barrier is set, and all who come wait until somebody removes it. Anybody
 * may set it and remove it; it stays when the program that has set it ends. So
 * it is one switch for many programs: "no jobs while the schema changes".
 *
 * A double barrier lets a number of members begin together and end together.
 * Each enters, and waits until so many have entered; each leaves, and waits
 * until all have left.
 *
 * The nodes are those of Curator's DistributedBarrier (the path itself,
 * persistent) and DistributedDoubleBarrier (one child for each member,
 * ephemeral, named by a UUID, and "ready", persistent, as soon as there are
 * enough), so C and Java programs may wait for each other.
 *
 * A wait reads the node with a watch until it is as it should be. So it goes on
 * over lost connections and in new sessions, and a wake-up by itself lets
 * nobody pass. The watch is removed when the wait ends. The state that a wait
 * has seen was there after the call began, unless our server is a leader that
 * the others have left and that does not know it yet. A wait cannot be
 * cancelled: it ends at its deadline, or when the session is closed.
 *
 * A request with an unknown outcome is made again: to set, to remove, to enter
 * and to leave may be done twice. Only when the deadline passes meanwhile, or
 * the session is closed, the call returns ZKR_EUNKNOWN.
 *
 * Each barrier needs a path of its own, with no lock below it: where the
 * servers remove a container (ZKR_PERSISTENT_PARENTS, lockable.h), a barrier
 * opens by itself. All children of a double barrier count as members.
 *
 * There is no form with a callback: a program that cannot wait has
 * zkr_session_watch() for the node of a barrier.
 *
 * Errors    ZKR_ETIMEDOUT, ZKR_EBUSY: others have not done their part.
 *           ZKR_ETIMEDOUT also when others have deleted the parents of the node
 *           again and again until the deadline.
 *           ZKR_EUNREACHABLE: no answer before the deadline.
 *           ZKR_EUNKNOWN: see above.
 *           ZKR_ZNOAUTH, ZKR_ENOCHROOT.
 * Source    Curator DistributedBarrier, DistributedDoubleBarrier.
 * Example   examples/barrier.c
 */
#ifndef ZKRECIPES_BARRIER_H
#define ZKRECIPES_BARRIER_H

#include <zkrecipes/lockable.h>
#include <zkrecipes/session.h>

ZKR__BEGIN_C

/** Zero means default, for every member. */
struct zkr_barrier_opts {
    size_t size;                   /**< Set by ZKR_BARRIER_OPTS_INIT. */
    enum zkr_lockable_flags flags; /**< ZKR_PERSISTENT_PARENTS, or none. */
    uint32_t reserved;             /**< Zero. */
};

#define ZKR_BARRIER_OPTS_INIT ZKR__DEFAULT_OPTS(struct zkr_barrier_opts)

/* -- the barrier ----------------------------------------------------------- */

/** A barrier. */
typedef struct zkr_barrier zkr_barrier;

/** Make a handle for the barrier at @p path. */
ZKR_CALL int zkr_barrier_new(zkr_session *session, const char *path,
                             const struct zkr_barrier_opts *opts,
                             zkr_barrier **ret_barrier);

/** Free the handle. No call may be under way. */
ZKR_API void zkr_barrier_free(zkr_barrier *barrier);

/** Set the barrier. One that is set stays set. A node that is there for another
 *  reason counts as a barrier that is set. */
ZKR_CALL int zkr_barrier_set(zkr_barrier *barrier, int64_t timeout_ms);

/** Remove the barrier, if it is set: all who wait go on. ZKR_ZNOTEMPTY: the
 *  node has children, so it is more than a barrier, and stays. */
ZKR_CALL int zkr_barrier_remove(zkr_barrier *barrier, int64_t timeout_ms);

/** Wait until the barrier is not set. It may be set again when the call
 *  returns. */
ZKR_CALL int zkr_barrier_wait(zkr_barrier *barrier, int64_t timeout_ms);

/** The path. */
ZKR_API const char *zkr_barrier_path(const zkr_barrier *barrier);

/* -- the double barrier ---------------------------------------------------- */

/** A member of a double barrier: each member has its own, and makes one call
 *  at a time. */
typedef struct zkr_double_barrier zkr_double_barrier;

/** Make a member of the double barrier at @p path, which opens when @p members
 *  (at least 1) have entered; all give the same number. */
ZKR_CALL int zkr_double_barrier_new(zkr_session *session, const char *path,
                                    uint32_t members,
                                    const struct zkr_barrier_opts *opts,
                                    zkr_double_barrier **ret_member);

/** Free the member. If it is inside it leaves without waiting: its node is
 *  deleted in the background, and "ready" stays, also when it is the last one.
 *  Until that deletion is answered, another member of this program may be
 *  counted beside the node. No call may be under way. */
ZKR_API void zkr_double_barrier_free(zkr_double_barrier *member);

/**
 * Enter, and wait until as many as the barrier is for have entered.
 *
 * When there are enough, one of them makes "ready", and that lets all in whose
 * nodes are there, also those who hear of it when it has been deleted again. It
 * also lets in each member that comes later, as long as a node is there that is
 * older than "ready" (a lower czxid).
 *
 * The last one to leave deletes "ready". It stays when the last one dies
 * inside, is freed, or cannot delete it before the deadline of leave. The next
 * member that enters finds only younger nodes then, deletes "ready", and waits
 * for enough others. A Curator program takes such a "ready" for permission, and
 * enters alone.
 *
 * The number of programs at one path should not be higher than @p members: see
 * docs/znodes.md, "Barriers".
 *
 * Beside Curator or kazoo a path is good for one round, one enter and one leave
 * of each member (docs/interop.md). For the next round take another path, a
 * number behind it, say.
 *
 * A member whose session ends while it waits enters again in the next one. A
 * member that dies does not count from the end of its session on. A member that
 * has given up, and enters again, first deletes its old node if that is still
 * there, so it is not counted twice.
 *
 * On error  This member is outside. Its node is gone, or is being deleted in
 *           the background (in Curator it stays). If others have counted it
 *           right before, they may be inside without it.
 * Errors    ZKR_EINVAL: it has entered already. See also the top.
 */
ZKR_CALL int zkr_double_barrier_enter(zkr_double_barrier *member,
                                      int64_t timeout_ms);

/**
 * Leave, and wait until all who were inside have left. A member that dies
 * inside has left with the end of its session. A member that enters after this
 * call began is not waited for.
 *
 * On error  As for enter, except that with ZKR_EDEADLK, ZKR_EFORKED and
 *           ZKR_EINVAL the member is where it was.
 * Errors    ZKR_ELOST: all have left, but the session of this member ended
 *           while it was inside: the others counted it as having left, and may
 *           have left before it.
 *           ZKR_ENOTHELD: it is not inside. See also the top.
 */
ZKR_CALL int zkr_double_barrier_leave(zkr_double_barrier *member,
                                      int64_t timeout_ms);

/** The path. */
ZKR_API const char *zkr_double_barrier_path(const zkr_double_barrier *member);

ZKR__END_C

#endif
