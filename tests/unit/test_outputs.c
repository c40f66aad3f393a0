/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of what calls return: each code that does not depend on the servers, of
 * every function; that every output is empty after an error, of every function
 * that has one, when nothing that it needs is given, when the servers refuse,
 * and when the session is over; and that a timeout means the same in every
 * function that waits for the servers; and that every callback may be NULL: the
 * call does what it says, and nobody is told. tests/api/codes.py checks that
 * nothing is missing. The counters are no such output: test_opts.c. Timeouts
 * that are not tried here: that of a fence, which needs no server
 * (test_fence.c), and that of leaving a double barrier
 * (integration/test_barrier.c). */
#include "unit.h"

#include <zkrecipes/testing.h>
#include <zkrecipes/zhandle.h>

#include "base/clock.h"
#include "client.h"

/* What the calls are given. Without the rest a call that would succeed gets a
 * NULL, or what is wrong. */
struct given {
    zkr_session *session;
    zkr_mutex *mutex;
    zkr_unfair_mutex *unfair;
    zkr_reentrant_mutex *reentrant;
    zkr_rwlock *rwlock;
    zkr_leader *leader; /* does not campaign */
    zkr_semaphore *semaphore;
    zkr_multi_lock *multi_lock;
    zkr_grant *grant;
    zkr_counter *counter;
    zkr_barrier *barrier;
    zkr_double_barrier *member;
    zkr_txn *txns[2];
    zkr_watch *a_watch;
    zkr_request *request;
    const char *path;
    const char *made_at; /* the path of what a call makes */
    /* the rest */
    zkr_session *no_session;
    zkr_grant *no_grant;
    zkr_fence *fence;
    const char *hosts;
    const char *node;
    const struct zkr_lockable_opts *multi_lock_opts;
    int64_t timeout_ms;
    bool asks; /* by acquires without a waiting thread */
    zkr_open_fn opened;
    zkr_acquire_fn acquired;
    zkr_acquire_all_fn all_acquired;
    zkr_reply_fn reply;
    zkr_watch_fn watch;
    zkr_txn_fn committed;
    zkr_zhandle_fn borrow;
};

/* Calls of another thread are given what that thread has. */
static _Thread_local struct given given;
static struct zkr_counters counters = ZKR_COUNTERS_INIT;
static struct zkr_session_error last = ZKR_SESSION_ERROR_INIT;

static const struct zkr_session_opts others = { .size = sizeof(others),
                                                .auth_scheme = "digest",
                                                .auth = "user:other" };

static zkr_lockable *asked(zkr_lockable *l)
{
    return given.asks ? l : NULL;
}

/* A size that no version has: else nothing fails. */
static const struct zkr_lockable_opts short_multi_lock_opts = { .size = 1 };

/* Every function that returns a code: its output, the codes that it must
 * return when one thing alone is wrong (see `wrongs`), and its arguments. "T":
 * it has a timeout. tests/api/codes.py compares them with what the headers
 * promise. */
