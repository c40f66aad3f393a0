/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that make every allocation inside libzookeeper fail once: a call has
 * one result, and the session is as good as before.
 *
 * Each operation runs again and again, each time in a process of its own, and
 * each time the next allocation fails, until a run has no more. The static
 * client is linked here; its calls have other names, and its code is in a
 * section of its own (meson.build). It does not survive each failure: a process
 * that ends in a place of the client's code has passed, and is counted. One
 * that ends in ours has not, nor has one that gives no result in time.
 *
 * It takes every fifth allocation; ZKR_ALLOC_STEP=1 (tools/test.sh --long)
 * takes each. ZKR_ALLOC_FIRST=n begins with the n-th. */
#include "fixture.h"

#include <errno.h>
#include <execinfo.h>
#include <netdb.h>
#include <signal.h>
#include <sys/wait.h>

#include <zkrecipes/testing.h>

/* -- allocations that fail ------------------------------------------------ */

static long first;           /* the allocation that is to fail */
static atomic_long fails_at; /* the same, or 0: none, now */
static atomic_long allocations;
static atomic_bool has_failed;
static const char *failed_in;
static bool grows; /* realloc() does not fail; see commit() */
static _Thread_local long fails_here; /* counted down; 0: none on this thread */

static const int crashes[] = { SIGSEGV, SIGBUS, SIGABRT };

static bool fails(void *caller)
{
    sigset_t set; /* the client's threads block all signals, these, too */

    (void)sigemptyset(&set);
    for (size_t i = 0; i < COUNT(crashes); i++)
        (void)sigaddset(&set, crashes[i]);
    (void)pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    if (fails_here > 0 && --fails_here == 0) {
        errno = ENOMEM;
        return true;
    }
    if (atomic_load(&fails_at) == 0 ||
        atomic_fetch_add(&allocations, 1) + 1 != atomic_load(&fails_at))
        return false;
    failed_in = caller;
    atomic_store(&has_failed, true);
    errno = ENOMEM;
    return true;
}

/* The client calls these: see meson.build. */
#define FAULTY(type, name, parameters, arguments, failure)                     \
    type client_##name parameters;                                             \
    type client_##name parameters                                              \
    {                                                                          \
        return fails(__builtin_return_address(0)) ? (failure)                  \
                                                  : name arguments;            \
    }

FAULTY(void *, malloc, (size_t size), (size), NULL)
FAULTY(void *, calloc, (size_t count, size_t size), (count, size), NULL)
FAULTY(char *, strdup, (const char *text), (text), NULL)
FAULTY(int, getaddrinfo,
       (const char *host, const char *port, const struct addrinfo *hints,
        struct addrinfo **info),
       (host, port, hints, info), EAI_MEMORY)

void *client_realloc(void *p, size_t size);
void *client_realloc(void *p, size_t size)
{
    return !grows && fails(__builtin_return_address(0)) ? NULL
                                                        : realloc(p, size);
}

/* -- the process of one failure ------------------------------------------- */

/* How it ends. */
enum { PASSED, NONE_LEFT = 10, FAILED, DIED_IN_THE_CLIENT, DEAF };

enum { PATIENCE_S = 120, TIMEOUT_MS = 4000, PROMPT_MS = 20000 };

static const char *hosts;
static char name[64]; /* of the operation: a path */

/* Where the linker has put the client's code, and all. */
extern char __start_zk_client[], __stop_zk_client[];
extern char __executable_start[], etext[];

static bool is_ours(const char *p)
{
    return p >= __executable_start && p < etext;
}

/* Of the places in this program, and not in a library that it calls, the first
 * is this handler, and the next was running. */
static void on_crash(int signal_number)
{
    void *place[64];
    int count = backtrace(place, 64);
    int i = 0;

    while (i < count && !is_ours(place[i]))
        i++;
    while (++i < count) {
        const char *at = place[i];

        if (at >= __start_zk_client && at < __stop_zk_client)
            _exit(DIED_IN_THE_CLIENT);
        if (is_ours(at))
            break;
    }
    (void)signal(signal_number, SIG_DFL);
    (void)raise(signal_number);
}

