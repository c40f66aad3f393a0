/* SPDX-License-Identifier: Apache-2.0 */
/* The outcome: computes a verdict from journals, resources and the logs of the
 * servers, and prints it. */
#pragma once

#include "check.h"
#include "nemesis.h"

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
    long transactions; /* in the logs, on nodes of locks, and on sessions */
    long disputed;     /* in the log of only one server, so not believed */
    int usual_ms;      /* to the next grant: 99 of 100 are not longer */
};

/* Reads what the clients and the test have written, and sorts the recoveries.
 * Of clients that trust the locks it judges only what can be judged without the
 * logs of the servers. */
void outcome_find(struct nemesis *n, struct outcome *o);

/* The report, for people. */
void report(const struct outcome *o, const struct nemesis *n);
