/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of guarded writes on a real server: they are made while the lock is
 * held, refused with nothing changed when it is not, and reported as unknown
 * when nobody can tell. */
#include "usual.h"

#include "victim.h"
#include "zk/zk.h"

/* The timeout of sessions without a lease, in which the test makes all
 * transactions. */
#define LONG_MS 12000
static char data[96]; /* a node with the text "old", as the admin knows it */

/* So many transactions are not taken by the client; see meson.build. */
static atomic_int not_now;

/* The callbacks write here what they were told. */
static struct {
    struct recorder *recorder;
    struct zkr_stat stat;
} told;

static int setup_with(uint32_t flags, uint32_t timeout_ms, const char *auth)
{
    atomic_store(&victim_id, 0);
    atomic_store(&not_now, 0);
    /* The latch depends on the client's log, and a program may set a lower
     * level. */
    zoo_set_debug_level(ZOO_LOG_LEVEL_ERROR);
    (void)usual_setup_two_with(
        OPTS(session, .session_timeout_ms = timeout_ms, .flags = flags,
             .auth_scheme = auth == NULL ? NULL : "digest", .auth = auth));
    PRINT(data, "%s-data", path);
    assert_int_equal(admin_create(admin, data, "old"), ZOK);
    told.recorder = recorder_new();
    return 0;
}

static int teardown(void)
{
    (void)usual_teardown();
    recorder_free(told.recorder);
    return 0;
}

static int setup(void)
{
    return setup_with(0, SESSION_MS, NULL);
}

static int quiet_setup(void)
{
    return setup_with(ZKR_SESSION_NO_LEASE, LONG_MS, NULL);
}

static int auth_setup(void)
{
    return setup_with(ZKR_SESSION_NO_LEASE, LONG_MS, "smith:secret");
}

FIXTURE(quiet_setup, teardown)

static int set(zkr_grant *g, const char *text)
{
    return zkr_grant_guarded_set(g, data, text, strlen(text), -1, SOON_MS,
                                 NULL);
}

/* In one transaction. */
static int set_often(int times, zkr_grant *g, const char *text, int32_t version,
                     int64_t timeout_ms, zkr_txn_fn fn, void *user)
{
    AUTO(txn) t = NULL;
    int rc = zkr_txn_new_guarded(g, &t);

    while (rc == ZKR_OK && times-- > 0)
        rc = zkr_txn_set(t, data, text, strlen(text), version);
    return rc == ZKR_OK ? zkr_txn_commit_async(t, timeout_ms, fn, user) : rc;
}

static void on_told(int error, zkr_txn *txn, void *user)
{
    const struct zkr_stat *stat = zkr_txn_stat(txn, 0);

    if (stat != NULL)
        told.stat = *stat;
    recorder_add(told.recorder, error, stat != NULL);
}

static int set_async(zkr_grant *g, const char *text, int32_t version,
                     int64_t timeout_ms)
{
    return set_often(1, g, text, version, timeout_ms, on_told, NULL);
}

static const char *child(const char *name)
{
    return textf("%s/%s", data, name);
}

/* -- while held ----------------------------------------------------------- */

TEST_WITH(a_holder_sets_creates_and_deletes, setup, teardown)
{
    AUTO(held) g = acquire(m);
    int32_t version;

    ok(zkr_grant_guarded_set(g, data, "new", 3, 0, SOON_MS, &version));
    node_has(data, "new");
    assert_int_equal(version, 1);
    struct Stat first = stat_of(data);
    AUTO(txn) t = MADE(txn, txn_new_guarded, g);
    ok(zkr_txn_set(t, data, NULL, 0, version));
    ok(zkr_txn_commit(t, 0));
    const struct zkr_stat *second = zkr_txn_stat(t, 0);
    node_has(data, "");
    struct Stat stat = stat_of(data);
    assert_int_equal(second->version, stat.version);
    assert_true(second->czxid == stat.czxid && second->mzxid == stat.mzxid);
    assert_true(second->mzxid > first.mzxid &&
                first.mzxid > zkr_grant_token(g));
    ok(zkr_grant_guarded_create(g, child("made"), "abc", 3, -1));
    stat = stat_of(child("made"));
    assert_int_equal(stat.dataLength, 3);
    assert_int_equal(stat.ephemeralOwner, 0);
    ok(zkr_grant_guarded_delete(g, child("made"), 0, SOON_MS));
    assert_int_equal(admin_exists(admin, child("made"), NULL), ZNONODE);
}

