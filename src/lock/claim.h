/* SPDX-License-Identifier: Apache-2.0 */
/* A claim: one attempt to get a lock, from acquire to release, as a state
 * machine.
 *
 * It goes from IDLE through the states of its way to HELD, and then through
 * LEAVING to IDLE, or to LOST, when the node or the session is gone. Each way
 * has a table of its own, of states and events: way_in_a_queue.c,
 * way_of_one_node.c, way_of_permits.c and cohort.c. docs/design.md draws them.
 *
 * A caller that gives up, at any moment, has its answer at once; the claim goes
 * on through LEAVING in the background until its node is certainly gone, and is
 * freed then. When the session ends, claims that wait enter the queue of the
 * next one, and HELD becomes LOST. */
#pragma once

#include "base/error.h"
#include "base/thread.h"
#include "lock/ghost.h"
#include "lock/grant.h"
#include "lock/line.h"
#include "lock/lock.h"
#include "lock/record.h"
#include "lock/sweep.h"
#include "request/parents.h"
#include "session/locked.h"
#include "session/watch.h"

/* An object that follows what becomes of a claim. It is told under the session
 * lock and in the middle of a step, so it must neither end claims there nor
 * begin them. Either function may be NULL. */
struct zkr__observer {
    /* The claim has changed its state, or has its outcome, or its grant has
     * changed its state. */
    void (*changed)(struct zkr__observer *observer);
    /* The claim has its outcome. */
    void (*decided)(struct zkr__observer *observer, struct zkr__claim *c);
    /* The claim ends with its session, and does not enter the queue of the next
     * one: that is for the observer to do. */
    bool begins_again;
};

/* The caller's intent. */
enum zkr__intent {
    ZKR__WAIT,   /* for as long as the deadline says */
    ZKR__TRY,    /* the lock if it is free now */
    ZKR__BESIDE, /* the lock at once, at the place of a grant that it has */
};

/* The events that a role is told of. */
enum zkr__role_event {
    ZKR__ROLE_DECIDED, /* the claim has this outcome: granted, or given up */
    ZKR__ROLE_LOST,    /* its grant is LOST, by that enum zkr_loss */
    ZKR__ROLE_LEFT,    /* its node is gone, or that result says why it is not */
    ZKR__ROLE_DOUBTED, /* its grant is in doubt */
    ZKR__ROLE_REVOKED, /* somebody asks for the lock */
    ZKR__ROLE_SHARED,  /* another claim will stand at its place */
    ZKR__ROLE_LISTED,  /* so many others are in its queue; or that error */
};

/* The part that a claim plays: it is of its caller alone (claim.c), or a member
 * of a cohort, or the delegate of one (cohort.h). */
struct zkr__role {
    const struct zkr__way *way; /* NULL: that of its recipe */
    bool for_caller; /* a caller has made it: it goes into the counters */
    bool makes_node; /* a node of its own, and not the delegate's */
    /* Called when it is WAITING; NULL: its caller may not have to wait. */
    void (*waits)(struct zkr__claim *c);
    void (*told)(struct zkr__claim *c, enum zkr__role_event event, int what);
    /* Returns the claim that is in the queue for it; NULL: itself. */
    const struct zkr__claim *(*queued)(const struct zkr__claim *c);
};

extern const struct zkr__role zkr__alone;

/* The node of a claim in this epoch, as far as it is known. */
struct zkr__node {
    char *name;         /* in request_path, as sent in the create */
    bool complete;      /* the server appends no sequence number */
    bool may_be_more;   /* nodes of ours may exist, or come: search for them */
    size_t path_size;   /* of request_path, path and own.path, in one block */
    char *request_path; /* dir/name */
    char *path;         /* dir/name and sequence number, or "" */
    struct zkr__record *record; /* its data */
    int64_t czxid;
    int64_t token; /* its czxid, or that of the grant beside it */
};

struct zkr__claim {
    /* set once */
    struct zkr_session *session;
    struct zkr__lock *lock;
    const struct zkr__recipe *recipe;
    const struct zkr__way *way;
    const struct zkr__role *role;
    uint64_t owner; /* for whom it is acquired: holds.h; 0: for nobody */
    enum zkr__intent intent;
    struct zkr__claim *beside; /* at whose place our node stands, or NULL */

