/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the seam on the client: how it translates the client's answers, and
 * when it calls the client; and of the latch that keeps the client's io thread
 * from ending a session. Fake functions here take the place of the
 * client's. */
#include "unit.h"

#include <malloc.h>
#include <signal.h>

#include <zkrecipes/session.h>
#include <zookeeper/zookeeper.h>

#include "base/clock.h"
#include "session/watch.h"
#include "zk/credentials.h"
#include "zk/zk.h"
#include "zk/zk_latch.h"
#include "zk/zk_move.h"

/* From <zookeeper/zookeeper_log.h>, which cannot be included as installed. */
extern ZOOAPI ZooLogLevel logLevel;
enum { STUCK_MAX = 16 };

static char handle; /* what stands for the client's */
#define HANDLE ((zhandle_t *)(void *)&handle)
static struct zkr__zk *zk;
enum { TICKET = 7 };

/* The state of the fake client, and the requests that it was given. */
static struct {
    watcher_fn watcher;
    void *context;
    log_callback_fn log;
    ZooLogLevel level; /* of the log, as something was asked for */
    atomic_int state;  /* read by the thread that closes a handle */
    sigset_t blocked;  /* when its threads were made, */
    bool in_order;     /* and whether the servers were not shuffled */
    int rc;
    int no_handle; /* it makes none, with that errno */
    strings_stat_completion_t list;
    watcher_fn list_watcher;
    void *list_context;
    string_stat_completion_t create;
    data_completion_t get;
    acl_completion_t acl;
    stat_completion_t probe;
    const void *probe_data;
    int probes;
    void_completion_t auth;
    const void *auth_data;
    int pairs;
    int mode; /* of a node that is to be created */
    int64_t ttl;
    int acl_count;
    const zoo_op_t *ops;
    zoo_op_result_t *results;
    void_completion_t multi;
    const void *multi_data;
    int auths;
    char cert[32];
    char thread[ZKR__THREAD_NAME_MAX]; /* the name of those of the client */
} client;

static atomic_bool closes_hang; /* calls that close a handle */

/* The upcalls that the library has received. */
static struct {
    int events;
    enum zkr__zk_event event;
    int others;
    struct zkr__watch *fired;
    bool deleted;
    int replies;
    struct zkr__zk_reply reply;
    struct zkr__zk_result results[2]; /* of a transaction of two */
} told;

/* -- the client's calls: --wrap ------------------------------------------- */

static bool in_order; /* in all handles of the process */

WRAP(void, zoo_deterministic_conn_order, (int yes))
{
    in_order = yes != 0;
}

static void (*meanwhile)(void); /* runs as names are looked up */

WRAP(zhandle_t *, zookeeper_init2,
     (const char *host, watcher_fn fn, int timeout, const clientid_t *id,
      void *context, int flags, log_callback_fn log))
{
    if (meanwhile != NULL)
        meanwhile();
    client.log = log;
    client.level = logLevel;
    (void)pthread_getname_np(pthread_self(), client.thread,
                             sizeof(client.thread));
    client.watcher = fn;
    client.context = context;
    (void)pthread_sigmask(SIG_SETMASK, NULL, &client.blocked);
    client.in_order = in_order;
    errno = client.no_handle;
    if (errno != 0)
        log("...:ZOO_ERROR@adaptor_init@242: Can't make a pipe");
    return errno == 0 ? HANDLE : NULL;
}

WRAP(int, zookeeper_close, (zhandle_t * zh))
{
    AWAIT(!atomic_load(&closes_hang));
    return ZOK;
}

WRAP(int, zoo_set_servers_resolution_delay, (zhandle_t * zh, int ms))
{
    return ZOK;
}

WRAP(int, zoo_state, (zhandle_t * zh))
{
    return client.state;
}

WRAP(int, zoo_add_auth,
     (zhandle_t * zh, const char *scheme, const char *cert, int len,
      void_completion_t done, const void *data))
{
    client.auth = done;
    client.auth_data = data;
    client.auths++;
    (void)snprintf(client.cert, sizeof(client.cert), "%s", cert);
    return ZOK;
}

WRAP(int, zoo_awget_children2,
     (zhandle_t * zh, const char *path, watcher_fn watcher, void *context,
      strings_stat_completion_t done, const void *data))
{
    assert_int_equal((uintptr_t)data, TICKET);
    client.list = done;
    client.list_watcher = watcher;
    client.list_context = context;
    return client.rc;
}

WRAP(int, zoo_awexists,
     (zhandle_t * zh, const char *path, watcher_fn watcher, void *context,
      stat_completion_t done, const void *data))
{
    client.probe = done;
    client.probe_data = data;
    client.probes++;
    return ZOK;
}

WRAP(int, zoo_acreate2_ttl,
     (zhandle_t * zh, const char *path, const char *value, int len,
      const struct ACL_vector *acl, int mode, int64_t ttl,
      string_stat_completion_t done, const void *data))
{
    client.mode = mode;
    client.ttl = ttl;
    client.acl_count = acl->count;
    client.create = done;
    return client.rc;
}

WRAP(int, zoo_awget,
     (zhandle_t * zh, const char *path, watcher_fn watcher, void *context,
      data_completion_t done, const void *data))
{
    client.get = done;
    return ZOK;
}

WRAP(int, zoo_aget_acl,
     (zhandle_t * zh, const char *path, acl_completion_t done,
      const void *data))
{
    client.acl = done;
    return ZOK;
}

