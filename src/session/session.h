/* SPDX-License-Identifier: Apache-2.0 */
/* The session: its lock, and the state that all objects opened on it share. */
#pragma once

#include <assert.h>
#include <pthread.h>
#include <sys/types.h>

#include <zkrecipes/session.h>

#include "base/list.h"
#include "base/log.h"
#include "base/mtx.h"
#include "base/ref.h"
#include "base/sm.h"
#include "base/timer.h"
#include "session/attempt.h"
#include "session/dispatch.h"
#include "session/first_request.h"
#include "session/lease.h"
#include "session/locked.h"
#include "session/op.h"
#include "session/reason.h"
#include "session/window.h"
#include "zk/acl.h"
#include "zk/credentials.h"
#include "zk/hosts.h"
#include "zk/zk.h"

struct zkr__session_observer;

struct zkr_session {
    /* set once */
    pid_t pid;                    /* for people: */
    unsigned process;             /* the one that may use it */
    struct zkr_session_opts opts; /* the strings are copies */
    struct zkr__hosts hosts;      /* but for the chroot under the lock */
    struct zkr__acl acl;
    struct zkr__log_hook log;

    struct zkr__ref ref;
    struct zkr__mtx lock; /* guards everything below, and all that is opened */

    struct zkr__sm sm; /* enum zkr_session_state_kind */
    uint64_t epoch;
    uint64_t answers;        /* in this epoch, that show that it lives */
    uint64_t answers_before; /* in the one before */
    int64_t answered_at;     /* the last one, by the lease's clock; 0: none */
    int64_t id;              /* of the present session; 0 without one */
    uint32_t timeout_ms;
    int over; /* why calls fail; 0 when they do not */
    struct zkr_counters counters;
    struct zkr__reason reason;
    struct zkr__credentials *credentials; /* in place of those of opts */

    /* operations waiting for the connection, and for room in the window */
    struct zkr__list queued[ZKR__OP_CLASSES];
    struct zkr__list delayed;   /* operations waiting for the next attempt */
    struct zkr__list in_flight; /* operations waiting for an answer */
    struct zkr__list refused;   /* one that the timer thread ends, or none */
    uintptr_t last_id;          /* the number of the last one */
    size_t class_count[ZKR__OP_CLASSES]; /* those in flight, by class */
    uint64_t turns;                      /* operations started */
    struct zkr__window window;           /* of this connection */
    struct zkr__first_request first_request;

    struct zkr__lease lease; /* of this epoch */
    int64_t promised_until;  /* the end of the lease of the last epoch */
    uint32_t claims;         /* of its locks, under way: it is in use */
    int64_t beat_at;         /* the last one of the heartbeat of its locks */
    struct zkr__timer keepalive;
    struct zkr__op touch;

    struct zkr__list waiters; /* upcalls.h */
    struct zkr__list watches;
    void *watched; /* the nodes that they are on (watch.h): a tree, by path */
    struct zkr__list listeners;
    struct zkr__session_observer
        *observer; /* upcalls.h; NULL before there is one */

    /* the connector */
    struct zkr__zk *zk; /* NULL between handles */
    bool early;         /* the one being made has reported early_event */
    enum zkr__zk_event early_event;
    bool handle_dead;   /* the handle must be closed */
    unsigned borrowers; /* functions of the user that use it */
    bool closing;       /* a thread closes it, without the lock at times */
    int64_t open_at;    /* when to make the next one */
    int64_t opened_at;  /* when this one was begun, by the lease's clock */
    bool told_server;   /* the server was told that the session ends */
    struct zkr__attempt attempt;
    bool away; /* the connector is at the servers, without the lock */
    struct zkr__cond connector_wake;
    bool connector_done;
    pthread_t connector;

    int64_t rank_due; /* when the server is asked for its role; see rank.h */
    struct {
        int64_t due;          /* when the next one is sent; see scout.h */
        int64_t served_since; /* all since were served; 0: the last was not */
        unsigned lost;        /* how often the connection was lost */
        bool served;          /* this scout was served */
    } scout;

    /* the timer thread */
    struct zkr__timers timers;
    int64_t timers_sleeps_until;
    struct zkr__cond timers_wake;
    pthread_t timer_thread;

