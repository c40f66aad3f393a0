/* SPDX-License-Identifier: Apache-2.0 */
/* An errand: one function that runs on a thread of its own, because it waits
 * for servers and its caller must not. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct errand;

/* Runs `run` with `arg`, which belongs to the thread until the errand has
 * ended. The thread has all signals blocked. False: out of memory. */
bool errand_start(void (*run)(void *arg), void *arg,
                  struct errand **ret_errand);

/* Readable as soon as the function has returned; NULL: -1, which poll()
 * ignores. */
int errand_fd(const struct errand *errand);

/* Ends an errand whose function has returned, or returns within that time.
 * Returns false when it has not: then the errand goes on, and the process must
 * not free what it uses. NULL is allowed. */
bool errand_end(struct errand *errand, int64_t patience_ms);
