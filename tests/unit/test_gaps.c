/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the gaps: in each place where a call, or a thread of the library,
 * releases the lock of its session, another thread (an intruder) changes an
 * object that it works on, or a result comes. Each gap is tried with each
 * intruder. The library's own assertions and the sanitizers judge:
 * ThreadSanitizer sees every access in a gap, because the test does not order
 * the two threads. */
#include "unit.h"

#include "base/clock.h"
#include "base/mtx.h"
#include "client.h"

enum { GAPS_MAX = 8 /* of one call */, REPLY_MS = 300 };

/* -- the gaps -------------------------------------------------------------- */

/* These are relaxed, so that they order nothing. */
static _Atomic(const char *) thread_with_gaps; /* its name */
static atomic_int gaps_left;
static atomic_bool go;
static atomic_bool done;
static atomic_bool oversleeps; /* who is woken, beyond the deadline */
static void (*comes)(void);    /* instead of the intruder */

static void relax(long ns)
{
    (void)nanosleep(&(struct timespec){ .tv_nsec = ns }, NULL);
}

#define GET(flag) atomic_load_explicit(&(flag), memory_order_relaxed)
#define SET(flag, value)                                                       \
    atomic_store_explicit(&(flag), value, memory_order_relaxed)

static bool is_the_gap(void)
{
    const char *wanted = GET(thread_with_gaps);
    char name[16] = "";

    (void)pthread_getname_np(pthread_self(), name, sizeof(name));
    return wanted != NULL && strcmp(name, wanted) == 0 &&
           atomic_fetch_sub_explicit(&gaps_left, 1, memory_order_relaxed) == 1;
}

/* The intruder may have to wait for us, so we wait for it only for a while. */
WRAP(void, zkr__mtx_unlock, (struct zkr__mtx * mtx))
{
    __real_zkr__mtx_unlock(mtx);
    if (!is_the_gap())
        return;
    if (comes != NULL) {
        comes();
        return;
    }
    SET(go, true);
    for (int i = 0; i < 30 && !GET(done); i++)
        relax(100000);
}

/* A thread that was woken sleeps on, beyond its deadline; the others go on. */
static void oversleep(struct zkr__mtx *mtx, int64_t deadline) ZKR__NO_ANALYSIS
{
    while (GET(oversleeps) && deadline != ZKR__NEVER &&
           zkr__clock_now() <= deadline) {
        __real_zkr__mtx_unlock(mtx);
        relax(1000000);
        zkr__mtx_lock(mtx);
    }
}

WRAP(bool, zkr__cond_wait,
     (struct zkr__cond * cond, struct zkr__mtx *mtx, int64_t deadline))
{
    if (is_the_gap())
        SET(go, true);
    bool in_time = __real_zkr__cond_wait(cond, mtx, deadline);
    oversleep(mtx, deadline);
    return in_time;
}

/* -- the stage ------------------------------------------------------------- */

static struct {
    zkr_session *s;
    zkr_mutex *m;
    zkr_reentrant_mutex *r;
    zkr_grant *g;
    zkr_listener *l;
} it;

static void on_grant(zkr_grant *grant, const struct zkr_grant_event *event,
                     void *user)
{
    any_result(zkr_grant_check(grant));
    relax(200000);
}

static void on_session(zkr_session *session,
                       const struct zkr_session_event *event, void *user)
{
    (void)zkr_session_epoch(session);
    relax(200000);
}

static void begin(void)
{
    client_reset();
    memset(&it, 0, sizeof(it));
    it.s = open_session_with(OPTS(session, .reply_timeout_ms = REPLY_MS));
    it.m = new_mutex(it.s);
    ok(zkr_reentrant_mutex_new(it.s, "/lock", NULL, &it.r));
    ok(zkr_session_listen(it.s, on_session, NULL, &it.l));
}

static void end(void)
{
    zkr_grant_free(it.g);
    zkr_listener_free(it.l);
    zkr_mutex_free(it.m);
    zkr_reentrant_mutex_free(it.r);
    (void)zkr_session_close(it.s);
}

TEST(a_grant_counts_that_is_seen_behind_the_deadline)
{
    begin();
    SET(oversleeps, true);
    ok(zkr_mutex_acquire(it.m, 500, &it.g));
    SET(oversleeps, false);
    ok(zkr_grant_check(it.g));
    end();
}

/* -- intruders ------------------------------------------------------------- */

#define STEP(name, call)                                                       \
    static void name(void)                                                     \
    {                                                                          \
        call;                                                                  \
    }

/* One look at a time, in this gap and for a while after it: the accesses of a
 * look without the lock are not ordered by the next look. */
enum { LOOKS = 40 };

static void look_often(void (*look)(int i))
{
    for (int i = 0; i < LOOKS; i++) {
        look(i);
        relax(50000);
    }
}

