/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of arguments that cannot be: each alone is refused at once, nothing is
 * made, and nothing is sent. test_outputs.c has what is wrong with every
 * function alike: nothing given, no path, a long path. */
#include "unit.h"

#include <zkrecipes/testing.h>

#include "client.h"

#define HOSTS "127.0.0.1:2181"

static zkr_session *s;
static int sent; /* when a test begins */

/* What a program asks for; the session itself proves its lease. */
static int count_sent(void)
{
    static const enum zkr__zk_type types[] = { ZKR__ZK_CREATE, ZKR__ZK_DELETE,
                                               ZKR__ZK_SET, ZKR__ZK_GET,
                                               ZKR__ZK_MULTI };
    int count = 0;

    for (size_t i = 0; i < COUNT(types); i++)
        count += client_requests(types[i]);
    return count;
}

static int setup(void)
{
    client_reset();
    s = open_session(0);
    sent = count_sent();
    return 0;
}

static int teardown(void)
{
    assert_int_equal(count_sent(), sent);
    return zkr_session_close(s);
}

FIXTURE(setup, teardown)

#define INVALID(call) gives(ZKR_EINVAL, call)

/* A function that makes the call, and nothing is made. */
#define MAKES_NONE(name, type, parameters, call, ...)                          \
    static int name parameters                                                 \
    {                                                                          \
        type *made = NULL;                                                     \
        int rc = zkr_##call(__VA_ARGS__, &made);                               \
                                                                               \
        assert_null(made);                                                     \
        return rc;                                                             \
    }

/* -- sessions -------------------------------------------------------------- */

static int open_it(const char *hosts, const struct zkr_session_opts *opts)
{
    zkr_session *made = s;
    int rc = zkr_session_open(hosts, opts, &made);

    assert_null(made);
    made = s;
    assert_int_equal(zkr_session_open_async(hosts, opts, NULL, NULL, &made),
                     rc);
    assert_null(made);
    return rc;
}

TEST(arguments_of_an_open)
{
    int handles = client_handles();

    INVALID(zkr_session_open(HOSTS, NULL, NULL));
    INVALID(zkr_session_open_async(HOSTS, NULL, NULL, NULL, NULL));
    INVALID(open_it(HOSTS, &(struct zkr_session_opts){ 0 }));
    INVALID(open_it(HOSTS, OPTS(session, .flags = 1u << 31)));
    INVALID(open_it(HOSTS, OPTS(session, .auth = "u:password")));
    assert_lacks(zkr_error_detail(), "password");
    INVALID(open_it(HOSTS, OPTS(session, .acl = "world:anyone")));
    /* too short for any handshake */
    INVALID(open_it(HOSTS, OPTS(session, .session_timeout_ms = 1)));
    INVALID(open_it(HOSTS, OPTS(session, .session_timeout_ms =
                                             ZKR_SESSION_TIMEOUT_MAX_MS + 1)));
    /* no server is that far from the leader */
    INVALID(open_it(HOSTS, OPTS(session, .lease_hops = 3)));
    gives(ZKR_EPATH, open_it(HOSTS, OPTS(session, .lease_beacon = "beacon")));
    INVALID(open_it(HOSTS, OPTS(session, .log_level = ZKR_LOG_DEBUG + 1)));
    INVALID(open_it(HOSTS, OPTS(session, .reserved = 1)));
    INVALID(open_it("127.0.0.1:1/b", OPTS(session, .chroot = "/a")));
    assert_int_equal(client_handles(), handles);
}

TEST(arguments_of_a_session)
{
    int fd;

    INVALID(zkr_session_fd(s, &fd)); /* it has a thread for that */
    INVALID(zkr_session_dispatch(s));
    ok(zkr_session_close(NULL));
}

/* -- the program's own data ------------------------------------------------ */

static char much[ZKR_DATA_MAX + 1];

static int create(const char *path, const struct zkr_create_opts *opts)
{
    return zkr_session_create(s, path, "", 0, opts, 0, NULL);
}

