/* SPDX-License-Identifier: Apache-2.0 */
/* A reference count inside the object that it counts for. */
#pragma once

#include <stdatomic.h>

struct zkr__ref {
    atomic_uint count;
    void (*last)(struct zkr__ref *ref); /* frees the object */
};

/* With one reference, the creator's. */
static inline void zkr__ref_init(struct zkr__ref *ref,
                                 void (*last)(struct zkr__ref *))
{
    atomic_init(&ref->count, 1);
    ref->last = last;
}

static inline void zkr__ref_take(struct zkr__ref *ref)
{
    (void)atomic_fetch_add(&ref->count, 1);
}

static inline void zkr__ref_drop(struct zkr__ref *ref)
{
    if (atomic_fetch_sub(&ref->count, 1) == 1)
        ref->last(ref);
}
