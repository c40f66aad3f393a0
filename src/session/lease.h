/* SPDX-License-Identifier: Apache-2.0 */
/* The lease: computes until when the server cannot have ended our session.
 * Pure.
 *
 * Only writes that the quorum has committed are evidence, and not even the last
 * of them by itself: a follower tells the leader who is alive in its answers to
 * the leader's pings only. So three requests of ours make a proof:
 *
 *   j  anything that the server has answered: sent at s_j, so the client was
 *      alive then, and the server has heard it;
 *   m  a round to the leader and back (a sync, or a write), sent when j had
 *      been answered for G, so that the leader has pinged in between: before m
 *      was answered, the follower's answer to the ping was under way;
 *   k  a write, sent when m had been answered, so it came to the leader behind
 *      that answer: when k is committed, the leader knows that we were alive at
 *      s_j.
 *
 * The leader does not end the session before s_j + T then. This assumes that
 * the leader pings at least every G, and clocks that differ by less than 0.1 %.
 * The leader made the session itself, so its beginning needs no proof.
 *
 * An observer may hang below a follower ("observer master"), which pings it in
 * the leader's place: then there are two hops. The k of the first, any round,
 * shows that the follower knew of j, and is the j of the second:
 *
 *   j, G, m, k, G, m, k.
 *
 * A leader that ends sessions takes all that are overdue out of its tracker at
 * once ("polls" them), and closes one after the other without another look. In
 * between, a polled session is touched and writes as if nothing were wrong. So
 * what the leader has heard of by the time a round is answered counts
 *
 *   - when the lease that is known so far runs at that time: then the leader
 *     has not polled the session;
 *   - or when another round is sent on the same connection, later by the
 *     longest pass of the tracker, P: if the session had been polled it would
 *     be closed now, and no write would be committed any more;
 *   - or when our server has answered us at least every 3 T/8 for T, on this
 *     connection: what it has heard it tells the leader at the next ping. This
 *     assumes that its link to the leader has not stalled for T/3 just then.
 *
 * `tracked` is the s_j that the leader of this connection knows in this sense,
 * be it alone or not; a committed write makes it `alive`, which is true of
 * every later leader, too.
 *
 * After a reconnect the leader has heard of us from the server to which we
 * came, which asks it whether the session lives. So for any k on that
 * connection s_j is at least when the last request before was sent, without G
 * and m.
 *
 * A session that is in use, and holds nothing, has a keepalive of syncs. They
 * prove nothing, as a leader that the others have left answers them, too; but
 * there is always a j and an m, and the first write of a grant is the k. One
 * that is idle sends reads, which cost the leader nothing; there the first
 * write is the m, and a second one the k.
 *
 * The k may be the write of another session, so a fleet can share it. Say that
 * all write a node now and then, the beacon, and that our server follows, or
 * observes:
 *
 *   j, G, m1, m2, a read of the beacon behind m2, a later read that shows
 *   another mzxid.
 *
 * The leader has heard of j when m2 comes to it (m1 is the m, and m2 stands
 * where k stood). When m2 was answered our server showed all that had been
 * proposed before, so what it shows later was proposed after m2, and all later
 * leaders were elected after j. This is not so on a leader, where a sync waits
 * for no proposal of others, and one from before j may be committed late. Nor
 * does a foreign write tell that our session was not polled. So `firm` is a
 * `tracked` in which only the first two rules count, the second one with a
 * write of our own, on this connection; it goes on by syncs while it runs. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Enough for the signs of one timeout at the quickest beat. */
#define ZKR__LEASE_SIGNS 64

/* P is T/20, and at least this. */
#define ZKR__LEASE_PASS (INT64_C(250) * 1000 * 1000)

struct zkr__lease_signs {
    struct zkr__lease_sign {
        int64_t sent;
        int64_t acked;
        int64_t near; /* of a round: the s_j that the next server knew; else
                       * its own */
        int64_t far;  /* of a round: the s_j that the leader knew */
    } ring[ZKR__LEASE_SIGNS]; /* the oldest at `first` */
    unsigned first;
    unsigned count;
};

/* All times are nanoseconds of a clock that counts suspended time; 0: none. */
struct zkr__lease {
    int64_t timeout;  /* T: of the session, the smallest so far */
    int64_t ping_gap; /* G */
    int hops;         /* from our server to the leader: 1, or 2 */
    int64_t margin;
    int64_t connected;   /* when this connection was made, or later */
    int64_t revalidated; /* s_j that every leader knew by then */
    int64_t served;      /* since when answers have come all along */
    int64_t heard;       /* when the last request that was answered was sent */
    struct zkr__lease_signs requests; /* requests that the server answered */
    struct zkr__lease_signs rounds;   /* requests that the leader answered */
    int64_t last_round;               /* when the last round was sent */
    int64_t last_committed; /* when the last committed write was sent */
    int64_t took;           /* what a write takes */
    int64_t slowest;        /* R: the slowest answer of the last T/3 */
    int64_t tracked;        /* s_j: the leader of this connection knows */
    int64_t alive;          /* s_j: every leader knows that we were alive */
    int64_t longest;        /* its end, before the timeout became shorter */
    int64_t follows; /* since then our server does not lead; 0: who knows? */
    int64_t firm;    /* s_j: the leader knows, whatever may have stalled */
    struct {
        int64_t mzxid; /* of the beacon, as it was shown last; */
        int64_t sent;  /* when that read was sent; */
        int64_t firm;  /* and what was firm then; 0: nothing */
    } shown;
};

/* A new session. `ping_gap` 0: three tenths of the timeout. */
void zkr__lease_reset(struct zkr__lease *lease, int64_t ping_gap, int hops,
                      int64_t margin);

