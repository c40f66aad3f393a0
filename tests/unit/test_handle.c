/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of a session and its handles: when handles connect, end, cannot be
 * made, and report something too late. */
#include "unit.h"

#include "base/clock.h"
#include "client.h"
#include "lock/cohort.h"
#include "lock/lockable.h"
#include "session/session.h"
#include "wait.h"

static atomic_int threads_left = -1; /* that can still be made */

WRAP(int, pthread_create,
     (pthread_t * thread, const pthread_attr_t *attr, void *(*main)(void *),
      void *arg))
{
    if (atomic_load(&threads_left) == 0)
        return EAGAIN;
    if (atomic_load(&threads_left) > 0)
        (void)atomic_fetch_sub(&threads_left, 1);
    return __real_pthread_create(thread, attr, main, arg);
}

FIXTURE(client_reset, NULL)

/* -- what it tells --------------------------------------------------------- */

TEST(zero_is_the_default)
{
    char beacon[] = "/b";
    AUTO(session) s = open_session_with(OPTS(session, .lease_beacon = beacon));

    beacon[1] = 'x'; /* it is the program's */
    assert_string_equal(s->opts.lease_beacon, "/b");
    assert_int_equal(s->opts.session_timeout_ms, 10000);
    assert_int_equal(s->opts.connect_timeout_ms, 15000);
    assert_int_equal(s->opts.reply_timeout_ms, 5000);
    assert_int_equal(s->opts.lease_hops, 1);
    assert_int_equal(s->opts.lease_margin_ms, 50);
    AUTO(mutex) m =
        NEW(mutex, s, "/lock", OPTS(lockable, .retain_ms = UINT32_MAX));
    assert_int_equal(m->lock->cohort->max, 64);
    assert_int_equal(m->lock->cohort->retain, UINT32_MAX * ZKR__MS);
    assert_int_equal(s->opts.log_level, ZKR_LOG_WARNING);
}

TEST(permissions_that_may_not_be_read_are_told)
{
    AUTO(session) s = open_session(0);

    client_answers(ZKR__ZK_GET_ACL, ZKR_ZNOAUTH);
    AUTO(participants) list =
        MADE(participants, participants_list, s, "/lock",
             OPTS(participants, .flags = ZKR_PARTICIPANTS_ACL));
    assert_int_equal(list->acl_error, ZKR_ZNOAUTH);
}

static void on_acquire(int rc, zkr_grant *grant, void *told)
{
    atomic_store((atomic_int *)told, rc);
}

TEST(a_leader_waits_in_vain_by_its_timeout)
{
    atomic_int told = 1;
    AUTO(session) s = open_session_with(OPTS(session, .reply_timeout_ms = 1));
    AUTO(leader) l = NEW(leader, s, "/lock", NULL, NULL, NULL);
    AUTO(mutex) m = new_mutex(s);
    struct zkr_counters n = ZKR_COUNTERS_INIT;
    zkr_grant *none;

    client_stops_at(ZKR__ZK_CREATE);
    ok(zkr_leader_campaign(l));
    gives(ZKR_ZOPERATIONTIMEOUT, zkr_leader_wait(l, 0));
    gives(ZKR_ETIMEDOUT, zkr_leader_wait(l, 1));
    gives(ZKR_ZOPERATIONTIMEOUT, zkr_mutex_acquire(m, 0, &none));
    ok(zkr_lockable_stats(m, &n));
    assert_int_equal(n.timeouts, 1);
    ok(zkr_mutex_acquire_async(m, 1, on_acquire, &told, NULL));
    AWAIT(atomic_load(&told) == ZKR_ETIMEDOUT);
    client_goes_on();
    client_says(ZKR__ZK_DISCONNECTED);
    await_state(s, ZKR_SESSION_SUSPENDED);
    gives(ZKR_ETIMEDOUT, zkr_mutex_acquire(m, 50, &none));
    assert_in_range(atoi(strstr(zkr_error_detail(), "came ") + 5), 0,
                    zkr__clock_boot() / ZKR__MS - client_opened_ms());
}

