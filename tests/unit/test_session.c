/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the session, and of what is opened on it, by quick answers. */
#include "unit.h"

#include <poll.h>
#include <sched.h>

#include <zkrecipes/testing.h>

#include "base/clock.h"
#include "client.h"
#include "lock/heartbeat.h"
#include "request/client.h"
#include "request/parents.h"
#include "session/reason.h"
#include "session/session.h"
#include "session/watch.h"

FIXTURE(client_reset, NULL)

static bool is_inside(const struct zkr_session *s) ZKR__NO_ANALYSIS
{
    return zkr__dispatch_inside_locked(s);
}

/* -- a thread that is cancelled ------------------------------------------- */

struct cancelled {
    void (*call)(struct cancelled *);
    zkr_session *session;
    zkr_mutex *mutex;
    zkr_grant *grant;
    atomic_int callbacks;
    bool returned;
};

static void *cancel_and_call(void *arg)
{
    struct cancelled *c = arg;

    (void)pthread_cancel(pthread_self()); /* at the next opportunity */
    c->call(c);
    c->returned = true;
    pthread_testcancel();
    return NULL;
}

static void call_returns(struct cancelled *c)
{
    pthread_t thread = thread_start(cancel_and_call, c);

    assert_ptr_equal(thread_join(thread), PTHREAD_CANCELED);
    assert_true(c->returned);
}

static void acquire_there(struct cancelled *c)
{
    any_result(zkr_mutex_acquire(c->mutex, -1, &c->grant));
}

TEST(an_acquire_that_is_cancelled_goes_on_to_its_end)
{
    AUTO(session) s = open_session(0);
    struct cancelled c = { .call = acquire_there, .mutex = new_mutex(s) };

    call_returns(&c);
    assert_non_null(c.grant);
    give_back(c.grant);
    zkr_mutex_free(c.mutex);
}

static void on_outcome(int rc, zkr_grant *grant, void *user)
{
    struct cancelled *c = user;

    pthread_testcancel();
    zkr_grant_free(grant);
    (void)atomic_fetch_add(&c->callbacks, 1);
}

static void acquire_async(struct cancelled *c)
{
    any_result(zkr_mutex_acquire_async(c->mutex, -1, on_outcome, c, NULL));
}

/* As in functions that borrow the handles of two sessions. */
TEST(a_thread_is_inside_each_session_that_it_visits)
{
    struct zkr_session s[2] = { { .id = 1 }, { .id = 2 } };
    struct zkr__visit visits[2];

    for (int i = 0; i < 2; i++)
        zkr__dispatch_enter(&s[i], &visits[i]);
    assert_true(is_inside(&s[0]));
    zkr__dispatch_leave(&visits[1]);
    assert_true(is_inside(&s[0]));
    assert_false(is_inside(&s[1]));
    zkr__dispatch_leave(&visits[0]);
    assert_false(is_inside(&s[0]));
}

static void dispatch(struct cancelled *c)
{
    (void)zkr_session_dispatch(c->session);
}

/* A session can never be closed while one of its callbacks has not returned. */
TEST(a_callback_that_is_cancelled_in_our_loop_goes_on)
{
    AUTO(session) s = open_session(ZKR_SESSION_OWN_LOOP);
    struct cancelled c = {
        .call = acquire_async,
        .session = s,
        .mutex = new_mutex(s),
    };
    struct pollfd due = { .events = POLLIN };

    call_returns(&c);
    ok(zkr_session_fd(s, &due.fd));
    assert_int_equal(poll(&due, 1, -1), 1);
    c.call = dispatch;
    c.returned = false;
    call_returns(&c);
    assert_int_equal(atomic_load(&c.callbacks), 1);
    assert_int_equal(poll(&due, 1, 0), 0);
    zkr_listener_free(MADE(listener, session_listen, s, NULL, NULL));
    assert_int_equal(poll(&due, 1, 0), 0); /* what was due is not any more */
    zkr_mutex_free(c.mutex);
}

static void print(enum zkr_log_level level, const char *message, void *user)
{
    pthread_testcancel(); /* as a function that prints may */
}

static void check_nothing(struct cancelled *c)
{
    any_result(zkr_grant_check(NULL));
}

TEST(a_line_of_the_log_is_no_place_to_be_cancelled_at)
{
    struct cancelled c = { .call = check_nothing };

    zkr_log_set(ZKR_LOG_DEBUG, print, NULL);
    call_returns(&c);
    zkr_log_set(ZKR_LOG_DEBUG, NULL, NULL);
}

