/* SPDX-License-Identifier: Apache-2.0 */
/* Tests with one of three servers at a time: the wrong one, an old one, the
 * last one. */
#include "fixture.h"

enum { SERVERS = 3, TIMEOUT_MS = 2000, HEALTHY_MS = 60000 };

static struct ensemble *ensemble;

/* A session's way to one server. */
struct connection {
    const struct server *server;
    int64_t session_id;
    struct proxy *proxy;
    struct proxy *before; /* this one can hang up while `proxy` holds */
};

static bool is_there(const struct connection *c)
{
    AUTO(text) cons = server_4lw(c->server, "cons");

    return cons != NULL &&
           strstr(cons, textf("sid=0x%llx",
                              (unsigned long long)c->session_id)) != NULL;
}

/* -- a write that comes late, through the server of before ---------------- */

/* If the old server accepted it, there would be a node of ours that no search
 * has found, and everybody would wait for it until the session ends. */
TEST(a_late_create_through_the_old_server_is_refused)
{
    struct connection at[2] = { { .server = ensemble_server(ensemble, 0) },
                                { .server = ensemble_server(ensemble, 1) } };
    struct connection *old = &at[0];
    struct connection *present = &at[1];
    struct recorder *r = recorder_new();
    const char *path = new_path();

    for (int i = 0; i < 2; i++) {
        ok(proxy_start(server_hosts(at[i].server), &at[i].proxy));
        ok(proxy_start(proxy_hosts(at[i].proxy), &at[i].before));
    }
    zkr_session *s = open_to(
        textf("%s,%s", proxy_hosts(old->before), proxy_hosts(present->before)),
        OPTS(session, .session_timeout_ms = SESSION_MS));
    zkr_mutex *m = new_mutex(s, path);
    release(acquire(m));
    old->session_id = present->session_id = zkr_session_id(s);
    AWAIT(is_there(old) || is_there(present));
    if (!is_there(
            old)) { /* on a busy machine it was too late for the session */
        old = &at[1];
        present = &at[0];
    }

    proxy_rule(old->proxy, ZOO_CREATE2_OP, 1, PROXY_HOLD_REQUEST);
    ok(zkr_mutex_acquire_async(m, -1, record_acquire, r, NULL));
    assert_true(proxy_wait_rule(old->proxy, SOON_MS));
    proxy_cut(old->before);
    ok(recorded(r, 0)); /* through the other server */
    assert_int_equal(zkr_session_epoch(s), 1);
    assert_true(is_there(old));
    assert_true(is_there(present));

    proxy_release(old->proxy);
    AWAIT(!is_there(old));
    sleep_ms(200); /* for something not to happen */
    assert_int_equal(count_children(path), 1);
    wait_verified(recorded_grant(r, 0));
    release(recorded_grant(r, 0));
    assert_int_equal(count_children(path), 0);
    recorder_free(r);
    zkr_mutex_free(m);
    close_session(s);
    for (int i = 0; i < 2; i++) {
        proxy_stop(at[i].before);
        proxy_stop(at[i].proxy);
    }
}

/* -- the last one --------------------------------------------------------- */

static bool is_read_only(const struct server *server)
{
    AUTO(text) answer = server_4lw(server, "isro");

    return answer != NULL && strncmp(answer, "ro", 2) == 0;
}

/* The new leader gives all sessions their whole time again, so the lock is
 * often still ours. A committed write says whether it is; nothing else does. */
TEST(without_a_majority_there_is_no_lease_and_maybe_a_lock_again)
{
    AUTO(session) s = open_to(ensemble_hosts(ensemble),
                              OPTS(session, .session_timeout_ms = TIMEOUT_MS));
    AUTO(mutex) m = new_mutex(s, new_path());
    AUTO(mutex) other = new_mutex(s, new_path());
    zkr_grant *g = acquire(m);
    struct Stat stat;

    admin_close(admin);
    server_kill9(ensemble_server(ensemble, 0));
    server_kill9(ensemble_server(ensemble, 1));
    int64_t start = now_ms();
    struct stopwatch *w = stopwatch_start();
    AWAIT(zkr_grant_check(g) == ZKR_EUNSURE);
    assert_true(stopwatch_says(w, 0, TIMEOUT_MS));
    assert_true(COMES(is_read_only(ensemble_server(ensemble, 2)), HEALTHY_MS));
    /* The last server only serves reads, so the library must not use it. */
    wait_session_state(s, ZKR_SESSION_SUSPENDED);
    int rc = zkr_mutex_acquire(other, 0, &nil);
    assert_int_equal(zkr_session_state(s), ZKR_SESSION_SUSPENDED);
    assert_true(rc == ZCONNECTIONLOSS || rc == ZOPERATIONTIMEOUT);
    assert_int_equal(zkr_mutex_acquire(other, 300, &nil), ZKR_ETIMEDOUT);
    while (now_ms() < start + 2 * TIMEOUT_MS)
        sleep_ms(10);
    assert_int_equal(zkr_grant_check(g), ZKR_EUNSURE);

    /* Neither comes up without the other. */
    ok(server_restart(ensemble_server(ensemble, 0)));
    ok(server_restart(ensemble_server(ensemble, 1)));
    assert_true(
        COMES((sleep_ms(50), ensemble_leader(ensemble) >= 0), HEALTHY_MS));
    assert_true(COMES(zkr_grant_state(g) == ZKR_GRANT_HELD ||
                          zkr_grant_state(g) == ZKR_GRANT_LOST,
                      HEALTHY_MS));
    ok(admin_open(ensemble_hosts(ensemble), &admin));
    bool exists = admin_exists(admin, zkr_grant_node(g), &stat) == ZOK;
    printf("after %lld ms without a majority: %s\n",
           (long long)(now_ms() - start),
           zkr_grant_state_name(zkr_grant_state(g)));
    assert_int_equal(zkr_grant_state(g) == ZKR_GRANT_HELD, exists);
    if (exists) {
        assert_int_equal(stat.czxid, zkr_grant_token(g));
        wait_verified(g);
    }
    zkr_grant_free(g);
    release(acquire(m));
}

static int setup(void)
{
    return open_admin(ensemble_hosts(ensemble));
}

int main(void)
{
    static const char *const java[] = { "-Dreadonlymode.enabled=true", NULL };
    const struct server_opts opts = { .java_opts = java };

    return run_with_ensemble(SERVERS, &opts, &ensemble, setup, NULL);
}