/* Beside its own it waits for nobody, so for no longer than a try. */
TEST(a_reader_waits_for_the_first_writer_and_not_for_its_own)
{
    AUTO(session) s = open_session(0);
    AUTO(rwlock) l = NEW(rwlock, s, "/lock", NULL);
    zkr_grant *none = NULL;

    client_shows("__READ__0000000001", "__WRIT__0000000002", false);
    tells(zkr_rwlock_acquire_read(l, 0, &none), ZKR_EBUSY,
          ": is wanted by '__WRIT__0000000002'");
    client_shows(NULL, NULL, false);
    AUTO(grant) writing = GRANT(rwlock_acquire_write, l, -1);
    s->opts.reply_timeout_ms = 1;
    client_stops_at(ZKR__ZK_CREATE);
    gives(ZKR_ZOPERATIONTIMEOUT, zkr_rwlock_acquire_read(l, -1, &none));
    gives(ZKR_ZOPERATIONTIMEOUT, zkr_rwlock_downgrade(l, writing, &none));
    client_goes_on();
}

typedef int make_fn(zkr_session *, const char *,
                    const struct zkr_lockable_opts *, zkr_lockable **);

static const struct node {
    const char *name; /* what follows its number */
    make_fn *make;
    enum zkr_lockable_flags flags;
    enum zkr_mode mode;
} nodes[] = {
    { "-lock-", zkr_mutex_new, 0, 0 },
    { "__lock__", zkr_mutex_new, ZKR_KAZOO_LAYOUT, 0 },
    { "-__WRIT__", zkr_rwlock_new, 0, 0 },
    { "__lock__", zkr_rwlock_new, ZKR_KAZOO_LAYOUT, 0 },
    { "-__READ__", zkr_rwlock_new, 0, ZKR_SHARED },
    { "__rlock__", zkr_rwlock_new, ZKR_KAZOO_LAYOUT, ZKR_SHARED },
    { "/lock/holder", zkr_unfair_mutex_new, 0, 0 },
};

TEST_ROWS(a_node_is_named_as_its_recipe, nodes, node)
{
    AUTO(session) s = open_session(0);
    AUTO(mutex) l = NULL;

    ok(node->make(s, "/lock", OPTS(lockable, .flags = node->flags), &l));
    AUTO(grant) g =
        GRANT(lockable_acquire, l, OPTS(acquire, .mode = node->mode), -1);
    assert_has(zkr_grant_node(g), node->name);
}

TEST(credentials_that_are_not_given_stay)
{
    AUTO(session)
    s = open_session_with(OPTS(session, .auth_scheme = "digest", .auth = "a:b",
                               .lease_hops = 2, .lease_ping_gap_ms = 7));

    assert_int_equal(s->lease.hops, 2);
    assert_int_equal(s->lease.ping_gap, 7 * ZKR__MS);
    s->opts.sasl_user = strdup("u"); /* this client has no SASL */
    s->opts.sasl_password = strdup("p");
    ok(zkr_session_set_credentials(
        s, OPTS(session, .sasl_user = "v", .sasl_password = "q")));
    assert_string_equal(s->credentials->auth, "a:b");
    assert_string_equal(s->credentials->auth_scheme, "digest");
    s->opts.sasl_password_file = strdup("f");
    gives(ZKR_EINVAL,
          zkr_session_set_credentials(s, OPTS(session, .sasl_password = "r")));
    ok(zkr_session_set_credentials(
        s, OPTS(session, .auth_scheme = "digest", .auth = "c:d")));
    assert_string_equal(s->credentials->user, "v");
    assert_string_equal(s->credentials->password, "q");
}

TEST(a_shared_limit_is_the_last_number_that_was_there)
{
    static const struct {
        const char *data;
        int rc; /* of a read */
        uint32_t limit;
    } rows[] = {
        { "\xff\xff\xff\xff", ZKR_OK, 0 },
        { "\1\1\1\1", ZKR_OK, 0x01010101 },
        { "three", ZKR_OK, 0x01010101 },
        { "", ZKR_OK, 0x01010101 },
        { "\2\2\2\2", ZKR_ZNOAUTH, 0x01010101 },
    };
    AUTO(session) s = open_session(ZKR_SESSION_OWN_LOOP);
    client_changes_node("four");
    AUTO(semaphore) sem =
        NEW(semaphore, s, "/a", 1, OPTS(lockable, .limit_path = "/n"));

    for (size_t i = 0; i < COUNT(rows); i++) {
        client_await_rest();
        client_answers(ZKR__ZK_GET, rows[i].rc);
        client_changes_node(rows[i].data);
        client_await_rest();
        ok(zkr_session_dispatch(s));
        assert_int_equal(zkr_semaphore_limit(sem), rows[i].limit);
    }
}

