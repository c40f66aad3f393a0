/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that no call returns later than documented, whatever the servers do.
 *
 * In each outage all calls that wait are made at once, each on a thread of its
 * own. A stopwatch tells how late the machine was meanwhile.
 * ZKR_OUTAGES is the number of outages of each kind. */
#include "cluster.h"
#include "fixture.h"

/* -- calls that wait, and how long they may take by their documentation ---- */

enum {
    SMOKE = 1,
    LATE_MS = 100,     /* more than that is late */
    DEADLINE_MS = 700, /* of calls that take one */
    REPLY_MS = 400,    /* reply_timeout_ms of the session, for other calls */
    CONNECT_MS = 600,
    CLOSE_MS = 6000, /* the limit of a close in session.h */
};

/* One call on a lock path of its own, and a thread of its own. */
struct attempt {
    pthread_t thread;
    const char *hosts;
    zkr_session *session; /* shared with others */
    zkr_session *own;     /* for calls that close their session */
    char path[64];
    void *lock;
    zkr_grant *grant; /* the argument of the call, if it is about a grant */
    zkr_grant *result;
    int rc;
    int64_t late_ns;  /* negative: early */
    int64_t noise_ns; /* the lateness of the machine meanwhile */
};

struct call {
    const char *name;
    int64_t limit_ms;
    bool begins_before; /* it waits for a holder when the fault comes */
    void (*prepare)(struct attempt *a); /* before the fault, or NULL */
    int (*run)(struct attempt *a);
};

/* With the options that the limits of the calls assume. */
static zkr_session *calls_session(const char *hosts)
{
    return open_to(hosts,
                   OPTS(session, .session_timeout_ms = 2 * BRIEF_SESSION_MS,
                        .reply_timeout_ms = REPLY_MS));
}

#define CALL(name, ...)                                                        \
    static int name(struct attempt *a)                                         \
    {                                                                          \
        return __VA_ARGS__;                                                    \
    }

#define PREPARE(name, ...)                                                     \
    static void name(struct attempt *a)                                        \
    {                                                                          \
        __VA_ARGS__;                                                           \
    }

/* -- the mutex ------------------------------------------------------------ */

PREPARE(with_mutex, a->lock = new_mutex(a->session, a->path))

static void with_grant(struct attempt *a)
{
    with_mutex(a);
    a->grant = acquire(a->lock);
}

CALL(acquire_mutex, zkr_mutex_acquire(a->lock, DEADLINE_MS, &a->result))
CALL(try_mutex, zkr_mutex_acquire(a->lock, 0, &a->result))
CALL(release_grant, zkr_grant_release(a->grant))
CALL(verify, zkr_grant_verify(a->grant, DEADLINE_MS))

static void ignore(int error, zkr_grant *g, void *user)
{
    zkr_grant_free(g);
}

/* Makes all calls that promise not to wait, one after the other. */
static int nothing_that_waits(struct attempt *a)
{
    zkr_mutex *m = NULL;
    int rc = zkr_grant_check(a->grant); /* whatever it says */

    (void)zkr_grant_valid_until(a->grant);
    (void)zkr_session_state(a->session);
    rc = zkr_mutex_new(a->session, a->path, NULL, &m);
    if (rc == ZKR_OK)
        rc = zkr_mutex_acquire_async(m, -1, ignore, NULL, NULL);
    (void)zkr_lockable_cancel(m);
    zkr_mutex_free(m);
    if (rc == ZKR_OK)
        rc = zkr_grant_release_async(a->grant, NULL, NULL);
    zkr_grant_free(a->grant);
    a->grant = NULL;
    return rc;
}

/* -- other locks ---------------------------------------------------------- */

PREPARE(with_reentrant,
        a->lock = NEW(reentrant_mutex, a->session, a->path, NULL))

CALL(acquire_reentrant, zkr_reentrant_mutex_acquire(a->lock, DEADLINE_MS))