WRAP(int, zoo_amulti,
     (zhandle_t * zh, int count, const zoo_op_t *ops, zoo_op_result_t *results,
      void_completion_t done, const void *data))
{
    client.level = logLevel;
    client.ops = ops;
    client.results = results;
    for (int i = 0; i < count; i++) { /* as the client does */
        if (ops[i].type == ZOO_CREATE_OP)
            results[i].value = ops[i].create_op.buf;
        if (ops[i].type == ZOO_SETDATA_OP)
            results[i].stat = ops[i].set_op.stat;
    }
    client.multi = done;
    client.multi_data = data;
    client.pairs += count == 2 && client.rc == ZOK;
    return client.rc;
}

/* The client answers a request of that kind. */
#define ANSWER(kind, ...) client.kind(__VA_ARGS__, (const void *)TICKET)

static void on_event(struct zkr_session *session, enum zkr__zk_event event)
{
    told.events++;
    told.event = event;
}

static void on_reply(struct zkr_session *session, uintptr_t id,
                     const struct zkr__zk_reply *reply)
{
    assert_int_equal(id, TICKET);
    told.replies++;
    told.reply = *reply;
    if (reply->results != NULL)
        memcpy(told.results, reply->results, sizeof(told.results));
}

static void on_watch(struct zkr__watch *watch, bool deleted)
{
    told.fired = watch;
    told.deleted = deleted;
}

static const struct zkr__zk_upcalls upcalls = { .on_event = on_event,
                                                .on_reply = on_reply,
                                                .on_watch = on_watch };

/* The test runs as the thread on which the client makes all its calls. */
static void client_is(int state)
{
    client.state = state;
    client.watcher(HANDLE, ZOO_SESSION_EVENT, state, "", client.context);
}

static int open_again(const char *scheme)
{
    static struct zkr__acl_entry entry = { .perms = 31 };
    static const struct zkr__acl acl = { .entries = &entry, .count = 1 };
    struct zkr_session_opts opts = { .auth_scheme = scheme, .auth = scheme };
    struct zkr__zk_config config = { "127.0.0.1:2181", .timeout_ms = 10000,
                                     .acl = &acl, .in_order = scheme != NULL };

    config.credentials = zkr__credentials_new(&opts);
    int rc = zkr__zk_open(&config, &upcalls, NULL, &zk);

    zkr__credentials_unref(config.credentials);
    return rc;
}

static void open_with(const char *scheme)
{
    memset(&client, 0, sizeof(client));
    memset(&told, 0, sizeof(told));
    ok(open_again(scheme));
    client_is(ZOO_CONNECTED_STATE);
}

/* The line as the client writes it, in both places. */
static const char connects[] =
    "2026-11-21 02:45:48,496:3582(0x7fbd):ZOO_INFO@check_events@2999: "
    "initiated connection to server 127.0.0.1:2181";
static const char connects_at_once[] =
    "2026-11-21 02:45:48,496:3582(0x7fbd):ZOO_INFO@zookeeper_interest@2611: "
    "Initiated connection to server 127.0.0.1:2181";

static void connect_anew(void)
{
    zkr__latch_on_log(connects_at_once);
}

static int setup_first(void)
{
    open_with(NULL);
    return 0;
}

static int setup(void)
{
    open_with(NULL);
    connect_anew();
    return 0;
}

static int setup_with_credentials(void)
{
    open_with("digest");
    return 0;
}

static int teardown(void)
{
    zkr__latch_own(NULL);
    (void)zkr__zk_close(zk, ZKR__NEVER);
    zoo_set_debug_level(ZOO_LOG_LEVEL_INFO);
    return 0;
}

FIXTURE(setup, teardown)

/* This test is the first: once one connection has been seen, the level need not
 * be raised for another. */
TEST_WITH(the_first_connection_is_to_be_seen, setup_first, teardown)
{
    (void)zkr__zk_close(zk, ZKR__NEVER);
    zoo_set_debug_level(ZOO_LOG_LEVEL_ERROR);
    for (int i = 0; i < 2; i++) {
        ok(open_again(NULL));
        assert_int_equal(client.level, ZOO_LOG_LEVEL_INFO);
        assert_int_equal(logLevel, ZOO_LOG_LEVEL_INFO);
        if (i > 0)
            client_is(ZOO_CONNECTED_STATE);
        else
            (void)zkr__zk_close(zk, ZKR__NEVER);
        assert_int_equal(logLevel, ZOO_LOG_LEVEL_ERROR);
    }
}

/* -- the latch ------------------------------------------------------------- */

static int pair(void)
{
    static const struct zkr__zk_request check = { .type = ZKR__ZK_CHECK,
                                                  .path = "/lock/node",
                                                  .version = ZKR_ANY_VERSION };
    static const struct zkr__zk_request set = { .type = ZKR__ZK_SET,
                                                .path = "/data",
                                                .data = "",
                                                .version = ZKR_ANY_VERSION };
    static const struct zkr__zk_request *const both[] = { &check, &set };
    static const struct zkr__zk_multi multi = { both, 2 };
    struct zkr__zk_request request = { .type = ZKR__ZK_MULTI, .multi = &multi };
    int before = client.pairs;
    int rc = zkr__zk_submit(zk, &request, TICKET);

    assert_int_equal(client.pairs - before, rc == ZOK);
    return rc;
}

