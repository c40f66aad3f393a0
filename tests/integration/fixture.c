/* SPDX-License-Identifier: Apache-2.0 */
/* The fixture of the integration tests: a server, sessions, waiting threads. */
#include "fixture.h"

enum {
    REPLY_MS = 5000, /* the default of the sessions */
    CLOCKS_MS = 10,  /* of two that both count whole milliseconds */
};

struct server *the_server;
struct admin *admin;
zkr_grant *nil;

static void log_line(enum zkr_log_level level, const char *line, void *user)
{
    (void)fprintf(stderr, "%lld [%d] %s\n", (long long)now_ms(), (int)level,
                  line);
}

const struct server_opts quick_containers = {
    .java_opts =
        (const char *const[]){ "-Dznode.container.checkIntervalMs=10",
                               "-Dzookeeper.extendedTypesEnabled=true", NULL }
};

static void take_environment(void)
{
    if (getenv("ZKR_TEST_LOG") != NULL) /* for a person who looks for a bug */
        zkr_log_set(ZKR_LOG_DEBUG, log_line, NULL);
}

int open_admin(const char *hosts)
{
    int rc = admin_open(hosts, &admin);

    return rc == ZOK ? admin_create(admin, "/tests", NULL) : rc;
}

int run_with_server(const struct server_opts *opts, int (*run_group)(void))
{
    int rc = server_start(opts, &the_server);

    if (rc != SERVER_OK)
        return rc == SERVER_MISSING ? 77 : 1;
    int failed = open_admin(server_hosts(the_server));
    take_environment();
    if (failed == 0)
        failed = run_group();
    admin_close(admin);
    server_stop(the_server);
    return failed == 0 ? 0 : 1;
}

int run_with_ensemble(int count, const struct server_opts *opts,
                      struct ensemble **ret_ensemble, test_step *setup,
                      test_step *teardown)
{
    int rc = ensemble_start(count, opts, ret_ensemble);

    if (rc != SERVER_OK)
        return rc == SERVER_MISSING ? 77 : 1;
    take_environment();
    int failed = test_run_between(setup, teardown);
    admin_close(admin);
    ensemble_stop(*ret_ensemble);
    return failed == 0 ? 0 : 1;
}

struct server *new_server(const struct server_opts *opts)
{
    struct server *s = NULL;

    assert_int_equal(server_start(opts, &s), SERVER_OK);
    return s;
}

zkr_session *open_to(const char *hosts, const struct zkr_session_opts *opts)
{
    return MADE(session, session_open, hosts, opts);
}

zkr_session *open_session_with(const struct zkr_session_opts *opts)
{
    return open_to(server_hosts(the_server), opts);
}

zkr_session *open_session(void)
{
    return open_session_with(OPTS(session, .session_timeout_ms = SESSION_MS));
}

void close_session(zkr_session *s)
{
    ok(zkr_session_close(s));
}

zkr_session *open_through(struct proxy **ret_proxy,
                          const struct zkr_session_opts *opts)
{
    ok(proxy_start(server_hosts(the_server), ret_proxy));
    return open_to(
        proxy_hosts(*ret_proxy),
        opts != NULL ? opts : OPTS(session, .session_timeout_ms = SESSION_MS));
}

void close_through(zkr_session *s, struct proxy *proxy)
{
    (void)zkr_session_close(s);
    proxy_stop(proxy);
}

const char *new_path(void)
{
    static char path[64];
    static int number;

    PRINT(path, "/tests/lock-of-test-%d", ++number);
    return path;
}

zkr_mutex *new_mutex(zkr_session *s, const char *path)
{
    return NEW(mutex, s, path, NULL);
}

zkr_grant *acquire(zkr_mutex *m)
{
    return GRANT(mutex_acquire, m, SOON_MS);
}

bool is_released(int rc, int64_t took_ms, int64_t reply_timeout_ms)
{
    return rc == ZKR_OK ||
           (rc == ZKR_EPENDING && took_ms + CLOCKS_MS >= reply_timeout_ms);
}

void release(zkr_grant *g)
{
    int64_t began_ms = now_ms();
    int rc = zkr_grant_release(g);

    if (!is_released(rc, now_ms() - began_ms, REPLY_MS))
        ok(rc);
    zkr_grant_free(g);
}

void release_each(zkr_grant **grants, size_t count)
{
    ok(zkr_grants_release(grants, count));
    zkr_grants_free(grants, count);
    for (size_t i = 0; i < count; i++)
        assert_null(grants[i]);
}

void wait_verified(zkr_grant *g)
{
    int rc = ZKR_EUNSURE;

    (void)COMES((rc = zkr_grant_verify(g, SOON_MS)) != ZKR_EUNSURE, SOON_MS);
    ok(rc);
}

/* It is not on the stack of a test, because a test that fails leaves its
 * threads behind. */
struct waiting {
    struct caller caller;
    acquire_call *call;
    void *lock;
    int64_t timeout_ms;
    zkr_grant *grant;
    char detail[256];
};

