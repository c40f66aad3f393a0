/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the session: opening, states, callbacks, closing, leaks. */
#include "fixture.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <zkrecipes/testing.h>
#include <zkrecipes/zhandle.h>

#include "net.h"
#include "security.h"

SCOPED(struct proxy, proxy, proxy_stop)

/* -- what cannot be opened ------------------------------------------------ */

static int open_quickly(const char *hosts, zkr_session **s)
{
    return zkr_session_open(hosts, OPTS(session, .connect_timeout_ms = 300), s);
}

static void expect_refusal(const char *hosts, int rc, const char *named)
{
    open_fails(hosts, OPTS(session, .connect_timeout_ms = 300), 10000, rc,
               named);
}

TEST(bad_hosts_are_refused_by_name)
{
    char mute[NET_ADDRESS];
    int fd = net_listen(mute); /* it says nothing */

    expect_refusal(NULL, ZKR_EINVAL, "hosts");
    expect_refusal("", ZKR_EINVAL, "hosts");
    expect_refusal("127.0.0.1:", ZKR_EINVAL, "127.0.0.1:");
    expect_refusal("127.0.0.1:99999", ZKR_EINVAL, "127.0.0.1:99999");
    expect_refusal("127.0.0.1:1/a//b", ZKR_EPATH, "/a//b");
    expect_refusal("127.0.0.1:1/a/", ZKR_EPATH, "/a/");
    /* No name begins like this, so no slow name server is asked. */
    expect_refusal("-no-such-host:2181", ZKR_EHOSTS, "-no-such-host");
    expect_refusal("127.0.0.1:1", ZKR_EREFUSED, "127.0.0.1:1");
    assert_true(fd >= 0);
    expect_refusal(mute, ZKR_ENOTZK, mute);
    (void)close(fd);
    open_fails(textf("%s/no/such/chroot", server_hosts(the_server)),
               OPTS(session, .connect_timeout_ms = SOON_MS), SOON_MS,
               ZKR_ENOCHROOT, "/no/such/chroot");
    assert_has(zkr_error_detail(), "-101");
    assert_int_equal(admin_exists(admin, "/no", NULL), ZNONODE);
}

enum { DESCRIPTORS = 256, ENOUGH = 12 };

/* With so many descriptors left, and no more. */
static int open_with_descriptors(int left, const char *hosts, zkr_session **s)
{
    int used[DESCRIPTORS];
    int count = 0;

    while ((used[count] = dup(STDERR_FILENO)) >= 0)
        count++;
    while (left-- > 0)
        (void)close(used[--count]);
    int rc =
        zkr_session_open(hosts, OPTS(session, .connect_timeout_ms = 2000), s);
    while (count > 0)
        (void)close(used[--count]);
    return rc;
}

TEST(want_of_descriptors_is_told)
{
    struct rlimit before;
    zkr_session *s;
    const char *by_name = textf("localhost:%d", server_port(the_server));

    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    struct rlimit low = { DESCRIPTORS, before.rlim_max };
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
    for (int left = 0; left <= 2 * ENOUGH; left++) {
        const char *hosts = left % 2 ? by_name : server_hosts(the_server);
        int rc = open_with_descriptors(left / 2, hosts, &s);

        if (rc == ZKR_OK)
            close_session(s);
        else if (rc != ZKR_ESYSTEM || left >= 2 * ENOUGH ||
                 strstr(zkr_error_detail(), strerror(EMFILE)) == NULL)
            fail_msg("%d left, %s: %d: %s", left / 2, hosts, rc,
                     zkr_error_detail());
    }
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
}

/* Regression: the call ended with an error, and had to be made once more. */
TEST(a_session_that_ends_before_it_is_open_is_followed_by_another)
{
    AUTO(proxy) proxy = NULL;

    ok(proxy_start(server_hosts(the_server), &proxy));
    proxy_rule_error(proxy, ZOO_EXISTS_OP, 1, ZSESSIONEXPIRED);
    AUTO(session) s = open_to(proxy_hosts(proxy), NULL);
    assert_true(proxy_rule_done(proxy));
    assert_int_equal(zkr_session_epoch(s), 2);
}

