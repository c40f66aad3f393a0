/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Leader election: of the programs that campaign on a path, one leads at a
 * time. Curator: LeaderLatch, LeaderSelector.
 *
 * A program campaigns, and goes on with its work. When its turn comes it leads,
 * for a term, until it leaves, dies or loses its session. After a loss it
 * campaigns again by itself, behind all others. There is no thread for it.
 *
 * Guarantees: terms on one path never overlap in the order of the servers'
 * transactions; the next one to lead is the one that has campaigned for longest
 * without a break; each term has a token, higher than those of all terms before
 * (grant.h). Curator's LeaderLatch on the same path takes part; with
 * ZKR_SELECTOR_LAYOUT its LeaderSelector does, in its place.
 *
 * A term is a lease, as every grant is: the servers can end it before the
 * leader knows. So:
 *
 *  - write what is in the same ensemble with grant.h and the grant of the
 *    term, zkr_leader_grant(): a write that comes after the term is refused,
 *    whatever the leader believes;
 *  - give other resources the token of the term (fence.h);
 *  - ask zkr_leader_is_leader() before each step. It goes by the lease, and
 *    says false from the instant when the lease is over, which is before the
 *    servers can let anybody else lead, also when the connection is gone and
 *    when the process has just woken from a pause;
 *  - stop new work on SUSPENDED, and all work on LOST. SUSPENDED is told when
 *    the connection breaks, or a proof of the lease is late, and so before
 *    anybody else can lead, as long as callbacks are not delayed. It is
 *    followed by GAINED, if the term goes on, or by LOST.
 *
 * zkr_participants_list() lists those that campaign in their order, and the
 * data of each is its id. The first is the leader; opts.reads = 1 asks for no
 * more than that.
 *
 * A program is one participant per object; two objects on one path compete with
 * each other.
 *
 * Source    ZooKeeper recipes, "Leader Election"; Curator LeaderLatch,
 *           LeaderLatchListener, LeaderSelector; kazoo Election.
 * Example   examples/leader.c
 */
#ifndef ZKRECIPES_LEADER_H
#define ZKRECIPES_LEADER_H

#include <zkrecipes/lockable.h>

ZKR__BEGIN_C

/** A participant of an election. */
typedef struct zkr_leader zkr_leader;

/** The longest id, in bytes. */
#define ZKR_LEADER_ID_MAX 1024

/** The kinds of events of an election, as one participant sees them. */
enum zkr_leader_event_kind {
    ZKR_LEADER_GAINED = 1,    /**< It leads; also again after SUSPENDED, with
                                   the same token. */
    ZKR_LEADER_SUSPENDED = 2, /**< Do not act: it may lead still, or not. */
    ZKR_LEADER_LOST = 3,      /**< The term is over. It campaigns again, unless
                                   it has left, or FAILED follows. */
    ZKR_LEADER_FAILED = 4,    /**< The campaign has ended with an error, and is
                                   not repeated. */
};

/** An event of an election. */
struct zkr_leader_event {
    enum zkr_leader_event_kind kind; /**< The kind of event. */
    int error;     /**< Of FAILED: one of those of zkr_lockable_acquire(). */
    int64_t token; /**< Of the term; 0 of FAILED. */
};

/**
 * The listener of a participant.
 *
 * The events are told in order, as callbacks of the session (session.h), and
 * the last one that was told is how things are. An event that is out of date
 * when its turn comes is left out, also a whole term. So GAINED was true right
 * before the call.
 */
typedef void (*zkr_leader_fn)(zkr_leader *leader,
                              const struct zkr_leader_event *event, void *user);

/** Zero means default, for every member. */
struct zkr_leader_opts {
    size_t size;       /**< Set by ZKR_LEADER_OPTS_INIT. */
    const char *label; /**< As in zkr_lockable_opts; not used with an id. */
    /** ZKR_PERSISTENT_PARENTS, and one of ZKR_KAZOO_LAYOUT and
     *  ZKR_SELECTOR_LAYOUT. */
    enum zkr_lockable_flags flags;
    uint32_t reserved; /**< Zero. */
    /** The data of our node, these bytes and no others: what Curator's
     *  getParticipants() shows as the id. NULL: our owner record. */
    const void *id;
    size_t id_size; /**< Of the id, in bytes; at most ZKR_LEADER_ID_MAX. */
};