/* clang-format off */
#define POINTER sizeof(void *), 0
#define NUMBER(type) sizeof(type), 0
#define DESCRIPTOR sizeof(int), 0xff
#define NOTHING 0, 0
#define CALLS(ROW, CALL) \
    ROW(zkr_session_open, POINTER, "NPL", given.hosts, NULL, out) \
    ROW(zkr_session_open_async, POINTER, "NPL", given.hosts, NULL, given.opened, NULL, out) \
    CALL(zkr_session_set_servers, "NFACPL", given.session, given.hosts) \
    CALL(zkr_session_set_credentials, "NFAC", given.session, &others) \
    ROW(zkr_session_listen, POINTER, "NF", given.no_session, NULL, NULL, out) \
    ROW(zkr_session_fd, DESCRIPTOR, "NF", given.session, out) \
    CALL(zkr_session_dispatch, "NF", given.session) \
    CALL(zkr_session_stats, "NF", given.session, &counters) \
    CALL(zkr_session_last_error, "NF", given.session, &last) \
    CALL(zkr_test_expire_session, "NFACD", given.session) \
    CALL(zkr_session_with_handle, "NFAC", given.session, given.borrow, NULL) \
    ROW(zkr_session_watch, POINTER, "NFACPL", given.session, given.node, ZKR_WATCH_DATA, NULL, given.watch, NULL, out) \
    CALL(zkr_watch_set_pause, "NF", given.a_watch, 0) \
    ROW(zkr_session_get, POINTER, "NFACDPLT", given.session, given.node, given.timeout_ms, out) \
    ROW(zkr_session_exists, POINTER, "NFACDPLT", given.session, given.node, given.timeout_ms, out) \
    ROW(zkr_session_children, POINTER, "NFACDPLT", given.session, given.node, given.timeout_ms, out) \
    CALL(zkr_session_sync, "NFACDT", given.session, given.timeout_ms) \
    ROW(zkr_session_create, POINTER, "NFACDPLT", given.session, given.path, NULL, 0, NULL, given.timeout_ms, out) \
    ROW(zkr_session_set, POINTER, "NFACDPLT", given.session, given.path, NULL, 0, ZKR_ANY_VERSION, given.timeout_ms, out) \
    CALL(zkr_session_delete, "NFACDPLT", given.session, given.path, ZKR_ANY_VERSION, given.timeout_ms) \
    CALL(zkr_session_get_async, "NFACPLB", given.session, given.node, 0, given.reply, NULL) \
    CALL(zkr_session_exists_async, "NFACPLB", given.session, given.node, 0, given.reply, NULL) \
    CALL(zkr_session_children_async, "NFACPLB", given.session, given.node, 0, given.reply, NULL) \
    CALL(zkr_session_sync_async, "NFACB", given.session, 0, given.reply, NULL) \
    CALL(zkr_session_create_async, "NFACPLB", given.session, given.path, NULL, 0, NULL, 0, given.reply, NULL) \
    CALL(zkr_session_set_async, "NFACPLB", given.session, given.path, NULL, 0, ZKR_ANY_VERSION, 0, given.reply, NULL) \
    CALL(zkr_session_delete_async, "NFACPLB", given.session, given.path, ZKR_ANY_VERSION, 0, given.reply, NULL) \
    ROW(zkr_txn_new, POINTER, "NF", given.no_session, NULL, out) \
    ROW(zkr_txn_new_guarded, POINTER, "NF", given.no_grant, out) \
    CALL(zkr_txn_check, "NPL", given.txns[0], given.path, 0) \
    CALL(zkr_txn_create, "NPL", given.txns[0], given.path, NULL, 0, NULL) \
    CALL(zkr_txn_set, "NPL", given.txns[0], given.path, NULL, 0, 0) \
    CALL(zkr_txn_delete, "NPL", given.txns[0], given.path, 0) \
    CALL(zkr_txn_commit, "NFACDT", given.txns[0], given.timeout_ms) \
    CALL(zkr_txn_commit_async, "NFACB", given.txns[1], 0, given.committed, NULL) \
    ROW(zkr_hosts_parse, POINTER, "NPL", given.hosts, out) \
    ROW(zkr_leader_new, POINTER, "NFPL", given.session, given.made_at, NULL, NULL, NULL, out) \
    CALL(zkr_leader_campaign, "NFAC", given.leader) \
    CALL(zkr_leader_leave, "NF", given.leader) \
    CALL(zkr_leader_leave_async, "NF", given.leader) \
    CALL(zkr_leader_wait, "NFDT", given.leader, given.timeout_ms) \
    ROW(zkr_leader_grant, POINTER, "NF", given.leader, out) \
    ROW(zkr_mutex_new, POINTER, "NFPL", given.session, given.made_at, NULL, out) \
    ROW(zkr_mutex_acquire, POINTER, "NFACDT", given.mutex, given.timeout_ms, out) \
    ROW(zkr_mutex_acquire_async, POINTER, "NFACB", asked(given.mutex), 0, given.acquired, NULL, out) \
    ROW(zkr_lockable_acquire, POINTER, "NFACDT", given.mutex, NULL, given.timeout_ms, out) \
    ROW(zkr_lockable_acquire_all, POINTER, "NFACDT", given.mutex, NULL, given.timeout_ms, out) \
    ROW(zkr_lockable_acquire_async, POINTER, "NFACB", asked(given.mutex), NULL, 0, given.acquired, NULL, out) \
    ROW(zkr_lockable_acquire_all_async, POINTER, "NFACB", asked(given.mutex), NULL, 0, given.all_acquired, NULL, out) \
    ROW(zkr_lockable_grant, POINTER, "NF", given.reentrant, NULL, out) \
    CALL(zkr_lockable_cancel, "NF", given.mutex) \
    CALL(zkr_lockable_give_back, "NF", given.mutex) \
    ROW(zkr_unfair_mutex_new, POINTER, "NFPL", given.session, given.made_at, NULL, out) \
    ROW(zkr_unfair_mutex_acquire, POINTER, "NFACDT", given.unfair, given.timeout_ms, out) \
    ROW(zkr_unfair_mutex_acquire_async, POINTER, "NFACB", asked(given.unfair), 0, given.acquired, NULL, out) \
    ROW(zkr_reentrant_mutex_new, POINTER, "NFPL", given.session, given.made_at, NULL, out) \
    CALL(zkr_reentrant_mutex_acquire, "NFACDT", given.reentrant, given.timeout_ms) \
    CALL(zkr_reentrant_mutex_release, "NF", given.reentrant) \
    CALL(zkr_reentrant_mutex_release_of, "NF", given.reentrant, NULL) \
    ROW(zkr_rwlock_new, POINTER, "NFPL", given.session, given.made_at, NULL, out) \
    ROW(zkr_rwlock_acquire_read, POINTER, "NFACDT", given.rwlock, given.timeout_ms, out) \
    ROW(zkr_rwlock_acquire_write, POINTER, "NFACDT", given.rwlock, given.timeout_ms, out) \
    ROW(zkr_rwlock_acquire_read_async, POINTER, "NFACB", asked(given.rwlock), 0, given.acquired, NULL, out) \
    ROW(zkr_rwlock_acquire_write_async, POINTER, "NFACB", asked(given.rwlock), 0, given.acquired, NULL, out) \
    ROW(zkr_rwlock_downgrade, POINTER, "NF", given.rwlock, given.grant, out) \
    ROW(zkr_multi_lock_new, POINTER, "NF", given.session, given.multi_lock_opts, out) \
    CALL(zkr_multi_lock_add, "NF", given.multi_lock, given.mutex, NULL) \
    ROW(zkr_multi_lock_acquire, POINTER, "NFACDT", given.multi_lock, given.timeout_ms, out) \
    ROW(zkr_multi_lock_acquire_async, POINTER, "NFACB", asked(given.multi_lock), 0, given.all_acquired, NULL, out) \
    ROW(zkr_semaphore_new, POINTER, "NFPL", given.session, given.made_at, 1, NULL, out) \
    ROW(zkr_semaphore_acquire, POINTER, "NFACDT", given.semaphore, given.timeout_ms, out) \
    ROW(zkr_semaphore_acquire_many, POINTER, "NFACDT", given.semaphore, 1, given.timeout_ms, out) \
    ROW(zkr_semaphore_acquire_async, POINTER, "NFACB", asked(given.semaphore), 0, given.acquired, NULL, out) \
    ROW(zkr_semaphore_acquire_many_async, POINTER, "NFACB", asked(given.semaphore), 1, 0, given.all_acquired, NULL, out) \
    CALL(zkr_request_cancel, "NF", given.request) \
    CALL(zkr_grant_check, "NF", given.grant) \
    CALL(zkr_grant_verify, "NFDT", given.grant, given.timeout_ms) \
    CALL(zkr_grant_listen, "NFB", given.grant, NULL, NULL) \
    CALL(zkr_grant_release, "NFD", given.grant) \
    CALL(zkr_grant_release_async, "NFB", given.grant, NULL, NULL) \
    CALL(zkr_grants_check, "NF", &given.grant, 1) \
    CALL(zkr_grants_release, "NFD", &given.grant, 1) \
    ROW(zkr_grant_guarded_set, NUMBER(int32_t), "NFDPLT", given.grant, given.path, NULL, 0, 0, given.timeout_ms, out) \
    CALL(zkr_grant_guarded_create, "NFDPLT", given.grant, given.path, NULL, 0, given.timeout_ms) \
    CALL(zkr_grant_guarded_delete, "NFDPLT", given.grant, given.path, 0, given.timeout_ms) \
    ROW(zkr_barrier_new, POINTER, "NFPL", given.session, given.made_at, NULL, out) \
    CALL(zkr_barrier_set, "NFACDT", given.barrier, given.timeout_ms) \
    CALL(zkr_barrier_remove, "NFACDT", given.barrier, given.timeout_ms) \
    CALL(zkr_barrier_wait, "NFACDT", given.barrier, given.timeout_ms) \
    ROW(zkr_double_barrier_new, POINTER, "NFPL", given.session, given.made_at, 2, NULL, out) \
    CALL(zkr_double_barrier_enter, "NFACDT", given.member, given.timeout_ms) \
    CALL(zkr_double_barrier_leave, "NF", given.member, 0) \
    ROW(zkr_counter_new, POINTER, "NFPL", given.session, given.made_at, NULL, out) \
    ROW(zkr_counter_get, NUMBER(int32_t), "NFACDT", given.counter, given.timeout_ms, &(int64_t){ 0 }, out) \
    ROW(zkr_counter_add, NUMBER(int64_t), "NFACDT", given.counter, 1, given.timeout_ms, out) \
    ROW(zkr_counter_compare_and_set, NUMBER(int64_t), "NFACDT", given.counter, 0, 1, given.timeout_ms, out) \
    CALL(zkr_counter_set, "NFACDT", given.counter, 0, 0, given.timeout_ms) \
    ROW(zkr_participants_list, POINTER, "NFACDPLT", given.session, given.path, OPTS(participants, .timeout_ms = given.timeout_ms), out) \
    CALL(zkr_participants_revoke, "NFACDPL", given.session, given.node) \
    CALL(zkr_participants_break, "NFACDPLT", given.session, given.node, 1, given.timeout_ms) \
    ROW(zkr_fence_new, POINTER, "", OPTS(fence, .file = "/no/such/directory/fence"), out) \
    CALL(zkr_fence_accept, "NF", given.fence, 9, 0) \
    CALL(zkr_fence_accept_shared, "NF", given.fence, 9) \
    CALL(zkr_fence_begin, "NF", given.fence, 9, 0, 0) \
    ROW(zkr_fence_highest, NUMBER(int64_t), "NF", given.fence, out) \
    CALL(zkr_lockable_stats, "NF", given.mutex, &counters) \
    CALL(zkr_leader_stats, "NF", given.leader, &counters) \
    CALL(zkr_session_close, "FD", given.session)