/* The process has one latch: this runs before any that shows a connection. */
TEST_WITH(no_pair_without_a_latch, setup_first, teardown)
{
    assert_int_equal(pair(), ZUNIMPLEMENTED);
    zkr__latch_on_log("...:ZOO_INFO@check_events@1: session establishment");
    assert_int_equal(pair(), ZUNIMPLEMENTED);
    connect_anew();
    assert_int_equal(pair(), ZOK);
}

static atomic_int passed;

static void *io_main(void *line)
{
    zkr__latch_on_log(line);
    (void)atomic_fetch_add(&passed, 1);
    return NULL;
}

TEST_WITH(a_connecting_thread_waits_while_it_is_shut, NULL, NULL)
{
    static char other[] = "...:ZOO_ERROR@handle_socket_error_msg@2048: Socket";
    atomic_store(&passed, 0);
    zkr__latch_shut();
    pthread_t thread = thread_start(io_main, (char *)connects);
    thread_join(thread_start(io_main, other));
    for (int i = 0; i < 50; i++) /* for something not to happen */
        pass_a_moment();
    assert_int_equal(atomic_load(&passed), 1);
    zkr__latch_open();
    thread_join(thread);
    assert_int_equal(atomic_load(&passed), 2);
}

static atomic_bool is_shut;

static void *shut_and_wait(void *forked)
{
    zkr__latch_shut();
    atomic_store(&is_shut, true);
    AWAIT(atomic_load((atomic_bool *)forked));
    zkr__latch_open();
    return NULL;
}

/* Otherwise no session that it opens would ever connect. */
TEST_WITH(a_child_finds_the_latch_open, NULL, NULL)
{
    atomic_bool forked = false;
    int status = 0;

    pthread_t thread = thread_start(shut_and_wait, &forked);
    AWAIT(atomic_load(&is_shut));
    pid_t pid = fork();
    if (pid == 0) { /* no exit: a leak checker would count */
        (void)alarm(5);
        zkr__latch_on_log(connects);
        (void)raise(SIGKILL);
    }
    atomic_store(&forked, true);
    thread_join(thread);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(WTERMSIG(status), SIGKILL);
}

TEST(no_pair_without_a_connection)
{
    static const int *const states[] = {
        &ZOO_CONNECTING_STATE,      &ZOO_ASSOCIATING_STATE,
        &ZOO_EXPIRED_SESSION_STATE, &ZOO_AUTH_FAILED_STATE,
        &ZOO_NOTCONNECTED_STATE,
    };

    for (size_t i = 0; i < COUNT(states); i++) {
        client.state = *states[i];
        assert_int_equal(pair(), ZKR__ZK_NOT_NOW);
    }
    client.state = ZOO_CONNECTED_STATE;
    assert_int_equal(pair(), ZOK);
}

/* The process has one level, so the library restores it at once. */
TEST(a_pair_finds_the_level_that_the_latch_needs)
{
    static const ZooLogLevel levels[] = { ZOO_LOG_LEVEL_ERROR,
                                          ZOO_LOG_LEVEL_WARN,
                                          ZOO_LOG_LEVEL_INFO };

    for (size_t i = 0; i < COUNT(levels); i++) {
        zoo_set_debug_level(levels[i]);
        assert_int_equal(pair(), ZOK);
        assert_int_equal(client.level, ZOO_LOG_LEVEL_INFO);
        assert_int_equal(logLevel, levels[i]);
    }
}

static void log_in(int rc)
{
    assert_true(zkr__zk_log_in(zk));
    connect_anew();
    client.auth(rc, client.auth_data);
}

TEST_WITH(no_pair_before_credentials_are_accepted, setup_with_credentials,
          teardown)
{
    assert_true(zkr__zk_log_in(zk));
    assert_int_equal(pair(), ZKR__ZK_NOT_NOW);
    client.auth(ZAUTHFAILED, client.auth_data);
    assert_int_equal(pair(), ZKR__ZK_NOT_NOW);
    client.auth(ZOK, client.auth_data);
    assert_int_equal(pair(), ZOK);
}

/* An answer proves it for its own connection, not for the present one. */
TEST_WITH(no_pair_before_this_connection_has_answered, setup_with_credentials,
          teardown)
{
    log_in(ZOK);
    assert_int_equal(pair(), ZKR__ZK_NOT_NOW); /* nobody has counted yet */
    client.probe(ZOK, NULL, client.probe_data);
    assert_int_equal(pair(), ZOK);
    thread_join(thread_start(io_main, (char *)connects)); /* of another */
    assert_int_equal(pair(), ZOK);
    connect_anew();
    assert_int_equal(pair(), ZKR__ZK_NOT_NOW);
    assert_int_equal(pair(), ZKR__ZK_NOT_NOW);
    assert_int_equal(client.probes, 2);
    connect_anew();
    client.probe(ZOK, NULL, client.probe_data);
    assert_int_equal(pair(), ZKR__ZK_NOT_NOW);
    assert_int_equal(client.probes, 3);
    client.probe(ZCONNECTIONLOSS, NULL, client.probe_data);
    assert_int_equal(pair(), ZKR__ZK_NOT_NOW);
    assert_int_equal(client.probes, 4);
    client.probe(ZOK, NULL, client.probe_data);
    assert_int_equal(pair(), ZOK);
}

