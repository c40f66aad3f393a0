/* SPDX-License-Identifier: Apache-2.0 */
/* An election as a lock: to become the leader is to acquire it, to leave is to
 * release it. Each acquire is a participant of its own. */
#pragma once

#include "fixture.h"

int leadership_make(zkr_session *s, const char *path,
                    const struct zkr_lockable_opts *opts, void **ret_lock);
void leadership_free(void *lock);
int leadership_acquire(void *lock, int64_t timeout_ms, zkr_grant **ret_grant);
int leadership_cancel(void *lock);
int leadership_release(void *lock, zkr_grant *grant);
void leadership_forget(void *lock, zkr_grant *grant);
