/* SPDX-License-Identifier: Apache-2.0 */
/* What a test makes and forgets: objects that end with their block, and options
 * that stand where they are used.
 *
 *     AUTO(mutex) m = new_mutex(s, path);     a zkr_mutex *, freed where the
 *                                             block ends; the last one first
 *     zkr_mutex_new(s, path, OPTS(lockable, .retain_ms = 100), &m)
 *
 *     NEW(rwlock, s, path, NULL)              what zkr_rwlock_new() makes
 *     GRANT(rwlock_acquire_read, l, SOON_MS)  what is granted by that call; the
 *                                             test fails when the call does
 *     MADE(listener, session_listen, s, fn, r)  what another call makes
 *
 * A test that fails leaves its block by a jump, and frees nothing. */
#pragma once

#include <stdlib.h>

#include <zkrecipes/zkrecipes.h>

#include "recorder.h"

#define AUTO(noun) __attribute__((unused, cleanup(end_of_##noun))) auto_##noun

/* AUTO(noun) is a pointer to that type, which `undo` frees. */
#define SCOPED(type, noun, undo)                                               \
    typedef type *auto_##noun;                                                 \
    static inline void end_of_##noun(auto_##noun *p)                           \
    {                                                                          \
        undo(*p);                                                              \
    }

#define OPTS(noun, ...)                                                        \
    (&(struct zkr_##noun##_opts){ .size = sizeof(struct zkr_##noun##_opts),    \
                                  __VA_ARGS__ })

#define MADE(noun, call, ...)                                                  \
    __extension__({                                                            \
        auto_##noun new_one = NULL;                                            \
                                                                               \
        ok(zkr_##call(__VA_ARGS__, &new_one));                                 \
        new_one;                                                               \
    })
#define NEW(noun, ...)   MADE(noun, noun##_new, __VA_ARGS__)
#define GRANT(call, ...) MADE(grant, call, __VA_ARGS__)

SCOPED(zkr_barrier, barrier, zkr_barrier_free)
SCOPED(zkr_counter, counter, zkr_counter_free)
SCOPED(zkr_double_barrier, double_barrier, zkr_double_barrier_free)
SCOPED(zkr_fence, fence, zkr_fence_free)
SCOPED(zkr_grant, grant, zkr_grant_free)
SCOPED(zkr_leader, leader, zkr_leader_free)
SCOPED(zkr_listener, listener, zkr_listener_free)
SCOPED(zkr_multi_lock, multi_lock, zkr_multi_lock_free)
SCOPED(zkr_mutex, mutex, zkr_mutex_free)
SCOPED(zkr_reentrant_mutex, reentrant_mutex, zkr_reentrant_mutex_free)
SCOPED(zkr_request, request, zkr_request_free)
SCOPED(zkr_rwlock, rwlock, zkr_rwlock_free)
SCOPED(zkr_semaphore, semaphore, zkr_semaphore_free)
SCOPED(zkr_txn, txn, zkr_txn_free)
SCOPED(zkr_unfair_mutex, unfair_mutex, zkr_unfair_mutex_free)
SCOPED(zkr_watch, watch, zkr_watch_free)
SCOPED(struct recorder, recorder, recorder_free)
SCOPED(struct zkr_participants, participants, zkr_participants_free)
SCOPED(struct zkr_reply, reply, zkr_reply_free)
SCOPED(char, text, free)