/* clang-format on */

#define ROW(name, output, codes, ...)                                          \
    static int call_##name(void *out)                                          \
    {                                                                          \
        return name(__VA_ARGS__);                                              \
    }
#define CALL(name, codes, ...)                                                 \
    static int call_##name(void *out)                                          \
    {                                                                          \
        (void)out;                                                             \
        return name(__VA_ARGS__);                                              \
    }
CALLS(ROW, CALL)
#undef ROW
#undef CALL

static const struct row {
    const char *name;
    int (*call)(void *out);
    size_t size;
    unsigned char empty; /* each byte of an output that is empty */
    const char *codes;
} rows[] = {
#define ROW(name, output, codes, ...) { #name, call_##name, output, codes },
#define CALL(name, codes, ...)        { #name, call_##name, NOTHING, codes },
    CALLS(ROW, CALL)
#undef ROW
#undef CALL
};

static void expect_errors(void)
{
    for (size_t i = 0; i < COUNT(rows); i++) {
        const size_t size = rows[i].size;
        unsigned char out[256], expected[256];

        if (size == 0)
            continue;
        memset(out, 0x5a, sizeof(out));
        memset(expected, 0x5a, sizeof(expected));
        memset(expected, rows[i].empty, size);
        if (rows[i].call(out) == ZKR_OK)
            fail_msg("%s succeeds", rows[i].name);
        if (memcmp(out, expected, size) != 0)
            fail_msg("%s leaves something in its output", rows[i].name);
        if (memcmp(out + size, expected + size, sizeof(out) - size) != 0)
            fail_msg("%s writes beyond its output", rows[i].name);
        assert_int_not_equal(rows[i].call(NULL), ZKR_OK);
    }
}

