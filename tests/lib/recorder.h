/* SPDX-License-Identifier: Apache-2.0 */
/* A thread-safe list of events: callbacks append, the main thread asserts. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct recorder;

/* NULL when out of memory. */
struct recorder *recorder_new(void);

/* Free when no callback can come any more.  NULL is allowed. */
void recorder_free(struct recorder *r);

/* Append one event; any thread. */
void recorder_add(struct recorder *r, int code, int64_t value);

size_t recorder_count(struct recorder *r);

/* Wait until at least `count` events were added; false when time is up. */
bool recorder_wait(struct recorder *r, size_t count, int timeout_ms);

/* Copy event number `i`, counted from 0; false when there is none.  Either
 * result pointer may be NULL. */
bool recorder_get(struct recorder *r, size_t i, int *code, int64_t *value);

/* Forget all events. */
void recorder_clear(struct recorder *r);
