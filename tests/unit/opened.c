/* SPDX-License-Identifier: Apache-2.0 */
/* Opens the session and the mutex that the tests use; the fake client grants
 * it. */
#include "opened.h"

#include "unit.h"

zkr_session *open_session_with(const struct zkr_session_opts *opts)
{
    zkr_session *s = NULL;

    ok(zkr_session_open("127.0.0.1:2181", opts, &s));
    return s;
}

zkr_session *open_session(uint32_t flags)
{
    return open_session_with(OPTS(session, .flags = flags));
}

void close_session(zkr_session *s)
{
    ok(zkr_session_close(s));
}

void await_state(zkr_session *s, enum zkr_session_state_kind state)
{
    AWAIT(zkr_session_state(s) == state);
}

zkr_mutex *new_mutex(zkr_session *s)
{
    zkr_mutex *m = NEW(mutex, s, "/lock", NULL);
    return m;
}

zkr_grant *acquire(zkr_mutex *m)
{
    zkr_grant *g = GRANT(mutex_acquire, m, -1);
    return g;
}

void give_back(zkr_grant *g)
{
    ok(zkr_grant_release(g));
    zkr_grant_free(g);
}

static void on_outcome(int rc, zkr_grant *grant, void *user)
{
    struct outcome *o = user;

    o->rc = rc;
    o->grant = grant;
    atomic_store(&o->told, true);
}

void ask_for(zkr_mutex *m, struct outcome *o)
{
    ok(zkr_mutex_acquire_async(m, -1, on_outcome, o, NULL));
}

zkr_grant *granted(struct outcome *o)
{
    AWAIT(atomic_load(&o->told));
    ok(o->rc);
    return o->grant;
}