static void refuses(int rc, int expected, zkr_grant *g)
{
    assert_int_equal(rc, expected);
    assert_int_equal(zkr_grant_state(g), ZKR_GRANT_HELD);
}

TEST_WITH(errors_of_the_write_are_told_apart, setup, teardown)
{
    AUTO(held) g = acquire(m);

    ok(zkr_grant_guarded_create(g, child("kept"), NULL, 0, SOON_MS));
    refuses(zkr_grant_guarded_create(g, child("kept"), "x", 1, SOON_MS),
            ZNODEEXISTS, g);
    refuses(zkr_grant_guarded_create(g, child("no/parent"), "x", 1, SOON_MS),
            ZNONODE, g);
    assert_has(zkr_error_detail(), "/no' does not exist");
    assert_has(zkr_error_detail(), "its parent '/");
    refuses(zkr_grant_guarded_create(g, zkr_grant_node(g), "x", 1, SOON_MS),
            ZNODEEXISTS, g);
    refuses(zkr_grant_guarded_set(g, child("none"), "x", 1, -1, SOON_MS, NULL),
            ZNONODE, g);
    refuses(zkr_grant_guarded_set(g, data, "x", 1, 7, SOON_MS, NULL),
            ZBADVERSION, g);
    assert_has(zkr_error_detail(), "expected version 7");
    refuses(zkr_grant_guarded_delete(g, child("none"), -1, SOON_MS), ZNONODE,
            g);
    assert_lacks(zkr_error_detail(), "parent");
    refuses(zkr_grant_guarded_delete(g, child("kept"), 7, SOON_MS), ZBADVERSION,
            g);
    refuses(zkr_grant_guarded_delete(g, data, -1, SOON_MS), ZNOTEMPTY, g);
    const char *below = textf("%s/below", zkr_grant_node(g));
    refuses(zkr_grant_guarded_create(g, below, "x", 1, SOON_MS),
            ZNOCHILDRENFOREPHEMERALS, g);
    assert_int_equal(admin_set_acl(admin, data, &ZOO_READ_ACL_UNSAFE), ZOK);
    refuses(set(g, "x"), ZNOAUTH, g);
    assert_has(zkr_error_detail(), data);
    node_has(data, "old");
}

TEST(a_write_that_cannot_be_is_refused_at_once)
{
    static char much[ZKR_DATA_MAX + 1];
    zkr_grant *g = acquire(m);

    settle(s);
    long before = proxy_requests(proxy, PROXY_ANY);
    refuses(zkr_grant_guarded_set(g, data, NULL, 1, -1, 0, NULL), ZKR_EINVAL,
            g);
    refuses(zkr_grant_guarded_set(g, data, much, sizeof(much), -1, 0, NULL),
            ZKR_ETOOLONG, g);
    assert_int_equal(proxy_requests(proxy, PROXY_ANY), before);
    ok(zkr_grant_guarded_set(g, data, much, sizeof(much) - 1, -1, SOON_MS,
                             NULL));
    release(g);

    AUTO(unfair_mutex) unfair = NEW(unfair_mutex, s, path, NULL);
    AUTO(held) other = GRANT(unfair_mutex_acquire, unfair, SOON_MS);
    refuses(set(other, "x"), ZKR_EINVAL, other);
}

/* -- not held ------------------------------------------------------------- */

