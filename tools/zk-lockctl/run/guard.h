/* SPDX-License-Identifier: Apache-2.0 */
/* Guards: processes of ours that act when we cannot, because we were killed,
 * are stopped, or are stuck. child.h has the one of a command, killer.h that of
 * a shell. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sys/types.h>

/* A guard and its owner both see this. */
struct deadline {
    _Atomic int64_t at_ms; /* nobody may work under the lock after this instant
                              of CLOCK_BOOTTIME, unless a later one is given
                              before; 0: none */
    atomic_bool missed;    /* it has passed, and the guard has acted */
};

enum { GUARD_SLEEP_MS = 1000, GUARD_AGAIN_MS = 10 };

/* 0: it has passed; GUARD_SLEEP_MS at most. */
int deadline_left_ms(const struct deadline *d);

/* Memory that both have; NULL, with errno, on failure. */
void *guard_share(size_t size);

/* As fork(). No signal stops the guard or ends it, and it is in a process group
 * of its own, so that a signal to ours does not hit it; but in our session,
 * because the kernel does not let a command stop by a key when its parent is in
 * another one. */
pid_t guard_fork(void);