/* From the first transaction on every connection of the handle is counted. */
TEST_WITH(with_credentials_the_level_is_kept, setup_with_credentials, teardown)
{
    zoo_set_debug_level(ZOO_LOG_LEVEL_ERROR);
    log_in(ZOK);
    assert_int_equal(logLevel, ZOO_LOG_LEVEL_ERROR);
    assert_int_equal(pair(), ZKR__ZK_NOT_NOW);
    assert_int_equal(logLevel, ZOO_LOG_LEVEL_INFO);
    client.probe(ZOK, NULL, client.probe_data);
    assert_int_equal(logLevel, ZOO_LOG_LEVEL_INFO);
    zoo_set_debug_level(ZOO_LOG_LEVEL_WARN); /* by the program */
    assert_int_equal(pair(), ZOK);
    assert_int_equal(client.level, ZOO_LOG_LEVEL_INFO);
    (void)zkr__zk_close(zk, ZKR__NEVER);
    assert_int_equal(logLevel, ZOO_LOG_LEVEL_WARN);
    open_with(NULL);
}

static void renew(const char *auth)
{
    struct zkr_session_opts opts = { .auth_scheme = "digest", .auth = auth };
    struct zkr__credentials *c = zkr__credentials_new(&opts);

    assert_non_null(c);
    zkr__zk_renew(zk, c);
    zkr__credentials_unref(c);
}

static void its_thread_logs(const char *line)
{
    char name[ZKR__THREAD_NAME_MAX];

    (void)pthread_getname_np(pthread_self(), name, sizeof(name));
    (void)pthread_setname_np(pthread_self(), client.thread);
    client.log(line);
    zkr__move_restore_name(name);
}

/* On a connection that is used the client would put them into the middle of a
 * request; the level is raised to see the next one. Others than the last are
 * not given. */
TEST_WITH(new_credentials_are_given_at_the_next_handshake,
          setup_with_credentials, teardown)
{
    zoo_set_debug_level(ZOO_LOG_LEVEL_ERROR);
    renew("before the login");
    assert_true(zkr__zk_log_in(zk));
    assert_string_equal(client.cert, "before the login");
    renew("one");
    renew("two");
    assert_true(zkr__zk_log_in(zk));
    assert_int_equal(client.auths, 1);
    assert_int_equal(logLevel, ZOO_LOG_LEVEL_INFO);
    its_thread_logs("...:ZOO_INFO@check_events@1: session establishment");
    assert_int_equal(client.auths, 1);
    for (int i = 0; i < 2; i++)
        its_thread_logs(connects);
    assert_int_equal(client.auths, 2);
    assert_string_equal(client.cert, "two");
    assert_null(client.auth); /* the refusal of another might come first */
    assert_int_equal(logLevel, ZOO_LOG_LEVEL_ERROR);
    ok(zkr__zk_move(zk, "127.0.0.1:1"));
    assert_int_equal(logLevel, ZOO_LOG_LEVEL_INFO);
    renew("three"); /* the handle is closed before it connects again */
    (void)zkr__zk_close(zk, ZKR__NEVER);
    assert_int_equal(logLevel, ZOO_LOG_LEVEL_ERROR);
    open_with(NULL);
}

#define SOCKET "...:ZOO_ERROR@f@1: Socket h:1 zk retcode=-4, errno="

/* The first and the last; one that names no server is of the last attempt. */
TEST(faults_are_told_once_and_counted_by_rounds)
{
    static const int first[] = { ZKR_CAUSE_REFUSED, ZKR_CAUSE_HUNG_UP };
    struct zkr__zk_fault faults[3];

    for (int i = 0; i < 2; i++) {
        its_thread_logs(i == 0 ? SOCKET "111(x): y" : SOCKET "104(x): y");
        its_thread_logs("...:ZOO_WARN@f@1: Delaying connection after");
        assert_int_equal(zkr__zk_round(zk), 1 << first[i] |
                                                i << ZKR_CAUSE_SILENT |
                                                i << ZKR_CAUSE_NAME);
        its_thread_logs(SOCKET "110(x): y");
        its_thread_logs(connects);
        its_thread_logs("...:ZOO_ERROR@f@1: getaddrinfo: z");
        for (int j = 0; j < 3; j++)
            zkr__zk_take_fault(zk, &faults[j]);
        assert_int_equal(faults[0].cause, first[i]);
        assert_int_equal(faults[1].cause, ZKR_CAUSE_NAME);
        assert_int_equal(faults[2].cause, ZKR_CAUSE_NONE);
        assert_string_equal(faults[1].server, "127.0.0.1:2181");
    }
}

/* -- handles -------------------------------------------------------------- */

static int asked_for(enum zkr__zk_type type)
{
    struct zkr__zk_request request = { .type = type, .path = "/lock" };

    return zkr__zk_submit(zk, &request, TICKET);
}

TEST(the_threads_of_the_client_get_no_signals)
{
    sigset_t ours;

    assert_int_equal(sigismember(&client.blocked, SIGTERM), 1);
    assert_int_equal(sigismember(&client.blocked, SIGINT), 1);
    (void)pthread_sigmask(SIG_SETMASK, NULL, &ours);
    assert_int_equal(sigismember(&ours, SIGTERM), 0);
}

/* Once the servers of one were not shuffled, all later handles of the process
 * would begin at the same one. */
TEST_WITH(the_order_of_the_servers_is_that_of_one_handle,
          setup_with_credentials, teardown)
{
    assert_true(client.in_order);
    (void)zkr__zk_close(zk, ZKR__NEVER);
    open_with(NULL);
    assert_false(client.in_order);
}

static void open_another(void)
{
    meanwhile = NULL;
    ok(open_again("digest"));
    assert_true(client.in_order);
    (void)zkr__zk_close(zk, ZKR__NEVER);
}