static void on_watch(int error, const struct zkr_reply *reply,
                     enum zkr_watch_why why, void *user)
{
}

static void on_acquired(int error, zkr_grant *grant, void *user)
{
    zkr_grant_free(grant);
}

enum {
    SHORT_MS = 30,
    LONG_MS = 1000000, /* longer than the test may take */
};

static int setup_with(uint32_t reply_timeout_ms)
{
    client_reset();
    client_grants_timeout(LONG_MS); /* the lease, too, is longer */
    zkr_session *s =
        open_session_with(OPTS(session, .reply_timeout_ms = reply_timeout_ms,
                               .auth_scheme = "digest", .auth = "user:one"));
    given = (struct given){ .session = s,
                            .path = "/lock",
                            .made_at = "",
                            .multi_lock_opts = &short_multi_lock_opts };
    given.mutex = new_mutex(s);
    ok(zkr_unfair_mutex_new(s, "/lock", NULL, &given.unfair));
    ok(zkr_reentrant_mutex_new(s, "/lock", NULL, &given.reentrant));
    ok(zkr_rwlock_new(s, "/lock", NULL, &given.rwlock));
    ok(zkr_counter_new(s, "/lock", NULL, &given.counter));
    ok(zkr_barrier_new(s, "/lock", NULL, &given.barrier));
    ok(zkr_double_barrier_new(s, "/lock", 2, NULL, &given.member));
    ok(zkr_leader_new(s, "/lock", NULL, NULL, NULL, &given.leader));
    ok(zkr_semaphore_new(s, "/lock", 1, NULL, &given.semaphore));
    ok(zkr_multi_lock_new(s, NULL, &given.multi_lock));
    ok(zkr_multi_lock_add(given.multi_lock, given.mutex, NULL));
    for (size_t i = 0; i < COUNT(given.txns); i++) {
        ok(zkr_txn_new(s, NULL, &given.txns[i]));
        ok(zkr_txn_delete(given.txns[i], "/lock", 0));
    }
    ok(zkr_session_watch(s, "/lock", ZKR_WATCH_DATA, NULL, on_watch, NULL,
                         &given.a_watch));
    /* The client knows one node, that of the second claim: where setting up
     * takes 50 ms, the first would look for its own, and be lost. */
    client_answers(ZKR__ZK_GET, ZKR_ZNOAUTH);
    ok(zkr_mutex_acquire(given.mutex, -1, &given.grant));
    ok(zkr_mutex_acquire_async(given.mutex, -1, on_acquired, NULL,
                               &given.request));
    return 0;
}

