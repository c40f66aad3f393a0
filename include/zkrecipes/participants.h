/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Participants: list who holds a lock and who waits for it, for whom and since
 * when; ask for a lock, or break it. Curator: getParticipantNodes(), Revoker.
 *
 * The calls work on lock paths of every recipe and of every client whose nodes
 * the library knows (Curator, kazoo, go-zookeeper, ...). None of them enters a
 * queue.
 *
 * Anybody with the permission to write to the lock directory can have written
 * the names and the data that these calls return: a name can have any bytes but
 * '/' and NUL, data any bytes. Escape them before they reach a terminal. The
 * name of a node, and what its data says about its author, are not proven;
 * token, session and time come from the servers.
 *
 * Source    Curator LockInternals.getParticipantNodes, Revoker.
 */
#ifndef ZKRECIPES_PARTICIPANTS_H
#define ZKRECIPES_PARTICIPANTS_H

#include <zkrecipes/session.h>

ZKR__BEGIN_C

/** The role of a child of a lock path. */
enum zkr_participant_kind {
    ZKR_PARTICIPANT_FOREIGN = 0,   /**< Not a contender: our locks ignore it. */
    ZKR_PARTICIPANT_EXCLUSIVE = 1, /**< A mutex, a writer, a candidate for
                                        leader; one in the queue of a
                                        semaphore. */
    ZKR_PARTICIPANT_SHARED = 2,    /**< A reader; a lease of a semaphore. */
};

/** How many bytes of the data of one node are kept. */
#define ZKR_PARTICIPANT_DATA_MAX 1024

/**
 * One child of a lock path.
 *
 * All contenders count as one queue, in the order of their numbers. An
 * exclusive contender waits for the one right before it, a shared one for the
 * nearest exclusive one before it, and these are the nodes that the recipes of
 * this library watch. On a path on which a mutex and a read/write lock are used
 * together, which do not exclude each other, there may be more holders than the
 * list says. The node of an unfair mutex holds, and is outside of every queue.
 *
 * Of contenders with the same number the exclusive ones are last, and all count
 * as ahead of each other, so two may wait for each other: nobody can tell their
 * order. But an exclusive and a shared contender of one session are a lock that
 * is being downgraded, and stand side by side.
 *
 * A semaphore (Curator's InterProcessSemaphoreV2) has two directories below its
 * path. The list of its path has the nodes of both: first the leases, each of
 * which has a permit and holds, then the queue of those who want one, none of
 * whom holds. The first in the queue waits for a permit: any lease that goes
 * lets it in. It makes its own lease before it has the permit; then that
 * is the newest lease, it does not hold, and the first in the queue waits_for
 * it. How many permits there are is known to the clients alone.
 */
struct zkr_participant {
    /** Of the node, without the path of the lock; in a semaphore "leases/..."
     *  or "locks/...". */
    const char *name;
    /** "lock-", "__WRIT__", ...; "latch-" of a candidate for leader, "lease-"
     *  of one who has a permit of a semaphore; "holder" of an unfair mutex;
     *  "x-" of ZooKeeper's C recipe, "ex" and "sh" of zk-ruby, which no other
     *  client waits for; "" when foreign. */
    const char *marker;
    enum zkr_participant_kind kind; /**< Its wish, by its name. */
    /** True if no contender that it must wait for is before it. */
    bool holds;
    size_t waits_for; /**< Index of whom it waits for; SIZE_MAX if of none. */
    int64_t sequence; /**< The number at the end of its name; not a token. */
    /** czxid of the node: the token of its grant, but for a reader that stands
     *  beside its own writer, who has that of the writer. */
    int64_t token;
    int64_t session_id; /**< The owner; 0 of a persistent node. */
    int64_t since_ms;   /**< Its creation, by the leader's clock, since 1970. */
    /** Data of the node, never NULL: up to ZKR_PARTICIPANT_DATA_MAX bytes, cut
     *  anywhere, and a NUL. Nodes of this library have a line of JSON. */
    const char *data;
    size_t data_size; /**< How many bytes of it are here. */
    size_t full_size; /**< How many bytes of it are on the server. */
    /** ZKR_OK, or why the node could not be read (ZKR_ZNOAUTH): then all
     *  members from token on are zero, and data is "". With ZKR_OK they are
     *  zero, too, when the node was not read (opts.reads). */
    int error;
};

/** Permissions of an ACL, as bits, numbered as on the wire. */
enum zkr_permission {
    ZKR_PERMISSION_READ = 1u << 0,
    ZKR_PERMISSION_WRITE = 1u << 1,
    ZKR_PERMISSION_CREATE = 1u << 2, /**< Of children: entering the queue. */
    ZKR_PERMISSION_DELETE = 1u << 3, /**< Of children: breaking the lock. */
    ZKR_PERMISSION_ADMIN = 1u << 4,  /**< Of changing the ACL. */
};

/** A list, in the order of the queue, foreign nodes last. */
struct zkr_participants {
    const struct zkr_participant *items; /**< As many as count. */
    size_t count;                        /**< How many are listed. */
    /** How many children the directory had at that time; of a semaphore, also
     *  its directories. */
    size_t total;
    /** Permissions of everybody on the directory (scheme world), enum
     *  zkr_permission. 0 if not asked for. */
    uint32_t anyone;
    int acl_error; /**< ZKR_OK, or why they are not known: ZKR_ZNOAUTH. */
    /** The path has the directories of a semaphore, leases and locks: they are
     *  not listed, but what is in them. */
    bool semaphore;
};