#define ZKR_LEADER_OPTS_INIT ZKR__DEFAULT_OPTS(struct zkr_leader_opts)

/** Make a participant for the election at @p path. Errors: ZKR_ESYSTEM. */
ZKR_CALL int zkr_leader_new(zkr_session *session, const char *path,
                            const struct zkr_leader_opts *opts,
                            zkr_leader_fn fn, void *user,
                            zkr_leader **ret_leader);

/** Free the participant: it leaves first, in the background. Waits through it
 *  end with ZKR_ECANCELED. */
ZKR_API void zkr_leader_free(zkr_leader *leader);

/**
 * Begin to campaign, and return at once. A participant that campaigns or leads
 * goes on with that.
 *
 * The campaign goes on until zkr_leader_leave(): through disconnects, in the
 * next session when one ends, and again after each term that was lost, or
 * given back with zkr_grant_release(). It ends by itself when the library
 * cannot go on: the event FAILED says why, and zkr_leader_wait() returns it.
 * Then the caller may begin anew, when the cause is gone.
 *
 * On error  It does not campaign, and no FAILED is told.
 */
ZKR_CALL int zkr_leader_campaign(zkr_leader *leader);

/**
 * Give up the campaign, or the leadership: then the next one leads at once. A
 * leader waits until its node is gone. It may campaign again later, behind all
 * others. A term that was told is told to be LOST.
 *
 * Threads   Inside a callback of the session only if it does not lead
 *           (ZKR_EDEADLK, it still leads).
 * On error  It has left, except with ZKR_EDEADLK, ZKR_EINVAL and ZKR_EFORKED.
 *           ZKR_EPENDING, ZKR_ZNOAUTH: as for zkr_grant_release(); ZKR_ELOST:
 *           the term was over before.
 */
ZKR_API int zkr_leader_leave(zkr_leader *leader);

/** The same without waiting: the node is deleted in the background. */
ZKR_API int zkr_leader_leave_async(zkr_leader *leader);

/**
 * Tell whether it provably leads now: zkr_grant_is_held() of the grant of the
 * term; false without a term.
 */
ZKR_CALL bool zkr_leader_is_leader(const zkr_leader *leader);

/**
 * Wait until it leads: until zkr_leader_is_leader() would say true. Where no
 * lease can be proven (grant.h: answers are too slow, the session timeout is
 * too short) it goes on waiting, also in its own term.
 *
 * Time      The campaign goes on after the time has passed.
 * Errors    ZKR_ETIMEDOUT; with a timeout of 0 ZKR_EBUSY (others come first)
 *           and ZKR_ZOPERATIONTIMEOUT (no answer); ZKR_ECANCELED: it does not
 *           campaign, or has left; the error of FAILED.
 */
ZKR_CALL int zkr_leader_wait(zkr_leader *leader, int64_t timeout_ms);

/**
 * Get the grant of the present term, for guarded writes (grant.h), and for
 * its token, which names the term. It stays that of this term: when the term is
 * over, checks of it fail, and so do its guarded writes, whoever leads then.
 *
 * zkr_grant_release() on it gives back the term: the next one leads, and this
 * participant campaigns again. zkr_grant_free() only frees the handle; the
 * participant goes on to lead. A listener of the grant (zkr_grant_listen()) is
 * that of all handles of the term: remove it before the handle is freed.
 *
 * Owns      The caller frees the grant, before or after the participant.
 * Errors    ZKR_ENOTHELD (it does not lead), ZKR_EOVERFLOW (more than 65535
 *           handles).
 */
ZKR_CALL int zkr_leader_grant(zkr_leader *leader, zkr_grant **ret_grant);

/** The path. */
ZKR_API const char *zkr_leader_path(const zkr_leader *leader);

/** The counters (session.h) of this object: a campaign is an acquire, and a
 * term a grant. */
ZKR_CALL int zkr_leader_stats(zkr_leader *leader,
                              struct zkr_counters *ret_counters);

ZKR__END_C

#endif