TEST(a_grant_that_is_told_to_nobody_goes_back)
{
    OPEN_MUTEX(s, m, ZKR_SESSION_OWN_LOOP);

    ok(zkr_mutex_acquire_async(m, -1, NULL, NULL, NULL));
    client_await_rest();
    ok(zkr_session_dispatch(s));
    client_await_rest();
    assert_int_equal(client_requests(ZKR__ZK_DELETE), 1);
}

/* -- the beginning -------------------------------------------------------- */

/* Of a timeout of 10 s: 0.1 % for the clocks, and the margin. */
#define LATEST_END (client_opened_ms() + 10000 - 10 - 50)

static void *connect_late(void *unused)
{
    while (client_handles() == 0 ||
           zkr__clock_boot() / ZKR__MS < client_opened_ms() + 100)
        pass_a_moment();
    client_connects(true);
    return unused;
}

/* The server may have made the session at once, and have answered late. */
TEST(a_lease_begins_before_the_session_is_asked_for)
{
    client_connects(false);
    pthread_t thread = thread_start(connect_late, NULL);
    AUTO(session) s = open_session(0);
    thread_join(thread);
    AUTO(mutex) m = new_mutex(s);
    AUTO(held) g = acquire(m);
    ok(zkr_grant_check(g));
    assert_in_range(zkr_grant_valid_until(g), 1, LATEST_END);
}

/* The dispatcher, the timer thread, the connector, the client's. */
TEST(an_open_without_a_thread_fails_and_leaves_none)
{
    static const int codes[] = { ZKR_ESYSTEM, ZKR_ESYSTEM, ZKR_ESYSTEM,
                                 ZKR_ENOMEM };
    int before = count_threads();

    for (int i = 0; i < 4; i++) {
        zkr_session *s = NULL;

        atomic_store(&threads_left, i);
        gives(codes[i], zkr_session_open("127.0.0.1:2181", NULL, &s));
        assert_null(s);
        AWAIT(count_threads() <= before);
    }
    atomic_store(&threads_left, -1);
}

/* -- connections ---------------------------------------------------------- */

/* Without a lease no other request is sent that would do the same. */
TEST(requests_that_wait_are_sent_by_the_connection)
{
    OPEN_MUTEX(s, m, ZKR_SESSION_NO_LEASE);
    struct outcome o = { .rc = 0 };

    client_says(ZKR__ZK_DISCONNECTED);
    await_state(s, ZKR_SESSION_SUSPENDED);
    ask_for(m, &o);
    client_says(ZKR__ZK_CONNECTED);
    give_back(granted(&o));
}

static char events[256]; /* state, epoch, whether there is an id, cause */

static void write_event(zkr_session *s, const struct zkr_session_event *e,
                        void *user)
{
    size_t len = strlen(events);

    (void)snprintf(events + len, sizeof(events) - len, "%s %d %d %s\n",
                   zkr_session_state_name(e->state), (int)e->epoch,
                   e->session_id != 0, zkr_cause_name(e->cause));
}

static zkr_listener *listen_to(zkr_session *s)
{
    events[0] = '\0';
    return MADE(listener, session_listen, s, write_event, NULL);
}

TEST(without_its_credentials_it_is_not_connected)
{
    OPEN_MUTEX(s, m, ZKR_SESSION_OWN_LOOP);

    AUTO(listener) l = listen_to(s);
    client_refuses_login(1);
    client_reconnects();
    client_reconnects();
    AUTO(held) g = acquire(m);
    await_state(s, ZKR_SESSION_RECONNECTED);
    ok(zkr_session_dispatch(s));
    assert_string_equal(events, "CONNECTED 1 1 NONE\n"
                                "SUSPENDED 1 1 HUNG_UP\n"
                                "RECONNECTED 1 1 NONE\n");
}

/* -- the end -------------------------------------------------------------- */