    /* first_request, or connector_done: for open, close */
    struct zkr__cond changed;

    struct zkr__dispatch dispatch;
};

static inline void zkr__session_lock(struct zkr_session *s)
    ZKR__ACQUIRES(zkr__any_session_lock) ZKR__NO_ANALYSIS
{
    zkr__mtx_lock(&s->lock);
    if (s->log.fn != NULL)
        zkr__log_use(&s->log);
}

static inline void zkr__session_unlock(struct zkr_session *s)
    ZKR__RELEASES(zkr__any_session_lock) ZKR__NO_ANALYSIS
{
    if (s->log.fn != NULL)
        zkr__log_use(NULL);
    zkr__mtx_unlock(&s->lock);
}

/* First of all in what is called through a pointer, which clang does not
 * follow. */
static inline void zkr__session_assert_locked(const struct zkr_session *s)
    ZKR__ASSERTS(zkr__any_session_lock)
{
    assert(zkr__mtx_mine(&s->lock));
    (void)s;
}

/* Some thread may run a function of the user, a callback or one that has the
 * handle: zkr__dispatch_inside_locked() tells whether this one does. */
static inline bool zkr__session_is_outside(const struct zkr_session *s)
{
    return s->dispatch.busy || s->borrowers > 0;
}

/* Every public function begins with it: refuses NULL, and a forked child.
 * `what` names the argument. */
int zkr__session_check(const struct zkr_session *s, const char *what);

void zkr__session_ref(struct zkr_session *s);
/* The caller must not have the lock, because the last reference frees the
 * session. */
void zkr__session_unref(struct zkr_session *s);

bool zkr__session_connected(const struct zkr_session *s);

/* ZKR_OK, or the error of a call in a session that is over, or whose handle
 * cannot be used now. */
int zkr__session_check_open_locked(const struct zkr_session *s) ZKR__LOCKED;
int zkr__session_check_connected_locked(struct zkr_session *s) ZKR__LOCKED;

/* Returns false with ZKR_SESSION_NO_LEASE. */
bool zkr__session_has_lease(const struct zkr_session *s);

/* ZKR_OK, or the error of a call that does `noun`: its argument `what` is no
 * path, or one that is longer than `max` bytes with the chroot. */
int zkr__session_check_path(const struct zkr_session *s, const char *noun,
                            const char *what, const char *path, size_t max);

/* Returns the path of "/" in a session with a chroot. */
const char *zkr__session_root(const struct zkr_session *s);

/* Returns the path with the chroot, to be freed; NULL when out of memory. */
char *zkr__session_full_path(const struct zkr_session *s, const char *path);

/* Returns the deadline of a call that begins now: 0 is reply_timeout_ms of the
 * session, negative is none. */
int64_t zkr__session_deadline(const struct zkr_session *s, int64_t timeout_ms);

void zkr__session_init_states(struct zkr_session *s);

/* Ends the session for good: calls fail with `code` from now on. The connector
 * closes the handle. */
void zkr__session_end_locked(struct zkr_session *s, int code,
                             enum zkr_session_state_kind state,
                             const char *why) ZKR__LOCKED;

/* Called when an answer says that the session is over, maybe before the event
 * does. */
void zkr__session_lost_locked(struct zkr_session *s, int code) ZKR__LOCKED;

/* Called when the session may live, but not through this handle. */
void zkr__session_give_up_locked(struct zkr_session *s, enum zkr_cause cause,
                                 const char *text) ZKR__LOCKED;

/* Upcall of the seam. */
void zkr__session_on_event(struct zkr_session *s, enum zkr__zk_event event);

/* Handles an event of the handle, under the lock. */
void zkr__session_handle_locked(struct zkr_session *s,
                                enum zkr__zk_event event) ZKR__LOCKED;

/* Called when the handle of an epoch has been closed: ends everything that
 * depended on it. */
void zkr__session_flush_locked(struct zkr_session *s) ZKR__LOCKED;

/* listener.c: the state has changed. */
void zkr__listeners_tell_locked(struct zkr_session *s) ZKR__LOCKED;

/* keepalive.c: sends syncs for as long as the connection lasts; not with
 * ZKR_SESSION_NO_LEASE. */
void zkr__keepalive_start_locked(struct zkr_session *s) ZKR__LOCKED;
