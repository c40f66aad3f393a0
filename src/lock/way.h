/* SPDX-License-Identifier: Apache-2.0 */
/* A way: how a claim goes, as a table. Each state has a reaction to each event
 * that can come in it: the state that follows, and what is done there. */
#pragma once

#include "session/locked.h"

struct zkr__claim;
struct zkr__queue;
struct zkr__search;
struct zkr__zk_reply;

enum zkr__claim_state {
    ZKR__CLAIM_IDLE,
    ZKR__CLAIM_PROBING,    /* a try: is there anybody to wait for? */
    ZKR__CLAIM_ENROLLING,  /* create and list are on their way, in one flight */
    ZKR__CLAIM_RECOVERING, /* was our node created? */
    ZKR__CLAIM_SURVEYING,  /* listing: whom do we wait for? */
    ZKR__CLAIM_WAITING, /* for a node, one of ours, a permit, or the cohort */
    ZKR__CLAIM_PROVING, /* it is our turn: does the session live on? */
    ZKR__CLAIM_HELD,
    ZKR__CLAIM_LEAVING, /* deleting our node */
    ZKR__CLAIM_LOST,
    ZKR__CLAIM_STATES
};

/* The events. docs/design.md says what each one means; test_ways.c compares its
 * pictures with the tables. Those of the first row may come in any state: a
 * claim whose state has no reaction does not mind. One of the others without a
 * reaction is a bug: it aborts. When the session is over, those of the last row
 * count only. */
/* clang-format off */
#define ZKR__CLAIM_EVENTS(X)                                                   \
    X(GIVE_UP) X(LISTED) X(CHANGED) X(UPROOTED) X(CONFIRMED) X(READ) X(DUE)    \
    X(ACQUIRE) X(TRY) X(FREE) X(AGAIN) X(ANSWERED) X(CREATED) X(UNKNOWN)       \
    X(EXISTS) X(REFUSED) X(KNOWN) X(SHOWN) X(LIST) X(FOUND) X(GONE) X(ITSELF)  \
    X(AHEAD) X(BEHIND) X(TURN) X(PROVEN) X(UNPROVEN)                           \
    X(RELEASE) X(LEAVE) X(LOST) X(END)
/* clang-format on */

#define ZKR__EVENT_NUMBER(name) ZKR__ON_##name,
enum zkr__event {
    ZKR__CLAIM_EVENTS(ZKR__EVENT_NUMBER) ZKR__EVENTS,
    ZKR__EVENTS_OF_ANY_STATE = ZKR__ON_ACQUIRE, /* those before it */
    ZKR__EVENTS_OF_THE_LIVING = ZKR__ON_RELEASE /* those before it */
};
#undef ZKR__EVENT_NUMBER

/* What comes with an event, beside the reason for the log. */
struct zkr__news {
    const char *why;
    int rc;                           /* LISTED, CONFIRMED */
    struct zkr__queue *queue;         /* LISTED, SHOWN: valid if rc is ZKR_OK */
    const struct zkr__zk_reply *node; /* READ: the one that we wait for */
    const char *name;                 /* AHEAD: of that node */
};

typedef void zkr__reaction_fn(struct zkr__claim *c,
                              const struct zkr__news *news);

struct zkr__reaction {
    enum zkr__claim_state next; /* ZKR__CLAIM_STATES: no move */
    zkr__reaction_fn *run;      /* called in the next state; NULL: none */
};

struct zkr__way {
    /* Tells a search where to look for our node, and how to know it: by its
     * name (zkr__seek_by_name), or by its data. Under the session lock. */
    void (*seek)(const struct zkr__claim *c, struct zkr__search *search);
    /* Only this claim makes a node at its path, because the name has a UUID. So
     * a write that finds a node there has found ours, and may guard other
     * writes; and its delete may be repeated, also through the next session.
     * Where all use one path, others may have made the node anew: its record
     * has a number, and who found it there reads whose it is. */
    bool has_own_path;
    const struct zkr__reaction (*reactions)[ZKR__EVENTS];
    /* Tells the claim what a list means for it that it has asked for. */
    void (*judge)(struct zkr__claim *c, struct zkr__queue *queue);
    /* By state: stops what a claim has under way in it, and nowhere else.
     * Called when it leaves the state, or begins it anew; NULL: nothing is
     * under way. */
    void (*exits[ZKR__CLAIM_STATES])(struct zkr__claim *c);
    /* Writes what a claim that is WAITING waits for, as
     * zkr__claim_hindrance_locked(); NULL: for a node, or for one of ours. */
    void (*hindrance)(const struct zkr__claim *c, char *text);
};

