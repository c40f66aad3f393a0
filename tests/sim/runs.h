/* SPDX-License-Identifier: Apache-2.0 */
/* Runs schedules, each in a process of its own that may crash. */
#pragma once

#include "choices.h"

#define REPORT_MAX 1024
/* Reasons that only a line gives a claim to move: a run tells how often its
 * schedules meet them. */
#define WAYS 12

/* How a schedule has ended, for the process that supervises it, and with which
 * it is shared; and the reasons for which claims have moved in it. */
struct report {
    uint64_t seed;         /* at work on */
    uint64_t done;         /* schedules without a fault */
    uint64_t ways[WAYS];   /* how often each was taken */
    bool loud;             /* what is wrong is written to stderr, too */
    char text[REPORT_MAX]; /* what is wrong; "" if nothing is */
    struct choices choices;
};

extern struct report *report;

struct report *report_new(void);
/* Signals that end the process are reported, too. */
void report_begin(struct report *r);
_Noreturn void report_failure(const char *text);

extern const char *const ways_names[WAYS];
/* A claim has moved for that reason. */
void ways_taken(const char *why);

/* Runs the schedule of a script, or NULL: of `seed`, in a process of its own.
 * Returns false when it fails; then `r` says how. */
bool run_script(struct report *r, const uint32_t *script, size_t count,
                uint64_t seed);

/* Schedules run in this process, which ends when one fails, and says how:
 * processes cost more than schedules. */
extern bool runs_together;

/* Makes a failing schedule as simple as possible; `r` holds it, then the
 * simpler one. Returns how many choices it has, without zeros at its end. */
size_t shrink(struct report *r);