/* Its lease is that of its own handle, and it has no session id before. */
TEST(the_next_session_begins_anew)
{
    OPEN_MUTEX(s, m, ZKR_SESSION_OWN_LOOP);
    AUTO(listener) l = listen_to(s);
    struct zkr_session_error error = ZKR_SESSION_ERROR_INIT;
    int64_t first = zkr_session_id(s);
    int64_t first_end = LATEST_END;

    client_reconnects();
    await_state(s, ZKR_SESSION_RECONNECTED);
    AWAIT(zkr__clock_boot() / ZKR__MS >= client_opened_ms() + 10);
    zkr__session_lock(s);
    s->early = true; /* the first handle was quick */
    zkr__session_unlock(s);
    client_connects(false);
    client_says(ZKR__ZK_EXPIRED);
    await_state(s, ZKR_SESSION_LOST);
    assert_int_equal(zkr_session_id(s), 0);
    ok(zkr_session_last_error(s, &error));
    assert_int_equal(error.cause, ZKR_CAUSE_EXPIRED);
    AWAIT(client_handles() == 2);
    assert_int_equal(zkr_session_state(s), ZKR_SESSION_LOST);
    assert_int_equal(zkr_session_id(s), 0);
    client_connects(true);
    await_state(s, ZKR_SESSION_RECONNECTED);
    assert_int_not_equal(zkr_session_id(s), first);
    struct zkr_counters counters = session_stats(s);
    assert_int_equal(counters.reconnects, 1);
    assert_int_equal(counters.expiries, 1);
    assert_int_equal(counters.causes[ZKR_CAUSE_HUNG_UP], 1);
    assert_int_equal(counters.causes[ZKR_CAUSE_EXPIRED], 1);
    assert_int_equal(zkr_session_epoch(s), 2);
    ok(zkr_session_dispatch(s));
    assert_string_equal(events, "CONNECTED 1 1 NONE\n"
                                "SUSPENDED 1 1 HUNG_UP\n"
                                "RECONNECTED 1 1 NONE\n"
                                "LOST 2 0 EXPIRED\n"
                                "RECONNECTED 2 1 NONE\n");
    zkr_grant *g = acquire(m);
    assert_in_range(zkr_grant_valid_until(g), first_end + 1, LATEST_END);
    give_back(g);
    client_says(ZKR__ZK_AUTH_FAILED);
    await_state(s, ZKR_SESSION_AUTH_FAILED);
    ok(zkr_session_dispatch(s));
    assert_has(events, "NONE\nAUTH_FAILED 2 1 CREDENTIALS\n");
}

/* The client has found that the session is over, but has not reported it
 * yet. The request that shows it is for another lock: those for one lock may
 * wait for each other. */
static void finds_it_ended(zkr_session *s)
{
    zkr_grant *none;

    AUTO(mutex) m = NEW(mutex, s, "/another", NULL);
    client_refuses(ZKR_ZINVALIDSTATE);
    gives(ZKR_ELOST, zkr_mutex_acquire(m, 0, &none));
}

TEST(an_answer_to_the_session_before_counts_for_nothing)
{
    OPEN_MUTEX(s, m, ZKR_SESSION_NO_LEASE);
    struct outcome o = { .rc = 0 };

    client_closes(true, true);
    client_stops_at(ZKR__ZK_CREATE);
    ask_for(m, &o);
    client_await_stop();
    finds_it_ended(s);
    AWAIT(client_handles() >= 2);
    client_goes_on();
    give_back(granted(&o));
}

static void *go_on_when_lost(void *s)
{
    await_state(s, ZKR_SESSION_LOST);
    client_goes_on();
    return NULL;
}

/* It had connected once more before it ended. */
TEST(a_handle_that_is_given_up_is_not_heard)
{
    OPEN_MUTEX(s, m, ZKR_SESSION_NO_LEASE);
    struct outcome o = { .rc = 0 };

    client_stops_at(CLIENT_AT_ONCE);
    client_says(ZKR__ZK_CONNECTED);
    client_await_stop();
    ask_for(m, &o); /* it is kept a little while for their answers */
    pthread_t thread = thread_start(go_on_when_lost, s);
    finds_it_ended(s);
    thread_join(thread);
    give_back(granted(&o));
    assert_int_equal(zkr_session_epoch(s), 2);
}

/* -- servers that serve others -------------------------------------------- */

enum { SHORT_MS = 150 };

/* As after a restore from an older copy: a server that has seen less than we
 * have hangs up, whether or not our session lives. */