TEST(arguments_of_a_create)
{
    const char *far = textf("/%0*d", ZKR_PATH_MAX - 1, 0); /* the longest */

    INVALID(zkr_session_create(s, "/x", NULL, 1, NULL, 0, NULL));
    gives(ZKR_ETOOLONG,
          zkr_session_create(s, "/x", much, sizeof(much), NULL, 0, NULL));
    /* without the room for a number */
    gives(ZKR_ETOOLONG,
          create(far, OPTS(create, .mode = ZKR_CREATE_PERSISTENT_SEQUENTIAL)));
    gives(ZKR_ETOOLONG,
          create(far,
                 OPTS(create, .mode = ZKR_CREATE_TTL_SEQUENTIAL, .ttl_ms = 1)));
    INVALID(create("/x", OPTS(create, .acl = "nobody")));
    INVALID(create("/x", &(struct zkr_create_opts){ .size = 1 }));
    INVALID(create("/x", OPTS(create, .mode = (enum zkr_create_mode)7)));
    INVALID(create("/x", OPTS(create, .reserved = 1)));
    INVALID(create("/x", OPTS(create, .ttl_ms = 1)));
    INVALID(create("/x", OPTS(create, .mode = ZKR_CREATE_TTL)));
    INVALID(create("/x", OPTS(create, .mode = ZKR_CREATE_TTL,
                              .ttl_ms = ZKR_TTL_MAX_MS + 1)));
}

static void on_watched(int error, const struct zkr_reply *reply,
                       enum zkr_watch_why why, void *user)
{
}

static int watch(int what, zkr_watch_fn fn, zkr_watch **ret_watch)
{
    return zkr_session_watch(s, "/x", (enum zkr_watch_what)what, NULL, fn, NULL,
                             ret_watch);
}

TEST(arguments_of_a_watch)
{
    zkr_watch *w = NULL;

    INVALID(watch(0, on_watched, &w));
    INVALID(watch(4, on_watched, &w));
    INVALID(watch(ZKR_WATCH_EXISTS | ZKR_WATCH_UNTIL_DELETED, on_watched, &w));
    INVALID(watch(ZKR_WATCH_DATA, on_watched, NULL));
    INVALID(zkr_session_watch(s, "/x", ZKR_WATCH_DATA,
                              OPTS(watch, .pause_ms = -1), NULL, NULL, &w));
    assert_null(w);
}

TEST(arguments_of_a_transaction)
{
    AUTO(txn) t = NEW(txn, s, NULL);

    INVALID(zkr_txn_new(s, NULL, NULL));
    INVALID(zkr_txn_commit(t, 0)); /* it is empty */
    INVALID(zkr_txn_set(t, "/a", NULL, 1, 0));
    INVALID(zkr_txn_create(t, "/a", "", 0,
                           OPTS(create, .mode = ZKR_CREATE_CONTAINER)));
    INVALID(zkr_txn_create(
        t, "/a", "", 0, OPTS(create, .mode = ZKR_CREATE_TTL, .ttl_ms = 1000)));
    ok(zkr_txn_set(t, "/a", much, 600000, ZKR_ANY_VERSION));
    ok(zkr_txn_set(t, "/a", much, 400000, ZKR_ANY_VERSION));
    gives(ZKR_ETOOLONG, zkr_txn_set(t, "/a", much, 50000, ZKR_ANY_VERSION));
    assert_int_equal(zkr_txn_failed(NULL), -1);
}

/* -- recipes --------------------------------------------------------------- */

static int semaphore_new(zkr_session *session, const char *path,
                         const struct zkr_lockable_opts *opts,
                         zkr_lockable **ret_lock)
{
    return zkr_semaphore_new(session, path, 1, opts, ret_lock);
}

static const struct recipe {
    const char *name; /* as its errors say */
    int (*make)(zkr_session *session, const char *path,
                const struct zkr_lockable_opts *opts, zkr_lockable **ret_lock);
    uint32_t flags; /* that it takes beside those of all */
} recipes[] = {
    { "mutex", zkr_mutex_new, ZKR_KAZOO_LAYOUT },
    { "reentrant mutex", zkr_reentrant_mutex_new, ZKR_KAZOO_LAYOUT },
    { "unfair mutex", zkr_unfair_mutex_new, 0 },
    { "read/write lock", zkr_rwlock_new, ZKR_KAZOO_LAYOUT | ZKR_REENTRANT },
    { "semaphore", semaphore_new, 0 },
};

static int make(const struct recipe *r, const char *path,
                const struct zkr_lockable_opts *opts)
{
    zkr_lockable *made = NULL;
    int rc = r->make(s, path, opts, &made);

    assert_null(made);
    return rc;
}

