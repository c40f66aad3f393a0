/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out what is wrong with locks, as far as it can be seen from outside. */
#pragma once

#include "model/cons.h"
#include "model/deadlock.h"
#include "model/scan.h"

struct finding {
    const char *check;                  /* "old-holder" */
    const char *path;                   /* of the lock */
    const struct zkr_participant *node; /* that it is about, or NULL */
    char *what;                         /* escaped, as the next */
    char *cure;
};

struct findings {
    struct finding *items;
    size_t count;
};

/* Keeps only what was found before, too. */
void findings_keep(struct findings *findings, const struct findings *before);
void findings_done(struct findings *findings);

struct doctor_opts {
    int64_t older_ms;   /* holders; 0: any age is right */
    int64_t session_id; /* of the one who looks */
    int64_t opened_ms;  /* when that session was opened, by our clock */
};

/* All findings in a scan, which outlives them; NULL: the servers were not
 * asked. */
void doctor_examine(const struct scan *scan, const struct servers *servers,
                    const struct doctor_opts *opts, struct findings *findings);
/* The deadlocks among them: those that are certain, and sessions that have
 * waited behind their own nodes for opts.older_ms. */
void doctor_add_deadlocks(const struct deadlocks *deadlocks,
                          const struct doctor_opts *opts,
                          struct findings *findings);

/* By how much our clock is behind that of the servers, at least; negative: it
 * is ahead. 0: nothing proves it. */
int64_t doctor_skew_ms(const struct scan *scan, const struct servers *servers,
                       const struct doctor_opts *opts);