/* The watch may be faster than the write; then the servers are not asked. */
static bool the_servers_refuse(void)
{
    AUTO(grant) g = acquire(m);
    AUTO(txn) t = MADE(txn, txn_new_guarded, g);
    ok(zkr_txn_set(t, data, "late", 4, ZKR_ANY_VERSION));
    ok(zkr_txn_create(t, child("x"), "", 0, NULL));
    proxy_reset_counts(proxy);
    assert_int_equal(admin_delete(admin, zkr_grant_node(g)), ZOK);
    assert_int_equal(zkr_txn_commit(t, SOON_MS), ZKR_ELOST);
    assert_int_equal(zkr_txn_failed(t), -1);
    assert_has(zkr_error_detail(), "its node was deleted");
    bool asked = proxy_requests(proxy, ZOO_MULTI_OP) > 0;
    node_has(data, "old");
    assert_int_equal(zkr_grant_state(g), ZKR_GRANT_LOST);
    assert_int_equal(zkr_grant_check(g), ZKR_ELOST);
    assert_int_equal(set(g, "late"), ZKR_ELOST);
    assert_int_equal(admin_exists(admin, child("x"), NULL), ZNONODE);
    return asked;
}

TEST(a_write_after_the_node_was_deleted_is_refused)
{
    int tries = 1;

    while (!the_servers_refuse())
        assert_true(++tries < 20);
}

TEST_WITH(a_write_after_the_session_ended_changes_nothing, setup, teardown)
{
    AUTO(grant) g = acquire(m);

    expire(s);
    int rc = set(g, "late"); /* it may have been on its way */
    assert_true(rc == ZKR_ELOST || rc == ZKR_EUNKNOWN);
    AUTO(held) next = acquire(rival);
    ok(set(next, "next"));
    wait_grant_state(g, ZKR_GRANT_LOST);
    assert_int_equal(set(g, "late"), ZKR_ELOST);
    node_has(data, "next");
}

/* -- nobody can tell ------------------------------------------------------ */

/* The answer that says "not now" comes when the caller has gone. The caller was
 * told that the result is unknown, so the write must not be made much later. */
TEST(a_write_given_up_is_not_sent_again)
{
    zkr_grant *g = acquire(m);

    proxy_reset_counts(proxy);
    proxy_set_latency(proxy, 1500);
    proxy_rule_error(proxy, ZOO_MULTI_OP, 1, ZTHROTTLEDOP);
    gives(ZKR_EUNKNOWN,
          zkr_grant_guarded_set(g, data, "new", 3, -1, 100, NULL));
    proxy_set_latency(proxy, 0);
    settle(s);
    sleep_ms(200); /* for something not to happen */
    release(g);
    assert_int_equal(proxy_requests(proxy, ZOO_MULTI_OP), 1);
    node_has(data, "old");
}

TEST_WITH(in_doubt_the_servers_decide, setup, teardown)
{
    zkr_grant *g = acquire(m);

    proxy_freeze(proxy);
    wait_grant_state(g, ZKR_GRANT_UNSURE);
    ok(set_async(g, "new", -1, -1));
    proxy_heal(proxy);
    int code = recorded(told.recorder, 0);
    if (code == ZKR_OK) /* mostly the session is over by now */
        node_has(data, "new");
    else
        assert_true(code == ZKR_EUNKNOWN || code == ZKR_ELOST);
    zkr_grant_free(g);
    settle(s);
}

/* -- without waiting ------------------------------------------------------ */

/* A write that the server throttles, cancelled then, is certainly not made. */
TEST(a_write_that_is_put_off_can_be_taken_back)
{
    zkr_session *other = THROUGH(.flags = ZKR_SESSION_NO_LEASE,
                                 .retry = ZKR_RETRY_FOREVER_INIT(60000));
    AUTO(mutex) lock = new_mutex(other, path);
    AUTO(grant) g = acquire(lock);
    proxy_rule_error(proxy, ZOO_MULTI_OP, 1, ZTHROTTLEDOP);
    gives(ZKR_EUNREACHABLE,
          zkr_grant_guarded_set(g, data, "new", 3, -1, 300, NULL));
    proxy_rule_error(proxy, ZOO_MULTI_OP, 1, ZTHROTTLEDOP);
    ok(set_async(g, "new", -1, -1));
    assert_true(proxy_wait_rule(proxy, SOON_MS));
    settle(other);
    close_session(other);
    is_recorded(told.recorder, 0, ZKR_ECLOSED, false);
    node_has(data, "old");
}

