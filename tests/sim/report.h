/* SPDX-License-Identifier: Apache-2.0 */
/* The report of how a schedule ended, for the process that supervises this
 * one, and of the reasons for which claims have moved in it. */
#pragma once

#include "choices.h"

#define REPORT_MAX 1024
/* Reasons that only a line gives a claim to move: a run tells how often its
 * schedules meet them. */
#define WAYS 12

/* Shared between both processes. */
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

const char *ways_name(int way);
/* A claim has moved for that reason. */
void ways_taken(const char *why);
