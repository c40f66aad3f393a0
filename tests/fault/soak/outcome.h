/* SPDX-License-Identifier: Apache-2.0 */
/* The outcome: computes a verdict from journals and resources, and prints it.
 */
#pragma once

#include "check.h"
#include "nemesis.h"
#include "truth.h"

struct outcome {
    double seconds;
    struct verdict verdict;
    long refused; /* accesses that a fence refused */
    long late_calls;
    long latest_ms;
    long broken_promises; /* about the depth of a reentrant lock, or a token */
    long leaks;
    long runs; /* number of client processes */
    long stuck_clients;
    long disputed, transactions;
};

/* Reads the journals of the crew and of the test from the directory of the
 * crew. Without `truth` (NULL) it judges only what can be judged without the
 * logs of the servers. */
void outcome_find(const struct crew *crew, const struct truth *truth,
                  struct outcome *o);

/* The report, for people. */
void report(const struct outcome *o, const struct nemesis *n);
/* Of sorted values, in ms. */
int percentile(const int *values, size_t count, int percent);
