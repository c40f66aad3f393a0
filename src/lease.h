/* The lease: until when the server cannot have ended our session. Pure.
 *
 * Only writes that the quorum has committed are evidence, and not even the last
 * of them by itself: a follower tells the leader who is alive in its answers to
 * the leader's pings only. So three writes of ours make a proof:
 *
 *   j  was sent at s_j, and so the client was alive then;
 *   m  was sent when j had been answered for G, so that the leader has pinged
 *      in between: before m was committed, the follower's answer was under way;
 *   k  was sent when m had been answered, so it came to the leader behind that
 *      answer: when k is committed, the leader knows that we were alive at s_j.
 *
 * The leader does not end the session before s_j + T then. This assumes that
 * the leader pings at least every G, and clocks that differ by less than 0.1 %.
 * Until there are three since we began to hold something, m alone counts as if
 * the leader had last heard of us T/3 (the client's pings) and G before s_m: it
 * knows what the follower knew at the ping before m. That needs k. A write that
 * was answered within G/2 counts so without a k; that also assumes that the
 * link between follower and leader did not just end a longer stall and break in
 * the same moment. A pause between such writes, of the process or of a link,
 * says that this does not hold: then only three count. */
#ifndef ZKR__LEASE_H
#define ZKR__LEASE_H

#include <stdbool.h>
#include <stdint.h>

#define ZKR__LEASE_WRITES 32

/* All times are nanoseconds of a clock that counts suspended time. */
struct zkr__lease {
    int64_t timeout;  /* T: of the session, the smallest so far; 0: unknown */
    int64_t ping_gap; /* G */
    int64_t margin;
    struct zkr__lease_write {
        int64_t sent;
        int64_t acked;
    } writes[ZKR__LEASE_WRITES]; /* the oldest at `first` */
    unsigned first;
    unsigned count;
    int64_t last_sent;   /* of all writes that were committed; 0: none */
    int64_t alive;       /* s_j: the leader knows that we were; 0: no proof */
    int64_t provisional; /* the same for a single write */
    int64_t busy_since;  /* the first write since we held nothing; 0: none */
    bool stalled;        /* ... and then for longer than T/3 there was none */
};

/* A new session. `ping_gap` 0: a quarter of the timeout. */
void zkr__lease_reset(struct zkr__lease *lease, int64_t ping_gap,
                      int64_t margin);

/* After each connect: the timeout may have been negotiated anew. */
void zkr__lease_set_timeout(struct zkr__lease *lease, int64_t timeout);

/* A write was committed: sent not before `sent`, answered at `acked`. */
void zkr__lease_acked(struct zkr__lease *lease, int64_t sent, int64_t acked);

/* Nothing is held: the next write counts by itself. While something is held
 * that would be wrong: writes that are missing have stalled. */
void zkr__lease_rest(struct zkr__lease *lease);

/* What is held is ours before this instant; 0 without a proof. */
int64_t zkr__lease_until(const struct zkr__lease *lease);

/* How often to write while something is held, and after which silence a proof
 * is late. */
int64_t zkr__lease_beat(const struct zkr__lease *lease);
int64_t zkr__lease_late(const struct zkr__lease *lease);

#endif