TEST(an_open_reaches_a_server_that_is_just_starting)
{
    for (int i = 0; i < 2; i++) {
        AUTO(recorder) opened = recorder_new();

        server_kill9(the_server);
        zkr_session *begun =
            MADE(session, session_open_async, server_hosts(the_server),
                 OPTS(session, .session_timeout_ms = SESSION_MS,
                      .connect_timeout_ms = SOON_MS),
                 record_release, opened);
        AUTO(mutex) m = new_mutex(begun, new_path());
        restart_server();
        release(acquire(m));
        assert_int_equal(recorded(opened, 0), ZKR_OK);
        close_session(begun);
        assert_int_equal(recorder_count(opened), 1);
    }
}

TEST(refused_credentials_end_the_session)
{
    open_fails(server_hosts(the_server),
               OPTS(session, .auth_scheme = "nosuchscheme", .auth = "a:b"),
               SOON_MS, ZAUTHFAILED, "");
}

/* The longest of each is good. */
TEST(limits_are_reached)
{
    static const uint32_t timeouts[] = { ZKR_SESSION_TIMEOUT_MIN_MS,
                                         ZKR_SESSION_TIMEOUT_MAX_MS };
    char label[ZKR_LABEL_MAX + 1] = "";
    AUTO(text) text = calloc(1, ZKR_PATH_MAX + 1);
    AUTO(session) s = open_session();

    memset(text, 'a', ZKR_PATH_MAX);
    text[0] = '/';
    memset(label, 'x', sizeof(label) - 1);
    AUTO(mutex) m = NEW(mutex, s, text, OPTS(lockable, .label = label));
    zkr_mutex_free(m);
    m = NULL;
    close_session(s);
    for (size_t i = 0; i < 2; i++) {
        const struct zkr_session_opts *opts =
            OPTS(session, .session_timeout_ms = timeouts[i],
                 .chroot = "not a path" /* is looked at later */);

        gives(ZKR_EPATH, zkr_session_open(server_hosts(the_server), opts, &s));
    }
    s = OPEN(.chroot = "/tests", .session_timeout_ms = 500);
    assert_int_equal(zkr_session_timeout_ms(s), 1000); /* as it is granted */
    assert_int_equal(zkr_mutex_new(s, text, NULL, &m), ZKR_ETOOLONG);
    text[ZKR_PATH_MAX - strlen("/tests")] = '\0';
    ok(zkr_mutex_new(s, text, NULL, &m));
}

/* -- access --------------------------------------------------------------- */

static int write_to(zkr_session *s, const char *path)
{
    return zkr_session_set(s, path, "x", 1, ZKR_ANY_VERSION, SOON_MS, NULL);
}

TEST(with_credentials_only_their_owner_gets_at_the_nodes)
{
    const char *path = new_path();

    if (security_of_environment() != SERVER_PLAIN)
        skip(); /* all sessions have one identity there */
    AUTO(session) stranger = open_session();
    AUTO(session) s = OPEN(.auth_scheme = "digest", .auth = "smith:secret");
    AUTO(mutex) m = new_mutex(s, path);
    AUTO(held) g = acquire(m);
    assert_int_equal(admin_delete(admin, zkr_grant_node(g)), ZNOAUTH);
    AUTO(mutex) foreign = new_mutex(stranger, path);
    assert_int_equal(zkr_mutex_acquire(foreign, 0, &nil), ZNOAUTH);
    tells(zkr_mutex_acquire(foreign, -1, &nil), ZNOAUTH, path);
    assert_has(zkr_error_detail(), "-102");
    AUTO(reply) nodes = MADE(reply, session_children, s, path, SOON_MS);
    assert_int_equal(nodes->count, 1);
}