static int setup(void)
{
    return setup_with(0);
}

static void answer_all(int rc)
{
    for (int type = 0; type < ZKR__ZK_TYPES; type++)
        client_answers((enum zkr__zk_type)type, rc);
}

static void close_it(void)
{
    if (given.session != NULL)
        (void)zkr_session_close(given.session);
    given.session = NULL;
}

static int teardown(void)
{
    answer_all(ZKR_OK);
    zkr_request_free(given.request);
    zkr_grant_free(given.grant);
    for (size_t i = 0; i < COUNT(given.txns); i++)
        zkr_txn_free(given.txns[i]);
    zkr_watch_free(given.a_watch);
    zkr_fence_free(given.fence);
    zkr_leader_free(given.leader);
    zkr_lockable *locks[] = { given.multi_lock, given.rwlock, given.semaphore,
                              given.reentrant,  given.unfair, given.mutex };
    for (size_t i = 0; i < COUNT(locks); i++)
        zkr_lockable_free(locks[i]);
    zkr_counter_free(given.counter);
    zkr_barrier_free(given.barrier);
    zkr_double_barrier_free(given.member);
    close_it();
    return 0;
}

FIXTURE(setup, teardown)

TEST(outputs_are_empty_when_nothing_is_given)
{
    const struct given all = given;

    given = (struct given){ 0 };
    expect_errors();
    given = all;
}