/* -- what a callback is told ---------------------------------------------- */

struct told {
    atomic_int error;
    atomic_int times;
    char detail[512];
};

static void on_release(int error, void *user)
{
    struct told *told = user;

    PRINT(told->detail, "%s", zkr_error_detail());
    (void)atomic_fetch_add(&told->times, 1);
    atomic_store(&told->error, error);
}

/* A refused one is made again before the next acquire, and told once. */
TEST(how_a_release_ended_is_explained_to_its_callback)
{
    static const int codes[] = { ZKR_ZNOAUTH, ZKR_OK };

    for (size_t i = 0; i < COUNT(codes); i++) {
        OPEN_GRANT(s, m, g, 0);
        struct told told = { .error = 1, .detail = "?" };

        client_answers(ZKR__ZK_DELETE, codes[i]);
        ok(zkr_grant_release_async(g, on_release, &told));
        AWAIT(atomic_load(&told.error) != 1);
        client_answers(ZKR__ZK_DELETE, ZKR_OK);
        assert_int_equal(atomic_load(&told.error), codes[i]);
        if (codes[i] == ZKR_OK) {
            assert_string_equal(told.detail, "");
        } else {
            assert_has(told.detail, "mutex '/lock': cannot delete");
            assert_has(told.detail, "ZNOAUTH");
        }
        give_back(acquire(m));
        client_await_rest();
        assert_int_equal(atomic_load(&told.times), 1);
    }
}

/* -- what a server says --------------------------------------------------- */

/* Timers without a delay never release the lock of the session. */
TEST(a_session_that_is_granted_no_time_does_not_hang)
{
    client_grants_timeout(0);
    AUTO(session) s = open_session(0);
    client_grants_timeout(10000);
    zkr_mutex_free(new_mutex(s));
}

/* Since 3.8.4 and 3.9.2 EXISTS asks for READ, and no session could be opened
 * where nobody may read the chroot, or the root. */
TEST(a_chroot_that_may_not_be_read_is_there)
{
    client_answers(ZKR__ZK_EXISTS, ZKR_ZNOAUTH);
    ok(zkr_session_close(open_session(0)));
}

/* Of a node at the top it is "/", which a chroot may lack, and not "". */
TEST(a_parent_that_is_missing_is_named)
{
    AUTO(session) s = open_session(0);

    client_answers(ZKR__ZK_CREATE, ZKR_ZNONODE);
    tells(zkr_session_create(s, "/x", "", 0, NULL, -1, NULL), ZKR_ZNONODE,
          "its parent '/' does not");
    tells(zkr_session_create(s, "/a/b/x", "", 0, NULL, -1, NULL), ZKR_ZNONODE,
          "its parent '/a/b' does not");
    const char *far = textf("/%0200d/x", 0);
    tells(zkr_session_create(s, far, "", 0, NULL, -1, NULL), ZKR_ZNONODE,
          textf("parent '%.150s' does not", far));
}

/* There is no simpler node to make in its place. */
TEST(a_parent_that_cannot_be_made_is_an_error)
{
    AUTO(session) s = open_session(0);

    client_answers(ZKR__ZK_CREATE, ZKR_ZUNIMPLEMENTED);
    gives(ZKR_ZUNIMPLEMENTED,
          zkr__parents_make(s, "/a/b", ZKR_CREATE_PERSISTENT,
                            zkr__clock_deadline(5000)));
    client_answers(ZKR__ZK_CREATE, ZKR_ZNONODE);
    AUTO(mutex) m = NEW(mutex, s, "/a/b", NULL);
    zkr_grant *none = NULL;
    tells(zkr_mutex_acquire(m, -1, &none), ZKR_ZNONODE, "cannot create '/a'");
}

/* It is read again; here it is of the wrong size. */
TEST(a_limit_that_another_program_has_made_counts)
{
    static const int codes[] = { ZKR_ZNODEEXISTS, ZKR_ZCONNECTIONLOSS,
                                 ZKR_ZNOAUTH };
    AUTO(session) s = open_session(0);
    zkr_semaphore *sem = NULL;

    for (size_t i = 0; i < COUNT(codes); i++) {
        client_answers_times(ZKR__ZK_GET, ZKR_ZNONODE, 1);
        client_answers_times(ZKR__ZK_CREATE, codes[i], 1);
        gives(codes[i] == ZKR_ZNOAUTH ? ZKR_ZNOAUTH : ZKR_EDAMAGED,
              zkr_semaphore_new(s, "/a", 1, OPTS(lockable, .limit_path = "/n"),
                                &sem));
    }
}