/* From the next connection on, with those of before; then for themselves. */
TEST(credentials_that_are_set_are_used_from_the_next_connection_on)
{
    static const char *const old = "/smiths-old";
    static const char *const new = "/smiths-new";
    struct zkr_session_opts other =
        *OPTS(session, .auth_scheme = "digest", .auth = "smith:new");

    if (security_of_environment() != SERVER_PLAIN)
        skip(); /* all sessions have one identity there */
    AUTO(session) owner = open_session_with(&other);
    AUTO(session) s = OPEN(.auth_scheme = "digest", .auth = "smith:old");
    ok(zkr_session_create(owner, new, "", 0, NULL, SOON_MS, NULL));
    ok(zkr_session_create(s, old, "", 0, NULL, SOON_MS, NULL));
    ok(zkr_session_set_credentials(s, &other));
    assert_int_equal(write_to(s, new), ZNOAUTH);
    restart_server();
    wait_session_state(s, ZKR_SESSION_RECONNECTED);
    wait_session_state(owner, ZKR_SESSION_RECONNECTED); /* to be closed */
    ok(write_to(s, new));
    ok(write_to(s, old));
    assert_int_equal(zkr_session_epoch(s), 1);
    expire_and_wait(s);
    ok(write_to(s, new));
    assert_int_equal(write_to(s, old), ZNOAUTH);
}

/* Regression: the client refuses credentials when an attempt to connect has
 * just failed; the session then went on without them. */
TEST(credentials_survive_servers_that_refuse_the_connection)
{
    const char *hosts =
        textf("127.0.0.1:1,127.0.0.1:2,127.0.0.1:3,127.0.0.1:4,%s",
              server_hosts(the_server));
    for (int i = 0; i < 30; i++) {
        AUTO(session) s = open_to(hosts, OPTS(session, .auth_scheme = "digest",
                                              .auth = "smith:secret"));
        AUTO(mutex) m = new_mutex(s, new_path());
        release(acquire(m)); /* without them: ZINVALIDACL */
    }
}

/* A waiter that may not read the node before it has to use EXISTS; where that
 * is refused, too (since 3.8.4 and 3.9.2), it lists from time to time. */
TEST(a_predecessor_that_cannot_be_read_is_waited_for_all_the_same)
{
    AUTO(session) s = open_session();
    const char *path = new_path();

    AUTO(mutex) m = new_mutex(s, path);
    release(acquire(m)); /* makes the directory, open to all */
    AUTO(session) secretive =
        OPEN(.acl = "digest:smith:5NkZWsL0c4hXQ1ZJ6cVbYxW0rKk=:cdrwa");
    AUTO(mutex) hidden = new_mutex(secretive, path);
    zkr_grant *g = acquire(hidden);
    tells(zkr_mutex_acquire(m, 300, &nil), ZKR_ETIMEDOUT,
          strrchr(zkr_grant_node(g), '/') + 1);
    struct waiter w = WAITER(start, m, -1);
    wait_children(path, 2);
    release_to(g, &w);
}

TEST(a_chroot_is_a_prefix_that_nobody_sees)
{
    assert_int_equal(admin_create(admin, "/app", NULL), ZOK);
    AUTO(session) s = OPEN(.chroot = "/app");
    AUTO(mutex) m = new_mutex(s, "/locks/orders");
    zkr_grant *g = acquire(m);
    assert_string_equal(zkr_lockable_path(m), "/locks/orders");
    assert_ptr_equal(strstr(zkr_grant_node(g), "/locks/orders/_c_"),
                     zkr_grant_node(g));
    ok(admin_exists(admin, textf("/app%s", zkr_grant_node(g)), NULL));
    ok(zkr_session_set_servers(s, server_session_hosts(the_server)));
    release(g);
    /* When somebody else removes it, we do not create it again. */
    assert_int_equal(admin_delete_tree(admin, "/app"), ZOK);
    assert_int_equal(zkr_mutex_acquire(m, -1, &g), ZKR_ENOCHROOT);
    assert_int_equal(admin_exists(admin, "/app", NULL), ZNONODE);
}

/* -- states --------------------------------------------------------------- */

