/* SPDX-License-Identifier: Apache-2.0 */
/* The killer: the guard of a shell, beside the process that keeps a lock for
 * it. It tells the shell when that process cannot. */
#pragma once

#include "run/guard.h"

struct run;

/* Both of us see this. */
struct killer {
    atomic_bool watches;      /* somebody works under the lock */
    struct deadline deadline; /* of that work */
    pid_t pid;
    int fd; /* our end of a pipe: it is closed when we are dead */
};

/* A child of ours, for a run with `keep`. While there is one thread only. NULL,
 * with errno, on failure. */
struct killer *killer_start(const struct run *run);
/* Ends it. NULL is allowed. */
void killer_dismiss(struct killer *k);