__attribute__((format(printf, 1, 2))) static void fail_run(const char *format,
                                                           ...)
{
    va_list args;

    va_start(args, format);
    (void)fprintf(stderr, "%s, allocation %ld (%#tx): ", name, first,
                  failed_in - __executable_start); /* for addr2line */
    (void)vfprintf(stderr, format, args);
    (void)fprintf(stderr, "; %s\n", zkr_error_detail());
    va_end(args);
    _exit(FAILED);
}

static void must(int rc, const char *what)
{
    if (rc != ZKR_OK)
        fail_run("%s: %d", what, rc);
}

/* For want of memory a call may fail; then it is not certain what a write has
 * done. An open ends otherwise: the client drops a session event that it has no
 * memory for, so the library does not learn that it is connected, or that the
 * session has ended. And it sends credentials without a scheme when it cannot
 * copy that. */
static bool can(int rc, const char *what)
{
    static const int codes[] = { ZKR_ENOMEM,
                                 ZKR_ESYSTEM,
                                 ZKR_EUNKNOWN,
                                 ZKR_EPENDING,
                                 ZKR_ZMARSHALLINGERROR,
                                 ZKR_ZSYSTEMERROR,
                                 ZKR_ZRUNTIMEINCONSISTENCY,
                                 ZKR_ENOTZK,
                                 ZKR_EUNREACHABLE,
                                 ZKR_ETIMEDOUT,
                                 ZKR_ZAUTHFAILED };

    for (size_t i = 0; i < COUNT(codes) && atomic_load(&has_failed); i++) {
        if (rc == codes[i])
            return false;
    }
    must(rc, what);
    return rc == ZKR_OK;
}

#define CAN(call)  can(call, #call)
#define MUST(call) must(call, #call)

static struct zkr_retry retry; /* of all sessions */

static zkr_session *open_at(const char *at, const char *auth)
{
    zkr_session *s = NULL;

    (void)CAN(zkr_session_open(
        at,
        OPTS(session, .session_timeout_ms = TIMEOUT_MS, .retry = retry,
             .auth_scheme = auth == NULL ? NULL : "digest", .auth = auth),
        &s));
    return s;
}

/* -- operations ----------------------------------------------------------- */

static struct recorder *answers;

/* Each operation calls it when all is prepared. */
static void begin(void)
{
    atomic_store(&fails_at, first);
}

/* No failure any more. A request that the client had kept breaks the connection
 * when the next one is answered, which has an unknown outcome if it is a write,
 * and is sent again if not and the policy says so. */
static void settle_down(zkr_session *s)
{
    atomic_store(&fails_at, 0);
    if (zkr_session_sync(s, SOON_MS) != ZKR_OK)
        MUST(zkr_session_sync(s, SOON_MS));
}

/* Waits for the result of the call that has returned `rc`; whether it is the
 * only one is known when the session has been closed. */
static void await_answer(int rc)
{
    int code = 0;

    if (rc != ZKR_OK) {
        recorder_add(answers, rc, 0);
        (void)can(rc, "the call");
        return;
    }
    if (!recorder_wait(answers, 1, SOON_MS))
        fail_run("no answer");
    (void)recorder_get(answers, 0, &code, NULL);
    (void)can(code, "the answer");
}

#define DONE(operation, call)                                                  \
    static void operation(zkr_session *s)                                      \
    {                                                                          \
        call;                                                                  \
    }
#define ANSWERED(operation, call)                                              \
    static void operation(zkr_session *s)                                      \
    {                                                                          \
        begin();                                                               \
        await_answer(call);                                                    \
    }

ANSWERED(get, zkr_session_get_async(s, name, SOON_MS, record_reply, answers))
ANSWERED(exists,
         zkr_session_exists_async(s, name, SOON_MS, record_reply, answers))
ANSWERED(children, zkr_session_children_async(s, "/starved", SOON_MS,
                                              record_reply, answers))
ANSWERED(sync_up, zkr_session_sync_async(s, SOON_MS, record_reply, answers))
ANSWERED(set, zkr_session_set_async(s, name, "abc", 3, ZKR_ANY_VERSION, SOON_MS,
                                    record_reply, answers))
ANSWERED(create_below,
         zkr_session_create_async(s, textf("%s/n", name), "abc", 3,
                                  OPTS(create,
                                       .mode = ZKR_CREATE_EPHEMERAL_SEQUENTIAL,
                                       .acl = "world:anyone:cdrwa"),
                                  SOON_MS, record_reply, answers))

