/* SPDX-License-Identifier: Apache-2.0 */
/* Faults as a table: each call, each request that it sends, each fault of that
 * request, and what comes of it for the caller, on the server, and for those
 * who listen.
 *
 * The requests of a call are counted while nothing fails. Then the call is made
 * once for each request and fault, by a session and on a path of its own, and
 * once more on the same objects without a fault. rows.c says what each call
 * returns; the rest follows from that, see judge() in engine.c.
 *
 *   A new fault   a line in faults[] of rows.c, and what it changes in rows[].
 *   A new call    a line in calls.c, or in locks.c for all recipes.
 *   A new recipe  an adapter of the contract.
 *   A new row     what is special. The last row that fits counts.
 *
 * The calls are tests: ZKR_TEST_ONLY="mutex: release" walks this one, "*" walks
 * all, also of recipes that differ in names only. ZKR_FAULTS=1 prints the whole
 * table, as it is. */
#pragma once

#include "contract/adapter.h"

enum {
    PATIENT_MS = 60000, /* a call that has to come to an end */
    HASTY_MS = 400,     /* one that nobody answers */
};

/* One call with one fault: what it works on. It belongs to one thread; `told`
 * is written by others, too. */
struct scene {
    const struct call *call;
    const struct adapter *recipe; /* NULL: a call of no lock */
    const struct fault *fault;    /* NULL: none */
    struct proxy *proxy;
    zkr_session *ours;   /* through the proxy */
    zkr_session *theirs; /* around it */
    struct admin *admin;
    char path[64];
    char dir[80];       /* where the nodes are counted */
    int64_t timeout_ms; /* of the call, or of what precedes it */

    /* What the call may use as it likes. */
    void *object;
    void *their_object;
    zkr_grant *grant; /* released and freed at the end */
    zkr_grant *their_grant;
    int64_t number;
    struct recorder *told;

    bool listens;        /* to `grant` */
    atomic_bool closing; /* of `ours`, in the middle of the call */

    pthread_mutex_t lock;
    char told_session[160]; /* "SUSPENDED RECONNECTED" */
    char told_grant[160];
    char wrong[400]; /* the first thing that should not be */
};

/* A session in use sends a sync now and then, and a grant that is held for long
 * a get: on a slow machine in each dry run. */
#define LATER "@(get|sync) *"

struct call {
    const char *name;
    int (*run)(struct scene *s); /* the call; returns its result, */
    int ends_with;               /* which is this without a fault */
    int change; /* of what count() returns, when the call is done */
    int (*count)(struct scene *s);  /* on the server, as others see it */
    void (*make)(struct scene *s);  /* the objects, once, */
    void (*ready)(struct scene *s); /* all that precedes the call, each time, */
    void (*meanwhile)(struct scene *s);    /* by others, while it waits, */
    void (*undo)(struct scene *s, int rc); /* and what follows it */
    void (*end)(struct scene *s); /* frees the objects; the session is there */
    uint32_t session_ms;          /* its timeout; 0: no session ends */
    const char *named;            /* as errors say it; NULL: by its path */
    const char *not_its;          /* requests of the session: LATER */
    unsigned not_for;             /* recipes with all these traits */
};

enum deed {
    ANSWER_LATE = 1, /* held back, and let go */
    NO_ANSWER,       /* until the call has returned; the server has done it, */
    NO_REQUEST,      /* or will do it then */
    ANSWER_LOST,     /* with the connection */
    REQUEST_LOST,
    OVER_AFTER,  /* the session ends when the server has done it, */
    OVER_BEFORE, /* or before */
    REFUSED,     /* by the server, with that error */
    NEVER,       /* as NO_ANSWER, and then the connection is lost */
    CLOSED,      /* the program closes the session before the answer */
    CUT_OFF,     /* no connection from before the call until it has returned */
};

struct fault {
    const char *name;
    enum deed deed;
    int32_t error;
    enum deed then; /* what the next request of that kind meets; or 0 */
};

/* What comes of it. Names are patterns of fnmatch(): *, ?, @(one|another). What
 * is left out is as an earlier row says; at first it is as without a fault. */
struct row {
    const char *call;    /* "recipe: call", or the name of the call alone */
    const char *request; /* "create 1": the first one; "none": of the call */
    const char *fault;
    int ends_with; /* or AS_EVER, or ITS_ERROR */
    int or_with;   /* two that race */
    int leaves;    /* LEAVES(); else what the result means, see change_of() */
    const char *session_is_told;
    const char *grant_is_told;
    bool is_rare; /* there may be no such request */
    bool seen;    /* by the engine */
};

enum {
    AS_EVER = 1,   /* the result without a fault */
    ITS_ERROR = 2, /* that of the fault */
};

/* So many more than before are on the server. */
#define LEAVES(number) (1000 + (number))

extern const struct fault faults[];
extern const size_t fault_count;
extern struct row rows[];
extern const size_t row_count;
extern const struct call lock_calls[];
extern const size_t lock_call_count;
extern const struct call other_calls[];
extern const size_t other_call_count;

/* -- for calls ------------------------------------------------------------ */

/* Notes what should not be, unless something was noted before. */
void wrong(struct scene *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Notes a result that is not ZKR_OK. */
void must(struct scene *s, const char *what, int rc);
/* The same, but for ZKR_ELOST in a session that is over. */
void must_unless_over(struct scene *s, const char *what, int rc);
/* Was our session made to end, or closed? */
bool is_over(struct scene *s);
/* Unless something is wrong: writes down what the listener of `grant` is told;
 * returns when the holder watches its node, since the counts were reset. */
void listen_and_be_watched(struct scene *s);
/* The number of nodes in a directory; 0 without it. */
int nodes_in(struct scene *s, const char *dir);
