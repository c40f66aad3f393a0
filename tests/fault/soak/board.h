/* SPDX-License-Identifier: Apache-2.0 */
/* The board: a page of memory that the test and its clients share while they
 * run. */
#pragma once

#include <stdatomic.h>

#include "soak.h"

struct seat {
    _Atomic int64_t session;
    atomic_int grants; /* that the client has */
};

struct board {
    atomic_bool stop;
    atomic_long grants[LOCKS];
    struct seat seats[WORKERS];
};

/* Opens the file, or makes it: O_CREAT and O_TRUNC. NULL with errno. */
struct board *board_open(const char *dir, int flags);
