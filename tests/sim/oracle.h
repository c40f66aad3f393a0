/* SPDX-License-Identifier: Apache-2.0 */
/* The oracle: judges the library's promises by committed transactions. */
#pragma once

#include "frontend.h"
#include "lock/claim.h"
#include "world.h"

/* One acquire, as the user sees it. */
struct attempt {
    struct attempt *next;
    int number;
    int process;
    bool shared;
    bool only_mutexes; /* it waits for no reader, and for no writer */
    int64_t asked;
    bool idle;        /* its session, when it was asked */
    int64_t stopped;  /* of the process, when it was asked */
    int64_t deadline; /* INT64_MAX without */
    int told;         /* how often */
    int rc;
    zkr_grant *grant; /* until it is given back */
    zkr_grant *downgrading;
    const struct node *node;
    int64_t token;
    uint64_t handoff;
    int64_t granted;  /* when it was told so; or 0 */
    int64_t gone_at;  /* its node; or 0 */
    int64_t promised; /* the latest zkr_grant_valid_until() that was seen */
    int64_t sure_at;  /* when it was last seen to be HELD */
    struct attempt *beside;
    bool over;    /* given back */
    bool upgrade; /* grants for which its thread may have to wait for itself */
};

/* Returns the node that was once committed, or NULL. A czxid of 0 is any. */
const struct node *oracle_node(const char *path, int64_t czxid);
/* A fair and an unfair lock on the same path know nothing of each other. */
bool oracle_is_one_lock(const struct node *a, const struct node *b);
/* Is it a lease of a semaphore? Several are held at once. */
bool oracle_is_lease(const struct node *n);
/* Tells whether somebody has written that after a version. */
bool oracle_was_written(const char *path, const char *data, int64_t after);

struct attempt *oracle_asked(int process, bool shared, int64_t timeout_ms);
void oracle_told(struct attempt *a, int rc, zkr_grant *grant);
/* It was granted the node of another in its process, just now. */
void oracle_handed_on(const struct attempt *a);
/* zkr_grant_check() has returned this. */
void oracle_checked(struct attempt *a, int rc);
/* The user gives it back, or does not need it any more. */
void oracle_over(struct attempt *a);
void oracle_over_with(const zkr_grant *grant);

/* Tells whether it would wait for that node, if it was ahead. */
bool oracle_heeds(const struct attempt *a, const struct node *n);
/* Tells whether the node of this attempt, which is over, has been handed on to
 * another in its process. */
bool oracle_is_handed_on(const struct attempt *a);

/* It has been well, and connected, for a session timeout since then. */
bool oracle_is_well(int process, int64_t since);

/* zkr_grant_verify() has confirmed it; it was called when the clients had sent
 * so many requests. */
void oracle_verified(const struct attempt *a, uint64_t requests);

void oracle_committed(int64_t version, const struct txn *txn);
/* To be called after every event. */
void oracle_step(void);

/* Returns the lock nodes that exist; there must be none at the end. */
int oracle_nodes_left(bool print);
void oracle_end(void);

/* A call of a process that begins now must not take longer than this. */
struct call {
    int process;
    int64_t began;
    int64_t stopped; /* for how long the process had been */
};
struct call oracle_begins(int process);
void oracle_in_time(const char *what, const struct call *call, int64_t limit);

/* From now on a process may break that node: its path, and its token. */
void deletes_break(int process, const char *path, int64_t token);
bool deletes_may_break(int process, const char *path);

/* To be called when every thread and every client has done what it can do at
 * this instant. */
void states_quiet(void);

/* -- held.c: grants, at the moment when the library makes them ------------- */

/* A claim has moved to that state. */
void held_moved(const struct zkr__claim *c, int state);

/* Tells whether claims held both at some time, as far as the library knew. */
bool held_at_once(const struct node *a, const struct node *b);

/* Tells whether any claim holds the lock, by a node that is there. */
bool held_by_anybody(void);

/* Returns the node of a claim that holds the lock against the attempt, although
 * that one has a node: from now on no write of it must be made; or NULL. */
const struct node *held_against(const struct attempt *a);

/* -- told.c: what listeners are told, and in which order ------------------- */

/* zkr_grant_listen() and zkr_session_listen(), with a judge before the callback
 * of the user, which may be NULL. */
void told_of_grant(const struct attempt *a, zkr_grant *grant, zkr_grant_fn fn,
                   void *user);
void told_of_session(struct process *p, zkr_session_fn fn, void *user);

/* The listener of that grant, or session, is about to be removed, and then it
 * has been: from then on it must not be called. */
void told_ends(const void *object);
void told_ended(const void *object);
void told_free_grant(zkr_grant *grant);
void told_free_listener(struct process *p);

/* To be called when nothing is under way: all changes must be reported. */
void told_quiet(void);

/* -- writes.c: the results of the writes of users -------------------------- */

struct write {
    struct write *next;
    const struct attempt *attempt; /* by whose grant */
    int number;
    bool guarded; /* else it may come late */
    bool late;    /* asked for when its attempt had been given back */
    enum zkr__zk_type type;
    const char *path; /* as the servers know it */
    const char
        *data; /* as the servers know it, unlike that of any other write */
    int64_t asked;
    int64_t until; /* its deadline; 0 when nobody has said */
    bool sent;     /* the client was given it */
    int64_t made;  /* the version that has it; or 0 */
    int told;      /* how often */
    int rc;
};

/* To be called before the write. No two deletes have the same path. */
struct write *writes_asked(const struct attempt *a, enum zkr__zk_type type,
                           const char *path, bool guarded);
/* Another thread is about to give the lock back. */
void writes_race(const struct attempt *a);
void writes_sent(const struct request *r, int session);
void writes_told(struct write *w, int rc, const struct zkr_stat *stat);

void writes_committed(int64_t version, const struct txn *txn);
void writes_end(void);

/* -- follows.c: users who watch, and what their watches tell --------------- */

/* A user watches something, or stops to watch something. */
void user_follows(struct process *p);

/* Tells whether all watches have told last what their servers show; or fails.
 */
bool follows_agree(bool must);

/* Frees the watches of a process. */
void follows_end(const struct process *p);

/* -- gathers.c: users who count, and who meet at barriers ------------------ */

#define DOUBLE_PATH "/locks/both"

/* A user adds to the counter, or sets the barrier, removes it, or waits, or
 * wants to meet others: from then on users come to the double barrier. */
void user_gathers(struct process *p);
/* Tells whether they do. */
bool gathers_at_both(void);
/* A user enters, and leaves, up to three times, unless there are enough. */
void user_enters(struct process *p);

void gathers_committed(int64_t version, const struct txn *txn);
void gathers_end(void);