/* Regression: that of one session kept all others, and a forked child. */
TEST(a_handle_does_not_wait_for_the_name_server_of_another)
{
    (void)zkr__zk_close(zk, ZKR__NEVER);
    meanwhile = open_another;
    ok(open_again("digest"));
    assert_true(client.in_order);
    assert_false(in_order);
}

/* The client has one code for both. */
TEST(refused_credentials_are_told_from_the_end)
{
    client.rc = ZINVALIDSTATE;
    client.state = ZOO_EXPIRED_SESSION_STATE;
    assert_int_equal(asked_for(ZKR__ZK_CHILDREN), ZINVALIDSTATE);
    client.state = ZOO_AUTH_FAILED_STATE;
    assert_int_equal(asked_for(ZKR__ZK_CHILDREN), ZAUTHFAILED);
}

static void on_event_of_another(struct zkr_session *session,
                                enum zkr__zk_event event)
{
    told.others += event == ZKR__ZK_CONNECTED;
}

/* A scout has upcalls of its own: the session does not hear it. */
TEST(a_handle_tells_by_its_own_upcalls)
{
    static const struct zkr__zk_upcalls others = { .on_event =
                                                       on_event_of_another };
    const struct zkr__zk_config config = { .servers = "127.0.0.1:2181",
                                           .timeout_ms = 10000 };
    int events = told.events;

    (void)zkr__zk_close(zk, ZKR__NEVER);
    ok(zkr__zk_open(&config, &others, NULL, &zk));
    client_is(ZOO_CONNECTED_STATE);
    assert_int_equal(told.others, 1);
    assert_int_equal(told.events, events);
}

static void let_go(void)
{
    atomic_store(&closes_hang, false);
    AWAIT(zkr_session_stuck_handles() == 0);
    open_with(NULL);
}

/* The session may have gone when a handle that was stuck comes back. */
TEST(a_handle_that_is_stuck_tells_nothing)
{
    int events = told.events;

    assert_int_equal(asked_for(ZKR__ZK_CHILDREN), ZOK);
    atomic_store(&closes_hang, true);
    assert_false(zkr__zk_close(zk, zkr__clock_now()));
    assert_int_equal(zkr_session_stuck_handles(), 1);
    client_is(ZOO_EXPIRED_SESSION_STATE);
    ANSWER(list, ZCLOSING, NULL, NULL);
    assert_int_equal(told.events, events);
    assert_int_equal(told.replies, 0);
    let_go();
}

/* Until then the client uses its memory. */
TEST(a_transaction_lives_as_long_as_its_handle)
{
    assert_int_equal(asked_for(ZKR__ZK_CHECK), ZOK);
    zoo_op_result_t *results = client.results;
    assert_int_equal(asked_for(ZKR__ZK_CHECK), ZOK);
    client.multi(ZOK, client.multi_data);
    assert_int_equal(told.replies, 1);
    atomic_store(&closes_hang, true);
    assert_false(zkr__zk_close(zk, zkr__clock_now()));
    results->err = ZCLOSING;
    let_go();
}

/* Otherwise a server could make us open one after the other. */
TEST(handles_that_are_stuck_have_an_end)
{
    atomic_store(&closes_hang, true);
    for (unsigned i = 1; i <= STUCK_MAX; i++) {
        assert_false(zkr__zk_close(zk, zkr__clock_now()));
        assert_int_equal(zkr_session_stuck_handles(), i);
        if (i < STUCK_MAX)
            ok(open_again(NULL));
    }
    assert_int_equal(open_again(NULL), ZKR_ESYSTEM);
    assert_int_equal(open_again(NULL), ZKR_ESYSTEM);
    let_go();
}

static void log_badly(enum zkr_log_level level, const char *line, void *user)
{
    errno = ENOTTY;
}

static void expect_no_handle(int error, int rc, const char *why)
{
    client.no_handle = error;
    assert_int_equal(open_again(NULL), rc);
    assert_string_equal(zkr_error_detail(), why);
}

TEST(no_handle_says_why)
{
    struct zkr__zk *before = zk;

    zkr_log_set(ZKR_LOG_ERROR, log_badly, NULL);
    expect_no_handle(ENOENT, ZKR_EHOSTS, "no host name can be resolved");
    expect_no_handle(EINVAL, ZKR_EHOSTS, "no host name can be resolved");
    expect_no_handle(EMFILE, ZKR_ESYSTEM, strerror(EMFILE));
    expect_no_handle(ENFILE, ZKR_ESYSTEM, strerror(ENFILE));
    expect_no_handle(ENOMEM, ZKR_ENOMEM, "out of memory");
    client.no_handle = 0;
    zkr_log_set(ZKR_LOG_ERROR, NULL, NULL);
    zk = before;
}

/* -- lists ---------------------------------------------------------------- */

static void is_told(const struct String_vector *names, int rc, size_t count)
{
    static const struct Stat stat;

    assert_int_equal(asked_for(ZKR__ZK_CHILDREN), ZOK);
    ANSWER(list, ZOK, names, &stat);
    assert_int_equal(told.reply.rc, rc);
    assert_int_equal(told.reply.name_count, count);
}

