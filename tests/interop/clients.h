/* SPDX-License-Identifier: Apache-2.0 */
/* The clients, in the layouts that docs/interop.md tells of. */
#pragma once

#include "pair.h"

/* A client as writer and as reader. */
struct client {
    struct side writer;
    struct side reader;
};

extern const struct client c, curator, kazoo_subclass, kazoo_patterns,
    c_for_kazoo, kazoo_as_is;