/* Our node may not be read, so it can guard nothing; but the lock is held. */
TEST(a_guard_that_may_not_be_read_is_no_loss)
{
    AUTO(session) closed =
        OPEN(.acl = "world:anyone:cdw", .flags = ZKR_SESSION_NO_LEASE);
    AUTO(mutex) lock = new_mutex(closed, path);
    assert_int_equal(admin_create(admin, path, NULL), ZOK);
    AUTO(held) g = acquire(lock);
    assert_int_equal(set(g, "new"), ZNOAUTH);
    node_has(data, "old");
    assert_int_equal(zkr_grant_check(g), ZKR_OK);
    assert_int_equal(zkr_grant_verify(g, SOON_MS), ZNOAUTH); /* at once */
}

/* With more of them, the client's own pipe would be full. */
#define MANY             5000
#define AT_THE_SAME_TIME 4096

static void on_one_of_many(int error, zkr_txn *txn, void *user)
{
    if (error == ZKR_OK)
        (void)atomic_fetch_add((atomic_int *)user, 1);
}

TEST(so_many_at_once_go_one_after_the_other)
{
    AUTO(held) g = acquire(m);
    atomic_int made = 0;

    proxy_rule(proxy, ZOO_MULTI_OP, 1, PROXY_HOLD_REPLY);
    for (int i = 0; i < MANY; i++)
        ok(set_often(1, g, "x", -1, -1, on_one_of_many, &made));
    assert_true(proxy_wait_rule(proxy, SOON_MS));
    proxy_release(proxy);
    assert_true(COMES(atomic_load(&made) == MANY, 3 * SOON_MS));
    assert_in_range(proxy_max_in_flight(proxy), 2, AT_THE_SAME_TIME);
}

TEST(callbacks_tell_the_outcome)
{
    zkr_grant *g = acquire(m);

    ok(set_async(g, "new", 0, 0));
    is_recorded(told.recorder, 0, ZKR_OK, true);
    assert_int_equal(told.stat.version, 1);
    ok(set_async(g, "x", 0, 0));
    is_recorded(told.recorder, 1, ZBADVERSION, false);
    AUTO(txn) other = MADE(txn, txn_new_guarded, g);
    ok(zkr_txn_create(other, child("made"), "", 0, NULL));
    ok(zkr_txn_delete(other, child("made"), 0));
    ok(zkr_txn_commit_async(other, -1, on_told, NULL));
    is_recorded(told.recorder, 2, ZKR_OK, false);
    proxy_rule(proxy, ZOO_MULTI_OP, 1, PROXY_HOLD_REPLY);
    struct stopwatch *w = stopwatch_start();
    ok(set_async(g, "y", -1, 200));
    is_recorded(told.recorder, 3, ZKR_EUNKNOWN, false);
    assert_true(stopwatch_says(w, 200, LONG_MS / 4)); /* it is connected */
    proxy_release(proxy);
    release(g);
    assert_int_equal(set_async(NULL, "z", -1, 200), ZKR_EINVAL);
    settle(s);
    assert_int_equal(recorder_count(told.recorder), 4);
}

/* The grant may be freed before its writes have been answered. */
TEST_WITH(a_write_before_a_release_is_made_before_it, setup, teardown)
{
    for (int i = 0; i < 20; i++) {
        zkr_grant *g = acquire(m);
        const char *text = textf("%d", i);

        ok(set_async(g, text, -1, 0));
        zkr_grant_free(g);
        is_recorded(told.recorder, (size_t)i, ZKR_OK, true);
        node_has(data, text);
    }
}

/* -- other locks, other sessions ------------------------------------------ */

TEST_WITH(a_read_write_lock_guards_in_each_mode, setup, teardown)
{
    AUTO(rwlock) l = NEW(rwlock, s, path, NULL);
    AUTO(grant) writing = GRANT(rwlock_acquire_write, l, SOON_MS);

    ok(set(writing, "written"));
    AUTO(grant) reading = GRANT(rwlock_downgrade, l, writing);
    assert_int_equal(set(writing, "late"), ZKR_ENOTHELD);
    ok(set(reading, "read"));
    node_has(data, "read");
    /* The write is guarded by the node of the reader, not of the writer. */
    assert_int_equal(admin_delete(admin, zkr_grant_node(reading)), ZOK);
    assert_int_equal(set(reading, "late"), ZKR_ELOST);
    node_has(data, "read");
}