TEST(listeners_are_told_every_state_in_order)
{
    AUTO(recorder) r = recorder_new();
    zkr_session *s = open_session();
    int64_t first_id = zkr_session_id(s);

    assert_int_equal(zkr_session_timeout_ms(s), SESSION_MS);
    AUTO(listener) l = MADE(listener, session_listen, s, record_session, r);
    is_recorded(r, 0, ZKR_SESSION_CONNECTED, 1);
    server_kill9(the_server);
    is_recorded(r, 1, ZKR_SESSION_SUSPENDED, 1);
    restart_server();
    is_recorded(r, 2, ZKR_SESSION_RECONNECTED, 1);
    assert_int_equal(zkr_session_id(s), first_id);
    expire(s);
    is_recorded(r, 3, ZKR_SESSION_SUSPENDED, 1);
    is_recorded(r, 4, ZKR_SESSION_LOST, 2);
    is_recorded(r, 5, ZKR_SESSION_RECONNECTED, 2);
    assert_true(zkr_session_id(s) != first_id);
    assert_int_equal(zkr_session_epoch(s), 2);
    close_session(s);
    is_recorded(r, 6, ZKR_SESSION_CLOSED, 2);
    assert_int_equal(recorder_count(r), 7);
}

/* A lease that went on with the first timeout would outlive the session: it
 * depends on the shortest that this session has had. */
TEST(a_timeout_granted_anew_counts_from_there_on)
{
    AUTO(server) own = new_server(NULL);
    AUTO(session)
    s = open_to(server_hosts(own), OPTS(session, .session_timeout_ms = 10000));

    assert_int_equal(zkr_session_timeout_ms(s), 10000);
    AUTO(mutex) m = new_mutex(s, "/locks/orders");
    FILE *f = fopen(textf("%s/zoo.cfg", server_dir(own)), "ae");
    assert_non_null(f);
    (void)fputs("maxSessionTimeout=1500\n", f);
    assert_int_equal(fclose(f), 0);
    server_kill9(own);
    wait_session_state(s, ZKR_SESSION_SUSPENDED);
    assert_int_equal(server_restart(own), SERVER_OK);
    wait_session_state(s, ZKR_SESSION_RECONNECTED);
    assert_int_equal(zkr_session_timeout_ms(s), 1500);
    AUTO(held) g = acquire(m);
    int64_t until = zkr_grant_valid_until(g);
    assert_true(until != 0 && until < boot_ms() + 1500);
}

/* For their tests programs have a call that does so. */
TEST(a_session_that_is_ended_is_over_each_time)
{
    const char *path = new_path();
    struct proxy *proxy;
    zkr_session *s = open_through(&proxy, NULL);
    AUTO(session) theirs = open_session();
    AUTO(mutex) m = new_mutex(s, path);
    AUTO(mutex) rival = new_mutex(theirs, path);

    disconnect(proxy, s);
    assert_int_equal(zkr_test_expire_session(s), ZKR_EUNREACHABLE);
    connect_again(proxy, s); /* in the first one still */
    for (uint64_t epoch = 2; epoch <= 4; epoch++) {
        AUTO(grant) g = acquire(m);

        ok(zkr_test_expire_session(s));
        assert_int_equal(zkr_grant_check(g), ZKR_ELOST);
        assert_true(zkr_session_epoch(s) == epoch);
    }
    assert_int_equal(count_children(path), 0);
    zkr_grant *held = acquire(rival);
    struct waiter w = WAITER(queue, m);
    ok(zkr_test_expire_session(s));
    wait_children(path, 2); /* it is granted in the next session */
    release_to(held, &w);
    close_through(s, proxy);
}

struct freeing {
    zkr_listener *listener;
    struct recorder *recorder;
};

static void free_myself(zkr_session *s, const struct zkr_session_event *e,
                        void *user)
{
    struct freeing *f = user;

    zkr_listener_free(f->listener);
    recorder_add(f->recorder, (int)e->state, 0);
}

TEST(a_listener_may_free_itself)
{
    struct freeing f = { .recorder = recorder_new() };
    zkr_session *s = open_session();

    ok(zkr_session_listen(s, free_myself, &f, &f.listener));
    assert_true(recorder_wait(f.recorder, 1, SOON_MS));
    close_session(s);
    assert_int_equal(recorder_count(f.recorder), 1);
    recorder_free(f.recorder);
}

struct slow {
    atomic_bool entered;
    atomic_bool left;
};

static void be_slow(zkr_session *s, const struct zkr_session_event *e,
                    void *user)
{
    struct slow *slow = user;

    atomic_store(&slow->entered, true);
    sleep_ms(100);
    atomic_store(&slow->left, true);
}