TEST(a_number_is_created_once_more_only_where_it_is_missing)
{
    AUTO(session) s = open_session(0);
    AUTO(counter) c = NEW(counter, s, "/c", NULL);
    int creates = client_requests(ZKR__ZK_CREATE);
    int64_t found;

    client_answers_times(ZKR__ZK_SET, ZKR_ZNONODE, 1);
    client_answers_times(ZKR__ZK_CREATE, ZKR_ZNODEEXISTS, 1);
    ok(zkr_counter_set(c, 1, ZKR_ANY_VERSION, -1));
    assert_int_equal(client_requests(ZKR__ZK_CREATE) - creates, 1);
    client_changes_node("12345678");
    client_answers(ZKR__ZK_SYNC, ZKR_ZNOAUTH); /* it may have an old number */
    gives(ZKR_ZNOAUTH, zkr_counter_compare_and_set(c, 1, 2, -1, &found));
}

/* Behind another session, and behind another thread. */
TEST(who_waits_for_a_lock_that_stays_is_counted)
{
    AUTO(session) s = open_session(0);
    AUTO(mutex) m = NEW(mutex, s, "/lock", OPTS(lockable, .retain_ms = 600000));
    struct zkr_counters counters = ZKR_COUNTERS_INIT;
    struct outcome first = { .rc = 1 }, second = { .rc = 1 };

    client_shows("lock-0000000001", NULL, false);
    ask_for(m, &first);
    while (counters.waits == 0)
        ok(zkr_lockable_stats(m, &counters));
    client_await_rest();
    client_shows(NULL, NULL, false);
    client_changes_node("the holder has gone");
    zkr_grant *g = granted(&first);
    ask_for(m, &second);
    ok(zkr_lockable_stats(m, &counters));
    assert_int_equal(counters.waits, 2);
    give_back(g);
    give_back(granted(&second));
}

TEST(the_chroot_may_stand_behind_new_servers)
{
    AUTO(session) s = open_session_with(OPTS(session, .chroot = "/app"));

    ok(zkr_session_set_servers(s, "127.0.0.1:1/app"));
    gives(ZKR_EINVAL, zkr_session_set_servers(s, "127.0.0.1:1/other"));
}

static const struct lie {
    const char *name;
    const char *dir;
    const char *behind;
} lies[] = {
    { "another directory", "/lokk/", "0000000009" },
    { "beside the directory", "/lock.", "0000000009" },
    { "no number", "/lock/", "" },
    { "a long number", "/lock/", "000000000009" },
    { "more than a number", "/lock/", "000000009x" },
};

TEST_ROWS(a_node_that_was_not_asked_for_is_none_of_ours, lies, lie)
{
    OPEN_MUTEX(s, m, 0);
    zkr_grant *g = NULL;

    client_lies(lie->dir, lie->behind);
    gives(ZKR_EPROTO, zkr_mutex_acquire(m, 5000, &g));
}

/* After a delete whose answer was lost, a write comes first, to catch up. */
TEST(a_break_goes_on_where_a_write_is_refused)
{
    static const int lost[] = { ZKR_ZCONNECTIONLOSS, ZKR_ZSESSIONEXPIRED };
    static const int refusals[] = { ZKR_ZNOAUTH, ZKR_ZNONODE };

    for (size_t i = 0; i < COUNT(lost); i++) {
        OPEN_GRANT(s, m, g, ZKR_SESSION_NO_LEASE);

        client_answers_times(ZKR__ZK_DELETE, ZKR_ZNONODE, 1); /* it is late */
        gives(ZKR_ZNONODE, zkr_participants_break(s, zkr_grant_node(g),
                                                  zkr_grant_token(g), 0));
        client_answers_times(ZKR__ZK_DELETE, lost[i], 1);
        client_answers_times(ZKR__ZK_CHECK, refusals[i], 1);
        ok(zkr_participants_break(s, zkr_grant_node(g), zkr_grant_token(g), 0));
        assert_int_equal(client_requests(ZKR__ZK_CHECK), i + 1);
    }
}

