/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the client's own handle, lent to a function. */
#include "fixture.h"

#include <signal.h>
#include <sys/wait.h>

#include <zkrecipes/zhandle.h>

/* What a function was lent, and what it does. */
struct visit {
    zkr_session *session;
    zkr_mutex *mutex;
    struct recorder *answers;
    int calls;
    zhandle_t *zh;
};

static void on_acl(int rc, struct ACL_vector *acl, struct Stat *stat,
                   const void *data)
{
    const struct visit *v = data;

    recorder_add(v->answers, rc, acl == NULL ? -1 : acl->count);
}

static int ask_acl(zhandle_t *zh, void *user)
{
    struct visit *v = user;

    v->calls++;
    v->zh = zh;
    return zoo_aget_acl(zh, "/", on_acl, v);
}

static void expect_answer(struct visit *v, size_t i)
{
    int64_t count = 0;
    int code = 1;

    assert_true(recorder_wait(v->answers, i + 1, SOON_MS));
    assert_true(recorder_get(v->answers, i, &code, &count));
    assert_int_equal(code, ZOK);
    assert_int_equal(count, 1); /* everybody */
}

TEST(the_handle_serves_calls_that_we_do_not_wrap)
{
    struct visit v = { .session = open_session(), .answers = recorder_new() };

    for (int i = 0; i < 2; i++) {
        assert_int_equal(zkr_session_with_handle(v.session, ask_acl, &v), ZOK);
        assert_int_equal(v.calls, i + 1);
        expect_answer(&v, (size_t)i);
    }
    close_session(v.session);
    recorder_free(v.answers);
}

static int answer_17(zhandle_t *zh, void *user)
{
    return 17;
}

TEST(its_result_is_returned)
{
    AUTO(session) s = open_session();

    assert_int_equal(zkr_session_with_handle(s, answer_17, NULL), 17);
    assert_int_equal(zkr_session_with_handle(s, NULL, NULL), ZKR_OK);
    assert_int_equal(zkr_session_with_handle(NULL, answer_17, NULL),
                     ZKR_EINVAL);
}

TEST(without_a_connection_it_is_not_called)
{
    struct visit v = { .session = open_session(), .answers = recorder_new() };

    for (int i = 0; i < 2; i++) {
        server_kill9(the_server);
        wait_session_state(v.session, ZKR_SESSION_SUSPENDED);
        assert_int_equal(zkr_session_with_handle(v.session, ask_acl, &v),
                         ZKR_EUNREACHABLE);
        assert_int_equal(v.calls, i);
        restart_server();
        wait_session_state(v.session, ZKR_SESSION_RECONNECTED);
        assert_int_equal(zkr_session_with_handle(v.session, ask_acl, &v), ZOK);
        expect_answer(&v, (size_t)i);
    }
    close_session(v.session);
    recorder_free(v.answers);
}

static bool comes_to(zkr_session *s, enum zkr_session_state_kind state)
{
    return COMES(zkr_session_state(s) == state, SOON_MS);
}

/* The handle has expired, and is still there. */
static int outlive_the_session(zhandle_t *zh, void *user)
{
    struct visit *v = user;

    expire(v->session);
    if (!comes_to(v->session, ZKR_SESSION_LOST))
        return 1;
    return zoo_aget_acl(zh, "/", on_acl, v);
}

TEST(an_expiry_waits_for_it)
{
    struct visit v = { .session = open_session(), .answers = recorder_new() };

    for (int i = 0; i < 2; i++) {
        assert_int_equal(
            zkr_session_with_handle(v.session, outlive_the_session, &v),
            ZINVALIDSTATE);
        wait_session_state(v.session, ZKR_SESSION_RECONNECTED);
        assert_int_equal(zkr_session_epoch(v.session), (uint64_t)i + 2);
        assert_int_equal(zkr_session_with_handle(v.session, ask_acl, &v), ZOK);
        expect_answer(&v, (size_t)i);
    }
    close_session(v.session);
    recorder_free(v.answers);
}

static atomic_bool left;
static _Atomic(zhandle_t *) closed;

int __real_zookeeper_close(zhandle_t *zh);
int __wrap_zookeeper_close(zhandle_t *zh);

int __wrap_zookeeper_close(zhandle_t *zh)
{
    atomic_store(&closed, zh);
    return __real_zookeeper_close(zh);
}

/* The close of another session takes as long as that of ours would, and is
 * begun later. */
static int outlive_the_close(zhandle_t *zh, void *user)
{
    struct visit *v = user;
    bool closed_early = false;

    if (!comes_to(v->session, ZKR_SESSION_CLOSED))
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

struct closer {
    zkr_session *session;
    bool left;
    int rc;
};

static void *close_it(void *arg)
{
    struct closer *c = arg;

    c->rc = zkr_session_close(c->session);
    c->left = atomic_load(&left);
    return NULL;
}

static int close_elsewhere(zhandle_t *zh, void *user)
{
    struct visit *v = user;
    static struct closer c;
    static pthread_t thread;

    if (v == NULL) { /* after the function has returned */
        (void)pthread_join(thread, NULL);
        return c.rc == ZKR_OK && c.left ? ZOK : 5;
    }
    atomic_store(&left, false);
    atomic_store(&closed, NULL); /* an earlier one may have had this address */
    c = (struct closer){ .session = v->session, .rc = 1 };
    if (pthread_create(&thread, NULL, close_it, &c) != 0)
        return 4;
    return outlive_the_close(zh, v);
}

TEST(a_close_waits_for_it)
{
    for (int i = 0; i < 2; i++) {
        struct visit v = { .session = open_session() };

        ok(zkr_session_with_handle(v.session, close_elsewhere, &v));
        assert_int_equal(close_elsewhere(NULL, NULL), ZOK);
    }
}

static int try_to_wait(zhandle_t *zh, void *user)
{
    struct visit *v = user;
    zkr_grant *g = NULL;

    recorder_add(v->answers, zkr_session_close(v->session), 0);
    recorder_add(v->answers, zkr_mutex_acquire(v->mutex, -1, &g), 0);
    return ZOK;
}

TEST(inside_it_no_call_waits)
{
    struct visit v = { .session = open_session(), .answers = recorder_new() };
    int code;

    v.mutex = new_mutex(v.session, new_path());
    assert_int_equal(zkr_session_with_handle(v.session, try_to_wait, &v), ZOK);
    for (size_t i = 0; i < 2; i++) {
        assert_true(recorder_get(v.answers, i, &code, NULL));
        assert_int_equal(code, ZKR_EDEADLK);
    }
    release(acquire(v.mutex)); /* and afterwards they do */
    zkr_mutex_free(v.mutex);
    close_session(v.session);
    recorder_free(v.answers);
}

static void ask_in_a_callback(zkr_session *s,
                              const struct zkr_session_event *event, void *user)
{
    const struct visit *v = user;
    int rc = zkr_session_with_handle(s, ask_acl, user);

    if (rc != ZOK)
        recorder_add(v->answers, rc, -1);
}

TEST(a_callback_may_use_it)
{
    struct visit v = { .session = open_session(), .answers = recorder_new() };

    zkr_listener *l =
        MADE(listener, session_listen, v.session, ask_in_a_callback, &v);
    expect_answer(&v, 0);
    zkr_listener_free(l);
    close_session(v.session);
    recorder_free(v.answers);
}