TEST(a_session_that_is_served_no_more_is_given_up)
{
    client_grants_timeout(SHORT_MS);
    client_serves_scouts(1000);
    OPEN_MUTEX(s, m, ZKR_SESSION_OWN_LOOP);
    AUTO(listener) l = listen_to(s);
    for (uint64_t epoch = 2; epoch <= 3; epoch++) {
        AUTO(grant) g = acquire(m);

        client_says(ZKR__ZK_DISCONNECTED);
        AWAIT(zkr_session_epoch(s) >= epoch);
        gives(ZKR_ELOST, zkr_grant_check(g));
        await_state(s, ZKR_SESSION_RECONNECTED);
        client_changes_node(NULL);
    }
    assert_in_range(client_scouts(), 4, 1000);
    ok(zkr_session_dispatch(s));
    assert_has(events, "LOST 3 0 RESTORED\n");
}

/* Servers without a quorum hang up like that, and the session survives. */
TEST(a_session_outlives_servers_that_serve_nobody)
{
    client_grants_timeout(SHORT_MS);
    AUTO(session) s = open_session(0);
    client_says(ZKR__ZK_DISCONNECTED);
    AWAIT(client_scouts() >= 3);
    for (int i = 0; i < 2; i++) { /* there is a quorum, and none */
        int count = client_scouts();

        client_serves_scouts(1);
        AWAIT(client_scouts() >= count + 3 || zkr_session_epoch(s) > 1);
    }
    client_says(ZKR__ZK_CONNECTED);
    await_state(s, ZKR_SESSION_RECONNECTED);
    assert_int_equal(zkr_session_epoch(s), 1);
}

/* Each loss of the connection counts for itself. */
TEST(a_session_that_comes_and_goes_is_kept)
{
    client_grants_timeout(SHORT_MS);
    AUTO(session) s = open_session(ZKR_SESSION_NO_LEASE);
    for (int i = 0; i < 4; i++) {
        int count = client_scouts();

        client_serves_scouts(1);
        client_says(ZKR__ZK_DISCONNECTED);
        AWAIT(client_scouts() >= count + 1);
        client_says(ZKR__ZK_CONNECTED);
        await_state(s, ZKR_SESSION_RECONNECTED);
    }
    assert_int_equal(zkr_session_epoch(s), 1);
}

/* As often as a name server is asked when it does not answer. */
TEST(a_handle_that_cannot_be_opened_is_not_tried_again_at_once)
{
    AUTO(session) s = open_session_with(
        OPTS(session, .retry = ZKR_RETRY_EXPONENTIAL_INIT(20, UINT32_MAX, 0)));

    client_makes_no_handle(INT32_MAX, ZKR_EHOSTS);
    client_says(ZKR__ZK_EXPIRED);
    AWAIT(client_handles() >= 2);
    int64_t began = zkr__clock_now();
    AWAIT(zkr__clock_now() >= began + 50 * ZKR__MS);
    assert_int_equal(client_handles(), 2);
    client_makes_no_handle(0, ZKR_OK); /* other servers are tried at once */
    ok(zkr_session_set_servers(s, "127.0.0.2:2181"));
    await_state(s, ZKR_SESSION_RECONNECTED);
}

/* There is no session that a server could keep. */
TEST(a_close_without_a_session_is_done)
{
    AUTO(session) s = open_session(0);

    client_connects(false);
    client_says(ZKR__ZK_EXPIRED);
    AWAIT(client_handles() >= 2);
    client_closes(false, false);
}

static void on_release(int rc, void *user)
{
    *(int *)user = rc;
}

TEST(a_release_that_a_close_cuts_off_is_not_called_done)
{
    zkr_session *s = open_session(0);
    AUTO(mutex) m = new_mutex(s);
    zkr_grant *g = acquire(m);
    int rc = 1;

    client_closes(false, false);
    client_stops_at(ZKR__ZK_DELETE);
    ok(zkr_grant_release_async(g, on_release, &rc));
    client_await_stop();
    zkr_grant_free(g);
    gives(ZKR_EPENDING, zkr_session_close(s));
    assert_int_equal(rc, ZKR_EPENDING);
}

/* -- refusals ------------------------------------------------------------- */

static void count_reply(int error, const struct zkr_reply *reply, void *count)
{
    (void)atomic_fetch_add((atomic_int *)count, 1);
}

