/* SPDX-License-Identifier: Apache-2.0 */
/* Prints a graph of owners and locks as Graphviz reads it. */
#pragma once

#include "model/deadlock.h"
#include "model/scan.h"

/* All who hold and wait in the locks of a scan; deadlocks are red. */
void dot_print(const struct scan *scan, const struct deadlocks *deadlocks);