static void delete_below(zkr_session *s)
{
    const char *path = textf("%s/gone-%ld", name, first);

    MUST(zkr_session_create(s, path, "", 0, NULL, SOON_MS, NULL));
    begin();
    await_answer(zkr_session_delete_async(s, path, ZKR_ANY_VERSION, SOON_MS,
                                          record_reply, answers));
}

/* When zoo_amulti() has no memory to encode an operation it frees, instead of
 * the path of the next, that of the one before, which is ours. No caller can
 * mend that, so this does not happen here. */
static void commit(zkr_session *s)
{
    AUTO(txn) t = NULL;
    const char *path = textf("%s/t-%ld", name, first);

    MUST(zkr_txn_new(s, NULL, &t));
    MUST(zkr_txn_check(t, name, ZKR_ANY_VERSION));
    MUST(zkr_txn_create(t, path, "abc", 3, NULL));
    MUST(zkr_txn_set(t, path, "abcd", 4, ZKR_ANY_VERSION));
    MUST(zkr_txn_delete(t, path, ZKR_ANY_VERSION));
    grows = true;
    begin();
    await_answer(zkr_txn_commit_async(t, SOON_MS, record_commit, answers));
}

static void await_first(struct recorder *states)
{
    if (!recorder_wait(states, 1, SOON_MS))
        fail_run("nothing told first");
}

static void watch(zkr_session *s, enum zkr_watch_what what, const char *path)
{
    AUTO(recorder) states = recorder_new();
    zkr_watch *w = NULL;

    begin();
    if (CAN(zkr_session_watch(s, path, what, NULL, record_watch, states, &w))) {
        await_first(states);
        settle_down(s);
        /* A watch that the client has, and the library has forgotten, fires. */
        MUST(zkr_session_set(s, name, "z", 1, ZKR_ANY_VERSION, SOON_MS, NULL));
        MUST(zkr_session_create(
            s, "/starved/n", "", 0,
            OPTS(create, .mode = ZKR_CREATE_EPHEMERAL_SEQUENTIAL), SOON_MS,
            NULL));
        atomic_store(&fails_at, first); /* unless it has failed */
        zkr_watch_free(w);
    }
    settle_down(s);
}

DONE(watch_data, watch(s, ZKR_WATCH_DATA, name))
DONE(watch_nothing, watch(s, ZKR_WATCH_EXISTS, "/starved/nothing"))
DONE(watch_children, watch(s, ZKR_WATCH_CHILDREN, "/starved"))

/* A write that did not reach the server changes nothing. */
static void watch_a_change(zkr_session *s)
{
    AUTO(recorder) states = recorder_new();
    AUTO(watch) w = NULL;

    MUST(zkr_session_watch(s, name, ZKR_WATCH_DATA, NULL, record_watch, states,
                           &w));
    await_first(states);
    begin();
    (void)CAN(zkr_session_set(s, name, "x", 1, ZKR_ANY_VERSION, SOON_MS, NULL));
    settle_down(s);
    MUST(zkr_session_set(s, name, "y", 1, ZKR_ANY_VERSION, SOON_MS, NULL));
    if (!recorder_wait(states, 2, SOON_MS))
        fail_run("the change was not told");
}

/* Nobody has died there: the servers keep the nodes of processes that have. */
static zkr_mutex *new_lock(zkr_session *s)
{
    zkr_mutex *m = NULL;

    MUST(zkr_mutex_new(s, textf("%s/lock-%ld", name, first), NULL, &m));
    return m;
}

static void lock(zkr_session *s)
{
    AUTO(mutex) m = new_lock(s);
    AUTO(grant) g = NULL;

    begin();
    if (CAN(zkr_mutex_acquire(m, SOON_MS, &g))) {
        (void)CAN(zkr_grant_verify(g, SOON_MS));
        MUST(zkr_grant_release(g));
    }
}

static void *release_soon(void *g)
{
    (void)zkr_grant_release(g);
    return NULL;
}

/* Behind the holder of another session, who is watched. */
static void wait_behind(zkr_session *s)
{
    zkr_session *other = open_at(hosts, NULL);
    AUTO(mutex) theirs = new_lock(other);
    AUTO(mutex) m = new_lock(s);
    AUTO(grant) held = NULL;
    AUTO(grant) g = NULL;
    pthread_t thread;

    MUST(zkr_mutex_acquire(theirs, SOON_MS, &held));
    begin();
    must(pthread_create(&thread, NULL, release_soon, held), "a thread");
    if (CAN(zkr_mutex_acquire(m, SOON_MS, &g)))
        MUST(zkr_grant_release(g));
    (void)pthread_join(thread, NULL);
    (void)CAN(zkr_session_close(other));
}