TEST(outputs_are_empty_when_the_servers_refuse)
{
    answer_all(ZKR_ZNOAUTH);
    expect_errors();
}

static void refuse_credentials(void)
{
    client_says(ZKR__ZK_AUTH_FAILED);
    AWAIT(zkr_session_state(given.session) == ZKR_SESSION_AUTH_FAILED);
}

TEST(outputs_are_empty_when_the_session_is_over)
{
    refuse_credentials();
    given.asks = true;
    expect_errors();
}

/* -- codes ----------------------------------------------------------------- */

static void on_opened(int error, void *user)
{
}

static void on_all_acquired(int error, zkr_grant *const *grants, size_t count,
                            void *user)
{
    for (size_t i = 0; i < count; i++)
        on_acquired(error, grants[i], user);
}

static void on_reply(int error, const struct zkr_reply *reply, void *user)
{
}

static void on_committed(int error, zkr_txn *txn, void *user)
{
}

static int on_borrowed(zhandle_t *zh, void *user)
{
    return ZKR_OK;
}

static void give_the_rest(void)
{
    given.made_at = "/lock";
    given.no_session = given.session;
    given.no_grant = given.grant;
    ok(zkr_fence_new(NULL, &given.fence));
    given.hosts = "127.0.0.1:2181";
    given.node = "/lock/lock-0000000001";
    given.multi_lock_opts = NULL;
    given.asks = true;
    given.opened = on_opened;
    given.acquired = on_acquired;
    given.all_acquired = on_all_acquired;
    given.reply = on_reply;
    given.watch = on_watch;
    given.committed = on_committed;
    given.borrow = on_borrowed;
}

/* Any thread, and a child. */
static int complain(char letter, int code)
{
    int wrong = 0;

    for (size_t i = 0; i < COUNT(rows); i++) {
        unsigned char out[256];

        if (strchr(rows[i].codes, letter) == NULL)
            continue;
        int rc = rows[i].call(out);
        if (rc == code)
            continue;
        (void)fprintf(stderr, "%s: %s, not %s\n", rows[i].name,
                      zkr_strerror(rc), zkr_strerror(code));
        wrong++;
    }
    return wrong;
}

static int with_nothing(char letter, int code)
{
    const struct given all = given;

    memset(&given, 0, sizeof(given));
    int wrong = complain(letter, code);
    given = all;
    return wrong;
}

static int in_a_child(char letter, int code)
{
    pid_t pid = fork();

    if (pid == 0)
        _exit(complain(letter, code));
    return exit_status(pid);
}

static int without_credentials(char letter, int code)
{
    refuse_credentials();
    return complain(letter, code);
}

/* What was opened on the session lives as long as itself. */
static int when_closed(char letter, int code)
{
    (void)zkr_session_close(given.session);
    int wrong = complain(letter, code);
    given.session = NULL;
    return wrong;
}

