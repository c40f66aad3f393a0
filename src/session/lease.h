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
 *     be closed now, and no write would be committed any more.
 *
 * `tracked` is the s_j that the leader of this connection knows in this sense,
 * be it alone or not; a committed write makes it `alive`, which is true of
 * every later leader, too.
 *
 * A session that holds nothing has a keepalive of syncs. They prove nothing, as
 * a leader that the others have left answers them, too; but there is always a j
 * and an m, and the first write of a grant is the k. */
#ifndef ZKR__LEASE_H
#define ZKR__LEASE_H

#include <stdbool.h>
#include <stdint.h>

/* Enough for the requests of one timeout at the quickest beat. */
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
    int64_t connected; /* when this connection was made, or later */
    struct zkr__lease_signs requests; /* requests that the server answered */
    struct zkr__lease_signs rounds;   /* requests that the leader answered */
    int64_t last_round;               /* when the last round was sent */
    int64_t last_committed; /* when the last committed write was sent */
    int64_t took;           /* what a write takes */
    int64_t slowest; /* R: the slowest round of the last T/3, see below */
    int64_t widest;  /* the longest time between two of the last T */
    int64_t tracked; /* s_j: the leader of this connection knows */
    int64_t alive;   /* s_j: every leader knows that we were alive */
    int64_t longest; /* its end, before the timeout became shorter */
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

/* Returns the instant before which a held lock is ours; 0 without a proof. */
int64_t zkr__lease_until(const struct zkr__lease *lease);

/* Returns the latest that this has been: the caller may have been told it. */
int64_t zkr__lease_promised(const struct zkr__lease *lease);

/* How often to write while something is held. Several writes may be under way:
 * each is a j, an m and a k, so proofs overlap. R is the longest time that an
 * answer of the last T/3 took.
 *
 * With a beat of b and answers that take R, m is the first write that is sent
 * G + R after j, and k the first that is sent R after m; k is answered R later,
 * and the next proof comes a beat after that. So when it comes, what is left of
 * the lease is
 *
 *   T - b ceil((G + R) / b) - b ceil(R / b) - R - b,
 *
 * (the two terms in the middle come twice with two hops), less what is allowed
 * for clocks, and the margin. The beat is the longest that leaves T/5, or two
 * thirds of what the quickest could leave if that is less. It is T/6 at most,
 * and T/50 at least, which carries up to R = T/5. Where R leaves nothing no
 * beat helps, and it is T/6: slow answers may come from servers that have too
 * much to do.
 *
 * When a link turns slow, the last quick write and the first slow one are up to
 * a = T/6 apart, and the writes after that are at any time between: m and k
 * come up to a beat late. So in the next T the beat is short enough for
 *
 *   a + G + 3 R + 2 b <= T,
 *
 * and a reserve of T/40. That carries up to R = T/7, whatever each answer takes
 * up to that. */
int64_t zkr__lease_beat(const struct zkr__lease *lease);

/* Returns when to write next, if the last write was sent at `last`, and the
 * oldest one under way at `oldest` (0: none is): a beat after the last. When
 * the oldest has been unanswered for longer than R by T/50, or the lease is
 * over, it is a quarter of a beat. */
int64_t zkr__lease_next(const struct zkr__lease *lease, int64_t last,
                        int64_t oldest);

/* How long a question for a missing proof waits for the next: a beat; less
 * where the lease does not run for long. The first write of a grant comes after
 * less where it does not run for very long: after a time without writes the
 * proof is old, and the next one far. */
int64_t zkr__lease_pace(const struct zkr__lease *lease, int64_t now);
int64_t zkr__lease_first_pace(const struct zkr__lease *lease, int64_t now);

/* Tells whether the lease will go on without a gap, if writes are sent at that
 * pace from now on, and answered as the last ones were. The oldest write under
 * way was sent `under_way` ago; 0: none is. A new grant must not be in doubt at
 * once. */
bool zkr__lease_lasts(const struct zkr__lease *lease, int64_t now,
                      int64_t under_way);

/* Tells whether answers take so long that keepalives are too few for a lease
 * that lasts. */
bool zkr__lease_is_slow(const struct zkr__lease *lease);

/* Returns after which silence a proof is late. */
int64_t zkr__lease_late(const struct zkr__lease *lease);

/* Returns when the answer to the oldest write under way, or to one that is sent
 * now, is to be expected, and half a beat more. */
int64_t zkr__lease_ahead(const struct zkr__lease *lease, int64_t under_way);

/* How long to wait for a proof that is missing: with all links well it takes
 * the gap and three round trips, and one more for the answer to our own
 * question. */
int64_t zkr__lease_proof_wait(const struct zkr__lease *lease);

/* How often to sync while no write does it, so that there is always an m whose
 * j is young. */
int64_t zkr__lease_keepalive(const struct zkr__lease *lease);

#endif