/* A callback that takes its time must not delay the locks themselves. */
TEST(freeing_a_listener_waits_for_its_callback_but_no_lock_does)
{
    struct slow slow = { .left = false };
    OPEN_MUTEX(s, m);

    zkr_listener *l = MADE(listener, session_listen, s, be_slow, &slow);
    AWAIT(atomic_load(&slow.entered));
    for (int i = 0; i < 3; i++)
        release(acquire(m));
    zkr_listener_free(l);
    assert_true(atomic_load(&slow.left));
}

/* -- the caller's own loop ------------------------------------------------ */

static bool is_readable(int fd, int timeout_ms)
{
    struct pollfd p = { .fd = fd, .events = POLLIN };

    return poll(&p, 1, timeout_ms) == 1;
}

struct own_loop {
    zkr_session *session;
    pthread_t thread;
    struct recorder *recorder;
};

static void record_thread(int error, zkr_grant *g, void *user)
{
    struct own_loop *loop = user;

    recorder_add(loop->recorder, error,
                 pthread_equal(pthread_self(), loop->thread) != 0);
    recorder_add(loop->recorder, zkr_session_dispatch(loop->session), 0);
    zkr_grant_free(g);
}

TEST(callbacks_run_where_the_caller_dispatches)
{
    AUTO(recorder) r = recorder_new();
    int threads = count_threads();
    int64_t here = 0;
    int fd = -1;

    zkr_session *s = OPEN(.flags = ZKR_SESSION_OWN_LOOP);
    /* two of ours, two of the client */
    assert_int_equal(count_threads(), threads + 4);
    ok(zkr_session_fd(s, &fd));
    assert_false(is_readable(fd, 0));
    AUTO(mutex) m = new_mutex(s, new_path());
    struct own_loop loop = { s, pthread_self(), r };
    ok(zkr_mutex_acquire_async(m, -1, record_thread, &loop, NULL));
    assert_true(is_readable(fd, SOON_MS));
    assert_int_equal(recorder_count(r), 0);
    ok(zkr_session_dispatch(s));
    assert_int_equal(recorder_count(r), 2);
    is_recorded(r, 0, ZKR_OK, true);
    assert_int_equal(recorded(r, 1), ZKR_EDEADLK); /* inside a callback */
    assert_false(is_readable(fd, 0));

    /* Callbacks that are due at close run in close. */
    ok(zkr_mutex_acquire_async(m, -1, record_acquire, r, NULL));
    close_session(s);
    assert_int_equal(recorder_count(r), 3);
    assert_true(recorder_get(r, 2, NULL, &here)); /* a grant, or none */
    zkr_grant_free((zkr_grant *)here);
}

/* -- fork ----------------------------------------------------------------- */

/* What a child has of its parent: one of each kind, in use. */
struct inherited {
    zkr_session *s;
    zkr_mutex *m;
    zkr_grant *g;
    zkr_leader *leader;
    zkr_counter *counter;
    zkr_barrier *barrier;
    zkr_double_barrier *member;
};

static int answer_17(zhandle_t *zh, void *user)
{
    return 17;
}

/* unit/test_outputs.c has what the other calls return. */
static int in_child(const struct inherited *of)
{
    if (zkr_grant_is_held(of->g) || zkr_grant_state(of->g) != ZKR_GRANT_LOST)
        return 1;
    if (zkr_grant_release(of->g) != ZKR_EFORKED)
        return 2;
    if (zkr_leader_is_leader(of->leader) ||
        zkr_leader_leave(of->leader) != ZKR_EFORKED)
        return 3;
    if (zkr_double_barrier_leave(of->member, -1) != ZKR_EFORKED)
        return 4;
    if (zkr_session_with_handle(of->s, answer_17, NULL) != ZKR_EFORKED)
        return 5;
    zkr_double_barrier_free(of->member);
    zkr_barrier_free(of->barrier);
    zkr_counter_free(of->counter);
    zkr_leader_free(of->leader);
    zkr_grant_free(of->g);
    zkr_mutex_free(of->m);
    return zkr_session_close(of->s) == ZKR_EFORKED ? 0 : 6;
}