TEST_WITH(paths_are_below_the_chroot, setup, teardown)
{
    AUTO(session) inner =
        OPEN(.session_timeout_ms = SESSION_MS, .chroot = data);
    AUTO(mutex) lock = new_mutex(inner, "/locks/a");
    AUTO(grant) g = acquire(lock);
    ok(zkr_grant_guarded_create(g, "/made", "abc", 3, SOON_MS));
    node_has(child("made"), "abc");
    ok(zkr_grant_guarded_set(g, "/", "root", 4, -1, SOON_MS, NULL));
    node_has(data, "root");
    assert_int_equal(zkr_grant_guarded_delete(g, data, -1, SOON_MS), ZNONODE);
    ok(admin_delete(admin, textf("%s%s", data, zkr_grant_node(g))));
    gives(ZKR_ELOST, zkr_grant_guarded_delete(g, "/made", -1, SOON_MS));
}

/* After a reconnect the credentials may be refused until a request has been
 * answered; a write waits for that. */
TEST_WITH(credentials_are_waited_for_after_a_reconnect, auth_setup, teardown)
{
    AUTO(held) g = acquire(m);

    proxy_reset_counts(proxy);
    for (int i = 0; i < 5; i++) {
        const char *text = textf("%d", i);

        ok(set(g, text));
        node_has(data, text);
        disconnect(proxy, s);
        proxy_heal(proxy);
    }
    ok(set(g, "last"));
    assert_true(proxy_requests(proxy, ZOO_EXISTS_OP) >= 5); /* who asks so */
    /* The client has got them once, and repeats them by itself. */
    assert_int_equal(proxy_requests(proxy, ZOO_SETAUTH_OP), 5);
    /* If the question is lost it is asked again. Otherwise no request would be
     * sent any more, and the write would never be made. */
    disconnect(proxy, s);
    proxy_rule(proxy, ZOO_EXISTS_OP, 1, PROXY_DROP_REQUEST);
    wait_grant_state(g, ZKR_GRANT_SUSPENDED);
    ok(set_async(g, "new", -1, -1));
    proxy_heal(proxy);
    is_recorded(told.recorder, 0, ZKR_OK, true);
    assert_true(proxy_rule_done(proxy));
    node_has(data, "new");
}

/* -- the client's transaction of two -------------------------------------- */

__typeof__(zkr__zk_submit) __real_zkr__zk_submit, __wrap_zkr__zk_submit;

int __wrap_zkr__zk_submit(struct zkr__zk *zk, struct zkr__zk_request *r,
                          uintptr_t ticket)
{
    if (r->type != ZKR__ZK_MULTI || atomic_fetch_sub(&not_now, 1) <= 0)
        return __real_zkr__zk_submit(zk, r, ticket);
    int64_t id = atomic_exchange(&victim_id, 0);
    if (id != 0)
        (void)session_kill_by_id(server_hosts(the_server), id);
    return ZKR__ZK_NOT_NOW;
}

/* The result of a request that was never sent is known. */
TEST_WITH(a_write_that_is_not_taken_now_is_sent_later, setup, teardown)
{
    AUTO(grant) g = acquire(m);

    atomic_store(&not_now, 3);
    ok(zkr_grant_guarded_set(g, data, "new", 3, 0, SOON_MS, NULL));
    assert_true(atomic_load(&not_now) < 0);
    node_has(data, "new");
    atomic_store(&not_now, 1000);
    gives(ZKR_EUNREACHABLE,
          zkr_grant_guarded_set(g, data, "late", 4, 1, 300, NULL));
    atomic_store(&victim_id, zkr_session_id(s));
    assert_int_equal(set(g, "late"), ZKR_ELOST);
    atomic_store(&not_now, 0);
    node_has(data, "new");
}

/* Regression: the handle expired between the check of its state and the call;
 * the client freed memory that it did not own, and aborted the process. */
