/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a lock as JSON, in the one schema of docs/lockctl-json.md. */
#ifndef TEXT_DESCRIBE_H
#define TEXT_DESCRIBE_H

#include "model/lock_state.h"
#include "text/envelope.h"

/* Describes a lock without its waiters and foreign children. NULL: out of
 * memory. */
json_t *describe_lock(const struct lock *lock);
json_t *describe_contender(const struct lock *lock, const struct contender *c);

#endif