/* No exit: a leak checker would count what is the parent's. */
static int result_of_child(const struct inherited *of)
{
    unsigned char result = 255;
    int fds[2];

    assert_int_equal(pipe(fds), 0);
    pid_t pid = fork();
    if (pid == 0) {
        result = (unsigned char)in_child(of);
        (void)!write(fds[1], &result, 1);
        (void)raise(SIGKILL);
    }
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_int_equal(read(fds[0], &result, 1), 1);
    (void)close(fds[0]);
    (void)close(fds[1]);
    return result;
}

TEST(a_forked_child_gets_errors_and_harms_nothing)
{
    OPEN_MUTEX(s, m);
    zkr_grant *g = acquire(m);
    int64_t value = 0;

    AUTO(leader) leader = NEW(leader, s, new_path(), NULL, NULL, NULL);
    ok(zkr_leader_campaign(leader));
    ok(zkr_leader_wait(leader, SOON_MS));
    AUTO(counter) counter = NEW(counter, s, new_path(), NULL);
    ok(zkr_counter_set(counter, 3, ZKR_ANY_VERSION, SOON_MS));
    AUTO(barrier) barrier = NEW(barrier, s, new_path(), NULL);
    AUTO(double_barrier) member = NEW(double_barrier, s, new_path(), 1, NULL);
    ok(zkr_double_barrier_enter(member, SOON_MS));
    assert_int_equal(result_of_child(&(struct inherited){
                         s, m, g, leader, counter, barrier, member }),
                     0);
    assert_int_equal(zkr_grant_check(g), ZKR_OK);
    assert_true(zkr_leader_is_leader(leader));
    assert_int_equal(count_children(zkr_leader_path(leader)), 1);
    assert_int_equal(count_children(zkr_double_barrier_path(member)), 2);
    ok(zkr_double_barrier_leave(member, SOON_MS));
    ok(zkr_counter_get(counter, SOON_MS, &value, NULL));
    assert_int_equal(value, 3);
    assert_int_equal(zkr_session_with_handle(s, answer_17, NULL),
                     ZKR__CLIENT_INSIDE ? ZKR_ENOTSUP : 17);
    release(g);
    release(acquire(m));
}

/* -- leaks ---------------------------------------------------------------- */

struct baseline {
    int threads, fds, watches, ephemerals;
};

static struct baseline measure(void)
{
    struct baseline b = { .threads = count_threads(), .fds = count_fds() };

    /* The server has not answered when it is negative. */
    AWAIT((b.watches = server_watch_count(the_server)) >= 0);
    AWAIT((b.ephemerals = server_ephemerals_count(the_server)) >= 0);
    return b;
}

/* Not more than before; less when the client had /dev/urandom open. */
static void expect_baseline(const struct baseline *b)
{
    struct baseline now;

    if (!COMES((now = measure()).threads <= b->threads && now.fds <= b->fds &&
                   now.watches <= b->watches && now.ephemerals <= b->ephemerals,
               SOON_MS))
        fail_msg("threads %d/%d fds %d/%d watches %d/%d ephemerals %d/%d",
                 now.threads, b->threads, now.fds, b->fds, now.watches,
                 b->watches, now.ephemerals, b->ephemerals);
}

TEST(nothing_is_left_after_a_close_or_an_open_that_failed)
{
    struct baseline before = measure();

    for (int i = 0; i < 10; i++) {
        AUTO(recorder) r = recorder_new();
        OPEN_MUTEX(s, m);
        AUTO(grant) g = acquire(m);
        zkr_session *none;

        ok(zkr_grant_listen(g, record_grant, r));
        ok(zkr_mutex_acquire_async(m, -1, record_acquire, r, NULL));
        wait_children(zkr_lockable_path(m), 2);
        ok(zkr_lockable_cancel(m)); /* else it may be granted, for nobody */
        assert_int_equal(open_quickly("127.0.0.1:1", &none), ZKR_EREFUSED);
        assert_int_equal(open_quickly("nohost.invalid:1", &none), ZKR_EHOSTS);
    }
    expect_baseline(&before);
}