PREPARE(with_unfair, a->lock = NEW(unfair_mutex, a->session, a->path, NULL))

CALL(acquire_unfair, zkr_unfair_mutex_acquire(a->lock, DEADLINE_MS, &a->result))

PREPARE(with_rwlock, a->lock = NEW(rwlock, a->session, a->path, NULL))

static void with_write_grant(struct attempt *a)
{
    with_rwlock(a);
    ok(zkr_rwlock_acquire_write(a->lock, SOON_MS, &a->grant));
}

CALL(acquire_read, zkr_rwlock_acquire_read(a->lock, DEADLINE_MS, &a->result))
CALL(acquire_write, zkr_rwlock_acquire_write(a->lock, DEADLINE_MS, &a->result))
CALL(downgrade, zkr_rwlock_downgrade(a->lock, a->grant, &a->result))

/* -- looking on ----------------------------------------------------------- */

static int list(struct attempt *a)
{
    struct zkr_participants *list = NULL;

    int rc = zkr_participants_list(
        a->session, a->path, OPTS(participants, .timeout_ms = DEADLINE_MS),
        &list);
    zkr_participants_free(list);
    return rc;
}

CALL(revoke_it, zkr_participants_revoke(a->session, zkr_grant_node(a->grant)))
CALL(break_it, zkr_participants_break(a->session, zkr_grant_node(a->grant),
                                      zkr_grant_token(a->grant), DEADLINE_MS))

/* -- sessions ------------------------------------------------------------- */

PREPARE(with_session, a->own = calls_session(a->hosts))

CALL(open_it,
     zkr_session_open(a->hosts, OPTS(session, .connect_timeout_ms = CONNECT_MS),
                      &a->own))

static int close_it(struct attempt *a)
{
    zkr_session *s = a->own;

    a->own = NULL;
    return zkr_session_close(s);
}

static const struct call calls[] = {
    { "acquire", DEADLINE_MS, false, with_mutex, acquire_mutex },
    { "acquire, waiting", DEADLINE_MS, true, with_grant, acquire_mutex },
    { "try", REPLY_MS, false, with_mutex, try_mutex },
    { "acquire, reentrant", DEADLINE_MS, false, with_reentrant,
      acquire_reentrant },
    { "acquire, unfair", DEADLINE_MS, false, with_unfair, acquire_unfair },
    { "acquire to read", DEADLINE_MS, false, with_rwlock, acquire_read },
    { "acquire to write", DEADLINE_MS, false, with_rwlock, acquire_write },
    { "acquire to write, waiting", DEADLINE_MS, true, with_write_grant,
      acquire_write },
    { "downgrade", 2 * REPLY_MS, false, with_write_grant, downgrade },
    { "release", REPLY_MS, false, with_grant, release_grant },
    { "verify", DEADLINE_MS, false, with_grant, verify },
    { "list participants", DEADLINE_MS, false, with_grant, list },
    { "revoke", REPLY_MS, false, with_grant, revoke_it },
    { "break", DEADLINE_MS, false, with_grant, break_it },
    { "what does not wait", 0, false, with_grant, nothing_that_waits },
    { "open a session", CONNECT_MS + 500, false, NULL, open_it },
    { "close a session", CLOSE_MS, false, with_session, close_it },
};

/* -- outages: a server is not available, in one way or another ------------- */

enum {
    FLOODERS = 4,
    CROWD = 200, /* nodes that each of them lists */
};

static struct server *throttled;
static struct proxy *proxy;

/* An outage begins, or ends, with one call. */
#define STEP(name, call)                                                       \
    static void name(void)                                                     \
    {                                                                          \
        call;                                                                  \
    }

STEP(kill_it, server_kill9(the_server))
STEP(freeze, server_pause(the_server))
STEP(thaw, server_resume(the_server))
STEP(refuse, proxy_cut(proxy))
STEP(be_silent, proxy_freeze(proxy))
STEP(heal_proxy, proxy_heal(proxy))
/* Neither end learns that the other is unreachable. */
STEP(lose_requests, cluster_block(HERE, 1))
STEP(lose_answers, cluster_block(1, HERE))
STEP(lose_both, cluster_cut(HERE, 1))
STEP(heal_cluster, cluster_heal())

