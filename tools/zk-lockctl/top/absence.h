/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out why there is no connection, while there is none. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct errand;

struct absence {
    const char *servers;   /* as --servers has them */
    struct errand *errand; /* under way; NULL: none */
    bool refused;          /* what it finds */
    const char *why;       /* what the last one has found; "" */
    int64_t next_ms;       /* when the next may begin; 0: at the start */
};

/* Takes what was found, and asks again, now and then. Never waits. */
void absence_tick(struct absence *absence, bool is_connected);