static void look_at_session(int i)
{
    if (i % 5 == 0)
        (void)zkr_session_state(it.s);
    else if (i % 5 == 1)
        (void)zkr_session_id(it.s);
    else if (i % 5 == 2)
        (void)zkr_session_epoch(it.s);
    else if (i % 5 == 3)
        (void)zkr_session_timeout_ms(it.s);
    else
        (void)zkr_reentrant_mutex_depth(it.r);
}

static void look_at_grant(int i)
{
    if (i % 4 == 0)
        (void)zkr_grant_state(it.g);
    else if (i % 4 == 1)
        (void)zkr_grant_valid_until(it.g);
    else if (i % 4 == 2)
        (void)zkr_grant_depth(it.g);
    else
        any_result(zkr_grant_check(it.g));
}

STEP(ask_all, look_often(look_at_session))
STEP(end_session, client_says(ZKR__ZK_EXPIRED))

STEP(lose_node, client_changes_node(NULL))
STEP(ask_for_lock, client_changes_node("__REVOKE__"))
STEP(cancel, (void)zkr_lockable_cancel(it.m))

static void listen_for_a_moment(void)
{
    AUTO(listener) l = NULL;

    any_result(zkr_session_listen(it.s, on_session, NULL, &l));
}

STEP(use_grant, look_often(look_at_grant))
STEP(verify_grant, any_result(zkr_grant_verify(it.g, REPLY_MS)))
STEP(release_grant, (void)zkr_grant_release_async(it.g, NULL, NULL))
STEP(replace_listener, (void)zkr_grant_listen(it.g, on_grant, NULL))

/* What may happen at any time. */
static void (*const outsiders[])(void) = { ask_all,     end_session,
                                           lose_node,   client_reconnects,
                                           cancel,      listen_for_a_moment,
                                           ask_for_lock };
/* What a holder may do. */
static void (*const holders[])(void) = { use_grant, verify_grant, release_grant,
                                         replace_listener };

static void *intrude(void *arg)
{
    void (*const *intruder)(void) = arg;

    while (!GET(go))
        relax(20000);
    (*intruder)();
    SET(done, true);
    return NULL;
}

struct play {
    const char *name;
    const char *thread; /* whose gaps */
    void (*call)(void);
    bool holds; /* before the call */
    bool frees_grant;
};

/* Intrudes at a gap, or just before the call (0). Returns false at no gap. */
static bool play_once(const struct play *p, void (*const *intruder)(void),
                      int gap)
{
    begin();
    if (p->holds) {
        ok(zkr_mutex_acquire(it.m, -1, &it.g));
        ok(zkr_grant_listen(it.g, on_grant, NULL));
    }
    SET(go, gap == 0);
    SET(done, false);
    pthread_t thread = thread_start(intrude, (void *)(uintptr_t)intruder);
    SET(gaps_left, gap);
    SET(thread_with_gaps, p->thread);
    if (gap == 0)
        relax(500000);
    p->call();
    bool was_there = GET(go);
    SET(thread_with_gaps, NULL);
    SET(go, true);
    thread_join(thread);
    end();
    return was_there;
}

static void play_with(const struct play *p, void (*const intruders[])(void),
                      size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int gap = 0;

        while (play_once(p, &intruders[i], gap) && gap < GAPS_MAX)
            gap++;
    }
}

#define SELF "unit-gaps"

/* -- calls ----------------------------------------------------------------- */

#define IS(call, ...)                                                          \
    do {                                                                       \
        int is_rc = (call);                                                    \
                                                                               \
        if (!ONE_OF(is_rc, __VA_ARGS__))                                       \
            fail_msg("%s: %s", zkr_strerror(is_rc), zkr_error_detail());       \
    } while (0)

STEP(any_acquire, IS(zkr_mutex_acquire(it.m, REPLY_MS, &it.g), ZKR_OK,
                     ZKR_ECANCELED, ZKR_ETIMEDOUT))

static void acquire_and_release_reentrant(void)
{
    int rc = zkr_reentrant_mutex_acquire(it.r, REPLY_MS);

    IS(rc, ZKR_OK, ZKR_ETIMEDOUT);
    if (rc == ZKR_OK)
        IS(zkr_reentrant_mutex_release(it.r), ZKR_OK, ZKR_ELOST, ZKR_EPENDING);
}

static void free_held_reentrant(void)
{
    AUTO(reentrant_mutex) r = NEW(reentrant_mutex, it.s, "/lock", NULL);

    any_result(zkr_reentrant_mutex_acquire(r, REPLY_MS));
}

STEP(verify, IS(zkr_grant_verify(it.g, REPLY_MS), ZKR_OK, ZKR_ELOST,
                ZKR_ENOTHELD, ZKR_EUNSURE))

static void release(void)
{
    IS(zkr_grant_release(it.g), ZKR_OK, ZKR_ELOST, ZKR_ENOTHELD, ZKR_EPENDING);
    if (zkr_grant_depth(it.g) != 0)
        fail_msg("it is held %u times", zkr_grant_depth(it.g));
}