TEST_ROWS(arguments_of_a_lock, recipes, r)
{
    static const char *const bad[] = { "",      "orders", "/a//b",
                                       "/a/",   "/a/.",   "/../a",
                                       "/a\nb", "/\xff",  "/" };
    const uint32_t of_all = ZKR_FAIL_ON_SESSION_LOSS | ZKR_PERSISTENT_PARENTS;
    char label[ZKR_LABEL_MAX + 2] = "";

    memset(label, 'x', sizeof(label) - 1);
    INVALID(r->make(s, "/a", NULL, NULL));
    INVALID(make(r, "/a", &(struct zkr_lockable_opts){ .size = 3 }));
    gives(ZKR_ETOOLONG, make(r, "/a", OPTS(lockable, .label = label)));
    INVALID(make(r, "/a", OPTS(lockable, .label = "two\nlines")));
    INVALID(make(r, "/a", OPTS(lockable, .reserved = 1)));
    tells(make(r, "/a", OPTS(lockable, .flags = UINT32_MAX)), ZKR_EINVAL,
          textf("flags %#x", ~(of_all | r->flags)));
    for (size_t i = 0; i < COUNT(bad); i++) {
        const char *named = textf("%s '%s'", r->name, bad[i]);

        gave(ZKR_EPATH, make(r, bad[i], NULL), named);
        assert_has(zkr_error_detail(), named);
    }
}

TEST(arguments_of_one_recipe_only)
{
    const struct recipe *unfair = &recipes[2];
    char at_max[] = "/a";
    zkr_lockable *none = NULL, *sem = NULL;
    zkr_barrier *barrier = NULL;
    zkr_double_barrier *member = NULL;
    const struct zkr_lockable_opts *of_its_locks[] = {
        OPTS(lockable, .label = "x"),
        OPTS(lockable, .retain_ms = 1),
        OPTS(lockable, .retain_max = 1),
        OPTS(lockable, .limit_path = "/n"),
        OPTS(lockable, .flags = ZKR_REENTRANT),
        OPTS(lockable, .reserved = 1),
    };

    for (size_t i = 0; i < COUNT(of_its_locks); i++)
        INVALID(zkr_multi_lock_new(s, of_its_locks[i], &none));
    INVALID(make(unfair, "/a", OPTS(lockable, .retain_ms = 1)));
    INVALID(make(unfair, "/a", OPTS(lockable, .retain_max = 1)));
    INVALID(zkr_mutex_new(s, "/a", OPTS(lockable, .limit_path = "/n"), &none));
    INVALID(zkr_semaphore_new(s, "/a", 1, OPTS(lockable, .limit_path = at_max),
                              &sem));
    INVALID(zkr_semaphore_new(s, "/a", 0, NULL, &sem));
    INVALID(zkr_semaphore_new(s, "/a", ZKR_SEMAPHORE_MAX + 1, NULL, &sem));
    INVALID(zkr_double_barrier_new(s, "/a", 0, NULL, &member));
    INVALID(zkr_double_barrier_new(s, "/a", 1, NULL, NULL));
    INVALID(zkr_barrier_new(s, "/a", NULL, NULL));
    INVALID(zkr_double_barrier_new(
        s, "/a", 1, OPTS(barrier, .flags = ZKR_REENTRANT), &member));
    INVALID(zkr_barrier_new(s, "/a", OPTS(barrier, .flags = ZKR_REENTRANT),
                            &barrier));
    INVALID(zkr_barrier_new(s, "/a", OPTS(barrier, .reserved = 1), &barrier));
    assert_null(barrier);
    assert_null(none);
    assert_null(sem);
    assert_null(member);
}

/* It is refused by the words `why`, of all that could be wrong. */
static void refuses(zkr_lockable *l, const struct zkr_acquire_opts *opts,
                    const char *why)
{
    zkr_grant *g = NULL;

    gave(ZKR_EINVAL, zkr_lockable_acquire(l, opts, 0, &g), why);
    assert_has(zkr_error_detail(), why);
    assert_null(g);
}

