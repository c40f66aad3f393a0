/* SPDX-License-Identifier: Apache-2.0 */
/* Decides what happens to the command at which instant, so that it is dead
 * before anybody else can hold the lock. Pure. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <zkrecipes/grant.h>

enum policy_action {
    POLICY_NOTHING,
    POLICY_SEND_TERM,
    POLICY_SEND_KILL,
};

/* KILL is sent so much before the end of the lease: for our own waking up, and
 * for the signal to arrive. */
#define POLICY_LEAD_MS 50

struct policy {
    int64_t grace_ms; /* between TERM and KILL */
    bool terminated;  /* TERM has been sent */
};

/* The facts at one moment. Times are milliseconds of CLOCK_BOOTTIME. */
struct policy_view {
    enum zkr_grant_state_kind state;
    int64_t valid_until_ms; /* 0: nothing is proven */
    int64_t now_ms;
};

struct policy_plan {
    enum policy_action action; /* now */
    int64_t wake_ms;           /* look again then; 0 after KILL: all is done */
};

/* Tells whether a command may run. */
bool policy_is_ours(const struct policy_view *view);

/* The next step. After TERM, which sets `terminated`, the caller asks again for
 * what follows. */
struct policy_plan policy_next(struct policy *policy,
                               const struct policy_view *view);

/* The longest grace that a session timeout leaves room for, and the one to take
 * when nobody says. The lease is proven anew every sixth of the timeout; when a
 * proof is due, a third of it is left at least (a quarter at the very start).
 * TERM must not come while servers are just a little slow. */
int64_t policy_longest_grace_ms(int64_t session_timeout_ms);
int64_t policy_default_grace_ms(int64_t session_timeout_ms);
