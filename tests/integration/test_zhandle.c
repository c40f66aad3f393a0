/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the client's own handle, lent to a function. */
#include "usual.h"

#include <zkrecipes/zhandle.h>

static struct recorder *answers;
static int calls; /* of ask_acl() */

static int set_up(void)
{
    answers = recorder_new();
    calls = 0;
    return usual_setup();
}

static int tear_down(void)
{
    (void)usual_teardown();
    recorder_free(answers);
    return 0;
}

FIXTURE(set_up, tear_down)

static void on_acl(int rc, struct ACL_vector *acl, struct Stat *stat,
                   const void *data)
{
    recorder_add(answers, rc, acl == NULL ? -1 : acl->count);
}

static int ask_acl(zhandle_t *zh, void *user)
{
    calls++;
    return zoo_aget_acl(zh, "/", on_acl, NULL);
}

/* The answer: everybody. */
static void asks_acl(int times)
{
    assert_int_equal(zkr_session_with_handle(s, ask_acl, NULL), ZOK);
    assert_int_equal(calls, times);
    is_recorded(answers, (size_t)times - 1, ZOK, 1);
}

static int answer_17(zhandle_t *zh, void *user)
{
    return 17;
}

TEST(the_handle_serves_calls_that_we_do_not_wrap)
{
    asks_acl(1);
    asks_acl(2);
    assert_int_equal(zkr_session_with_handle(s, answer_17, NULL), 17);
    assert_int_equal(zkr_session_with_handle(s, NULL, NULL), ZKR_OK);
}

TEST(without_a_connection_it_is_not_called)
{
    for (int i = 0; i < 2; i++) {
        server_kill9(the_server);
        wait_session_state(s, ZKR_SESSION_SUSPENDED);
        gives(ZKR_EUNREACHABLE, zkr_session_with_handle(s, ask_acl, NULL));
        assert_int_equal(calls, i);
        restart_server();
        wait_session_state(s, ZKR_SESSION_RECONNECTED);
        asks_acl(i + 1);
    }
}

/* The handle has expired, and is still there. */
static int outlive_the_session(zhandle_t *zh, void *user)
{
    expire(s);
    if (!COMES(zkr_session_state(s) == ZKR_SESSION_LOST, SOON_MS))
        return 1;
    return zoo_aget_acl(zh, "/", on_acl, NULL);
}

TEST(an_expiry_waits_for_it)
{
    for (int i = 0; i < 2; i++) {
        assert_int_equal(zkr_session_with_handle(s, outlive_the_session, NULL),
                         ZINVALIDSTATE);
        wait_session_state(s, ZKR_SESSION_RECONNECTED);
        assert_int_equal(zkr_session_epoch(s), (uint64_t)i + 2);
        asks_acl(i + 1);
    }
}

static atomic_bool left;
static _Atomic(zhandle_t *) closed;

__typeof__(zookeeper_close) __real_zookeeper_close, __wrap_zookeeper_close;

int __wrap_zookeeper_close(zhandle_t *zh)
{
    atomic_store(&closed, zh);
    return __real_zookeeper_close(zh);
}

/* Not before the function has returned. */
static int close_it(void *session)
{
    int rc = zkr_session_close(session);

    return atomic_load(&left) ? rc : ZKR_EINVAL;
}

static struct caller closer;

/* Another session's close takes as long as ours would, and begins later. */
static int close_elsewhere(zhandle_t *zh, void *user)
{
    bool closed_early = false;

    atomic_store(&left, false);
    atomic_store(&closed, NULL); /* an earlier one may have had this address */
    call_start(&closer, close_it, user);
    if (!COMES(zkr_session_state(user) == ZKR_SESSION_CLOSED, SOON_MS))
        return 1;
    for (int i = 0; i < 2; i++) {
        zkr_session *other = NULL;

        if (zkr_session_open(server_hosts(the_server), NULL, &other) != ZKR_OK)
            return 2;
        closed_early = closed_early || atomic_load(&closed) == zh;
        (void)zkr_session_close(other);
    }
    atomic_store(&left, true);
    return closed_early ? 3 : ZOK;
}

TEST(a_close_waits_for_it)
{
    for (int i = 0; i < 2; i++) {
        zkr_session *session = open_session();

        ok(zkr_session_with_handle(session, close_elsewhere, session));
        ok(call_join(&closer));
    }
}

static int try_to_wait(zhandle_t *zh, void *user)
{
    zkr_grant *g = NULL;

    recorder_add(answers, zkr_session_close(s), 0);
    recorder_add(answers, zkr_mutex_acquire(m, -1, &g), 0);
    return ZOK;
}

TEST(inside_it_no_call_waits)
{
    assert_int_equal(zkr_session_with_handle(s, try_to_wait, NULL), ZOK);
    for (size_t i = 0; i < 2; i++)
        is_recorded(answers, i, ZKR_EDEADLK, 0);
    release(acquire(m)); /* and afterwards they do */
}

static void ask_in_a_callback(zkr_session *session,
                              const struct zkr_session_event *event, void *user)
{
    int rc = zkr_session_with_handle(session, ask_acl, NULL);

    if (rc != ZOK)
        recorder_add(answers, rc, -1);
}

TEST(a_callback_may_use_it)
{
    AUTO(listener)
    l = MADE(listener, session_listen, s, ask_in_a_callback, NULL);

    is_recorded(answers, 0, ZOK, 1);
}
