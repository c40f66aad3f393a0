/* A ring of the latest events for a listener: bounded, without allocation. */
#ifndef ZKR__RING_H
#define ZKR__RING_H

#include <stdbool.h>
#include <stdint.h>

#define ZKR__RING_MAX 16

struct zkr__event {
    int kind;
    int state;
    uint64_t epoch;
    int64_t session_id;
};

struct zkr__ring {
    struct zkr__event events[ZKR__RING_MAX];
    unsigned first;
    unsigned count;
};

/* When the ring is full, the oldest event is dropped, because the latest one
 * counts. */
static inline void zkr__ring_push(struct zkr__ring *ring, struct zkr__event e)
{
    if (ring->count == ZKR__RING_MAX) {
        ring->first = (ring->first + 1) % ZKR__RING_MAX;
        ring->count--;
    }
    ring->events[(ring->first + ring->count++) % ZKR__RING_MAX] = e;
}

static inline bool zkr__ring_pop(struct zkr__ring *ring, struct zkr__event *e)
{
    if (ring->count == 0)
        return false;
    *e = ring->events[ring->first];
    ring->first = (ring->first + 1) % ZKR__RING_MAX;
    ring->count--;
    return true;
}

#endif