static void count_read(int rc, const struct zkr_reply *reply, void *count)
{
    (void)atomic_fetch_add((atomic_uint *)count, 1);
}

/* What is more waits for an answer. */
TEST(so_many_reads_are_under_way_at_once)
{
    AUTO(session) s = open_session(ZKR_SESSION_NO_LEASE);
    atomic_uint answers = 0;

    client_await_rest();
    client_stops_at(ZKR__ZK_GET);
    zkr__session_lock(s);
    unsigned size = (unsigned)s->window.size;
    zkr__session_unlock(s);
    int before = client_requests(ZKR__ZK_GET);
    for (unsigned i = 0; i < size + 2; i++)
        ok(zkr_session_get_async(s, "/x", -1, count_read, &answers));
    assert_int_equal(client_requests(ZKR__ZK_GET) - before, size);
    client_goes_on();
    AWAIT(atomic_load(&answers) == size + 2);
}

TEST(a_connection_is_told_once)
{
    AUTO(session) s = open_session(0);

    client_says(ZKR__ZK_CONNECTED);
    client_await_rest();
    assert_int_equal(zkr_session_state(s), ZKR_SESSION_CONNECTED);
}

TEST(an_end_for_a_test_says_when_it_is_none)
{
    AUTO(session) s = open_session(0);

    ok(zkr_test_expire_session(s));
    await_state(s, ZKR_SESSION_RECONNECTED);
    client_closes(false, false);
    gives(ZKR_EUNREACHABLE, zkr_test_expire_session(s));
    client_closes(false, true);
}

static atomic_int faults; /* that the handle has kept */

WRAP(void, zkr__zk_take_fault,
     (struct zkr__zk * zk, struct zkr__zk_fault *ret_fault))
{
    *ret_fault = (struct zkr__zk_fault){ .cause = ZKR_CAUSE_NONE };
    if (atomic_load(&faults) > 0)
        ret_fault->cause = atomic_fetch_sub(&faults, 1) > 1 ? ZKR_CAUSE_HUNG_UP
                                                            : ZKR_CAUSE_REFUSED;
}

TEST(the_last_fault_is_the_last_error)
{
    struct zkr_session_error error = ZKR_SESSION_ERROR_INIT;
    AUTO(session) s = open_session(0);

    atomic_store(&faults, 2);
    ok(zkr_session_last_error(s, &error));
    assert_int_equal(error.cause, ZKR_CAUSE_REFUSED);
}

/* The first of nine has given way, and of each server the last fault is told. A
 * new connection forgets what was in the way. */
TEST(the_last_faults_of_eight_servers_are_told)
{
    AUTO(session) s = open_session(0);
    char text[ZKR__WHY_MAX];

    zkr__session_lock(s);
    for (int i = 1; i <= ZKR__REASONS + 1; i++)
        zkr__reason_set_locked(s, ZKR_CAUSE_REFUSED, textf("h:%d", i), "");
    assert_has(zkr__reason_all_locked(s, text), "refuses");
    for (int i = 2; i <= ZKR__REASONS + 1; i++)
        zkr__reason_set_locked(s, ZKR_CAUSE_SILENT, textf("h:%d", i), "");
    (void)zkr__reason_all_locked(s, text);
    zkr__session_unlock(s);
    assert_lacks(text, "refuses");
    assert_lacks(text, "h:1 ");
    assert_has(text, "h:2 ");
    assert_has(text, "h:9 ");
    client_reconnects();
    await_state(s, ZKR_SESSION_RECONNECTED);
    zkr__session_lock(s);
    assert_string_equal(zkr__reason_all_locked(s, text), ""); /* is past */
    zkr__session_unlock(s);
}

static void note(int rc, const struct zkr_reply *reply, void *outcome)
{
    atomic_store((atomic_int *)outcome, rc);
}

/* An answer of the session before proves nothing. */
TEST(a_read_is_made_again_in_the_next_session)
{
    AUTO(session) s = open_session(0);
    atomic_int outcome = 1;
    int before = client_requests(ZKR__ZK_GET);

    client_closes(true, true);
    client_stops_at(ZKR__ZK_GET);
    ok(zkr_session_get_async(s, "/x", -1, note, &outcome));
    client_await_stop();
    ok(zkr_test_expire_session(s));
    client_goes_on();
    AWAIT(atomic_load(&outcome) != 1);
    assert_int_equal(client_requests(ZKR__ZK_GET) - before, 2);
}