/* A child that comes is no end of the node. */
TEST(a_list_can_watch_the_children)
{
    struct zkr__watch watch;
    struct zkr__zk_request request = { .type = ZKR__ZK_CHILDREN,
                                       .path = "/lock",
                                       .watch = &watch };

    assert_int_equal(asked_for(ZKR__ZK_CHILDREN), ZOK);
    assert_null(client.list_watcher);
    assert_int_equal(zkr__zk_submit(zk, &request, TICKET), ZOK);
    assert_ptr_equal(client.list_context, &watch);
    client.list_watcher(HANDLE, ZOO_CHILD_EVENT, ZOO_CONNECTED_STATE, "/lock",
                        client.list_context);
    assert_ptr_equal(told.fired, &watch);
    assert_false(told.deleted);
    client.list_watcher(HANDLE, ZOO_DELETED_EVENT, ZOO_CONNECTED_STATE, "/lock",
                        client.list_context);
    assert_true(told.deleted);
}

/* A contender that is missing in a list may be the one to wait for. */
TEST(a_list_with_a_hole_is_no_list)
{
    char a[] = "a", b[] = "b";
    char *two[] = { a, b }, *first[] = { a, NULL }, *last[] = { NULL, b };

    is_told(&(struct String_vector){ 2, two }, ZOK, 2);
    is_told(&(struct String_vector){ 0, NULL }, ZOK, 0);
    is_told(&(struct String_vector){ 2, first }, ZMARSHALLINGERROR, 0);
    is_told(&(struct String_vector){ 2, last }, ZMARSHALLINGERROR, 0);
    is_told(&(struct String_vector){ 2, NULL }, ZMARSHALLINGERROR, 0);
    is_told(&(struct String_vector){ -1, two }, ZMARSHALLINGERROR, 0);
    is_told(&(struct String_vector){ INT32_MIN, NULL }, ZMARSHALLINGERROR, 0);
    is_told(NULL, ZMARSHALLINGERROR, 0);
}

/* -- answers -------------------------------------------------------------- */

static int created_as(enum zkr_create_mode mode)
{
    static const struct zkr__zk_special special = { .ttl_ms = 7 };
    struct zkr__zk_request create = { .type = ZKR__ZK_CREATE,
                                      .mode = mode,
                                      .path = "/lock/a",
                                      .data = "",
                                      .special = &special };

    assert_int_equal(zkr__zk_submit(zk, &create, TICKET), client.rc);
    return client.mode;
}

static void ask_all(void)
{
    (void)created_as(ZKR_CREATE_PERSISTENT);
    assert_int_equal(asked_for(ZKR__ZK_EXISTS), ZOK);
    assert_int_equal(asked_for(ZKR__ZK_GET), ZOK);
    assert_int_equal(asked_for(ZKR__ZK_GET_ACL), ZOK);
    assert_int_equal(asked_for(ZKR__ZK_CHILDREN), ZOK);
    assert_int_equal(asked_for(ZKR__ZK_CHECK), ZOK);
}

/* All members, in their order: no two are the same. */
static const struct Stat any_stat = { 101, 102, 103, 104, 105, 106,
                                      107, 108, 109, 110, 111 };

static void is_of_the_node(void)
{
    static const struct zkr_stat same = { .czxid = 101,
                                          .mzxid = 102,
                                          .ctime_ms = 103,
                                          .mtime_ms = 104,
                                          .version = 105,
                                          .cversion = 106,
                                          .aversion = 107,
                                          .ephemeral_owner = 108,
                                          .data_len = 109,
                                          .children = 110,
                                          .pzxid = 111 };

    assert_int_equal(told.reply.rc, ZOK);
    assert_memory_equal(&told.reply.stat, &same,
                        offsetof(struct zkr_stat, children) +
                            sizeof(same.children));
    memset(&told.reply, 0, sizeof(told.reply));
}

TEST(facts_of_a_node_are_those_of_the_server)
{
    struct String_vector names = { 0, NULL };

    ask_all();
    ANSWER(create, ZOK, "/lock/a", &any_stat);
    is_of_the_node();
    ANSWER(probe, ZOK, &any_stat);
    is_of_the_node();
    ANSWER(get, ZOK, "data", 4, &any_stat);
    assert_int_equal(told.reply.data_len, 4);
    is_of_the_node();
    ANSWER(list, ZOK, &names, &any_stat);
    is_of_the_node();
}

/* What the client gives for both operations, and for the transaction. Returns
 * what is told of it. */
static int told_of_pair(int first, int second, int rc)
{
    assert_int_equal(pair(), ZOK);
    *client.ops[1].set_op.stat = any_stat;
    client.results[0].err = first;
    client.results[1].err = second;
    memset(&told.reply, 0, sizeof(told.reply));
    client.multi(rc, client.multi_data);
    return told.reply.rc;
}

/* The transaction is refused for one operation: the server says for which. */
TEST(what_became_of_each_operation_is_told)
{
    gives(ZNONODE, told_of_pair(ZNONODE, ZRUNTIMEINCONSISTENCY, ZNONODE));
    assert_non_null(told.reply.results);
    assert_int_equal(told.results[0].rc, ZNONODE);
    assert_int_equal(told.results[1].rc, ZOK);
    assert_int_equal(told_of_pair(ZOK, ZBADVERSION, ZBADVERSION), ZBADVERSION);
    assert_non_null(told.reply.results);
    assert_int_equal(told.results[0].rc, ZOK);
    assert_int_equal(told.results[1].rc, ZBADVERSION);
    assert_int_equal(told_of_pair(ZOK, ZOK, ZOK), ZOK);
    assert_non_null(told.reply.results);
    assert_int_equal(told.results[1].stat.mzxid, 102); /* the server's facts */
    assert_int_equal(told.results[1].stat.version, 105);
    assert_int_equal(told.results[1].stat.czxid, 101);
}