    struct zkr__ref ref; /* of requests under way, too */
    /* under the session lock, from here on */
    struct zkr__list link;    /* in locks->claims, unless IDLE or LOST */
    struct zkr__list of_line; /* in line->claims, as long */
    struct zkr__list of_lock; /* in lock->claims, as long */
    struct zkr__list leased;  /* in locks->leased while PROVING or HELD */
    struct zkr__list doubted; /* in locks->doubted, or in none */
    struct zkr__sm sm;
    struct zkr__timer later; /* DUE; a move disarms it */
    uint64_t epoch;
    int64_t since;   /* when it was started; then, when it was granted */
    bool has_waited; /* count.h */
    bool unused;     /* granted, and not given to the program */
    bool more;       /* claims of its lock follow in the same flight */
    bool uprooted;   /* our own node has gone while `wait.get` was in flight */
    struct zkr__cond changed; /* gone, or news for its grant */

    struct zkr__node *node; /* our own, or, of a member, the delegate's */
    struct zkr__node own_node;

    /* The questions about our own node, which one step after the other asks:
     * there is one request at a time, `op`, with which each member begins. */
    struct {
        union {
            struct zkr__op op;           /* create.c; recover.c, too */
            struct zkr__parents parents; /* create.c */
            struct zkr__search search;   /* recover.c */
            struct zkr__sweep sweep;     /* leave.c */
        };
        char *path; /* of the parents, or swept */
    } own;

    /* One part for each step. */
    struct { /* create.c */
        int rc;
        uint32_t retries; /* since it has waited, if it has */
        int64_t since;    /* when the first of these attempts began */
    } create;
    struct zkr__place place; /* in the line */
    struct {                 /* wait.c */
        struct zkr__op get;
        struct zkr__watch *watch; /* on the node that we wait for */
        struct zkr__rival *rival; /* what was read of it; NULL: not known */
    } wait;
    struct zkr__ghosts *ghosts; /* ghost.c; NULL: it has not waited */
    struct zkr__op confirm;     /* confirm.c */
    int64_t proving_since;      /* prove.c */

    struct { /* decided once */
        bool decided;
        int rc;
        char *detail; /* the sentence of an error; NULL: out of memory */
    } outcome;
    struct zkr__observer *observer; /* NULL: nobody follows it */

    uint32_t writes; /* guarded ones that may yet be applied: guarded.c */
    struct zkr_grant grant;
    struct {                         /* cohort.c */
        struct zkr__list link;       /* of a member: while it waits */
        struct zkr__claim *delegate; /* of a member that has held the lock */
        struct zkr__claim *leaver;   /* waits until this delegate has left */
        uint64_t handoff;            /* grants of this node before that one */
    } cohort;
    struct {                   /* holds.c, once it is granted */
        struct zkr__list link; /* in lock->holds, until it is released */
        uint32_t depth;        /* acquires of its owner that are not released */
        uint32_t handles;      /* handles of its owner that are not freed */
        uint32_t returning; /* of these, of acquires that have not returned */
    } hold;
};

static inline struct zkr__claim *zkr__grant_claim(const struct zkr_grant *g)
{
    return ZKR__CONTAINER(g, struct zkr__claim, grant);
}

/* `thread` is the one that waits for it, or NULL. */
int zkr__claim_new(struct zkr__lock *lock, const struct zkr__recipe *recipe,
                   const struct zkr__role *role, enum zkr__intent intent,
                   const struct zkr__thread_id *thread,
                   struct zkr__claim **ret_claim);
/* The last reference of the session must not be dropped under its lock: there
 * the connector or the timer thread still has one. */
static inline void zkr__claim_ref(struct zkr__claim *c)
{
    zkr__ref_take(&c->ref);
}

static inline void zkr__claim_unref(struct zkr__claim *c)
{
    zkr__ref_drop(&c->ref);
}

void zkr__claim_start_locked(struct zkr__claim *c) ZKR__LOCKED;

static inline bool zkr__claim_in_state(const struct zkr__claim *c,
                                       enum zkr__claim_state state)
{
    return c->sm.state == (int)state;
}

/* The claim whose node it has: of a member of a cohort that has held the lock,
 * its delegate; of all others, itself. */
static inline struct zkr__claim *zkr__claim_with_node(struct zkr__claim *c)
{
    return c->cohort.delegate != NULL ? c->cohort.delegate : c;
}

/* The claim at whose place it stands, or NULL. */
static inline struct zkr__claim *zkr__claim_beside(const struct zkr__claim *c)
{
    return c->beside == NULL ? NULL : zkr__claim_with_node(c->beside);
}

/* After the session has ended, answers mean nothing: the connector closes the
 * handle, and zkr__claims_flushed_locked() is called. */
