/* What must happen to the command at which instant, so that it is dead before
 * anybody else can hold the lock. Pure. */
#ifndef RUN_FENCE_H
#define RUN_FENCE_H

#include <stdbool.h>
#include <stdint.h>

#include <zkrecipes/grant.h>

/* What to do while nobody knows whether the servers still keep our session. */
enum fence_policy {
    FENCE_CONTINUE, /* go on, as long as the lease runs */
    FENCE_TERM,     /* end the command at once */
    FENCE_PAUSE,    /* stop it until the lock is proven to be ours again */
};

enum fence_action {
    FENCE_NOTHING,
    FENCE_SEND_TERM,
    FENCE_SEND_KILL,
    FENCE_SEND_STOP,
    FENCE_SEND_CONT,
};

/* KILL is sent so much before the end of the lease: for our own waking up, and
 * for the signal to arrive. */
#define FENCE_LEAD_MS 50

struct fence {
    enum fence_policy policy;
    int64_t grace_ms; /* between TERM and KILL */
    bool terminated;  /* TERM has been sent */
    bool paused;      /* STOP has been sent, and no CONT since */
};

/* What is known at one moment. Times are milliseconds of CLOCK_BOOTTIME. */
struct fence_view {
    enum zkr_grant_state state;
    int64_t valid_until_ms; /* 0: nothing is proven */
    int64_t now_ms;
};

struct fence_plan {
    enum fence_action action; /* now */
    int64_t wake_ms;          /* look again then; 0 after KILL: all is done */
};

/* The next step. After TERM, STOP and CONT the caller has `terminated` and
 * `paused` set here, and asks again for what follows. */
struct fence_plan fence_next(struct fence *fence,
                             const struct fence_view *view);

/* The longest grace that a session timeout leaves room for, and the one to take
 * when nobody says. The lease is proven anew every sixth of the timeout; when a
 * proof is due, a third of it is left at least (a quarter at the very start).
 * TERM must not come while servers are just a little slow. */
int64_t fence_longest_grace_ms(int64_t session_timeout_ms);
int64_t fence_default_grace_ms(int64_t session_timeout_ms);

#endif
