/* SPDX-License-Identifier: Apache-2.0 */
/* The permits of a semaphore: a lock that several may hold at once. */
#ifndef ZKR__WAY_OF_PERMITS_H
#define ZKR__WAY_OF_PERMITS_H

#include "lock/lock.h"

struct zkr__permits { /* its recipe goes zkr__among_a_few */
    struct zkr__lock lock;
    uint32_t limit; /* so many; under the session lock */
};

static inline struct zkr__permits *zkr__permits_of(struct zkr__lock *lock)
{
    return ZKR__CONTAINER(lock, struct zkr__permits, lock);
}

#endif
