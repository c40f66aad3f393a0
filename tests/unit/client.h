/* SPDX-License-Identifier: Apache-2.0 */
/* A fake client in place of libzookeeper_mt: it connects and answers at once,
 * from a thread of its own, unless a test says otherwise. It knows one lock
 * node, of the lock "/lock". It serves tests that need a session but no server,
 * one session at a time. And what such tests open on it. */
#pragma once

#include <stdatomic.h>

#include "scope.h"
#include "zk/zk.h"

/* Resets everything to the initial state. Returns 0: it is a setup. */
int client_reset(void);

/* For the next session. */
void client_grants_timeout(uint32_t timeout_ms);
/* The next so many handles cannot be made, for this reason. */
void client_makes_no_handle(int count, int rc);
/* Until it is let go, a handle does not connect. */
void client_connects(bool it_does);
/* Until then, only a handle does that tries this server first. */
void client_serves_at(const char *server);
/* The next so many connections break while credentials are given. */
void client_refuses_login(int count);
/* Those that the last handle was given last. */
const char *client_auth(void);
/* How many of the next scouts are served; how many there were. */
void client_serves_scouts(int count);
int client_scouts(void);
/* Returns when the last handle was made, by CLOCK_BOOTTIME. */
int64_t client_opened_ms(void);
int client_handles(void);

/* Sets how requests of a type are answered from now on. */
void client_answers(enum zkr__zk_type type, int rc);
/* The same for the next so many of them; then they succeed. */
void client_answers_times(enum zkr__zk_type type, int rc, int times);
/* Makes the client refuse the next request. */
void client_refuses(int rc);
/* It stops before an answer to such a request, and tells nothing more. */
enum { CLIENT_NEVER = -1, CLIENT_AT_ONCE = -2 };
void client_stops_at(int type);
/* Returns when it has stopped. */
void client_await_stop(void);
/* It goes on. */
void client_goes_on(void);
/* All upcalls that were due have been made. */
void client_await_rest(void);
/* Of that type, since the beginning. */
int client_requests(enum zkr__zk_type type);

/* The session event comes after the answers to all earlier requests; between
 * two handles there is nobody to report it. */
void client_says(enum zkr__zk_event event);
/* The connection breaks, and there is another one. */
void client_reconnects(void);
/* Requests that are not answered when the handle is closed are answered then,
 * or are lost; the server is told of the close, or not. */
void client_closes(bool answers, bool told);

/* Answers of creates put the node into another directory, and behind what was
 * asked for, these words. NULL: they tell the truth. */
void client_lies(const char *dir, const char *behind);

/* Somebody else sets the data of the node, or deletes it (NULL). */
void client_changes_node(const char *data);
/* Nodes of others that are ahead in the queue, or NULL; the second may be one
 * that the leader does not have. */
void client_shows(const char *one, const char *another, bool denied);
/* The client shows a node that was created later. */
void client_replaces_node(void);

/* -- what tests open on it: an error fails the test ------------------------ */

zkr_session *open_session(uint32_t flags);
zkr_session *open_session_with(const struct zkr_session_opts *opts);
void close_session(zkr_session *s);
SCOPED(zkr_session, session, close_session)

struct zkr_counters session_stats(zkr_session *s);
/* Waits until the session is in that state. */
void await_state(zkr_session *s, enum zkr_session_state_kind state);

zkr_mutex *new_mutex(zkr_session *s);
zkr_grant *acquire(zkr_mutex *m);
void give_back(zkr_grant *g);
/* AUTO(held) g = acquire(m): it is given back where the block ends. */
SCOPED(zkr_grant, held, give_back)

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