/* The first is not sent again, and no other request comes. */
TEST(what_waits_behind_a_refusal_is_sent)
{
    AUTO(session)
    s = open_session_with(OPTS(session, .flags = ZKR_SESSION_NO_LEASE,
                               .retry = ZKR_RETRY_NONE_INIT));
    atomic_int count = 0;

    for (int i = 1; i <= 10; i++) {
        client_await_rest();
        client_refuses(ZKR_ENOMEM);
        for (int j = 0; j < 2; j++)
            ok(zkr_session_get_async(s, "/x", -1, count_reply, &count));
        AWAIT(atomic_load(&count) == 2 * i);
    }
}

static void *delete_meanwhile(void *unused)
{
    client_await_stop();
    client_changes_node(NULL);
    client_goes_on();
    return unused;
}

/* The request was certainly not carried out: somebody else deleted the node. */
TEST(a_break_that_was_put_off_has_broken_nothing)
{
    OPEN_GRANT(s, m, g, 0);

    client_answers(ZKR__ZK_DELETE, ZKR_ZTHROTTLEDOP);
    client_stops_at(ZKR__ZK_DELETE);
    pthread_t thread = thread_start(delete_meanwhile, NULL);
    gives(ZKR_ZNONODE,
          zkr_participants_break(s, zkr_grant_node(g), zkr_grant_token(g), 0));
    thread_join(thread);
    client_answers(ZKR__ZK_DELETE, ZKR_OK);
}

/* -- ghosts --------------------------------------------------------------- */

static void give_up(zkr_mutex *m, struct outcome *o)
{
    ok(zkr_lockable_cancel(m));
    AWAIT(atomic_load(&o->told));
    assert_int_equal(o->rc, ZKR_ECANCELED);
}

/* Its server may find out later, when the claim does not exist any more. */
TEST(a_ghost_is_not_watched_any_more)
{
    struct outcome o = { .rc = 0 };

    client_grants_timeout(50);
    client_shows("one-lock-0000000001", "ghost-lock-0000000002", true);
    OPEN_MUTEX(s, m, ZKR_SESSION_NO_LEASE);
    ask_for(m, &o);
    AWAIT(client_requests(ZKR__ZK_GET) >= 2); /* it waits for the other one */
    assert_int_equal(client_requests(ZKR__ZK_UNWATCH), 1);
    give_up(m, &o);
}

/* The leader denies the node while the claim begins a second read of it; there
 * would be two at a time. */
TEST(a_ghost_that_is_being_read_is_left_out_later)
{
    struct outcome o = { .rc = 0 };

    client_grants_timeout(50);
    client_shows("one-lock-0000000001", "ghost-lock-0000000002", true);
    client_answers_times(ZKR__ZK_GET, ZKR_ZNOAUTH, 1);
    client_stops_at(ZKR__ZK_GET);
    OPEN_MUTEX(s, m, ZKR_SESSION_NO_LEASE);
    ask_for(m, &o);
    AWAIT(client_requests(ZKR__ZK_CHECK) == 1);
    client_goes_on();
    AWAIT(client_requests(ZKR__ZK_GET) >= 2); /* it waits for the other one */
    assert_true(client_requests(ZKR__ZK_CHECK) >= 2);
    give_up(m, &o);
}

/* A name without a UUID may come back when the directory has been made anew;
 * but then our own node has gone, too. */
TEST(a_ghost_is_one_for_one_node_of_ours)
{
    struct outcome o = { .rc = 0 };

    client_grants_timeout(50);
    client_shows("lock-0000000001", "lock-0000000002", true);
    OPEN_MUTEX(s, m, ZKR_SESSION_NO_LEASE);
    ask_for(m, &o);
    AWAIT(client_requests(ZKR__ZK_GET) >= 2);
    client_await_rest();
    client_shows(NULL, "lock-0000000002", false);
    client_changes_node(NULL);
    AWAIT(client_requests(ZKR__ZK_GET) >= 4 || atomic_load(&o.told));
    assert_false(atomic_load(&o.told));
    client_await_rest();
    client_shows(NULL, NULL, false);
    client_changes_node("");
    give_back(granted(&o));
    assert_int_equal(client_requests(ZKR__ZK_CREATE), 2);
}