/* All callbacks that are due are called as it is closed. */
static int without_callbacks(char letter, int code)
{
    int wrong = 0;

    given.acquired = NULL;
    given.all_acquired = NULL;
    given.reply = NULL;
    given.committed = NULL;
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (strchr(rows[i].codes, letter) == NULL || rows[i].call(NULL) == code)
            continue;
        (void)fprintf(stderr, "%s needs a callback\n", rows[i].name);
        wrong++;
    }
    close_it();
    return wrong;
}

struct inside {
    const struct given *given;
    char letter;
    int code;
    atomic_int wrong; /* -1: not known yet */
};

static void call_all(int error, const struct zkr_reply *reply, void *user)
{
    struct inside *in = user;

    given = *in->given;
    atomic_store(&in->wrong, complain(in->letter, in->code));
}

static int in_a_callback(char letter, int code)
{
    static struct inside in;

    in = (struct inside){ &given, letter, code, .wrong = -1 };
    ok(zkr_session_sync_async(given.session, 0, call_all, &in));
    AWAIT(atomic_load(&in.wrong) != -1);
    return in.wrong;
}

static int at(const char *path, const char *node, char letter, int code)
{
    char hosts[ZKR_PATH_MAX + 64];

    PRINT(hosts, "%s%s", given.hosts, path);
    given.hosts = hosts;
    given.path = path;
    given.made_at = path;
    given.node = node;
    return complain(letter, code);
}

static int at_no_path(char letter, int code)
{
    return at("/lock//1", "/lock//1", letter, code);
}

/* That of a node may be twice as long, when it is read, too. */
static int at_a_long_path(char letter, int code)
{
    static char node[2 * ZKR_PATH_MAX + 2];
    const char *path = node + ZKR_PATH_MAX;

    memset(node, 'a', sizeof(node) - 1);
    node[0] = '/';
    node[ZKR_PATH_MAX] = '/';
    return at(path, node, letter, code);
}

static const struct wrong {
    const char *name;
    char letter;
    int (*count)(char letter, int code);
    int code;
} wrongs[] = {
    { "nothing", 'N', with_nothing, ZKR_EINVAL },
    { "child", 'F', in_a_child, ZKR_EFORKED },
    { "no credentials", 'A', without_credentials, ZKR_ZAUTHFAILED },
    { "closed", 'C', when_closed, ZKR_ECLOSED },
    { "callback", 'D', in_a_callback, ZKR_EDEADLK },
    { "no path", 'P', at_no_path, ZKR_EPATH },
    { "long path", 'L', at_a_long_path, ZKR_ETOOLONG },
    { "no callback", 'B', without_callbacks, ZKR_OK },
};

/* One thing is wrong, and each call says which; or nothing is. */
TEST_ROWS(each_call_says_what_is_wrong, wrongs, w)
{
    give_the_rest();
    assert_int_equal(w->count(w->letter, w->code), 0);
}

/* What is made without a callback does its work. */
TEST_WITH(what_tells_nobody_works, client_reset, NULL)
{
    AUTO(session) s = NULL;
    AUTO(listener) listener = NULL;
    AUTO(watch) watch = NULL;
    AUTO(leader) leader = NULL;

    zkr_log_set(ZKR_LOG_DEBUG, NULL, NULL);
    ok(zkr_session_open_async("127.0.0.1:2181", NULL, NULL, NULL, &s));
    ok(zkr_session_listen(s, NULL, NULL, &listener));
    AUTO(mutex) m = new_mutex(s);
    give_back(acquire(m));
    ok(zkr_session_watch(s, "/lock", ZKR_WATCH_DATA, NULL, NULL, NULL, &watch));
    client_await_rest();
    gives(ZKR__CLIENT_INSIDE ? ZKR_ENOTSUP : ZKR_OK,
          zkr_session_with_handle(s, NULL, NULL));
    ok(zkr_lockable_acquire_async(m, NULL, -1, NULL, NULL, NULL));
    AWAIT(client_requests(ZKR__ZK_DELETE) == 2);
    ok(zkr_lockable_acquire_all_async(m, NULL, -1, NULL, NULL, NULL));
    AWAIT(client_requests(ZKR__ZK_DELETE) == 3);
    ok(zkr_leader_new(s, "/lock", NULL, NULL, NULL, &leader));
    ok(zkr_leader_campaign(leader));
    ok(zkr_leader_wait(leader, -1));
}

