/* SPDX-License-Identifier: Apache-2.0 */
/* The locks of a history, each with the contenders that are there at one time:
 * their stays. A stay has when a node came, when it began to hold, when and how
 * it went. */
#pragma once

#include "model/lock_state.h"
#include "protocol/parts.h"

enum ending {
    ENDING_NONE,     /* it was there at the end of the history */
    ENDING_RELEASED, /* its session deleted the node */
    ENDING_DELETED,  /* another session did, ended_by */
    ENDING_CLOSED,   /* its client closed the session */
    ENDING_EXPIRED,  /* the servers ended the session */
    ENDING_GONE,     /* the session that deleted the node may be its owner */
    ENDING_UNKNOWN,  /* nobody knows, because records are missing */
    ENDING_COUNT,
};

/* All times are since 1970, by the clock of the servers; 0: never. */
struct stay {
    const char *lock;
    struct zkr_participant node; /* holds: it does, or did */
    int64_t queued_ms;           /* 0: not known */
    int64_t seen_ms;             /* before that nothing is known of it but
                                    queued_ms */
    int64_t held_ms;             /* it held from then on */
    bool held_before; /* it held before held_ms: not known since when */
    int64_t ended_ms;
    enum ending ending;
    int64_t ended_by; /* a session, of ENDING_DELETED and ENDING_GONE */
    int64_t asked_ms; /* to give the lock back */
    int64_t asked_by; /* a session; 0: not known */
    char *reason;     /* of the request; NULL: none */
    bool sure;        /* false: another one, of which nothing is known, may have
                         held instead */
    bool is_claim;    /* its node in the queue of a semaphore has become
                         another one, its lease */
    struct past *past; /* the lock that it is in */
    char name[];
};

/* With a copy of name and data. */
struct stay *stay_new(const char *lock, const char *name, const char *data,
                      size_t size);
void stay_free(struct stay *stay);
/* It holds, unless it did already. */
void stay_hold(struct stay *stay, int64_t held_ms, bool before);

/* How long it held, up to `now_ms` where it still holds; -1: not at all, or
 * not known. */
int64_t stay_held_for(const struct stay *stay, int64_t now_ms);
/* How long it was in the queue before it held, or left; -1: not known. */
int64_t stay_waited_for(const struct stay *stay, int64_t now_ms);

/* As a contender, for its owner and dialect. */
struct contender stay_contender(const struct stay *stay);

/* The stays that are in one queue at one time, in its order: that of their
 * numbers. */
struct queue {
    struct stay **items;
    size_t count;
    size_t settled; /* so many at the front are known to hold, and to let others
                       hold: past_settle() */
};

struct past {
    char *path;
    struct past *next; /* of all */
    struct queue parts[ZKR__PARTS];
    bool known;     /* no node of it is from before the history */
    bool semaphore; /* it has had a lease */
    /* Those that a transaction has changed, for the user. */
    bool listed;
    struct past *next_listed;
};

struct pasts {
    struct past *first; /* of all */
    void *tree;         /* the same, by their paths */
    void *sessions;     /* a tree of the stays, by their sessions */
};

/* NULL: there is none. */
struct past *pasts_find(const struct pasts *pasts, const char *path);
/* The same, which may be new. */
struct past *pasts_make(struct pasts *pasts, const char *path);

/* With the stays that are still there. */
void pasts_done(struct pasts *pasts);

/* The contender with that name; NULL: there is none. `past` may be NULL. */
struct stay *past_stay(const struct past *past, const char *name);
/* Any stay of that session; NULL: it has none. */
struct stay *pasts_of_session(const struct pasts *pasts, int64_t session_id);
/* Any contender; NULL: there is none. */
struct stay *past_any(const struct past *past);
/* Takes the stay, whose node has its session. */
void pasts_add(struct pasts *pasts, struct past *past, struct stay *stay);
/* The caller has the stay then. */
void pasts_remove(struct pasts *pasts, struct stay *stay);

typedef void hold_fn(struct stay *stay, void *user);
/* Calls `fn` for each that holds and has not held before. The rule is that of
 * roster.h, and only those are shown to it whose turn it may be: a queue may be
 * long, and may change often. */
void past_settle(struct past *past, hold_fn *fn, void *user);
