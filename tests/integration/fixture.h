/* SPDX-License-Identifier: Apache-2.0 */
/* The fixture of the integration tests: a server, sessions, waiting threads. */
#pragma once

#include <stdatomic.h>
#include <unistd.h>

#include "admin.h"
#include "expire.h"
#include "proxy.h"
#include "scope.h"
#include "server.h"
#include "stopwatch.h"
#include "test.h"
#include "wait.h"

/* A session that a busy machine does not end, nor its leases; and one whose end
 * is waited for. */
#define SESSION_MS       8000
#define BRIEF_SESSION_MS 2000
/* The deadline for events that should happen at once: it only ends a hang. */
#define SOON_MS 60000
/* The deadline of a wait that gives up. On a busy machine, too, it is in the
 * queue by then: without a place it would fail for another reason. */
#define GIVE_UP_MS 600

/* Waits until the condition holds; the test fails when that does not come. */
#define AWAIT(condition)                                                       \
    do {                                                                       \
        if (!COMES(condition, SOON_MS))                                        \
            fail_msg("this does not come: %s", #condition);                    \
    } while (0)

extern struct server *the_server;
extern struct admin *admin;

/* The main() of every program here: 77 when no server is installed. */
int run_with_server(const struct server_opts *opts, int (*run_group)(void));
/* Empty containers go at once, and nodes may have a TTL. */
extern const struct server_opts quick_containers;
/* The same of those with so many servers. `setup` sets `admin`, and
 * `the_server` if it is needed. */
int run_with_ensemble(int count, const struct server_opts *opts,
                      struct ensemble **ret_ensemble, test_step *setup,
                      test_step *teardown);
/* Opens `admin` there, and makes the directory of new_path(). A code. */
int open_admin(const char *hosts);

/* Another server, besides the_server. */
struct server *new_server(const struct server_opts *opts);
SCOPED(struct server, server, server_stop)

zkr_session *open_session(void);
zkr_session *open_to(const char *hosts, const struct zkr_session_opts *opts);
zkr_session *open_session_with(const struct zkr_session_opts *opts);
void close_session(zkr_session *s);
SCOPED(zkr_session, session, close_session)
/* A session with these options, and one through `proxy`. */
#define OPEN(...)    open_session_with(OPTS(session, __VA_ARGS__))
#define THROUGH(...) open_to(proxy_hosts(proxy), OPTS(session, __VA_ARGS__))
/* Variables of a test: a session, and a mutex of it at a path of its own. */
#define OPEN_MUTEX(s, m)                                                       \
    AUTO(session) s = open_session();                                          \
    AUTO(mutex) m = new_mutex(s, new_path())

/* A session through a new proxy to the server; NULL: as open_session(). And the
 * end of both, however the session ends. */
zkr_session *open_through(struct proxy **ret_proxy,
                          const struct zkr_session_opts *opts);
void close_through(zkr_session *s, struct proxy *proxy);

/* A path that no other test uses. */
const char *new_path(void);
zkr_mutex *new_mutex(zkr_session *s, const char *path);

/* Where an acquire that is to fail would put a grant. */
extern zkr_grant *nil;

zkr_grant *acquire(zkr_mutex *m);
void release(zkr_grant *g);
void release_each(zkr_grant **grants, size_t count);
/* AUTO(held) g = acquire(m): it is released where the block ends. */
SCOPED(zkr_grant, held, release)
/* Tells whether the result of a release is a success. It is also one that the
 * deletion goes on, if the release has waited for the answer of a busy server
 * as long as the session says. */
bool is_released(int rc, int64_t took_ms, int64_t reply_timeout_ms);
/* Checks with the servers that the lock is held. On a busy machine their answer
 * may come too late to prove it; then they are asked again. */
void wait_verified(zkr_grant *g);

/* A way to acquire: one of these. `lock` is what its name says. */
typedef int acquire_call(zkr_lockable *lock, int64_t timeout_ms,
                         zkr_grant **ret_grant);
#define by_mutex   zkr_mutex_acquire
#define by_reading zkr_rwlock_acquire_read
#define by_writing zkr_rwlock_acquire_write

/* A thread that acquires; the outcome is here after waiter_join(). */
struct waiter {
    struct waiting *waiting; /* what the thread has, also after the test */
    int rc;
    zkr_grant *grant;
    char detail[256];
};

void waiter_start(struct waiter *w, zkr_mutex *m, int64_t timeout_ms);
void waiter_start_by(struct waiter *w, acquire_call *call, void *lock,
                     int64_t timeout_ms);
/* Without a limit; return when the lock has one node more in its directory. */
void waiter_queue(struct waiter *w, zkr_mutex *m);
void waiter_queue_by(struct waiter *w, acquire_call *call, void *lock,
                     const char *dir);
/* Returns its rc, and fails when the thread does not end soon. */
int waiter_join(struct waiter *w);
bool waiter_is_done(struct waiter *w);
/* A waiter that one of these has started, as in WAITER(queue, m). */
#define WAITER(how, ...)                                                       \
    __extension__({                                                            \
        struct waiter new_one;                                                 \
                                                                               \
        waiter_##how(&new_one, __VA_ARGS__);                                   \
        new_one;                                                               \
    })
/* Fails when it has none. */
zkr_grant *waiter_grant(struct waiter *w);
/* Releases `g`; returns what the waiter is granted then. */
zkr_grant *hand_to(zkr_grant *g, struct waiter *w);
/* Releases `g`; the waiter is granted the lock then, and releases it, too. */
void release_to(zkr_grant *g, struct waiter *w);

/* A call on a thread of its own. */
struct caller {
    pthread_t thread;
    int (*run)(void *arg);
    void *arg;
    int rc;
    atomic_bool done;
};

void call_start(struct caller *c, int (*run)(void *arg), void *arg);
bool call_is_done(struct caller *c);
/* Returns its rc, and fails when it does not end soon. */
int call_join(struct caller *c);

/* On a thread of its own, whose end it waits for. */
void on_thread(void *(*run)(void *), void *arg);

/* When it returns, the session has handled everything that the server had to
 * report: answers and events come in one order. Use it before checking that
 * something has not happened. */
void settle(zkr_session *s);

/* Wait until the lock directory has that many children. */
void wait_children(const char *path, size_t count);
/* The n-th child, in order of sequence; to be freed. */
char *nth_child(const char *path, size_t n);
/* It is not the old one, and is there. */
bool child_is_new(const char *path, size_t n, const char *old);
size_t count_children(const char *path);
void delete_nth_child(const char *path, size_t n);
/* The data of a node are that text. */
void node_has(const char *path, const char *text);
struct Stat stat_of(const char *path);
/* Until the server has that many watches, of all sessions. */
void wait_watches(int count);

/* Reads an expression of the library's state under the lock of that session. */
#define LOCKED(session, expression)                                            \
    __extension__({                                                            \
        zkr__session_lock(session);                                            \
        __typeof__(expression) known = (expression);                           \
        zkr__session_unlock(session);                                          \
        known;                                                                 \
    })

struct zkr_counters session_stats(zkr_session *s);
struct zkr_counters lock_stats(zkr_lockable *lock);
struct zkr_session_error last_error(zkr_session *s);

void wait_session_state(zkr_session *s, enum zkr_session_state_kind state);
/* Break the connection through the proxy; let it be made again: until the
 * session knows of it. */
void disconnect(struct proxy *proxy, zkr_session *s);
void connect_again(struct proxy *proxy, zkr_session *s);
void wait_grant_state(zkr_grant *g, enum zkr_grant_state_kind state);

/* After server_kill9(). A server forgets clients that connect while it starts,
 * and leaves them without an answer for 2/3 of their session timeout. So the
 * admin client, which has a long timeout, does not connect meanwhile. */
void restart_server(void);
/* Calls it, if any, when the server serves, before the admin connects. */
void restart_server_for(void (*clients_first)(void));

/* Make the server end the session now. */
void expire(zkr_session *s);
/* Does so, and waits until the next session is connected. */
void expire_and_wait(zkr_session *s);
/* Until the session of that epoch, or a later one, is connected. */
void await_epoch(zkr_session *s, uint64_t epoch);

/* The participants of the lock at that path. */
struct zkr_participants *list_of(zkr_session *s, const char *path,
                                 const struct zkr_participants_opts *opts);

/* Callbacks that write to a recorder: code is the error or state. */
void record_session(zkr_session *s, const struct zkr_session_event *e,
                    void *recorder);
void record_grant(zkr_grant *g, const struct zkr_grant_event *e,
                  void *recorder);
void record_release(int error, void *recorder); /* of an open as well */
void record_reply(int error, const struct zkr_reply *reply, void *recorder);
void record_commit(int error, zkr_txn *txn, void *recorder);
/* The value is why. */
void record_watch(int error, const struct zkr_reply *reply,
                  enum zkr_watch_why why, void *recorder);
/* Keeps the grant: the value is the pointer. */
void record_acquire(int error, zkr_grant *g, void *recorder);
/* Of an acquire of several, all of which it frees: the value is how many. */
void record_grants(int error, zkr_grant *const *grants, size_t count,
                   void *recorder);
/* When it has come; fails when it is none. */
zkr_grant *recorded_grant(struct recorder *r, size_t i);
/* Returns the code of the i-th event, when it has come. */
int recorded(struct recorder *r, size_t i);
/* That event has come, with that code and value. */
void is_recorded(struct recorder *r, size_t i, int code, int64_t value);

/* An open ends within so many ms, with that code, and the sentence of the error
 * has that part. Twice, because what a failure leaves behind shows the next
 * time. */
void open_fails(const char *hosts, const struct zkr_session_opts *opts,
                int64_t most_ms, int code, const char *part);