/* -- timeouts -------------------------------------------------------------- */

static void begin_silent(uint32_t reply_timeout_ms)
{
    (void)setup_with(reply_timeout_ms);
    give_the_rest();
    client_stops_at(CLIENT_AT_ONCE);
    client_await_stop();
    ok(zkr_leader_campaign(given.leader));
}

/* Everything that waits ends with the session. */
static int teardown_silent(void)
{
    client_goes_on();
    close_it();
    return teardown();
}

static void all_end_after(int64_t timeout_ms)
{
    given.timeout_ms = timeout_ms;
    for (size_t i = 0; i < COUNT(rows); i++) {
        unsigned char out[256];

        if (strchr(rows[i].codes, 'T') == NULL)
            continue;
        int64_t began = zkr__clock_now();
        int rc = rows[i].call(out);
        int64_t took_ms = (zkr__clock_now() - began) / ZKR__MS;
        if (rc == ZKR_OK)
            fail_msg("%s succeeds", rows[i].name);
        if (took_ms < SHORT_MS || took_ms >= LONG_MS)
            fail_msg("%s ends after %d ms: %s", rows[i].name, (int)took_ms,
                     zkr_error_detail());
    }
}

TEST_WITH(zero_is_the_reply_timeout, NULL, teardown_silent)
{
    begin_silent(SHORT_MS);
    all_end_after(0);
}

TEST_WITH(a_timeout_is_in_milliseconds, NULL, teardown_silent)
{
    begin_silent(LONG_MS);
    all_end_after(SHORT_MS);
}

struct waiter {
    const struct row *row;
    const struct given *given;
    atomic_bool ended;
    pthread_t thread;
};

static void *wait_without_limit(void *user)
{
    struct waiter *w = user;

    union {
        unsigned char bytes[256];
        struct zkr_reply *reply;
        struct zkr_participants *list;
        zkr_grant *grants[256 / sizeof(void *)];
    } out;

    given = *w->given;
    int rc = w->row->call(out.bytes);
    /* It may be answered when the servers go on, before the close. */
    if (rc == ZKR_OK && strstr(w->row->name, "_acquire") != NULL)
        zkr_grants_free(out.grants, w->row->size / sizeof(void *));
    else if (rc == ZKR_OK && strcmp(w->row->name, "zkr_participants_list") == 0)
        zkr_participants_free(out.list);
    else if (rc == ZKR_OK && w->row->size == sizeof(out.reply) &&
             strncmp(w->row->name, "zkr_session_", 12) == 0)
        zkr_reply_free(out.reply);
    atomic_store(&w->ended, true);
    return NULL;
}

/* Calls that begin later, and end, show that the time has come. */
TEST_WITH(less_than_zero_waits_without_limit, NULL, teardown_silent)
{
    struct waiter waiters[COUNT(rows)] = { { .row = NULL } };

    begin_silent(SHORT_MS);
    struct given theirs = given;
    AUTO(txn) txn = NEW(txn, given.session, NULL);
    ok(zkr_txn_delete(txn, "/lock", 0));
    AUTO(double_barrier) member =
        NEW(double_barrier, given.session, "/lock", 2, NULL);
    theirs.txns[0] = txn;
    theirs.member = member;
    theirs.timeout_ms = -1;
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (strchr(rows[i].codes, 'T') == NULL)
            continue;
        waiters[i].row = &rows[i];
        waiters[i].given = &theirs;
        waiters[i].thread = thread_start(wait_without_limit, &waiters[i]);
    }
    all_end_after(0);
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (atomic_load(&waiters[i].ended))
            fail_msg("%s ends", rows[i].name);
    }
    client_goes_on();
    close_it();
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (waiters[i].row != NULL)
            thread_join(waiters[i].thread);
    }
}
