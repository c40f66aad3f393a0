/* SPDX-License-Identifier: Apache-2.0 */
/* The fixture of the tests of the read/write lock. */
#include "rw_fixture.h"

struct proxy *proxy;
zkr_session *s;
zkr_session *other;
zkr_rwlock *lock;
zkr_rwlock *rival;
zkr_rwlock *visitor;
zkr_rwlock *nested;
acquire_call *const modes[2] = { by_reading, by_writing };
char path[64];
char dir[128];
const char *root = "";

int rw_setup(void)
{
    const struct zkr_session_opts *opts =
        OPTS(session, .session_timeout_ms = SESSION_MS,
             .chroot = root[0] == '\0' ? NULL : root);

    if (opts->chroot != NULL && admin_exists(admin, root, NULL) == ZNONODE)
        ok(admin_create(admin, root, NULL));
    s = open_through(&proxy, opts);
    other = open_session_with(opts);
    (void)snprintf(path, sizeof(path), "%s", new_path());
    (void)snprintf(dir, sizeof(dir), "%s%s", root, path);
    lock = new_rwlock(s, 0);
    rival = new_rwlock(other, 0);
    visitor = new_rwlock(other, 0);
    nested = new_rwlock(s, ZKR_REENTRANT);
    return 0;
}

int rw_teardown(void)
{
    proxy_let_all_pass(proxy);
    zkr_rwlock_free(lock);
    zkr_rwlock_free(rival);
    zkr_rwlock_free(visitor);
    zkr_rwlock_free(nested);
    (void)zkr_session_close(other);
    close_through(s, proxy);
    return 0;
}

int rw_run_in_both_roots(void)
{
    int failed = test_run_all();

    root = "/tests/app";
    return failed + test_run_all();
}

zkr_rwlock *new_rwlock(zkr_session *session, uint32_t flags)
{
    return NEW(rwlock, session, path, OPTS(lockable, .flags = flags));
}

zkr_grant *read_lock(zkr_rwlock *l)
{
    return GRANT(rwlock_acquire_read, l, SOON_MS);
}

zkr_grant *write_lock(zkr_rwlock *l)
{
    return GRANT(rwlock_acquire_write, l, SOON_MS);
}

void queue_up(struct waiter *w, acquire_call *call, zkr_rwlock *l)
{
    waiter_queue_by(w, call, l, dir);
}

zkr_grant *granted(struct waiter *w)
{
    if (waiter_join(w) != ZKR_OK)
        fail_msg("%s: %s", zkr_strerror(w->rc), w->detail);
    assert_int_equal(zkr_grant_check(w->grant), ZKR_OK);
    return w->grant;
}

zkr_grant *hand_on(zkr_grant *g, struct waiter *next)
{
    release(g);
    return granted(next);
}

void lose(zkr_grant *g)
{
    assert_int_equal(admin_delete(admin, node_of(g)), ZOK);
    wait_grant_state(g, ZKR_GRANT_LOST);
}

void still_waits(struct waiter *w)
{
    settle(s);
    settle(other);
    assert_false(waiter_is_done(w));
}

void is_refused(acquire_call *call)
{
    size_t queued = count_children(dir);
    int32_t before = stat_of(dir).cversion;

    assert_int_equal(call(visitor, 0, &nil), ZKR_EBUSY);
    assert_int_equal(stat_of(dir).cversion, before);
    tells(call(visitor, GIVE_UP_MS, &nil), ZKR_ETIMEDOUT, path);
    assert_null(nil);
    wait_children(dir, queued);
}

const char *node_of(zkr_grant *g)
{
    return textf("%s%s", root, zkr_grant_node(g));
}

int64_t sequence_of(zkr_grant *g)
{
    const char *node = zkr_grant_node(g);

    return strtoll(node + strlen(node) - 10, NULL, 10);
}

void be_quiet(zkr_grant *g)
{
    AWAIT(server_watches(the_server, node_of(g), zkr_session_id(s)) > 0);
    settle(s);
    proxy_reset_counts(proxy);
}

long count_requests(void)
{
    return proxy_requests(proxy, PROXY_ANY);
}