TEST(arguments_of_an_acquire)
{
    AUTO(mutex) m = new_mutex(s);
    AUTO(mutex) same = new_mutex(s);
    zkr_grant *g = NULL;

    AUTO(rwlock) rw = NEW(rwlock, s, "/a", NULL);
    AUTO(reentrant_mutex) own = NEW(reentrant_mutex, s, "/a", NULL);
    AUTO(multi_lock) many = NEW(multi_lock, s, NULL);
    INVALID(zkr_mutex_acquire(m, 0, NULL));
    INVALID(zkr_rwlock_acquire_read(rw, 0, NULL));
    INVALID(zkr_rwlock_acquire_write(rw, 0, NULL));
    refuses(own, OPTS(acquire, .owner = ZKR_OWNER_MAX + 1), "owner's number");
    refuses(rw, OPTS(acquire, .mode = (enum zkr_mode)2), "unknown mode 2");
    refuses(rw, OPTS(acquire, .mode = (enum zkr_mode) - 1), "unknown mode -1");
    refuses(m, OPTS(acquire, .mode = ZKR_SHARED), "cannot be shared");
    refuses(m, OPTS(acquire, .permits = 2), "has no permits");
    INVALID(zkr_lockable_grant(m, NULL, &g));
    INVALID(zkr_lockable_grant(many, NULL, &g));
    INVALID(zkr_multi_lock_acquire(many, 0, &g)); /* it has none */
    tells(zkr_multi_lock_add(many, own, OPTS(acquire, .owner = 1)), ZKR_EINVAL,
          "that of the acquire");
    INVALID(zkr_multi_lock_add(many, own, OPTS(acquire, .permits = 2)));
    assert_int_equal(zkr_multi_lock_count(many), 0);
    ok(zkr_multi_lock_add(many, m, NULL));
    ok(zkr_multi_lock_add(many, rw, NULL));
    refuses(many, NULL, "'': it gives 2 grants");
    refuses(many, OPTS(acquire, .permits = 2), "has no permits");
    assert_null(zkr_lockable_path(many));
    tells(zkr_multi_lock_add(many, same, NULL), ZKR_EINVAL, "/lock");
    INVALID(zkr_multi_lock_add(many, NULL, NULL));
    INVALID(zkr_multi_lock_add(many, many, NULL));
    INVALID(zkr_multi_lock_add(same, same, NULL));
    assert_int_equal(zkr_multi_lock_count(many), 2);
    INVALID(zkr_grants_check(NULL, 1));
    INVALID(zkr_grants_release(NULL, 1));
    ok(zkr_grants_check(NULL, 0));
    zkr_grants_free(NULL, 1);
    assert_null(g);
}

/* The limit itself was refused, and no test noticed. */
TEST(what_is_at_a_limit_is_taken)
{
    /* a lock may be there */
    AUTO(reply) nodes = MADE(reply, session_children, s,
                             textf("/%0*d/lock", ZKR_PATH_MAX - 1, 0), -1);

    ok(zkr_session_create(s, "/x", much, ZKR_DATA_MAX, NULL, -1, NULL));
    ok(zkr_session_create(
        s, "/x", "", 0,
        OPTS(create, .mode = ZKR_CREATE_TTL, .ttl_ms = ZKR_TTL_MAX_MS), -1,
        NULL));
    const char *label = textf("%0*d", ZKR_LABEL_MAX, 0);
    AUTO(reentrant_mutex)
    own = NEW(reentrant_mutex, s, "/lock", OPTS(lockable, .label = label));
    zkr_grant *g =
        GRANT(lockable_acquire, own,
              OPTS(acquire, .owner = ZKR_OWNER_MAX, .permits = 1), -1);
    give_back(g);
    ok(create(textf("/%0*d", ZKR_PATH_MAX - 11, 0),
              OPTS(create, .mode = ZKR_CREATE_PERSISTENT_SEQUENTIAL)));
    const char *twice = textf("/%0*d/lock-1", 2 * ZKR_PATH_MAX - 8, 0);
    ok(zkr_session_get(s, twice, -1, NULL));
    ok(zkr_participants_revoke(s, twice));
    AUTO(watch) w =
        MADE(watch, session_watch, s, twice, ZKR_WATCH_DATA, NULL, NULL, NULL);
    INVALID(zkr_watch_set_pause(w, -1)); /* and this is below one */
    AUTO(semaphore) sem = NEW(semaphore, s, "/a", ZKR_SEMAPHORE_MAX, NULL);
    INVALID(zkr_semaphore_acquire_many_async(sem, 0, 0, NULL, NULL, NULL));
    client_await_rest();
    sent = count_sent();
}

MAKES_NONE(lead, zkr_leader, (const struct zkr_leader_opts *opts), leader_new,
           s, "/a", opts, NULL, NULL)

TEST(arguments_of_a_leader)
{
    char id[ZKR_LEADER_ID_MAX + 1] = { 0 };

    INVALID(zkr_leader_new(s, "/a", NULL, NULL, NULL, NULL));
    gives(ZKR_ETOOLONG, lead(OPTS(leader, .id = id, .id_size = sizeof(id))));
    INVALID(lead(OPTS(leader, .id_size = 1)));
    INVALID(lead(OPTS(leader, .reserved = 1)));
    INVALID(lead(OPTS(leader, .flags = (enum zkr_lockable_flags)1)));
    INVALID(
        lead(OPTS(leader, .flags = ZKR_KAZOO_LAYOUT | ZKR_SELECTOR_LAYOUT)));
    AUTO(leader) l =
        NEW(leader, s, "/a", OPTS(leader, .id = id, .id_size = sizeof(id) - 1),
            NULL, NULL);
    assert_string_equal(zkr_leader_path(l), "/a");
}

