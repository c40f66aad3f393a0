/* SPDX-License-Identifier: Apache-2.0 */
/* The stay of a contender in a lock: when its node came, when it began to hold,
 * when and how the node went; and the queue that it is in. */
#pragma once

#include "model/lock_state.h"

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
    struct past *past; /* the lock that it is in: past.h */
    struct stay *next; /* the others of its session: sessions.h */
    struct stay *previous;
    char *data;
    char name[];
};

/* With a copy of name and data; NULL: out of memory. */
struct stay *stay_new(const char *lock, const char *name, const char *data,
                      size_t size);
void stay_free(struct stay *stay);
/* The stay that has this name, the very same text: that of its node. */
struct stay *stay_of_name(const char *name);
/* Replaces the data. False: out of memory. */
bool stay_write(struct stay *stay, const char *data, size_t size);
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
                       hold: front.h */
};

/* NULL: there is none of that name. */
struct stay *queue_find(const struct queue *queue, const char *name);
/* False: out of memory. */
bool queue_add(struct queue *queue, struct stay *stay);
void queue_remove(struct queue *queue, const struct stay *stay);
/* Where those end that have the number of the one at `start`. */
size_t queue_end_of_equals(const struct queue *queue, size_t start);

/* Takes a stay that is over, or the history is. */
typedef void stay_fn(struct stay *stay, void *user);
