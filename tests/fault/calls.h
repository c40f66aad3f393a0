/* SPDX-License-Identifier: Apache-2.0 */
/* Every call of the library that waits, and how long it may take by its
 * documentation. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <zkrecipes/zkrecipes.h>

enum {
    DEADLINE_MS = 700, /* of calls that take one */
    REPLY_MS = 400,    /* reply_timeout_ms of the session, for other calls */
    CONNECT_MS = 600,
    CLOSE_MS = 6000, /* the limit of a close in session.h */
};

struct call;

/* One call on a lock path of its own. */
struct attempt {
    const struct call *call;
    const char *hosts;
    zkr_session *session; /* shared with others */
    zkr_session *own;     /* for calls that close their session */
    char path[64];
    void *lock;
    zkr_grant *grant; /* the argument of the call, if it is about a grant */
    zkr_grant *result;
    int rc;
};

struct call {
    const char *name;
    int64_t limit_ms;
    bool begins_before; /* it waits for a holder when the fault comes */
    void (*prepare)(struct attempt *a); /* before the fault */
    int (*run)(struct attempt *a);
};

extern const struct call calls[];
extern const size_t call_count;

/* Open a session with the options that the limits of the calls assume. */
zkr_session *calls_session(const char *hosts);

/* Release and free what the call has left, after the fault. */
void call_clean(struct attempt *a);
