/* The lease: until when the server cannot have ended our session. Pure.
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
 * A session that holds nothing has a pulse of syncs. They prove nothing, as a
 * leader that the others have left answers them, too; but there is always a j
 * and an m, and the first write of a grant is the k. */
#ifndef ZKR__LEASE_H
#define ZKR__LEASE_H

#include <stdbool.h>
#include <stdint.h>

#define ZKR__LEASE_SIGNS 32

struct zkr__lease_signs {
    struct zkr__lease_sign {
        int64_t sent;
        int64_t acked;
    } ring[ZKR__LEASE_SIGNS]; /* the oldest at `first` */
    unsigned first;
    unsigned count;
};

/* All times are nanoseconds of a clock that counts suspended time; 0: none. */
struct zkr__lease {
    int64_t timeout;  /* T: of the session, the smallest so far */
    int64_t ping_gap; /* G */
    int64_t margin;
    struct zkr__lease_signs requests; /* that the server has answered */
    struct zkr__lease_signs rounds;   /* ... with the leader's help */
    int64_t last_round;               /* when it was sent */
    int64_t last_committed;           /* ... a write */
    int64_t took;                     /* ... until it was answered */
    int64_t alive;                    /* s_j: the leader knows that we were */
};

/* A new session. `ping_gap` 0: three tenths of the timeout. */
void zkr__lease_reset(struct zkr__lease *lease, int64_t ping_gap,
                      int64_t margin);

/* After each connect: the timeout may have been negotiated anew. */
void zkr__lease_set_timeout(struct zkr__lease *lease, int64_t timeout);

/* The session was made, by a request that was sent not before `since`. */
void zkr__lease_begin(struct zkr__lease *lease, int64_t since);

/* The server has answered a request: sent not before `sent`. */
void zkr__lease_answered(struct zkr__lease *lease, int64_t sent, int64_t acked);

/* ... a sync. */
void zkr__lease_synced(struct zkr__lease *lease, int64_t sent, int64_t acked);

/* ... a write, which was committed. */
void zkr__lease_committed(struct zkr__lease *lease, int64_t sent,
                          int64_t acked);

/* What is held is ours before this instant; 0 without a proof. */
int64_t zkr__lease_until(const struct zkr__lease *lease);

/* How often to write while something is held, and after which silence a proof
 * is late. */
int64_t zkr__lease_beat(const struct zkr__lease *lease);
int64_t zkr__lease_late(const struct zkr__lease *lease);

/* For how long a claim that begins now must be proven, so that the next proof
 * comes in time. */
int64_t zkr__lease_ahead(const struct zkr__lease *lease);

/* How long to wait for a proof that is missing: with all links well it takes
 * the gap and three round trips. */
int64_t zkr__lease_patience(const struct zkr__lease *lease);

/* How often to sync while no write does it, so that there is always an m whose
 * j is young. */
int64_t zkr__lease_pulse(const struct zkr__lease *lease);

#endif
