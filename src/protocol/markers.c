/* SPDX-License-Identifier: Apache-2.0 */
/* Markers: the text in a node's name that says what kind of contender it is. */
#include "protocol/markers.h"

/* clang-format off */
const struct zkr__marker_row zkr__markers[ZKR__MARKER_COUNT] = {
    /* Curator, go-zookeeper (mutex only) and this library */
    [ZKR__CURATOR_LOCK]   = { "lock-",     ZKR__EXCLUSIVE, ZKR__LAYOUT_CURATOR,  ZKR__FAMILY_MUTEX },
    [ZKR__CURATOR_WRITE]  = { "__WRIT__",  ZKR__EXCLUSIVE, ZKR__LAYOUT_CURATOR,  ZKR__FAMILY_RW },
    [ZKR__CURATOR_READ]   = { "__READ__",  ZKR__SHARED,    ZKR__LAYOUT_CURATOR,  ZKR__FAMILY_RW },
    /* Their leader latch, and the leases of their semaphore, which do not wait
     * for each other: their number counts. */
    [ZKR__CURATOR_LATCH]  = { "latch-",    ZKR__EXCLUSIVE, ZKR__LAYOUT_CURATOR,  ZKR__FAMILY_LATCH },
    [ZKR__CURATOR_LEASE]  = { "lease-",    ZKR__SHARED,    ZKR__LAYOUT_CURATOR,  ZKR__FAMILY_SEMAPHORE },
    /* kazoo: its Lock and its WriteLock write the same marker */
    [ZKR__KAZOO_LOCK]     = { "__lock__",  ZKR__EXCLUSIVE, ZKR__LAYOUT_KAZOO,    ZKR__FAMILY_KAZOO },
    [ZKR__KAZOO_READ]     = { "__rlock__", ZKR__SHARED,    ZKR__LAYOUT_KAZOO,    ZKR__FAMILY_RW },
    /* ZooKeeper's own recipes, in C and Java */
    [ZKR__C_RECIPE_LOCK]  = { "x-",        ZKR__EXCLUSIVE, ZKR__LAYOUT_C_RECIPE, ZKR__FAMILY_C_RECIPE },
    [ZKR__ZK_RUBY_LOCK]   = { "ex",        ZKR__EXCLUSIVE, ZKR__LAYOUT_ZK_RUBY,  ZKR__FAMILY_ZK_RUBY },
    [ZKR__ZK_RUBY_READ]   = { "sh",        ZKR__SHARED,    ZKR__LAYOUT_ZK_RUBY,  ZKR__FAMILY_ZK_RUBY },
    /* our unfair mutex */
    [ZKR__UNFAIR_HOLDER]  = { ZKR__UNFAIR_NAME, ZKR__EXCLUSIVE, ZKR__LAYOUT_UNFAIR, ZKR__FAMILY_UNFAIR },
};
/* clang-format on */
