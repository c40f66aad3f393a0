/* SPDX-License-Identifier: Apache-2.0 */
/* A ring of the latest events for a listener: bounded, without allocation. It
 * says in which slot of an array an event is kept; the array, of ZKR__RING_MAX
 * events, is next to it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define ZKR__RING_MAX 16

struct zkr__ring {
    uint8_t first;
    uint8_t count;
};

/* Returns the slot for a new event. When the ring is full, that of the oldest
 * event is taken, because the latest one counts. */
static inline unsigned zkr__ring_push(struct zkr__ring *ring)
{
    if (ring->count == ZKR__RING_MAX)
        ring->first = (ring->first + 1) % ZKR__RING_MAX;
    else
        ring->count++;
    return (ring->first + ring->count - 1u) % ZKR__RING_MAX;
}

/* Takes out the oldest event: returns false when there is none. */
static inline bool zkr__ring_pop(struct zkr__ring *ring, unsigned *ret_slot)
{
    if (ring->count == 0)
        return false;
    *ret_slot = ring->first;
    ring->first = (ring->first + 1) % ZKR__RING_MAX;
    ring->count--;
    return true;
}
