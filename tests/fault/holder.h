/* SPDX-License-Identifier: Apache-2.0 */
/* Holders of locks, and what lease_trials.c notes of each. */
#pragma once

#include "fixture.h"

#define HEALTHY_MS 90000 /* for servers and grants to come back */

/* Instants are nanoseconds of CLOCK_BOOTTIME; 0: never. */
struct belief {
    int64_t last_ok;     /* zkr_grant_check() was called, and said yes */
    int64_t valid_until; /* the latest that zkr_grant_valid_until() said, or
                            for a choice of hops its proof */
    int64_t naive_until; /* the last committed write was sent, and T */
    int64_t connected;   /* the session was connected */
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
/* Begin to acquire; wait for the grant. */
void holder_acquire(struct holder *h);
void holder_await(struct holder *h);
/* Nothing may be under way any more. */
void holder_close(struct holder *h);
