/* SPDX-License-Identifier: Apache-2.0 */
/* Holders of locks, what they believe, and how long before the end of their
 * session they believed it. */
#pragma once

#include "cluster.h"
#include "fixture.h"

/* Those of wrong rules come last: that the session lives for T after the last
 * committed write was sent, while it is connected, or for 5T/12 after a process
 * that was stopped goes on. */
enum instant {
    LAST_YES,
    CLAIMED_END,
    NAIVE_END,
    CONNECTED,
    INSTANTS,
    PINGED = NAIVE_END,
};

/* Instants are nanoseconds of CLOCK_BOOTTIME; 0: never. */
struct belief {
    _Atomic int64_t granted;      /* when the grant was seen */
    _Atomic int64_t at[INSTANTS]; /* LAST_YES: zkr_grant_check() was called, and
                                     said so; CLAIMED_END: the latest */
    atomic_long unsure;           /* answers that were not yes */
};

struct holder {
    zkr_session *session;
    zkr_mutex *mutex;
    zkr_grant *_Atomic grant; /* NULL before */
    uint32_t hops;            /* lease_hops, and lease_beacon: before it is */
    const char *beacon;       /* opened */
    int64_t session_id;
    uint64_t epoch;
    struct belief belief;
};

/* A session, and a lock whose directory exists. */
void holder_open(struct holder *h, const char *hosts, uint32_t timeout_ms,
                 const char *path);
bool is_connected(zkr_session *s);
/* Begin to acquire. */
void holder_acquire(struct holder *h);
/* Nothing may be under way any more. */
void holder_close(struct holder *h);

/* Asks it for the lease, if it was granted the lock in its first session. */
void holder_ask(const struct holder *h, struct belief *b);

/* A thread that calls this every millisecond, and its end. */
void asking_start(void (*ask)(void));
void asking_stop(void);

/* Of that rule, the latest so far. */
void believe(struct belief *b, enum instant instant, int64_t at);

/* Instants before the end of a session, in ns; negative is too late. */
struct sample {
    int kind;
    bool wrong;    /* the whole sample is of a wrong rule */
    bool believed; /* there was a yes: else the first two mean nothing */
    int64_t before[INSTANTS];
};

extern struct sample *samples; /* to be freed */
extern int sample_count;

/* Adds what it believed before the end. */
struct sample *sample_add(int kind, const struct belief *b, int64_t end);

/* How many there are of that kind; -1: of all kinds, but for wrong rules. */
int sample_count_of(int kind);
/* Prints "least median most late" of them, and returns how many were late. */
int print_margin(int kind, enum instant instant);
