/* SPDX-License-Identifier: Apache-2.0 */
/* Each recipe as links of a chain, for the multi-lock. A handle that is NULL
 * gives a link without a lock. */
#ifndef ZKR__LINKS_H
#define ZKR__LINKS_H

#include <zkrecipes/mutex.h>
#include <zkrecipes/reentrant_mutex.h>
#include <zkrecipes/rwlock.h>
#include <zkrecipes/semaphore.h>
#include <zkrecipes/unfair_mutex.h>

#include "lock/chain.h"

struct zkr__link zkr__mutex_link(zkr_mutex *mutex);
struct zkr__link zkr__reentrant_mutex_link(zkr_reentrant_mutex *rm);
struct zkr__link zkr__reading_link(zkr_rwlock *lock);
struct zkr__link zkr__writing_link(zkr_rwlock *lock);
struct zkr__link zkr__unfair_mutex_link(zkr_unfair_mutex *mutex);

/* The turn of an acquire of so many permits; and all of its links: one more
 * than permits. */
struct zkr__link zkr__semaphore_turn(const zkr_semaphore *semaphore,
                                     uint32_t permits);
void zkr__semaphore_links(const zkr_semaphore *semaphore, uint32_t permits,
                          struct zkr__link *links);

/* Refuses NULL, a forked child, and a number of permits that cannot be had. */
int zkr__semaphore_check(zkr_semaphore *semaphore, uint32_t permits);

#endif