/* -- the log -------------------------------------------------------------- */

struct lines {
    atomic_int of_path; /* which name it; "": all */
    const char *path;
};

static void count_lines(enum zkr_log_level level, const char *message,
                        void *user)
{
    struct lines *lines = user;

    if (strstr(message, lines->path) != NULL)
        (void)atomic_fetch_add(&lines->of_path, 1);
}

/* Captures everything that is printed until end_capture(). */
static FILE *captured;
static int real_stderr;

static void begin_capture(void)
{
    captured = tmpfile();
    assert_non_null(captured);
    real_stderr = dup(STDERR_FILENO);
    (void)dup2(fileno(captured), STDERR_FILENO);
}

static void end_capture(char *text, size_t size)
{
    (void)dup2(real_stderr, STDERR_FILENO);
    (void)close(real_stderr);
    rewind(captured);
    text[fread(text, 1, size - 1, captured)] = '\0';
    (void)fclose(captured);
}

TEST(nothing_is_printed_and_the_hook_gets_every_line)
{
    struct lines all = { .path = "" };
    char printed[256];
    zkr_session *s;

    begin_capture();
    (void)open_quickly("127.0.0.1:1", &s);
    s = open_session();
    close_session(s);
    end_capture(printed, sizeof(printed));
    assert_string_equal(printed, "");

    zkr_log_set(ZKR_LOG_DEBUG, count_lines, &all);
    s = open_session();
    close_session(s);
    zkr_log_set(ZKR_LOG_DEBUG, NULL, NULL);
    assert_true(atomic_load(&all.of_path) > 0);
}

/* In a session of its own. */
static void use_a_lock(const struct zkr_session_opts *opts, const char *path)
{
    AUTO(session) s = open_session_with(opts);
    AUTO(mutex) m = new_mutex(s, path);
    AUTO(held) g = acquire(m);

    assert_int_equal(zkr_mutex_acquire(m, 0, &nil), ZKR_EBUSY);
}

TEST(the_hook_of_a_session_gets_its_lines)
{
    const char *path = new_path();
    struct lines own = { .path = path };
    struct lines others = { .path = path };
    struct zkr_session_opts opts =
        *OPTS(session, .log = count_lines, .log_user = &own);

    zkr_log_set(ZKR_LOG_DEBUG, count_lines, &others);
    use_a_lock(&opts, path); /* from warnings on */
    assert_int_equal(atomic_load(&own.of_path), 0);
    opts.log_level = ZKR_LOG_DEBUG;
    use_a_lock(&opts, path);
    int count = atomic_load(&own.of_path);
    assert_true(count > 0);
    assert_int_equal(atomic_load(&others.of_path), 0);
    use_a_lock(NULL, path);
    assert_true(atomic_load(&others.of_path) > 0);
    assert_int_equal(atomic_load(&own.of_path), count);
    zkr_log_set(ZKR_LOG_DEBUG, NULL, NULL);
}

static atomic_int cause_of[16]; /* the last of each state */

static void note_cause(zkr_session *s, const struct zkr_session_event *event,
                       void *user)
{
    atomic_store(&cause_of[event->state], (int)event->cause);
}

static void record_line(enum zkr_log_level level, const char *line, void *user)
{
    recorder_add(user,
                 strstr(line, ": SUSPENDED: ") != NULL     ? 1
                 : strstr(line, ": RECONNECTED: ") != NULL ? 2
                 : strstr(line, "refuses the connection")  ? 3
                                                           : 4,
                 (int)level);
}

/* The lines of an outage: one of each cause. */
static void assert_lines(struct recorder *lines, size_t from)
{
    size_t count = recorder_count(lines);
    int told[5] = { 0 };
    int code;

    for (size_t i = from; i < count; i++) {
        assert_true(recorder_get(lines, i, &code, NULL));
        told[code]++;
        assert_true((code == 1) == (i == from));
        assert_true((code == 2) == (i == count - 1));
    }
    assert_int_equal(told[3], 1);
    assert_true(told[4] <= 1); /* a server that starts may be slow */
}

