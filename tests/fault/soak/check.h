/* SPDX-License-Identifier: Apache-2.0 */
/* A soak is judged by what the clients wrote down and what the servers logged.
 * This turns both into the records of the judge (judge.h), and finds orphans
 * and lost updates itself. It reads no file and no clock.
 *
 * All instants are ns of CLOCK_BOOTTIME, those of lives excepted; NEVER is one
 * that did not come. */
#pragma once

#include "records.h"
#include "txn_log.h"

#define NEVER INT64_MAX

/* One acquire and its outcome. */
struct attempt {
    int run; /* of a thread: those of one run follow each other in time */
    int lock;
    bool writes;
    int64_t invoked;
    int64_t failed;
    int64_t granted;
    int64_t valid_until; /* the latest that the client was told; 0: none */
    int64_t lost;        /* the client was told of the loss */
    int64_t release;     /* the release was invoked */
    long asked;          /* how often it asked whether it held, until then */
    long sure;           /* how often the answer was yes */
    int64_t token;
    uint64_t handoff;
};

/* From then on a claim on this node is no fault of the library: an operator
 * has ended the session, or deleted nodes by hand. */
struct excuse {
    int64_t at;
    int64_t session; /* excuses claims of this session, */
    int64_t token;   /* or the claim with this token, */
    int lock;        /* or the claims on this lock (-1: none) */
    int64_t until;   /* whose nodes were created before this instant */
};

struct owner {
    int64_t session;
    int run;
};

/* The duration of a fault. */
struct window {
    int64_t begin, end;
    bool stopped; /* the fault stopped clients */
};

struct evidence {
    struct attempt *attempts;
    size_t attempt_count;
    struct owner *owners;
    size_t owner_count;
    struct excuse *excuses;
    size_t excuse_count;
    struct window *faults; /* in order of time */
    size_t fault_count;
    const struct history *truth; /* of each lock, or NULL */
    const struct judge_access *accepted[LOCKS];
    size_t accepted_count[LOCKS];
    struct note *updates; /* of all clients: value, token, lock */
    size_t update_count;
    int64_t boot_minus_real; /* difference of the two clocks, ns */
    int64_t drift;           /* change of boot_minus_real during the soak, ns */
    bool leased;             /* claims end with their lease */
    FILE *complaints;        /* gets a line for each violation; may be NULL */
};

struct verdict {
    struct judgement broken; /* exclusion, order and tokens, of all locks */
    long grants;
    long writes;
    long handed_on;    /* grants of a node that had one before */
    long empty;        /* grants whose lease was over: they claim nothing */
    long lost_updates; /* updates of counters */
    long orphans;      /* nodes there 2T after they had been given up */
    long nodes;
    long asked;     /* how often holders asked whether they hold */
    long sure;      /* how often the answer was yes */
    long margin_ms; /* least time between a claim that ended with its lease and
                       the end of its node */
};

void check(const struct evidence *e, struct verdict *ret);

/* The notes of one run, added to the evidence. */
void evidence_add(struct evidence *e, int run, const struct note *notes,
                  size_t count);
void evidence_free(struct evidence *e);
