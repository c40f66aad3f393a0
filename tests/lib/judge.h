/* SPDX-License-Identifier: Apache-2.0 */
/* The judge of a lock: it finds what breaks exclusion, order or tokens.
 *
 * The judge is pure: it reads no file and no clock. A test turns its own
 * records into grants, nodes and accesses, and hands them over. Two of these
 * conflict unless both are shared.
 *
 * The unit of instants is that of the caller. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JUDGE_NEVER INT64_MAX

enum judge_rule {
    JUDGE_OVERLAP,  /* grants that conflict were held at the same time */
    JUDGE_CROWDED,  /* more than the limit were held at the same time */
    JUDGE_DISORDER, /* a token, with its hand-off, is not above earlier ones */
    JUDGE_TWICE,    /* two grants have one token, and one hand-off */
    JUDGE_UNKNOWN,  /* no node has the token and the name of a grant */
    JUDGE_EARLY,    /* a node ahead, of another session, was still there when it
                       was granted: claims of one session take the lock from
                       each other when it is given back (OVERLAP) */
    JUDGE_LATE,     /* it was held when its node had gone */
    JUDGE_PASSED,   /* its node went before that of an earlier grant */
    JUDGE_LEFT,     /* a node is still there */
    JUDGE_STALE,    /* an access was accepted after one of a higher token */
    JUDGE_RULES,
};

/* The holder believed that it had the lock from `begin` until just before
 * `end`. Where both are the same, the record only says that it was granted by
 * then: OVERLAP, CROWDED, DISORDER, LATE and PASSED do not judge it. */
struct judge_grant {
    char who[32];
    bool shared;
    int64_t token;
    uint64_t handoff; /* of a lock that stays: grants of this node before */
    const char *node; /* its name, or NULL where the record does not say */
    int64_t begin, end;
};

/* A place in the queue, by the log of the server. */
struct judge_node {
    const char *name;
    bool shared;
    int64_t session; /* 0: not known */
    int64_t token;   /* its czxid */
    int64_t gone;    /* zxid, or JUDGE_NEVER */
    int64_t gone_at; /* the same on the clock of the grants */
};

/* An access that the resource behind the lock has accepted. */
struct judge_access {
    bool shared;
    int64_t token;
};

struct judge_records {
    const struct judge_grant *grants;
    size_t grant_count;
    const struct judge_node *nodes; /* by token; NULL: no log to compare with */
    size_t node_count;
    const struct judge_access *accesses; /* in the order of their acceptance */
    size_t access_count;
    size_t limit; /* at most so many grants at once; 0: CROWDED is not judged */
    bool timed;   /* `gone_at` is known: EARLY and LATE are judged */
    int64_t slack; /* how far `gone_at` may be off */

    /* If not NULL, it is called with the sentence of each violation. */
    void (*tell)(void *user, const char *sentence);
    void *user;
};

struct judgement {
    long counts[JUDGE_RULES];
    long violations; /* all of them */
    char first[256]; /* the first that was found, in a sentence, or "" */
};

/* Zeros, for so many and one more; never NULL. To be freed. */
void *judge_array(size_t count, size_t size);

/* As qsort() asks of a comparison. */
static inline int judge_compare(int64_t x, int64_t y)
{
    return (x > y) - (x < y);
}

void judge_lock(const struct judge_records *records, struct judgement *ret);