/* The rows of a table. */
#define ZKR__MOVES(state, event, to, fn)                                       \
    [ZKR__CLAIM_##state][ZKR__ON_##event] = { ZKR__CLAIM_##to, fn }
#define ZKR__CALLS(state, event, fn)                                           \
    [ZKR__CLAIM_##state][ZKR__ON_##event] = { ZKR__CLAIM_STATES, fn }

/* The rows that all ways with a node have; `again` makes one. */
/* clang-format off */
#define ZKR__WITH_A_NODE(again)                                                \
    ZKR__CALLS(ENROLLING,  ANSWERED,  zkr__claim_created),                     \
    ZKR__CALLS(ENROLLING,  REFUSED,   zkr__claim_pause),                       \
    ZKR__MOVES(ENROLLING,  DUE,       ENROLLING,  again),                      \
    ZKR__MOVES(ENROLLING,  AGAIN,     ENROLLING,  again),                      \
    ZKR__CALLS(ENROLLING,  GIVE_UP,   zkr__claim_call_off),                    \
    ZKR__MOVES(ENROLLING,  LEAVE,     LEAVING,    zkr__claim_leave),           \
    ZKR__MOVES(ENROLLING,  END,       IDLE,       zkr__claim_end),             \
    ZKR__MOVES(WAITING,    UNPROVEN,  PROVING,    zkr__claim_prove),           \
    ZKR__MOVES(WAITING,    AGAIN,     ENROLLING,  again),                      \
    ZKR__CALLS(WAITING,    GIVE_UP,   zkr__claim_withdraw),                    \
    ZKR__MOVES(WAITING,    LEAVE,     LEAVING,    zkr__claim_leave),           \
    ZKR__MOVES(WAITING,    END,       IDLE,       zkr__claim_end),             \
    ZKR__CALLS(PROVING,    CONFIRMED, zkr__claim_confirmed),                   \
    ZKR__CALLS(PROVING,    DUE,       zkr__claim_prove_on),                    \
    ZKR__MOVES(PROVING,    PROVEN,    HELD,       zkr__claim_hold),            \
    ZKR__MOVES(PROVING,    AGAIN,     ENROLLING,  again),                      \
    ZKR__CALLS(PROVING,    GIVE_UP,   zkr__claim_withdraw),                    \
    ZKR__MOVES(PROVING,    LEAVE,     LEAVING,    zkr__claim_leave),           \
    ZKR__MOVES(PROVING,    END,       IDLE,       zkr__claim_end),             \
    ZKR__CALLS(HELD,       CONFIRMED, zkr__grant_confirmed),                   \
    ZKR__CALLS(HELD,       DUE,       zkr__grant_watch),                       \
    ZKR__MOVES(HELD,       RELEASE,   LEAVING,    zkr__claim_leave),           \
    ZKR__MOVES(HELD,       LOST,      LOST,       zkr__claim_end),             \
    ZKR__CALLS(LEAVING,    DUE,       zkr__claim_leave_again),                 \
    ZKR__MOVES(LEAVING,    END,       IDLE,       zkr__claim_end)

/* The rows of the ways in which its name is its own: what an unknown outcome of
 * the create means, and how a claim goes on when its turn has come. */
#define ZKR__WITH_ITS_OWN_NAME(again)                                          \
    ZKR__WITH_A_NODE(again),                                                   \
    ZKR__MOVES(ENROLLING,  UNKNOWN,   RECOVERING, zkr__claim_recover),         \
    ZKR__MOVES(ENROLLING,  EXISTS,    RECOVERING, zkr__claim_recover),         \
    ZKR__MOVES(RECOVERING, GONE,      RECOVERING, zkr__claim_recover),         \
    ZKR__CALLS(RECOVERING, REFUSED,   zkr__claim_pause),                       \
    ZKR__MOVES(RECOVERING, DUE,       ENROLLING,  again),                      \
    ZKR__MOVES(RECOVERING, AGAIN,     ENROLLING,  again),                      \
    ZKR__CALLS(RECOVERING, GIVE_UP,   zkr__claim_withdraw),                    \
    ZKR__MOVES(RECOVERING, LEAVE,     LEAVING,    zkr__claim_leave),           \
    ZKR__MOVES(RECOVERING, END,       IDLE,       zkr__claim_end),             \
    ZKR__CALLS(WAITING,    TURN,      zkr__claim_turn),                        \
    ZKR__MOVES(WAITING,    PROVEN,    HELD,       zkr__claim_hold),            \
    ZKR__CALLS(LEAVING,    ANSWERED,  zkr__claim_leave)
/* clang-format on */

extern const struct zkr__way zkr__in_a_queue;     /* way_in_a_queue.c */
extern const struct zkr__way zkr__by_creating_it; /* way_of_one_node.c */
extern const struct zkr__way zkr__among_a_few;    /* way_of_permits.c */

extern const char *const zkr__event_names[ZKR__EVENTS];