static void free_grant(void)
{
    zkr_grant_free(it.g);
    it.g = NULL;
}

/* While its callback may run. */
static void listen_again(void)
{
    client_reconnects();
    relax(100000);
    ok(zkr_grant_listen(it.g, on_grant, NULL));
    ok(zkr_grant_listen(it.g, NULL, NULL));
}

static void listen_to_session(void)
{
    client_reconnects();
    relax(100000);
    zkr_listener_free(it.l);
    it.l = NULL;
}

STEP(write_guarded,
     IS(zkr_grant_guarded_set(it.g, "/data", "x", 1, -1, REPLY_MS, NULL),
        ZKR_OK, ZKR_ELOST, ZKR_ENOTHELD, ZKR_EUNKNOWN, ZKR_EUNREACHABLE,
        ZKR_ZSESSIONEXPIRED))

static void look_on(void)
{
    AUTO(participants) list = NULL;

    any_result(zkr_participants_list(it.s, "/lock", NULL, &list));
    any_result(zkr_participants_revoke(it.s, zkr_grant_node(it.g)));
    any_result(zkr_participants_break(it.s, zkr_grant_node(it.g),
                                      zkr_grant_token(it.g), REPLY_MS));
}

/* -- our own threads ------------------------------------------------------- */

/* Callbacks, timers and handles have something to do. */
static void live(void)
{
    (void)zkr_grant_listen(it.g, on_grant, NULL);
    client_reconnects();
    relax(1000000);
    client_says(ZKR__ZK_EXPIRED);
    relax(3000000);
}

static const struct play plays[] = {
    { "an acquire", SELF, .call = any_acquire },
    { "a reentrant mutex", SELF, .call = acquire_and_release_reentrant },
    { "the end of a reentrant mutex that is held", SELF,
      .call = free_held_reentrant },
    { "a verify", SELF, verify, .holds = true },
    { "a release", SELF, release, .holds = true },
    { "the end of a grant", SELF, free_grant, .holds = true,
      .frees_grant = true },
    { "a listener of a grant", SELF, listen_again, .holds = true },
    { "a listener of a session", SELF, listen_to_session, .holds = true },
    { "a guarded write", SELF, write_guarded, .holds = true },
    { "a look", SELF, look_on, .holds = true },
    { "the dispatcher", "zkr-dispatch", live, .holds = true },
    { "the timer thread", "zkr-timers", live, .holds = true },
    { "the connector", "zkr-connector", live, .holds = true },
};

TEST_ROWS(others_come_in_each_gap, plays, p)
{
    play_with(p, outsiders, COUNT(outsiders));
    if (p->holds && !p->frees_grant)
        play_with(p, holders, COUNT(holders));
}

/* -- what a watch tells ---------------------------------------------------- */

enum { MAX_TOLD = 8 };

static struct {
    int count;
    int errors[MAX_TOLD];
    char data[MAX_TOLD][16]; /* "" without a reply */
} told;

static void on_change(int error, const struct zkr_reply *reply,
                      enum zkr_watch_why why, void *unused)
{
    if (told.count == MAX_TOLD)
        return;
    told.errors[told.count] = error;
    if (reply != NULL)
        (void)snprintf(told.data[told.count], sizeof(told.data[0]), "%s",
                       reply->data);
    told.count++;
}

static void second_result(void)
{
    client_changes_node("second");
    client_await_rest();
}

static void dispatch(zkr_session *s, int gap)
{
    SET(gaps_left, gap);
    SET(thread_with_gaps, SELF);
    for (int i = 0; i < 3; i++)
        ok(zkr_session_dispatch(s));
    SET(thread_with_gaps, NULL);
}

/* A result comes after the dispatcher has taken the notice of the one before,
 * and before that one is told. A watch told ZKR_OK without a result, after the
 * result that had come in the gap. */
TEST(a_result_in_a_gap_is_told_once)
{
    /* A dispatch of one callback unlocks the session no more often. */
    for (int gap = 1; gap <= 6; gap++) {
        client_reset();
        memset(&told, 0, sizeof(told));
        OPEN_GRANT(s, m, grant, ZKR_SESSION_OWN_LOOP);
        AUTO(watch) watch = MADE(watch, session_watch, s, zkr_grant_node(grant),
                                 ZKR_WATCH_DATA, NULL, on_change, NULL);
        client_await_rest();
        comes = second_result;
        dispatch(s, 0);
        assert_int_equal(told.count, 1);
        client_changes_node("first");
        client_await_rest();
        dispatch(s, gap);
        comes = NULL;
        for (int i = 1; i < told.count; i++) {
            assert_int_equal(told.errors[i], ZKR_OK);
            assert_string_not_equal(told.data[i], "");
        }
        assert_in_range(told.count, 2, 3);
    }
}