TEST_WITH(a_session_that_ends_at_the_worst_moment_does_no_harm, setup, teardown)
{
    AUTO(held) g = acquire(m);

    atomic_store(&victim_id, zkr_session_id(s));
    int rc = set(g, "late");
    assert_int_equal(atomic_load(&victim_id), 0);
    assert_int_equal(rc, ZKR_EUNKNOWN);
    wait_grant_state(g, ZKR_GRANT_LOST);
    node_has(data, "old");
    zkr_grant_free(g);
    g = acquire(m);
    ok(set(g, "new"));
}

/* The same at random, and often: threads write as fast as they can while their
 * sessions end, and the tokens that they write never decrease. */
#define STORM_SESSIONS 3
#define STORM_BURST    40

struct storm {
    zkr_session *session;
    zkr_mutex *mutex;
    pthread_t thread;
    long started; /* so many callbacks will come; of its thread */
    atomic_long answered;
    atomic_long made;
    atomic_bool stop;
};

static void on_storm(int error, zkr_txn *txn, void *user)
{
    struct storm *storm = user;

    (void)atomic_fetch_add(&storm->answered, 1);
    (void)atomic_fetch_add(&storm->made, error == ZKR_OK);
}

/* Writes until the lock is lost, and takes it again. */
static void *storm_main(void *arg)
{
    struct storm *storm = arg;

    while (!atomic_load(&storm->stop)) {
        AUTO(grant) g = NULL;
        int rc = zkr_mutex_acquire(storm->mutex, 1000, &g);
        if (rc != ZKR_OK)
            continue;
        const char *token = textf("%020lld", (long long)zkr_grant_token(g));
        while (rc != ZKR_ELOST && !atomic_load(&storm->stop)) {
            for (int i = 0; i < STORM_BURST; i++)
                storm->started += set_often(i % 2 == 0 ? 1 : 20, g, token, -1,
                                            -1, on_storm, storm) == ZKR_OK;
            rc = zkr_grant_guarded_set(g, data, token, strlen(token), -1, -1,
                                       NULL);
        }
    }
    return NULL;
}

static void start_storm(struct storm *storm, int i)
{
    bool logs_in = i == 1; /* one of them with credentials */

    *storm = (struct storm){ .stop = false };
    storm->session = OPEN(.session_timeout_ms = SESSION_MS,
                          .auth_scheme = logs_in ? "digest" : NULL,
                          .auth = logs_in ? "smith:secret" : NULL);
    storm->mutex = new_mutex(storm->session, path);
    storm->thread = thread_start(storm_main, storm);
}

static void stop_storm(struct storm *storm)
{
    atomic_store(&storm->stop, true);
    thread_join(storm->thread);
    (void)zkr_session_close(storm->session);
    zkr_mutex_free(storm->mutex);
    assert_int_equal(atomic_load(&storm->answered), storm->started);
    assert_true(storm->started >= atomic_load(&storm->made));
}

static long made_by(struct storm *storms)
{
    long made = 0;

    for (int i = 0; i < STORM_SESSIONS; i++)
        made += atomic_load(&storms[i].made);
    return made;
}

/* A busy machine may need more of them for that many writes. */
TEST_WITH(sessions_end_in_the_middle_of_writes, setup, teardown)
{
    int expiries = (int)test_number("ZKR_TEST_EXPIRIES", 300);
    struct storm storms[STORM_SESSIONS];
    char last[64] = "";
    int done = 0;

    assert_int_equal(admin_set(admin, data, ""), ZOK);
    for (int i = 0; i < STORM_SESSIONS; i++)
        start_storm(&storms[i], i);
    for (int i = 0; done < expiries ||
                    (made_by(storms) <= expiries && done < 10 * expiries);
         i++) {
        zkr_session *victim = storms[i % STORM_SESSIONS].session;
        char now[64] = "";

        done += session_kill_by_id(server_hosts(the_server),
                                   zkr_session_id(victim)) == 0;
        assert_int_equal(admin_get(admin, data, now, sizeof(now)), ZOK);
        assert_true(strcmp(last, now) <= 0);
        PRINT(last, "%s", now);
    }
    for (int i = 0; i < STORM_SESSIONS; i++)
        stop_storm(&storms[i]);
    long made = made_by(storms);
    print_message("%d sessions ended, %ld writes made\n", done, made);
    assert_true(made > expiries);
}
