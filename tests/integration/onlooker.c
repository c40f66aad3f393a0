/* SPDX-License-Identifier: Apache-2.0 */
/* The onlooker: common parts of the tests of participants, find and break. */
#include "onlooker.h"

zkr_session *s;
zkr_mutex *m;
char path[64];
struct proxy *proxy;
zkr_session *ps;
uint32_t reply_ms;

int onlooker_setup(void)
{
    s = open_session();
    (void)snprintf(path, sizeof(path), "%s", new_path());
    m = new_mutex(s, path);
    return 0;
}

int onlooker_teardown(void)
{
    zkr_mutex_free(m);
    (void)zkr_session_close(s);
    (void)admin_delete_tree(admin, path);
    return 0;
}

void open_proxied(const struct zkr_retry *retry)
{
    ps = open_to(proxy_hosts(proxy),
                 OPTS(session, .session_timeout_ms = SESSION_MS,
                      .reply_timeout_ms = reply_ms, .retry = *retry));
}

int proxied_setup(void)
{
    ok(proxy_start(server_hosts(the_server), &proxy));
    (void)onlooker_setup();
    open_proxied(&(struct zkr_retry){ 0 });
    make_directory();
    return 0;
}

int proxied_teardown(void)
{
    proxy_let_all_pass(proxy);
    close_through(ps, proxy);
    ps = NULL;
    return onlooker_teardown();
}

void make_directory(void)
{
    assert_int_equal(admin_create(admin, path, NULL), ZOK);
}

const char *in_dir(const char *name)
{
    return textf("%s/%s", path, name);
}

void make_with(const char *name, const char *data, int flags)
{
    char full[1400];

    (void)snprintf(full, sizeof(full), "%s", in_dir(name));
    for (char *p = full + strlen(path) + 1; (p = strchr(p, '/')) != NULL; p++) {
        *p = '\0';
        int rc = admin_create(admin, full, NULL);
        assert_true(rc == ZOK || rc == ZNODEEXISTS);
        *p = '/';
    }
    ok(admin_create_flags(admin, full, data, flags, NULL, 0));
}

void make(const char *name, const char *data)
{
    make_with(name, data, 0);
}

void forbid(const char *full, int32_t perms)
{
    struct ACL acl = { perms, { "world", "anyone" } };

    ok(admin_set_acl(admin, full, &(struct ACL_vector){ 1, &acl }));
}

void call_start_until_rule(struct caller *c, int (*run)(void *arg), void *arg)
{
    call_start(c, run, arg);
    assert_true(proxy_wait_rule(proxy, SOON_MS));
}

void times_out(int (*run)(void *arg), void *arg, int64_t timeout_ms)
{
    struct stopwatch *w = stopwatch_start();

    server_pause(the_server);
    int rc = run(arg);
    server_resume(the_server);
    assert_int_equal(rc, ZKR_EUNREACHABLE);
    assert_true(stopwatch_says(w, timeout_ms, timeout_ms + 1000));
}

struct admin *rival;

int pair_setup(void)
{
    (void)onlooker_setup();
    make_directory();
    return admin_open(server_hosts(the_server), &rival);
}

int pair_teardown(void)
{
    admin_close(rival);
    return onlooker_teardown();
}

void make_by(struct admin *who, const char *name)
{
    ok(admin_create_flags(who, in_dir(name), "10.0.0.1", ZOO_EPHEMERAL, NULL,
                          0));
}