static int acquire_for(void *waiting)
{
    struct waiting *w = waiting;
    int rc = w->call(w->lock, w->timeout_ms, &w->grant);

    if (rc != ZKR_OK)
        PRINT(w->detail, "%s", zkr_error_detail());
    return rc;
}

void waiter_start(struct waiter *w, zkr_mutex *m, int64_t timeout_ms)
{
    waiter_start_by(w, by_mutex, m, timeout_ms);
}

void waiter_start_by(struct waiter *w, acquire_call *call, void *lock,
                     int64_t timeout_ms)
{
    struct waiting *waiting = calloc(1, sizeof(*waiting));

    assert_non_null(waiting);
    waiting->call = call;
    waiting->lock = lock;
    waiting->timeout_ms = timeout_ms;
    *w = (struct waiter){ .waiting = waiting };
    call_start(&waiting->caller, acquire_for, waiting);
}

void waiter_queue(struct waiter *w, zkr_mutex *m)
{
    waiter_queue_by(w, by_mutex, m, zkr_lockable_path(m));
}

void waiter_queue_by(struct waiter *w, acquire_call *call, void *lock,
                     const char *dir)
{
    size_t before = count_children(dir);

    waiter_start_by(w, call, lock, -1);
    wait_children(dir, before + 1);
}

bool waiter_is_done(struct waiter *w)
{
    return w->waiting == NULL || call_is_done(&w->waiting->caller);
}

zkr_grant *waiter_grant(struct waiter *w)
{
    ok(waiter_join(w));
    return w->grant;
}

zkr_grant *hand_to(zkr_grant *g, struct waiter *w)
{
    release(g);
    return waiter_grant(w);
}

void release_to(zkr_grant *g, struct waiter *w)
{
    release(hand_to(g, w));
}

int waiter_join(struct waiter *w)
{
    struct waiting *waiting = w->waiting;

    w->rc = call_join(&waiting->caller);
    w->grant = waiting->grant;
    PRINT(w->detail, "%s", waiting->detail);
    w->waiting = NULL;
    free(waiting);
    return w->rc;
}

static void *caller_main(void *arg)
{
    struct caller *c = arg;

    c->rc = c->run(c->arg);
    atomic_store(&c->done, true);
    return NULL;
}

void call_start(struct caller *c, int (*run)(void *arg), void *arg)
{
    *c = (struct caller){ .run = run, .arg = arg };
    c->thread = thread_start(caller_main, c);
}

bool call_is_done(struct caller *c)
{
    return atomic_load(&c->done);
}

int call_join(struct caller *c)
{
    if (!COMES(call_is_done(c), SOON_MS))
        fail_msg("a thread that calls hangs");
    thread_join(c->thread);
    return c->rc;
}

void on_thread(void *(*run)(void *), void *arg)
{
    thread_join(thread_start(run, arg));
}

/* An event makes a claim list again, and it is woken by the answer to that. */
void settle(zkr_session *s)
{
    zkr_mutex *m = new_mutex(
        s, textf("/tests/settle/%llx", (unsigned long long)zkr_session_id(s)));

    for (int i = 0; i < 3; i++)
        release(acquire(m));
    zkr_mutex_free(m);
    sleep_ms(2); /* for the thread that was woken */
}

size_t count_children(const char *path)
{
    char **names;
    size_t count;
    int rc = admin_children(admin, path, &names, &count);

    if (rc == ZNONODE)
        return 0;
    assert_int_equal(rc, ZOK);
    admin_children_free(names, count);
    return count;
}

void wait_children(const char *path, size_t count)
{
    if (!COMES(count_children(path) == count, SOON_MS))
        fail_msg("%s: %zu children, expected %zu", path, count_children(path),
                 count);
}

char *nth_child(const char *path, size_t n)
{
    char **names;
    size_t count;

    ok(admin_children(admin, path, &names, &count));
    if (n >= count)
        fail_msg("%s: has no child number %zu", path, n);
    char *name = strdup(names[n]);
    admin_children_free(names, count);
    return name;
}

bool child_is_new(const char *path, size_t n, const char *old)
{
    AUTO(text) now = count_children(path) > n ? nth_child(path, n) : NULL;

    return now != NULL && strcmp(now, old) != 0;
}

void delete_nth_child(const char *path, size_t n)
{
    AUTO(text) name = nth_child(path, n);

    ok(admin_delete(admin, textf("%s/%s", path, name)));
}

void node_has(const char *path, const char *text)
{
    char data[1024];

    ok(admin_get(admin, path, data, sizeof(data)));
    assert_string_equal(data, text);
}

struct Stat stat_of(const char *path)
{
    struct Stat stat;

    ok(admin_exists(admin, path, &stat));
    return stat;
}

struct zkr_counters session_stats(zkr_session *s)
{
    struct zkr_counters all = ZKR_COUNTERS_INIT;

    ok(zkr_session_stats(s, &all));
    return all;
}

struct zkr_counters lock_stats(zkr_lockable *lock)
{
    struct zkr_counters all = ZKR_COUNTERS_INIT;

    ok(zkr_lockable_stats(lock, &all));
    return all;
}

struct zkr_session_error last_error(zkr_session *s)
{
    struct zkr_session_error error = ZKR_SESSION_ERROR_INIT;