/* After each connect: the leader may be another, and the timeout may have been
 * negotiated anew. */
void zkr__lease_connected(struct zkr__lease *lease, int64_t now,
                          int64_t timeout);

/* The session was made, by a request that was sent not before `since`. */
void zkr__lease_begin(struct zkr__lease *lease, int64_t since);

/* The server has answered a request: sent not before `sent`. */
void zkr__lease_answered(struct zkr__lease *lease, int64_t sent, int64_t acked);

/* The server has answered a sync: sent not before `sent`. */
void zkr__lease_synced(struct zkr__lease *lease, int64_t sent, int64_t acked);

/* The server has committed a write: sent not before `sent`. */
void zkr__lease_committed(struct zkr__lease *lease, int64_t sent,
                          int64_t acked);

/* Requests that are sent from `since` on are answered on this connection by a
 * server that does not lead, if they are answered. */
void zkr__lease_follows(struct zkr__lease *lease, int64_t since);

/* The server has answered a read of the beacon: sent not before `sent`. An
 * `mzxid` of 0: it cannot be read. To be told in the order of the answers. */
void zkr__lease_shown(struct zkr__lease *lease, int64_t sent, int64_t mzxid);

/* Tells whether the evidence of others will do for the next beat: each is a
 * sync and a read of the beacon then, and there is no write but in need. The
 * oldest request under way was sent at `oldest`, see zkr__lease_next(). */
bool zkr__lease_shares(const struct zkr__lease *lease, int64_t now,
                       int64_t oldest);

/* Tells whether an own write is needed now, as the next beat may be too late
 * for one. */
bool zkr__lease_needs(const struct zkr__lease *lease, int64_t now);

/* Returns the instant before which a held lock is ours; 0 without a proof. */
int64_t zkr__lease_until(const struct zkr__lease *lease);

/* Returns the latest that this has been: the caller may have been told it. */
int64_t zkr__lease_promised(const struct zkr__lease *lease);

/* What is sent while something is held: at each beat a sign, two reads in one
 * flight, so that a server that loses one touch has the other; and in place of
 * every third sign a chain, a sync and then, when that is answered, a write.
 * They do not wait for those before. The sync of a chain is the m of its write,
 * any sign G before it the j.
 *
 * R is the longest time that an answer of the last T/3 took. A proof is up to
 * G + 3 R + b old when it comes, where b is the beat, and the next comes three
 * beats later. So the beat is the longest for
 *
 *   G + 3 R + 4 b <= T
 *
 * less what is allowed for clocks, the margin, and a reserve: T/5, or half of
 * what G and 3 R leave, if that is less. With two hops it is 2 G + 5 R + 6 b,
 * and a sign is a sync and a read. The beat is T/50 at least, where each is a
 * chain, which carries up to R = T/5. It is a third of G + 2 R at most: then
 * the sync of one chain is the j of the next, and three writes in T will do.
 * Where R leaves nothing no beat helps, and it is the longest: slow answers may
 * come from servers that have too much to do.
 *
 * With shared evidence the beat is a third of G, and T/100, while R is up to
 * T/20, and G up to T/3. A proof is up to G + 2 b + R old when it comes, and a
 * sign is always G before a sync. So the beacon may stand still for three
 * beats.
 *
 * When a link turns slow, a sign that is not answered tells, see below. */
int64_t zkr__lease_beat(const struct zkr__lease *lease);

/* Every how many beats it is a chain: every third; each, at the quickest. */
uint32_t zkr__lease_chain(const struct zkr__lease *lease);

/* Returns when the next beat is, if the last one was at `last`, and the oldest
 * request under way was sent at `oldest` (0: none is). When that has been
 * unanswered for longer than R by T/50, or the lease is about to end or is
 * over, it is a quarter of a beat later. */
int64_t zkr__lease_next(const struct zkr__lease *lease, int64_t last,
                        int64_t oldest);

/* How long a question for a missing proof waits for the next: a beat; less
 * where the lease does not run for long. The first write of a grant comes after
 * less where it does not run for very long: after a time without writes the
 * proof is old, and the next one far. */
int64_t zkr__lease_pace(const struct zkr__lease *lease, int64_t now);
int64_t zkr__lease_first_pace(const struct zkr__lease *lease, int64_t now);

/* Tells whether the lease will go on without a gap, if the beat goes on from
 * now on, and requests are answered as the last ones were. The oldest chain
 * under way was begun `under_way` ago; 0: none is. A new grant must not be in
 * doubt at once. */
bool zkr__lease_lasts(const struct zkr__lease *lease, int64_t now,
                      int64_t under_way);

/* Tells whether answers take so long that keepalives are too few for a lease
 * that lasts. */
bool zkr__lease_is_slow(const struct zkr__lease *lease);

/* Returns when a proof is late: no write that we know of has been committed for
 * T/2. */
int64_t zkr__lease_late(const struct zkr__lease *lease);

/* Returns in what time the end of the oldest chain under way, or of one that is
 * begun now, is to be expected, and half a beat more. */
int64_t zkr__lease_ahead(const struct zkr__lease *lease, int64_t under_way);

/* How long to wait for a proof that is missing: with all links well it takes
 * the gap and three round trips, and one more for the answer to our own
 * question. */
int64_t zkr__lease_proof_wait(const struct zkr__lease *lease);

/* How often to send a keepalive while nothing else is sent, so that there is
 * always a j, and an m whose j is young. An idle session needs a j only, and
 * sends fewer requests than the client sends pings. */
int64_t zkr__lease_keepalive(const struct zkr__lease *lease, bool idle);

/* Tells whether the session has written nothing for T, so that reads will do
 * for the keepalive. With two hops they never do. */
bool zkr__lease_is_idle(const struct zkr__lease *lease, int64_t now);