/* The servers have set the watch on the permits, and the client cannot read
 * their names: without a retry that is the end of the wait, and not of the
 * watch. */
static void wait_for_permit(zkr_session *s)
{
    AUTO(semaphore) theirs = NULL;
    AUTO(semaphore) sem = NULL;
    AUTO(grant) held = NULL;
    zkr_grant *g = NULL;
    const char *path = textf("%s/semaphore-%ld", name, first);

    MUST(zkr_semaphore_new(s, path, 1, NULL, &theirs));
    MUST(zkr_semaphore_acquire(theirs, SOON_MS, &held));
    retry = ZKR_RETRY_NONE_INIT;
    zkr_session *other = open_at(hosts, NULL);
    MUST(zkr_semaphore_new(other, path, 1, NULL, &sem));
    begin();
    int rc = zkr_semaphore_acquire(sem, GIVE_UP_MS, &g);
    if (rc != ZKR_ETIMEDOUT)
        (void)can(rc, "zkr_semaphore_acquire()");
    settle_down(other);
    MUST(zkr_grant_release(held));
    settle_down(other); /* the watch has fired */
    MUST(zkr_session_close(other));
}

static void write_guarded(zkr_session *s)
{
    AUTO(mutex) m = new_lock(s);
    AUTO(grant) g = NULL;

    MUST(zkr_mutex_acquire(m, SOON_MS, &g));
    grows = true;
    begin();
    (void)CAN(
        zkr_grant_guarded_set(g, name, "a", 1, ZKR_ANY_VERSION, SOON_MS, NULL));
    MUST(zkr_grant_release(g));
}

static void list(zkr_session *s)
{
    AUTO(participants) found = NULL;

    begin();
    (void)CAN(zkr_participants_list(s, name, NULL, &found));
}

static void expire_it(zkr_session *s)
{
    begin();
    if (!CAN(zkr_test_expire_session(s)) ||
        COMES(zkr_session_epoch(s) > 1 &&
                  zkr_session_state(s) == ZKR_SESSION_RECONNECTED,
              PROMPT_MS))
        return;
    enum zkr_session_state_kind state = zkr_session_state(s);
    if (!atomic_load(&has_failed) ||
        (state != ZKR_SESSION_SUSPENDED && state != ZKR_SESSION_LOST))
        fail_run("no next session");
    (void)zkr_session_close(s); /* it is deaf, see can(); it can be closed */
    _exit(DEAF);
}

static void move(zkr_session *s)
{
    begin();
    (void)CAN(zkr_session_set_servers(s, hosts));
    (void)CAN(zkr_session_sync(s, SOON_MS));
}

/* The connection breaks. */
static void reconnect(zkr_session *s)
{
    struct proxy *p = NULL;

    must(proxy_start(hosts, &p), "a proxy");
    zkr_session *through = open_at(proxy_hosts(p), "user:password");
    begin();
    proxy_cut(p);
    proxy_heal(p);
    (void)CAN(zkr_session_sync(through, SOON_MS));
    settle_down(through);
    (void)CAN(zkr_session_close(through));
    proxy_stop(p);
}

static void open_another(const char *auth)
{
    begin();
    zkr_session *s = open_at(hosts, auth);
    if (s == NULL)
        return;
    settle_down(s);
    (void)CAN(zkr_session_close(s));
}

DONE(open_one, open_another(NULL))
DONE(log_in, open_another("user:password"))

static void close_one(zkr_session *s)
{
    zkr_session *other = open_at(hosts, NULL);

    begin();
    (void)CAN(zkr_session_close(other));
}

/* -- all of them ---------------------------------------------------------- */

static const struct operation {
    const char *name;
    void (*run)(zkr_session *s);
} operations[] = {
    { "get", get },
    { "exists", exists },
    { "children", children },
    { "sync", sync_up },
    { "set", set },
    { "create", create_below },
    { "delete", delete_below },
    { "commit", commit },
    { "watch_data", watch_data },
    { "watch_nothing", watch_nothing },
    { "watch_children", watch_children },
    { "watch_a_change", watch_a_change },
    { "lock", lock },
    { "wait_behind", wait_behind },
    { "wait_for_permit", wait_for_permit },
    { "write_guarded", write_guarded },
    { "list", list },
    { "expire", expire_it },
    { "move", move },
    { "reconnect", reconnect },
    { "open", open_one },
    { "log_in", log_in },
    { "close", close_one },
};