/** The flags of zkr_participants_opts. */
enum zkr_participants_flags {
    /** Read the ACL of the directory, too. */
    ZKR_PARTICIPANTS_ACL = 1u << 0,
    /** Read all that hold, whatever opts.reads says. */
    ZKR_PARTICIPANTS_HOLDERS = 1u << 1,
    /** Read the first that waits, too. Nobody has waited longer. */
    ZKR_PARTICIPANTS_NEXT = 1u << 2,
};
ZKR__FLAGS(zkr_participants_flags)

/** Zero means default, for every member. */
struct zkr_participants_opts {
    size_t size;        /**< Set by ZKR_PARTICIPANTS_OPTS_INIT. */
    int64_t timeout_ms; /**< As zkrecipes.h says. */
    uint32_t limit;     /**< List no more than so many; 0: 10000. */
    enum zkr_participants_flags flags; /**< Any of them, with |. */
    uint32_t reads;    /**< Read only the first so many of the queue; 0: all. */
    uint32_t reserved; /**< Zero. */
};

#define ZKR_PARTICIPANTS_OPTS_INIT                                             \
    ZKR__DEFAULT_OPTS(struct zkr_participants_opts)

/**
 * List the participants of the lock at @p path.
 *
 * The list is not atomic: first the server catches up with the leader (sync),
 * then the directory is listed, then each node is read. A node that is deleted
 * in between is left out. When the call returns, the list may be out of date.
 *
 * With a limit, the first nodes of the queue are listed; foreign nodes are left
 * out first. The call sends one request for each node that is listed, and one
 * for the ACL. A child "leases" or "locks" costs one request more.
 *
 * As a path of its own, the "locks" of a semaphore is a mutex.
 *
 * opts.reads = 1 is enough to learn whether a lock is held, by whom, and how
 * long its queue is: the list has the same nodes, but only the first of the
 * queue with more than its name. The call reads one more node for each that has
 * gone meanwhile, and for each with the same number as the last that was read,
 * because its session decides whether it holds. Readers that were not read may
 * hold, too: with ZKR_PARTICIPANTS_HOLDERS they are read. Of a semaphore the
 * call reads all leases and the first in the queue, whatever opts.reads says.
 *
 * Time      opts.timeout_ms at most. Within their time this call and the next
 *           two repeat their requests as the retry policy says, and when a new
 *           session follows the present one.
 * Owns      The list does not need the session any more.
 * Errors    ZKR_ZNONODE (no such directory), ZKR_ZNOAUTH (it needs READ on the
 *           directory), ZKR_ZCONNECTIONLOSS (the retry policy gave up),
 *           ZKR_EUNREACHABLE (no answer before the deadline).
 */
ZKR_CALL int zkr_participants_list(zkr_session *session, const char *path,
                                   const struct zkr_participants_opts *opts,
                                   struct zkr_participants **ret_list);

/** Free it. */
ZKR_API void zkr_participants_free(struct zkr_participants *list);

/**
 * Ask the owner of a node, a holder or a waiter, to give the lock back. The
 * program that owns the node decides whether it does so. Programs with this
 * library learn of the request by their listener (ZKR_GRANT_REVOKE_REQUESTED),
 * those with Curator by makeRevocable().
 *
 * The request is written as the data of the node, and replaces the record of
 * its owner. @p node is the full path of the node, as zkr_grant_node() gives
 * it, or the lock path, "/" and the name of a participant.
 *
 * Errors    ZKR_ZNONODE (it has gone), ZKR_ZNOAUTH (it needs WRITE on the
 *           node), ZKR_EPATH (not a path, or not the name of a contender),
 *           ZKR_EUNREACHABLE (no answer before the deadline: it was not
 *           asked); ZKR_ZCONNECTIONLOSS (the retry policy gave up) and
 *           ZKR_EUNKNOWN: it may have been asked.
 * Source    Curator Revoker.attemptRevoke, which hides ZKR_ZNONODE.
 */
ZKR_CALL int zkr_participants_revoke(zkr_session *session, const char *node);

/**
 * The last resort: delete the node of a holder or a waiter, if it is still the
 * node that was seen.
 *
 * THE OLD HOLDER IS NOT STOPPED. The next contender is granted at once. Grants
 * of this library learn of it by their watch and are LOST; Curator and kazoo do
 * not watch their own node, and go on as if they held the lock. Stop the
 * program first, or make sure that the resource which it uses checks tokens.
 *
 * @p node is as for zkr_participants_revoke(), and @p token is that of the list
 * or of the grant. A name without a UUID can be used twice: the node of an
 * unfair mutex is always "holder", and numbers begin again when a directory is
 * made anew. So the call first reads the czxid of the node, and leaves another
 * node of that name alone; and it reads again when the answer to the delete is
 * lost. There remains a window of one round trip between that answer and the
 * delete: when the node goes by itself in this window, and a new one of the
 * same name follows, the new one is deleted.
 *
 * Errors    ZKR_ZNONODE (it has gone by itself), ZKR_ENOTHELD (another node has
 *           that name now), ZKR_ZNOAUTH (it needs DELETE on the lock directory,
 *           and with servers since 3.8.4 and 3.9.2 READ on the node),
 *           ZKR_ZNOTEMPTY (it has children: made by hand), ZKR_EPATH (not a
 *           path, or not the name of a contender), ZKR_EINVAL (also a token of
 *           0), ZKR_EUNREACHABLE (no answer before the deadline: it was not
 *           deleted); ZKR_ZCONNECTIONLOSS (the retry policy gave up) and
 *           ZKR_EUNKNOWN: it may have been deleted.
 */
ZKR_CALL int zkr_participants_break(zkr_session *session, const char *node,
                                    int64_t token, int64_t timeout_ms);

ZKR__END_C

#endif