static void gives_up(int rc, atomic_int *outcome)
{
    AWAIT(rc != ZKR_OK || atomic_load(outcome) != 1);
    assert_int_equal(rc == ZKR_OK ? atomic_exchange(outcome, 1) : rc,
                     ZKR_EUNREACHABLE);
}

TEST(what_nobody_waits_for_ends_by_its_timeout)
{
    atomic_int o = 1;
    AUTO(session)
    s = open_session_with(OPTS(session, .reply_timeout_ms = UINT32_MAX));

    client_says(ZKR__ZK_DISCONNECTED);
    await_state(s, ZKR_SESSION_SUSPENDED);
    gives_up(zkr_session_get_async(s, "/x", 9, note, &o), &o);
    gives_up(zkr_session_exists_async(s, "/x", 9, note, &o), &o);
    gives_up(zkr_session_children_async(s, "/x", 9, note, &o), &o);
    gives_up(zkr_session_sync_async(s, 9, note, &o), &o);
    gives_up(zkr_session_create_async(s, "/x", "", 0, NULL, 9, note, &o), &o);
    gives_up(zkr_session_set_async(s, "/x", "", 0, -1, 9, note, &o), &o);
    gives_up(zkr_session_delete_async(s, "/x", -1, 9, note, &o), &o);
}

/* A write that was certainly not made is made in the next session. */
TEST(a_write_that_was_not_made_goes_on)
{
    AUTO(session) s = open_session_with(
        OPTS(session, .flags = ZKR_SESSION_NO_LEASE,
             .retry = ZKR_RETRY_EXPONENTIAL_INIT(600000, 600000, 0)));
    atomic_int outcome = 1;

    client_refuses(ZKR_ZSESSIONEXPIRED);
    ok(zkr_session_set(s, "/x", "", 0, -1, -1, NULL));
    client_answers_times(ZKR__ZK_SET, ZKR_ZTHROTTLEDOP, 1);
    ok(zkr_session_set_async(s, "/x", "", 0, -1, -1, note, &outcome));
    AWAIT(session_stats(s).retries > 0);
    ok(zkr_test_expire_session(s));
    AWAIT(atomic_load(&outcome) != 1);
    assert_int_equal(atomic_load(&outcome), ZKR_OK);
    client_answers_times(ZKR__ZK_SET, ZKR_ZTHROTTLEDOP, 1);
    ok(zkr_session_set_async(s, "/x", "", 0, -1, 50, NULL, NULL));
    ok(zkr_session_set(s, "/x", "", 0, -1, -1, NULL)); /* waits for that one */
}

static void *set_there(void *s)
{
    return zkr_session_set(s, "/x", "", 0, -1, -1, NULL) == ZKR_OK ? s : NULL;
}

/* Its answer tells what has become of it. */
TEST(a_write_that_is_under_way_at_a_close_is_answered)
{
    zkr_session *s = open_session(ZKR_SESSION_NO_LEASE);

    client_closes(true, true);
    client_stops_at(ZKR__ZK_SET);
    pthread_t thread = thread_start(set_there, s);
    client_await_stop();
    ok(zkr_session_close(s));
    assert_non_null(thread_join(thread));
}

TEST(a_server_that_only_reads_is_left_for_a_while)
{
    AUTO(session) s = open_session_with(
        OPTS(session, .retry = ZKR_RETRY_EXPONENTIAL_INIT(1, 200, 0)));
    int64_t before = client_opened_ms();

    client_says(ZKR__ZK_READ_ONLY);
    await_state(s, ZKR_SESSION_RECONNECTED);
    assert_true(client_opened_ms() - before >= 200);
}

/* What was answered before it was asked says nothing. */
TEST(each_verify_has_an_answer_of_its_own)
{
    OPEN_GRANT(s, m, g, ZKR_SESSION_NO_LEASE);

    client_answers(ZKR__ZK_CHECK, ZKR_ZNOAUTH);
    gives(ZKR_ZNOAUTH, zkr_grant_verify(g, -1));
    client_answers(ZKR__ZK_CHECK, ZKR_OK);
    ok(zkr_grant_verify(g, -1));
    client_answers(ZKR__ZK_CHECK, ZKR_ZNOAUTH);
    gives(ZKR_ZNOAUTH, zkr_grant_verify(g, -1));
}