/* A server that may work on one request only refuses the others. */
static struct flood {
    pthread_t threads[FLOODERS];
    zkr_session *session;
    atomic_bool stop;
} flood;

static void *flood_main(void *unused)
{
    while (!atomic_load(&flood.stop)) {
        AUTO(participants) list = NULL;

        (void)!zkr_participants_list(flood.session, "/crowd", NULL, &list);
    }
    return NULL;
}

/* This server refuses now and then when it is at rest, too. */
static void create(struct admin *a, const char *path)
{
    int rc;

    do
        rc = admin_create(a, path, NULL);
    while (rc == ZKR_ZTHROTTLEDOP);
    assert_true(rc == ZOK || rc == ZNODEEXISTS);
}

static void start_flood(void)
{
    flood.session = calls_session(server_hosts(throttled));
    atomic_store(&flood.stop, false);
    for (int i = 0; i < FLOODERS; i++)
        flood.threads[i] = thread_start(flood_main, NULL);
    sleep_ms(50); /* for the queue to fill */
}

static void stop_flood(void)
{
    atomic_store(&flood.stop, true);
    for (int i = 0; i < FLOODERS; i++)
        thread_join(flood.threads[i]);
    (void)zkr_session_close(flood.session);
    assert_true(server_metric(throttled, "zk_throttled_ops") > 0);
}

static const struct outage {
    const char *name;
    enum { OF_SERVER, OF_PROXY, OF_THROTTLED, OF_CLUSTER } hosts; /* of calls */
    void (*strike)(void);
    void (*heal)(void);
} outages[] = {
    { "frozen", OF_SERVER, freeze, thaw },
    { "killed", OF_SERVER, kill_it, restart_server },
    { "refusing", OF_PROXY, refuse, heal_proxy },
    { "silent", OF_PROXY, be_silent, heal_proxy },
    { "throttling", OF_THROTTLED, start_flood, stop_flood },
    { "what we send is lost", OF_CLUSTER, lose_requests, heal_cluster },
    { "what it sends is lost", OF_CLUSTER, lose_answers, heal_cluster },
    { "both are lost", OF_CLUSTER, lose_both, heal_cluster },
};

static struct attempt attempts[COUNT(calls)];
static struct stopwatch *watch; /* of all calls of the outage */

/* Over all of them. */
static int64_t worst_ns[COUNT(calls)];
static int64_t worst_noise_ns;
static int64_t worst_less_noise_ns; /* of the same call */

/* -- one outage ----------------------------------------------------------- */

static void *attempt_main(void *arg)
{
    struct attempt *a = arg;
    const struct call *call = &calls[a - attempts];
    struct lap begin = stopwatch_lap(watch);

    a->rc = call->run(a);
    struct lap end = stopwatch_lap(watch);
    a->late_ns = end.took_ns - begin.took_ns - call->limit_ms * MS;
    a->noise_ns = end.late_ns - begin.late_ns;
    return NULL;
}

static void begin(bool before)
{
    for (size_t i = 0; i < COUNT(calls); i++) {
        if (calls[i].begins_before == before)
            attempts[i].thread = thread_start(attempt_main, &attempts[i]);
    }
}

static void raise_to(int64_t *worst, int64_t ns)
{
    if (ns > *worst)
        *worst = ns;
}

