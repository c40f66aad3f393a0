/* SPDX-License-Identifier: Apache-2.0 */
/* The locks of one session: the state that their claims share. */
#pragma once

#include "protocol/owner.h"
#include "session/session.h"
#include "session/upcalls.h"

/* So many requests of the heartbeat may be under way at once. At the quickest
 * beat, T/50, each beat is a chain: one request at a time, for two round trips
 * of T/5 at most, which makes 20. A little slower, two of three beats are
 * signs, two reads for one round trip, and the third is a chain: 20, too. */
#define ZKR__BEATS 24

/* At first one in 2^10 who find that the beacon stands still writes it. */
#define ZKR__BEACON_RARELY      10
#define ZKR__BEACON_RARELY_MOST 20

struct zkr__claim;

struct zkr__beat {
    struct zkr__op op;
    int64_t chain;            /* when it was begun; 0: it is none */
    struct zkr__claim *claim; /* the write of a chain finds its node */
};

/* Under the session lock. */
struct zkr__locks {
    struct zkr__session_observer observer;
    struct zkr__list claims;
    struct zkr__list chains; /* those that go on before the lock is released */
    void *lines;             /* a tree: lines.c */
    struct zkr__list each_line;
    struct zkr__list leased;  /* those that need a lease */
    struct zkr__list doubted; /* those whose grants are in doubt; without those
                               * that have a confirm under way, maybe */
    struct zkr__list leftovers; /* leftover.h: the ones that wait */
    int leftovers_swept;        /* how many others are being swept */
    /* heartbeat.h */
    struct zkr__timer beat;
    struct zkr__beat beats[ZKR__BEATS];
    uint32_t beat_number; /* of the next, from the first of a hold on */
    char *beacon;         /* its path with the chroot; NULL: none */
    struct {
        int64_t mzxid;
        int32_t version;
        uint32_t rarely; /* one in 2 to the power of that writes it */
    } look;              /* what the last look at the beacon has shown */
    int64_t held_at;     /* the last beat with anything held */
    struct zkr__timer watchdog;
    int64_t good_until; /* how long the last forecast of a good lease counts */
    char start[ZKR__START_MAX]; /* of this process; set once */
};

/* Makes them when the first lock of the session is opened; later it does
 * nothing. Returns ZKR_OK or ZKR_ENOMEM. */
int zkr__locks_open(struct zkr_session *s);

/* The session must have had zkr__locks_open(). */
static inline struct zkr__locks *zkr__locks_of(const struct zkr_session *s)
{
    return ZKR__CONTAINER(s->observer, struct zkr__locks, observer);
}