    ok(zkr_session_last_error(s, &error));
    return error;
}

struct zkr_participants *list_of(zkr_session *s, const char *path,
                                 const struct zkr_participants_opts *opts)
{
    struct zkr_participants *list =
        MADE(participants, participants_list, s, path, opts);

    assert_non_null(list);
    return list;
}

void wait_watches(int count)
{
    AWAIT(server_watch_count(the_server) == count);
}

void wait_session_state(zkr_session *s, enum zkr_session_state_kind state)
{
    if (!COMES(zkr_session_state(s) == state, SOON_MS))
        fail_msg("session is %s, not %s",
                 zkr_session_state_name(zkr_session_state(s)),
                 zkr_session_state_name(state));
}

void disconnect(struct proxy *proxy, zkr_session *s)
{
    proxy_cut(proxy);
    wait_session_state(s, ZKR_SESSION_SUSPENDED);
}

void connect_again(struct proxy *proxy, zkr_session *s)
{
    proxy_heal(proxy);
    wait_session_state(s, ZKR_SESSION_RECONNECTED);
}

void wait_grant_state(zkr_grant *g, enum zkr_grant_state_kind state)
{
    if (!COMES(zkr_grant_state(g) == state, SOON_MS))
        fail_msg("grant is %s, not %s",
                 zkr_grant_state_name(zkr_grant_state(g)),
                 zkr_grant_state_name(state));
}

void restart_server_for(void (*clients_first)(void))
{
    admin_close(admin);
    admin = NULL; /* also for the tests after this one, when it fails here */
    ok(server_restart(the_server));
    if (clients_first != NULL)
        clients_first();
    ok(admin_open(server_hosts(the_server), &admin));
}

void restart_server(void)
{
    restart_server_for(NULL);
}

void expire(zkr_session *s)
{
    ok(session_kill_by_id(server_hosts(the_server), zkr_session_id(s)));
}

/* The client may have reconnected in the old session for a moment. */
void await_epoch(zkr_session *s, uint64_t epoch)
{
    AWAIT(zkr_session_epoch(s) >= epoch &&
          zkr_session_state(s) == ZKR_SESSION_RECONNECTED);
}

void expire_and_wait(zkr_session *s)
{
    uint64_t last = zkr_session_epoch(s);

    expire(s);
    await_epoch(s, last + 1);
}

#define RECORDS(callback, code, value, ...)                                    \
    void callback(__VA_ARGS__, void *recorder)                                 \
    {                                                                          \
        recorder_add(recorder, code, value);                                   \
    }

RECORDS(record_session, (int)e->state, (int64_t)e->epoch, zkr_session *s,
        const struct zkr_session_event *e)
RECORDS(record_grant, e->kind == ZKR_GRANT_STATE_CHANGED ? (int)e->state : 100,
        (int64_t)e->loss, zkr_grant *g, const struct zkr_grant_event *e)
RECORDS(record_reply, error, reply != NULL, int error,
        const struct zkr_reply *reply)
RECORDS(record_commit, error, 0, int error, zkr_txn *txn)
RECORDS(record_watch, error, (int64_t)why, int error,
        const struct zkr_reply *reply, enum zkr_watch_why why)
RECORDS(record_release, error, 0, int error)
RECORDS(record_acquire, error, (int64_t)(intptr_t)g, int error, zkr_grant *g)

void record_grants(int error, zkr_grant *const *grants, size_t count,
                   void *recorder)
{
    for (size_t i = 0; i < count; i++)
        zkr_grant_free(grants[i]);
    bool told = *zkr_error_detail() != '\0';
    recorder_add(recorder, told == (error != ZKR_OK) ? error : ZKR_EPROTO,
                 (int64_t)count);
}

zkr_grant *recorded_grant(struct recorder *r, size_t i)
{
    int64_t value = 0;

    ok(recorded(r, i));
    (void)recorder_get(r, i, NULL, &value);
    return (zkr_grant *)(intptr_t)value;
}

int recorded(struct recorder *r, size_t i)
{
    int code = 0;

    if (!recorder_wait(r, i + 1, SOON_MS))
        fail_msg("event %zu does not come", i);
    assert_true(recorder_get(r, i, &code, NULL));
    return code;
}

void is_recorded(struct recorder *r, size_t i, int code, int64_t value)
{
    int64_t got = 0;

    assert_int_equal(recorded(r, i), code);
    assert_true(recorder_get(r, i, NULL, &got));
    assert_int_equal(got, value);
}

void open_fails(const char *hosts, const struct zkr_session_opts *opts,
                int64_t most_ms, int code, const char *part)
{
    for (int i = 0; i < 2; i++) {
        struct stopwatch *w = stopwatch_start();
        zkr_session *s = NULL;
        int rc = zkr_session_open(hosts, opts, &s);

        assert_true(stopwatch_says(w, 0, most_ms));
        if (rc != code)
            fail_msg("'%s': %s (%s), not %s", hosts, zkr_strerror(rc),
                     zkr_error_detail(), zkr_strerror(code));
        assert_null(s);
        assert_has(zkr_error_detail(), part);
    }
}