static void take_times(void)
{
    for (size_t i = 0; i < COUNT(calls); i++) {
        const struct attempt *a = &attempts[i];
        const char *text = a->rc == ZKR_OK ? "OK" : zkr_strerror(a->rc);

        printf("  %-26s %-18.*s %+9.1f ms\n", calls[i].name,
               (int)strcspn(text, ":"), text, (double)a->late_ns / 1e6);
        assert_false(a->rc == ZKR_EINVAL || a->rc == ZKR_EDEADLK ||
                     a->rc == ZKR_EPATH || a->rc == ZKR_ENOMEM ||
                     a->rc == ZKR_EPROTO || a->rc == ZKR_ECLOSED);
        raise_to(&worst_ns[i], a->late_ns);
        raise_to(&worst_noise_ns, a->noise_ns);
        raise_to(&worst_less_noise_ns, a->late_ns - a->noise_ns);
    }
}

static void suffer(const struct outage *o)
{
    const char *hosts =
        o->hosts == OF_PROXY
            ? proxy_hosts(proxy)
            : server_hosts(o->hosts == OF_CLUSTER     ? cluster_server(1)
                           : o->hosts == OF_THROTTLED ? throttled
                                                      : the_server);
    zkr_session *s = calls_session(hosts);

    for (size_t i = 0; i < COUNT(calls); i++) {
        struct attempt *a = &attempts[i];

        *a = (struct attempt){ .session = s, .hosts = hosts };
        PRINT(a->path, "%s", new_path());
        if (calls[i].prepare != NULL)
            calls[i].prepare(a);
    }
    watch = stopwatch_start();
    begin(true);
    sleep_ms(DEADLINE_MS / 4); /* they have their places */
    o->strike();
    begin(false);
    for (size_t i = 0; i < COUNT(calls); i++)
        thread_join(attempts[i].thread);
    printf("%s; the machine was late by %.1f ms\n", o->name,
           (double)stopwatch_stop(watch).late_ns / 1e6);
    o->heal();
    take_times();
    /* The session itself may be over: then the next one is usable. */
    zkr_mutex *m = new_mutex(s, new_path());
    release(acquire(m));
    zkr_mutex_free(m);
    for (struct attempt *a = attempts; a < attempts + COUNT(calls); a++) {
        zkr_grant_free(a->result);
        zkr_grant_free(a->grant);
        zkr_lockable_free(a->lock);
        (void)zkr_session_close(a->own);
    }
    (void)zkr_session_close(s);
}

static int setup(void)
{
    static const char *const java[] = {
        "-Dzookeeper.request_throttle_max_requests=1",
        "-Dzookeeper.throttled_op_wait_time=1", NULL
    };
    struct admin *a;

    the_server = new_server(NULL);
    throttled = new_server(&(struct server_opts){ .java_opts = java });
    ok(admin_open(server_hosts(throttled), &a));
    create(a, "/crowd");
    for (int i = 0; i < CROWD; i++)
        create(a, textf("/crowd/lock-%010d", i));
    admin_close(a);
    ok(proxy_start(server_hosts(the_server), &proxy));
    return open_admin(server_hosts(the_server));
}

static int teardown(void)
{
    admin_close(admin);
    proxy_stop(proxy);
    server_stop(throttled);
    server_stop(the_server);
    return 0;
}

TEST(no_call_returns_after_its_deadline)
{
    int count = number_from("ZKR_OUTAGES", SMOKE);

    for (size_t i = 0; i < COUNT(calls); i++)
        worst_ns[i] = INT64_MIN;
    for (int i = 0; i < count; i++) {
        for (size_t j = 0; j < COUNT(outages); j++)
            suffer(&outages[j]);
    }
    printf("latest in %d outages of each kind\n", count);
    for (size_t i = 0; i < COUNT(calls); i++)
        printf("  %-26s %+9.1f ms\n", calls[i].name, (double)worst_ns[i] / 1e6);
    printf("the machine was late by %.1f ms during a call at most; less that, "
           "a call by %.1f ms\n",
           (double)worst_noise_ns / 1e6, (double)worst_less_noise_ns / 1e6);
    assert_true(worst_less_noise_ns <= LATE_MS * MS);
}

int main(void)
{
    const struct cluster_opts opts = { .tick_ms = 500 };

    return run_with_cluster(&opts, setup, teardown);
}