/* The client gives all operations the same code then, as for a code that the
 * server has for the request as a whole. */
TEST(a_transaction_without_an_answer_has_no_results)
{
    static const int codes[] = { ZCONNECTIONLOSS, ZSESSIONEXPIRED, ZNOAUTH,
                                 ZTHROTTLEDOP };

    for (size_t i = 0; i < COUNT(codes); i++) {
        assert_int_equal(told_of_pair(codes[i], codes[i], codes[i]), codes[i]);
        assert_null(told.reply.results);
    }
}

TEST(a_damaged_transaction_is_no_success)
{
    assert_int_equal(pair(), ZOK);
    client.multi(ZOK, client.multi_data); /* without any result */
    assert_int_equal(told.reply.rc, ZMARSHALLINGERROR);
    gives(ZMARSHALLINGERROR, told_of_pair(ZOK, ZRUNTIMEINCONSISTENCY, ZOK));
    assert_int_equal(pair(), ZOK);
    client.results[0].err = ZOK;
    client.results[1].err = ZOK;
    client.results[1].stat = NULL; /* the server has sent none */
    client.multi(ZOK, client.multi_data);
    assert_int_equal(told.reply.rc, ZMARSHALLINGERROR);
    assert_null(told.reply.results);
}

TEST(a_node_is_made_as_asked_for)
{
    assert_int_equal(created_as(ZKR_CREATE_PERSISTENT), ZOO_PERSISTENT);
    assert_int_equal(created_as(ZKR_CREATE_CONTAINER), ZOO_CONTAINER);
    assert_int_equal(created_as(ZKR_CREATE_EPHEMERAL), ZOO_EPHEMERAL);
    assert_int_equal(created_as(ZKR_CREATE_EPHEMERAL_SEQUENTIAL),
                     ZOO_EPHEMERAL_SEQUENTIAL);
    assert_int_equal(created_as(ZKR_CREATE_PERSISTENT_SEQUENTIAL),
                     ZOO_PERSISTENT_SEQUENTIAL);
    assert_int_equal(client.ttl, -1);
    assert_int_equal(created_as(ZKR_CREATE_TTL), ZOO_PERSISTENT_WITH_TTL);
    assert_int_equal(client.ttl, 7);
    assert_int_equal(created_as(ZKR_CREATE_TTL_SEQUENTIAL),
                     ZOO_PERSISTENT_SEQUENTIAL_WITH_TTL);
    assert_int_equal(client.ttl, 7);
}

static size_t allocated(void)
{
#ifdef __GLIBC__
    return mallinfo2().uordblks;
#else
    return 0; /* musl does not say */
#endif
}

/* The client may keep it, and writes to its memory then, until it has answered
 * a later one. */
TEST(a_request_that_the_client_refuses_goes_with_the_next)
{
    size_t before = allocated();
    client.rc = ZMARSHALLINGERROR;
    for (int i = 0; i < 1000; i++) {
        (void)created_as(ZKR_CREATE_CONTAINER);
        assert_int_equal(asked_for(ZKR__ZK_CHECK), client.rc);
        assert_int_equal(pair(), client.rc);
    }
    assert_true(before == 0 || allocated() > before + 10000);
    zoo_op_result_t *results = client.results;
    client.rc = ZOK;
    assert_int_equal(asked_for(ZKR__ZK_CHECK), ZOK);
    results->err = ZCLOSING;
    client.multi(ZOK, client.multi_data);
    assert_int_equal(told.replies, 1);
    assert_true(allocated() < before + 10000);
}

/* The client has two of them then, and answers both. */
TEST(a_request_that_was_refused_may_be_answered)
{
    client.rc = ZMARSHALLINGERROR;
    assert_int_equal(asked_for(ZKR__ZK_CHECK), ZMARSHALLINGERROR);
    const void *refused = client.multi_data;
    client.rc = ZOK;
    assert_int_equal(asked_for(ZKR__ZK_CHECK), ZOK);
    client.multi(ZCONNECTIONLOSS, refused);
    client.multi(ZCONNECTIONLOSS, client.multi_data);
    assert_int_equal(told.replies, 2);
}

/* -- damaged answers ------------------------------------------------------ */

static void is_damaged(void)
{
    assert_int_equal(told.reply.rc, ZMARSHALLINGERROR);
    assert_null(told.reply.path);
    assert_null(told.reply.data);
    assert_int_equal(told.reply.stat.czxid, 0);
    assert_int_equal(told.reply.name_count, 0);
}

#define IS_DAMAGED(kind, ...)                                                  \
    do {                                                                       \
        ANSWER(kind, __VA_ARGS__);                                             \
        is_damaged();                                                          \
    } while (0)

/* A success without the requested data is no success. */
TEST(an_answer_without_its_parts_is_no_answer)
{
    static const struct Stat stat = { .czxid = 5, .dataLength = -1 };
    struct String_vector names = { 0, NULL };
    struct ACL_vector hole = { 2, NULL };
    struct Stat acl_stat = stat;

    ask_all();
    IS_DAMAGED(create, ZOK, NULL, &stat);
    IS_DAMAGED(create, ZOK, "/lock/a", NULL);
    IS_DAMAGED(probe, ZOK, NULL);
    IS_DAMAGED(get, ZOK, "data", 4, NULL);
    IS_DAMAGED(list, ZOK, &names, NULL);
    IS_DAMAGED(acl, ZOK, NULL, &acl_stat);
    IS_DAMAGED(acl, ZOK, &hole, NULL);
    ANSWER(acl, ZOK, &hole, &acl_stat);
    assert_int_equal(told.reply.rc, ZMARSHALLINGERROR);
}