TEST(what_is_late_or_unknown_is_named)
{
    AUTO(session) s = open_session(0);
    AUTO(txn) t = NEW(txn, s, NULL);
    struct zkr_reply *reply = NULL;

    client_stops_at(ZKR__ZK_GET);
    tells(zkr_session_get(s, "/x", 10, &reply), ZKR_EUNREACHABLE,
          "get '/x': no answer");
    assert_has(zkr_error_detail(), " ms ago"); /* the last answer */
    client_goes_on();
    client_answers_times(ZKR__ZK_MULTI, ZKR_ZCONNECTIONLOSS, 1);
    ok(zkr_txn_set(t, "/y", "", 0, -1)); /* it is the only one */
    tells(zkr_txn_commit(t, -1), ZKR_EUNKNOWN, "set '/y'");
}

/* They are given back in reverse. */
TEST(the_first_error_of_several_releases_is_told)
{
    OPEN_GRANT(s, m, g, 0);
    zkr_grant *all[] = { NULL, g };

    gives(ZKR_EINVAL, zkr_grants_release(all, 2));
    gives(ZKR_ENOTHELD, zkr_grants_release(all, 2));
    assert_lacks(zkr_error_detail(), "NULL");
    gives(ZKR_EINVAL, zkr_grants_check(all, 2));
    all[1] = acquire(m);
    zkr_grants_free(all, 2);
    assert_null(all[1]);
}

static void *pause_for_ever(void *s)
{
    zkr__session_pause(s, ZKR__NEVER);
    return NULL;
}

/* As of a counter that lets others go first. */
TEST(a_pause_ends_with_its_session)
{
    AUTO(session) s = open_session(0);
    pthread_t thread = thread_start(pause_for_ever, s);

    client_says(ZKR__ZK_AUTH_FAILED);
    thread_join(thread);
}

/* -- the forecast of the lease -------------------------------------------- */

static void nothing_happens(zkr_session *s)
{
}

static void the_lease_ends(zkr_session *s)
{
    zkr__lease_reset(&s->lease, 0, 1, 0);
}

static void time_passes(zkr_session *s)
{
    int64_t end = zkr__clock_boot() + s->lease.timeout / 500;

    while (zkr__clock_boot() < end)
        (void)sched_yield();
}

/* A good one is remembered for a short time, of a session timeout. */
static const struct forecast {
    const char *name;
    uint32_t timeout_ms;
    void (*happens)(zkr_session *s);
    bool good;
} forecasts[] = {
    { "nothing happens", 6000000, nothing_happens, true },
    { "time passes", 10000, time_passes, false },
    { "a connection is lost", 6000000, zkr__heartbeat_suspend_locked, false },
    { "the lease ends", 6000000, the_lease_ends, false },
};

/* By the time it is asked for again the answers have become slow. */
TEST_ROWS(a_forecast_is_believed_for_a_moment, forecasts, f)
{
    client_grants_timeout(f->timeout_ms);
    AUTO(session) s = open_session(0);
    client_grants_timeout(10000);
    zkr_mutex_free(new_mutex(s));
    zkr__session_lock(s);
    assert_true(zkr__heartbeat_is_good(s));
    s->lease.took = s->lease.timeout;
    f->happens(s);
    assert_int_equal(zkr__heartbeat_is_good(s), f->good);
    zkr__session_unlock(s);
}

/* The client sets the watch of an answer that it could not read to its end. The
 * client inside calls that -2: the watch was freed, and its event used it. */
static const struct cut_answer {
    const char *name;
    int rc;
} cut_answers[] = {
    { "the client of a system", ZKR_ZMARSHALLINGERROR },
    { "the client inside", ZKR_ZRUNTIMEINCONSISTENCY },
};

TEST_ROWS(the_watch_of_an_answer_cut_short_is_kept_for_its_event, cut_answers,
          a)
{
    AUTO(session) s = open_session(0);

    zkr__session_lock(s);
    struct zkr__watch *w = zkr__watch_new_locked(s, "/node", false, s, NULL);
    assert_non_null(w);
    zkr__watch_answered_locked(w, ZKR__ZK_GET, a->rc, false);
    zkr__watch_drop_locked(w);
    bool kept = !zkr__list_empty(&s->watches);
    zkr__session_unlock(s);
    assert_true(kept);
    zkr__watch_on_event(w, false);
    zkr__session_lock(s);
    kept = !zkr__list_empty(&s->watches);
    zkr__session_unlock(s);
    assert_false(kept);
}
