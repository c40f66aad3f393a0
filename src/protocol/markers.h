/* SPDX-License-Identifier: Apache-2.0 */
/* Markers: the text in a node's name that says what kind of contender it is.
 * The only table of them. */
#pragma once

#include <stdint.h>

/* How a contender wants the lock. */
enum zkr__kind {
    ZKR__FOREIGN, /* not a contender: ignored by locks, shown by tools */
    ZKR__EXCLUSIVE,
    ZKR__SHARED,
};

/* How a name is written. We write names of the first two, and read their
 * markers after any text. <seq> is the number that the server appends. */
enum zkr__layout {
    ZKR__LAYOUT_CURATOR,  /* _c_<uuid36>-<marker><seq> */
    ZKR__LAYOUT_KAZOO,    /* <hex32><marker><seq> */
    ZKR__LAYOUT_C_RECIPE, /* <marker><session>-<seq> */
    ZKR__LAYOUT_ZK_RUBY,  /* <marker><seq> */
    ZKR__LAYOUT_UNFAIR,   /* <marker>: no number, and no queue */
};

/* The recipes that write a marker: bits, because the nodes of one path may be
 * of several. */
enum zkr__family {
    ZKR__FAMILY_MUTEX = 1,
    ZKR__FAMILY_RW = 2,
    ZKR__FAMILY_KAZOO = 4, /* its Lock, or its WriteLock */
    ZKR__FAMILY_UNFAIR = 8,
    ZKR__FAMILY_C_RECIPE = 16,
    ZKR__FAMILY_ZK_RUBY = 32,
    ZKR__FAMILY_LATCH = 64,
    ZKR__FAMILY_SEMAPHORE = 128, /* its leases, and its queue */
};

/* The node of an unfair mutex is this marker and nothing else. */
#define ZKR__UNFAIR_NAME "holder"

enum zkr__marker {
    ZKR__CURATOR_LOCK,
    ZKR__CURATOR_WRITE,
    ZKR__CURATOR_READ,
    ZKR__CURATOR_LATCH,
    ZKR__CURATOR_LEASE,
    ZKR__KAZOO_LOCK,
    ZKR__KAZOO_READ,
    ZKR__C_RECIPE_LOCK,
    ZKR__ZK_RUBY_LOCK,
    ZKR__ZK_RUBY_READ,
    ZKR__UNFAIR_HOLDER,
    ZKR__MARKER_COUNT,
};

struct zkr__marker_row {
    const char *text;
    enum zkr__kind kind;
    enum zkr__layout layout;
    enum zkr__family family;
};

extern const struct zkr__marker_row zkr__markers[ZKR__MARKER_COUNT];

/* A set of markers: bits. A recipe says with it which nodes contend. */
#define ZKR__MARKER_BIT(marker) (UINT32_C(1) << (marker))
#define ZKR__ALL_MARKERS        (ZKR__MARKER_BIT(ZKR__MARKER_COUNT) - 1)

/* Whom a mutex waits for, a lock of readers and writers, and a leader latch. A
 * mutex and kazoo's Lock do not wait for readers and writers, who wait for
 * them. */
#define ZKR__MUTEX_MARKERS                                                     \
    (ZKR__MARKER_BIT(ZKR__CURATOR_LOCK) | ZKR__MARKER_BIT(ZKR__KAZOO_LOCK))
#define ZKR__RW_MARKERS                                                        \
    (ZKR__MUTEX_MARKERS | ZKR__MARKER_BIT(ZKR__CURATOR_WRITE) |                \
     ZKR__MARKER_BIT(ZKR__CURATOR_READ) | ZKR__MARKER_BIT(ZKR__KAZOO_READ))
#define ZKR__LATCH_MARKERS                                                     \
    (ZKR__MARKER_BIT(ZKR__CURATOR_LATCH) | ZKR__MARKER_BIT(ZKR__KAZOO_LOCK))