TEST(what_anyone_may_is_added_up)
{
    static char world[] = "world", anyone[] = "anyone", other[] = "other";
    struct ACL acls[] = {
        { 1, { world, anyone } }, { 2, { world, other } },
        { 4, { other, anyone } }, { 8, { world, anyone } },
        { 16, { NULL, anyone } }, { 32, { world, NULL } },
    };
    struct ACL_vector all = { COUNT(acls), acls };
    struct Stat stat = { .czxid = 5 };

    ask_all();
    ANSWER(acl, ZOK, &all, &stat);
    assert_int_equal(told.reply.anyone, 1 | 8);
}

/* The server chooses lengths and counts. */
TEST(no_length_is_taken_on_trust)
{
    static const struct Stat stat = { .czxid = 5,
                                      .dataLength = -1,
                                      .numChildren = -1 };
    struct String_vector names = { 0, NULL };
    struct ACL acls[] = { { .perms = 31, .id = { NULL, NULL } } };
    struct ACL_vector negative = { -1, NULL }, nobody = { 1, acls };
    struct Stat acl_stat = stat;

    ask_all();
    ANSWER(get, ZOK, "data", -1, &stat);
    assert_int_equal(told.reply.rc, ZOK);
    assert_null(told.reply.data);
    /* the client had no memory, and its stat is anything */
    IS_DAMAGED(get, ZOK, NULL, 4, &stat);
    ANSWER(list, ZOK, &names, &stat);
    assert_int_equal(told.reply.rc, ZOK);
    assert_int_equal(told.reply.stat.data_len, 0);
    assert_int_equal(told.reply.stat.children, 0);
    ANSWER(acl, ZOK, &negative, &acl_stat);
    assert_int_equal(told.reply.anyone, 0);
    ANSWER(acl, ZOK, &nobody, &acl_stat);
    assert_int_equal(told.reply.anyone, 0);
}

/* The library's own codes mean things that a server cannot know, for example
 * that a request was not sent. */
TEST(a_code_that_no_server_has_is_no_answer)
{
    static const int codes[] = { 1,         INT32_MAX,   ZKR_EINVAL, ZKR_ENOMEM,
                                 ZKR_EBUSY, ZKR_ECLOSED, INT32_MIN };
    static const struct Stat stat = { .czxid = 5 };
    char a[] = "a", *data[] = { a };
    struct String_vector names = { 1, data };

    for (size_t i = 0; i < COUNT(codes); i++) {
        ask_all();
        IS_DAMAGED(create, codes[i], "/lock/a", &stat);
        IS_DAMAGED(probe, codes[i], &stat);
        IS_DAMAGED(get, codes[i], "data", 4, &stat);
        IS_DAMAGED(list, codes[i], &names, &stat);
        IS_DAMAGED(acl, codes[i], NULL, NULL);
        client.multi(codes[i], client.multi_data);
        is_damaged();
    }
    ANSWER(list, ZTHROTTLEDOP, NULL, NULL);
    assert_int_equal(told.reply.rc, ZTHROTTLEDOP);
}

/* -- the log -------------------------------------------------------------- */

TEST(no_later_connection_has_to_be_seen)
{
    (void)zkr__zk_close(zk, ZKR__NEVER);
    zoo_set_debug_level(ZOO_LOG_LEVEL_ERROR);
    ok(open_again(NULL));
    assert_int_equal(client.level, ZOO_LOG_LEVEL_ERROR);
    client_is(ZOO_CONNECTED_STATE);
    assert_int_equal(logLevel, ZOO_LOG_LEVEL_ERROR);
}

static void note_line(enum zkr_log_level level, const char *line, void *user)
{
    (void)snprintf(user, 64, "%s", line);
}

/* Regression: with a hook the level followed what the hook wanted, so handles
 * of the program printed more. */
TEST(a_hook_leaves_the_level_as_it_is)
{
    static const ZooLogLevel levels[] = { ZOO_LOG_LEVEL_ERROR,
                                          ZOO_LOG_LEVEL_INFO };
    char line[64];

    for (size_t i = 0; i < COUNT(levels); i++) {
        zoo_set_debug_level(levels[i]);
        zkr_log_set(ZKR_LOG_DEBUG, note_line, line);
        assert_int_equal(logLevel, levels[i]);
        (void)zkr__zk_close(zk, ZKR__NEVER);
        ok(open_again(NULL));
        client_is(ZOO_CONNECTED_STATE);
        assert_int_equal(logLevel, levels[i]);
        zkr_log_set(ZKR_LOG_DEBUG, NULL, NULL);
        assert_int_equal(logLevel, levels[i]);
    }
}

/* Some lines of the client end with a newline. */
TEST(a_line_has_no_newline)
{
    char line[64] = "";

    zkr_log_set(ZKR_LOG_DEBUG, note_line, line);
    client.log("...:ZOO_INFO@zookeeper_close@3: Freeing zookeeper\n");
    assert_string_equal(line,
                        "...:ZOO_INFO@zookeeper_close@3: Freeing zookeeper");
    client.log("...:ZOO_WARN@f@1: whole");
    assert_string_equal(line, "...:ZOO_WARN@f@1: whole");
    zkr_log_set(ZKR_LOG_DEBUG, NULL, NULL);
}
