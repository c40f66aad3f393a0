/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of faults. */
#pragma once

#include "nemesis.h"

enum hit { NONE, LEADER, FOLLOWER, ANY }; /* the server that a fault is for */

struct fault {
    const char *name;
    int per_round;
    enum hit hit;
    int least_ms, most_ms;             /* from strike to heal, at random */
    bool (*strike)(struct nemesis *n); /* false: it had no effect */
    void (*heal)(struct nemesis *n);
};

extern const struct fault faults[];
extern const int fault_count; /* up to KINDS_MAX */
