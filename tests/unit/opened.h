/* SPDX-License-Identifier: Apache-2.0 */
/* A session and a mutex on the fake client of the unit tests, and acquires of
 * it. An error fails the test. */
#pragma once

#include <stdatomic.h>

#include "scope.h"

zkr_session *open_session(uint32_t flags);
zkr_session *open_session_with(const struct zkr_session_opts *opts);
void close_session(zkr_session *s);
SCOPED(zkr_session, session, close_session)

/* Waits until the session is in that state. */
void await_state(zkr_session *s, enum zkr_session_state_kind state);

zkr_mutex *new_mutex(zkr_session *s);
zkr_grant *acquire(zkr_mutex *m);
void give_back(zkr_grant *g);

/* Variables of a test: a session with those flags, a mutex of it, its grant. */
#define OPEN_MUTEX(s, m, flags)                                                \
    AUTO(session) s = open_session(flags);                                     \
    AUTO(mutex) m = new_mutex(s)
#define OPEN_GRANT(s, m, g, flags)                                             \
    OPEN_MUTEX(s, m, flags);                                                   \
    AUTO(grant) g = acquire(m)

/* An acquire that nobody waits for: how it ends is told on another thread. */
struct outcome {
    atomic_bool told;
    int rc;
    zkr_grant *grant;
};

void ask_for(zkr_mutex *m, struct outcome *o);
zkr_grant *granted(struct outcome *o);