MAKES_NONE(count_with, zkr_counter, (const struct zkr_counter_opts *opts),
           counter_new, s, "/a", opts)

TEST(arguments_of_a_counter)
{
    zkr_counter *none = NULL;

    INVALID(count_with(OPTS(counter, .flags = (enum zkr_counter_flags)2)));
    tells(count_with(OPTS(counter, .lock_path = "/a")), ZKR_EINVAL,
          "lock_path");
    INVALID(count_with(OPTS(counter, .lock_path = "/a/lock")));
    gives(ZKR_EPATH, count_with(OPTS(counter, .lock_path = "x")));
    INVALID(count_with(&(struct zkr_counter_opts){ .size = 1 }));
    INVALID(zkr_counter_new(s, "/a", NULL, NULL));
    gives(ZKR_EPATH, zkr_counter_new(s, "/", NULL, &none));
}

MAKES_NONE(list, struct zkr_participants,
           (const char *path, const struct zkr_participants_opts *opts),
           participants_list, s, path, opts)

TEST(arguments_of_a_list)
{
    gives(ZKR_EPATH, list("/", NULL));
    INVALID(list("/a", &(struct zkr_participants_opts){ 0 }));
    INVALID(list("/a", OPTS(participants, .flags = 1u << 3)));
    INVALID(list("/a", OPTS(participants, .reserved = 1)));
    INVALID(zkr_participants_list(s, "/a", NULL, NULL));
}

/* Only contenders are asked, and broken. */
TEST(arguments_of_a_revoke_and_a_break)
{
    static const char *const bad[] = {
        "",
        "/",
        "lock-0000000000",
        "/a",
        "/a/notes",
        "/a/lock-",
        "/a//lock-0",
        "/a/lock-0/",
        "/a/lock-\0330",
        "/a/gate-0000000001",
        "/a/../lock-0000000000",
    };

    for (size_t i = 0; i < COUNT(bad); i++) {
        gave(ZKR_EPATH, zkr_participants_revoke(s, bad[i]), bad[i]);
        gave(ZKR_EPATH, zkr_participants_break(s, bad[i], 1, 0), bad[i]);
    }
    INVALID(zkr_participants_break(s, "/a/lock-0", 0, 0));
}

/* -- nothing --------------------------------------------------------------- */

TEST(nothing_has_no_parts_and_can_be_freed)
{
    assert_int_equal(zkr_grant_token(NULL), 0);
    assert_int_equal(zkr_grant_handoff(NULL), 0);
    assert_int_equal(zkr_grant_valid_until(NULL), 0);
    assert_null(zkr_grant_record(NULL));
    assert_null(zkr_grant_node(NULL));
    assert_null(zkr_lockable_path(NULL));
    assert_null(zkr_counter_path(NULL));
    assert_null(zkr_barrier_path(NULL));
    assert_null(zkr_double_barrier_path(NULL));
    assert_null(zkr_leader_path(NULL));
    assert_false(zkr_leader_is_leader(NULL));
    assert_null(zkr_reentrant_mutex_grant(NULL));
    assert_int_equal(zkr_reentrant_mutex_depth(NULL), 0);
    assert_int_equal(zkr_multi_lock_count(NULL), 0);
    assert_int_equal(zkr_session_state(NULL), ZKR_SESSION_CLOSED);
    assert_string_equal(zkr_grant_state_name((enum zkr_grant_state_kind)0),
                        "UNKNOWN");
    assert_string_equal(zkr_grant_state_name((enum zkr_grant_state_kind)(
                            ZKR_GRANT_RELEASED + 1)),
                        "UNKNOWN");
    assert_string_equal(zkr_session_state_name((enum zkr_session_state_kind)(
                            ZKR_SESSION_CLOSED + 1)),
                        "UNKNOWN");
    zkr_fence_free(NULL);
    zkr_grant_free(NULL);
    zkr_mutex_free(NULL);
    zkr_reentrant_mutex_free(NULL);
    zkr_rwlock_free(NULL);
    zkr_unfair_mutex_free(NULL);
    zkr_multi_lock_free(NULL);
    zkr_counter_free(NULL);
    zkr_barrier_free(NULL);
    zkr_double_barrier_free(NULL);
    zkr_leader_free(NULL);
    zkr_request_free(NULL);
    zkr_listener_free(NULL);
    zkr_watch_free(NULL);
    zkr_txn_free(NULL);
    zkr_participants_free(NULL);
}