/* Regression: one dead server was told of in 122 lines in ten seconds, none of
 * them to the hook of the session, and by no call. */
TEST(why_there_is_no_connection_is_told)
{
    AUTO(recorder) lines = recorder_new();
    struct lines flood = { .path = "" };
    AUTO(session) s = OPEN(.log = record_line, .log_user = lines);
    AUTO(mutex) m = new_mutex(s, new_path());
    AUTO(listener) l = MADE(listener, session_listen, s, note_cause, NULL);
    assert_int_equal(last_error(s).cause, ZKR_CAUSE_NONE);
    zkr_log_set(ZKR_LOG_WARNING, count_lines, &flood);
    for (int round = 0; round < 2; round++) {
        size_t from = recorder_count(lines);
        int64_t before = now_ms();

        server_kill9(the_server);
        wait_session_state(s, ZKR_SESSION_SUSPENDED);
        assert_true(recorder_wait(lines, from + 2, SOON_MS));
        tells(zkr_mutex_acquire(m, 1000, &nil), ZKR_ETIMEDOUT,
              "refuses the connection");
        tells(zkr_session_sync(s, 10), ZKR_EUNREACHABLE,
              "refuses the connection");
        struct zkr_session_error error = last_error(s);
        assert_int_equal(error.cause, ZKR_CAUSE_REFUSED);
        assert_in_range(error.age_ms, 0, now_ms() - before);
        assert_string_equal(error.server, server_session_hosts(the_server));
        struct zkr_counters n = session_stats(s);
        assert_true(n.causes[ZKR_CAUSE_REFUSED] > 1);
        assert_int_equal(n.causes[ZKR_CAUSE_CREDENTIALS], 0);
        restart_server();
        wait_session_state(s, ZKR_SESSION_RECONNECTED);
        assert_int_equal(cause_of[ZKR_SESSION_SUSPENDED], ZKR_CAUSE_HUNG_UP);
        assert_int_equal(cause_of[ZKR_SESSION_RECONNECTED], ZKR_CAUSE_NONE);
        assert_lines(lines, from);
    }
    zkr_log_set(ZKR_LOG_WARNING, NULL, NULL);
    assert_true(atomic_load(&flood.of_path) < 24);
    expire_and_wait(s);
    AWAIT(cause_of[ZKR_SESSION_LOST] == ZKR_CAUSE_EXPIRED); /* it is told */
}

/* Regression: a program may free log_user when it has closed the session; a
 * question to a grant that it still had called the hook. */
TEST(the_hook_of_a_closed_session_is_not_called)
{
    const char *path = new_path();
    struct lines own = { .path = path };

    for (int i = 0; i < 2; i++) {
        zkr_session *s = OPEN(.log = count_lines, .log_user = &own,
                              .log_level = ZKR_LOG_DEBUG);
        AUTO(mutex) m = new_mutex(s, path);
        AUTO(grant) g = acquire(m);

        close_session(s);
        int count = atomic_load(&own.of_path);
        assert_true(count > 0);
        assert_int_equal(zkr_grant_check(g), ZKR_ELOST);
        assert_int_equal(atomic_load(&own.of_path), count);
    }
}

/* Regression: a program that wanted to see the warnings of its own client got
 * all lines that the library needs, because the process has one level. */
TEST(settings_that_the_program_made_are_left_alone)
{
    char printed[4096];

    zoo_set_debug_level(ZOO_LOG_LEVEL_WARN);
    OPEN_MUTEX(s, m);
    zkr_grant *g = acquire(m);
    begin_capture();
    for (int i = 0; i < 2; i++) {
        ok(zkr_grant_guarded_create(g, i == 0 ? "/one" : "/two", "", 0, -1));
        zhandle_t *zh = zookeeper_init(server_hosts(the_server), NULL, 10000,
                                       NULL, NULL, 0);
        assert_non_null(zh);
        AWAIT(zoo_state(zh) == ZOO_CONNECTED_STATE);
        (void)zookeeper_close(zh);
    }
    end_capture(printed, sizeof(printed));
    assert_string_equal(printed, "");
    release(g);
    zoo_set_debug_level(ZOO_LOG_LEVEL_INFO);
}