static inline bool zkr__claim_is_over(const struct zkr__claim *c)
{
    return c->epoch != c->session->epoch || c->session->over != 0;
}

/* Tells whether it is in that state, and its session is not over. */
static inline bool zkr__claim_acts_in(const struct zkr__claim *c,
                                      enum zkr__claim_state state)
{
    return zkr__claim_in_state(c, state) && !zkr__claim_is_over(c);
}

/* event.c: tells the claim what has happened, and why: its way goes on. */
void zkr__claim_news_locked(struct zkr__claim *c, enum zkr__event event,
                            const struct zkr__news *news) ZKR__LOCKED;

static inline void zkr__claim_event_locked(struct zkr__claim *c,
                                           enum zkr__event event,
                                           const char *why) ZKR__LOCKED
{
    zkr__claim_news_locked(c, event, &(struct zkr__news){ .why = why });
}

/* event.c: DUE follows at that instant, unless the claim has another state
 * then, or puts it off once more. */
void zkr__claim_put_off_locked(struct zkr__claim *c,
                               int64_t instant) ZKR__LOCKED;

/* Its sentence, for this thread. `detail` is that of an error; NULL: there was
 * no memory for one. */
static inline void zkr__outcome_tell(int rc, const char *detail)
{
    if (rc == ZKR_OK)
        detail = "";
    zkr__error_set_detail(detail == NULL ? zkr_strerror(rc) : detail);
}

/* event.c: the outcome, once. */
void zkr__claim_decide_locked(struct zkr__claim *c, int rc) ZKR__LOCKED;

extern const struct zkr__sm_state zkr__claim_states[ZKR__CLAIM_STATES];

static inline void zkr__role_tell_locked(struct zkr__claim *c,
                                         enum zkr__role_event event,
                                         int what) ZKR__LOCKED
{
    if (c->role->told != NULL)
        c->role->told(c, event, what);
}

static inline void
zkr__claim_tell_observer_locked(const struct zkr__claim *c) ZKR__LOCKED
{
    if (c->observer != NULL && c->observer->changed != NULL)
        c->observer->changed(c->observer);
}

/* Decides it with an error, if it is not decided yet, and leaves. */
void zkr__claim_give_up_locked(struct zkr__claim *c, int rc, const char *format,
                               ...) ZKR__LOCKED
    __attribute__((format(printf, 3, 4)));

/* give_up.c: the sentence of its outcome. */
void zkr__claim_explain(struct zkr__claim *c, int rc, const char *reason);
/* Give up with the error of another claim. */
void zkr__claim_give_up_like_locked(struct zkr__claim *c,
                                    const struct zkr__claim *other) ZKR__LOCKED;
/* Decide it with an error. It does not leave yet. */
void zkr__claim_fail_locked(struct zkr__claim *c, int rc,
                            const char *reason) ZKR__LOCKED;

/* Give up because the deadline has passed. The sentence says what the claim
 * waits for. */
void zkr__claim_time_out_locked(struct zkr__claim *c) ZKR__LOCKED;

/* Tells whether it waits for the servers only: not for others, nor for a
 * connection. */
bool zkr__claim_asks_locked(const struct zkr__claim *c) ZKR__LOCKED;

/* Writes what the claim waits for, to follow on "deadline passed": ", waiting
 * for 'NODE' (session 0x1, host 'a')", or ", waiting for the servers". */
#define ZKR__HINDRANCE_MAX 384
void zkr__claim_hindrance_locked(const struct zkr__claim *c,
                                 char text[ZKR__HINDRANCE_MAX]) ZKR__LOCKED;

/* release.c: the holder gives the lock back. */
void zkr__claim_release_locked(struct zkr__claim *c) ZKR__LOCKED;

/* loss.c: our node is gone while HELD, or the session is over. */
void zkr__claim_lost_locked(struct zkr__claim *c,
                            enum zkr_loss loss) ZKR__LOCKED;

/* expiry.c: the epoch is over. */
void zkr__claims_expired_locked(struct zkr_session *s) ZKR__LOCKED;
/* The session is over: decides every claim that is not decided. The connector
 * ends the claims when it has closed the handle. */
void zkr__claims_fail_locked(struct zkr_session *s, int rc,
                             const char *why) ZKR__LOCKED;
/* The handle is closed, through which claims of a past epoch acted: nothing of
 * theirs is under way any more. */
void zkr__claims_flushed_locked(struct zkr_session *s) ZKR__LOCKED;