/* Runs it in a process of its own, for one failure. No check of cmocka there:
 * it would go on in the middle of this test. */
static int status_of(const struct operation *o)
{
    int status = 0;
    void *place;
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0) {
        (void)backtrace(&place, 1); /* it loads a library the first time */
        for (size_t i = 0; i < COUNT(crashes); i++)
            (void)signal(crashes[i], on_crash);
        (void)alarm(PATIENCE_S);
        answers = recorder_new();
        zkr_session *s = open_at(hosts, NULL);
        o->run(s);
        settle_down(s);
        MUST(zkr_session_set(s, name, "", 0, ZKR_ANY_VERSION, SOON_MS, NULL));
        MUST(zkr_session_close(s));
        if (recorder_count(answers) > 1)
            fail_run("two answers");
        _exit(atomic_load(&has_failed) ? PASSED : NONE_LEFT);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

TEST_ROWS(each_allocation_of_the_client_may_fail, operations, o)
{
    const long step = test_number("ZKR_ALLOC_STEP", 5);
    int died = 0, deaf = 0;
    int status;

    PRINT(name, "/starved/%s", o->name);
    first = test_number("ZKR_ALLOC_FIRST", 1);
    while (status = status_of(o), WIFEXITED(status)) {
        if (WEXITSTATUS(status) == DIED_IN_THE_CLIENT)
            died++;
        else if (WEXITSTATUS(status) == DEAF)
            deaf++;
        else if (WEXITSTATUS(status) != PASSED)
            break;
        first += step;
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != NONE_LEFT)
        fail_msg("%s: allocation %ld: status %#x", o->name, first,
                 (unsigned)status);
    assert_true(first > 1);
    print_message("%s: %ld allocations, one in %ld fails; the client dies of "
                  "%d, and loses an event with %d\n",
                  o->name, first - 1, step, died, deaf);
}

/* -- requests that are refused --------------------------------------------- */

#if ZKR__CLIENT_INSIDE /* that of tools/build-client.sh */

/* How often a request of the client was answered. */
static atomic_int answers_of_client;

#define COUNTED(callback, ...)                                                 \
    static void callback(int rc, __VA_ARGS__)                                  \
    {                                                                          \
        atomic_fetch_add(&answers_of_client, 1);                               \
    }

COUNTED(on_void, const void *data)
COUNTED(on_stat, const struct Stat *stat, const void *data)
COUNTED(on_data, const char *value, int size, const struct Stat *stat,
        const void *data)
COUNTED(on_names, const struct String_vector *names, const struct Stat *stat,
        const void *data)
COUNTED(on_acl, struct ACL_vector *acl, struct Stat *stat, const void *data)
COUNTED(on_path, const char *path, const void *data)
COUNTED(on_node, const char *path, const struct Stat *stat, const void *data)

static void on_client_event(zhandle_t *zh, int type, int state,
                            const char *path, void *context)
{
}

#define WATCHING on_client_event, (void *)1

#define CALL_OF_CLIENT(name, call)                                             \
    static int client_##name(zhandle_t *zh)                                    \
    {                                                                          \
        return call;                                                           \
    }

static const char bytes[200]; /* more than a frame begins with */

CALL_OF_CLIENT(get, zoo_awget(zh, "/starved", WATCHING, on_data, NULL))
CALL_OF_CLIENT(exists,
               zoo_awexists(zh, "/starved/none", WATCHING, on_stat, NULL))
CALL_OF_CLIENT(children,
               zoo_awget_children2(zh, "/starved", WATCHING, on_names, NULL))
CALL_OF_CLIENT(acl, zoo_aget_acl(zh, "/starved", on_acl, NULL))
CALL_OF_CLIENT(sync, zoo_async(zh, "/starved", on_path, NULL))
CALL_OF_CLIENT(set, zoo_aset(zh, "/starved", bytes, sizeof(bytes), -1, on_stat,
                             NULL))
CALL_OF_CLIENT(create,
               zoo_acreate2(zh, "/starved/c-", "", 0, &ZOO_OPEN_ACL_UNSAFE,
                            ZOO_EPHEMERAL_SEQUENTIAL, on_node, NULL))
CALL_OF_CLIENT(delete, zoo_adelete(zh, "/starved/none", -1, on_void, NULL))
CALL_OF_CLIENT(log_in,
               zoo_add_auth(zh, "digest", "user:password", 13, on_void, NULL))

static zoo_op_t ops[4];
static zoo_op_result_t results[4];
static struct Stat result_stat;

static int client_commit(zhandle_t *zh)
{
    zoo_check_op_init(&ops[0], "/starved", -1);
    zoo_create_op_init(&ops[1], "/starved/m", bytes, sizeof(bytes),
                       &ZOO_OPEN_ACL_UNSAFE, ZOO_EPHEMERAL, NULL, 0);
    zoo_set_op_init(&ops[2], "/starved/m", "y", 1, -1, &result_stat);
    zoo_delete_op_init(&ops[3], "/starved/m", -1);
    return zoo_amulti(zh, 4, ops, results, on_void, NULL);
}

static const struct client_call {
    const char *name;
    int (*run)(zhandle_t *zh);
} client_calls[] = {
    { "get", client_get },           { "exists", client_exists },
    { "children", client_children }, { "acl", client_acl },
    { "sync", client_sync },         { "set", client_set },
    { "create", client_create },     { "delete", client_delete },
    { "log in", client_log_in },     { "commit", client_commit },
};

/* Tells whether the allocation of that number was reached. The next request is
 * answered, and by then the first would have been, too. */
static bool is_refused_or_answered(const struct client_call *c, zhandle_t *zh,
                                   long number)
{
    atomic_store(&answers_of_client, 0);
    fails_here = number;
    int rc = c->run(zh);
    bool reached = fails_here == 0;
    fails_here = 0;
    assert_true(reached || rc == ZOK);
    assert_int_equal(zoo_exists(zh, "/", 0, NULL), ZOK);
    sleep_ms(5); /* another thread calls completions */
    if (rc == ZOK)
        AWAIT(atomic_load(&answers_of_client) > 0);
    if (atomic_load(&answers_of_client) != (rc == ZOK))
        fail_msg("%s, allocation %ld: %d, and %d answers", c->name, number, rc,
                 atomic_load(&answers_of_client));
    return reached;
}

static zhandle_t *connect_client(const char *list)
{
    zhandle_t *zh = zookeeper_init2(list, on_client_event, SESSION_MS, NULL,
                                    NULL, ZOO_NO_LOG_CLIENTENV, NULL);

    assert_non_null(zh);
    AWAIT(zoo_state(zh) == ZOO_CONNECTED_STATE);
    return zh;
}

/* Regression: it stayed in the list, and took the answer to the next one. */
TEST_ROWS(a_request_that_is_refused_has_no_answer, client_calls, c)
{
    zoo_set_debug_level(0);
    for (int i = 0; i < 2; i++) {
        zhandle_t *zh =
            connect_client(textf("%s%s", hosts, i == 0 ? "" : "/starved"));

        for (long n = 1; is_refused_or_answered(c, zh, n); n++)
            assert_true(n < 1000);
        (void)zookeeper_close(zh);
    }
}

/* Regression: it freed what was on its stack. */
TEST(a_transaction_of_a_bad_path_is_refused)
{
    zhandle_t *zh = connect_client(hosts);

    for (int i = 0; i < 4; i++) {
        for (int k = 0; k < 4; k++)
            zoo_delete_op_init(&ops[k], "/starved", -1);
        ops[i].delete_op.path = "no path";
        assert_int_not_equal(zoo_amulti(zh, 4, ops, results, on_void, NULL),
                             ZOK);
    }
    (void)zookeeper_close(zh);
}
#endif

static int run_group(void)
{
    hosts = server_hosts(the_server);
    (void)admin_create(admin, "/starved", NULL);
    for (size_t i = 0; i < COUNT(operations); i++)
        (void)admin_create(admin, textf("/starved/%s", operations[i].name),
                           NULL);
    admin_close(admin); /* a process that forks had better have no threads */
    admin = NULL;
    test_patience_s = 1800; /* of an operation with all its allocations */
    return test_run_all();
}

int main(void)
{
    return run_with_server(NULL, run_group);
}
