/* SPDX-License-Identifier: Apache-2.0 */
/* Each call of the library that waits, with the set-up that it needs. */
#include "calls.h"

#include "fixture.h"

zkr_session *calls_session(const char *hosts)
{
    return open_to(hosts,
                   OPTS(session, .session_timeout_ms = 2 * BRIEF_SESSION_MS,
                        .reply_timeout_ms = REPLY_MS));
}

void call_clean(struct attempt *a)
{
    zkr_grant_free(a->result);
    zkr_grant_free(a->grant);
    zkr_lockable_free(a->lock);
    (void)zkr_session_close(a->own);
}

#define CALL(name, ...)                                                        \
    static int name(struct attempt *a)                                         \
    {                                                                          \
        return __VA_ARGS__;                                                    \
    }

#define PREPARE(name, ...)                                                     \
    static void name(struct attempt *a)                                        \
    {                                                                          \
        __VA_ARGS__;                                                           \
    }

/* -- the mutex ------------------------------------------------------------ */

PREPARE(with_mutex, a->lock = new_mutex(a->session, a->path))

static void with_grant(struct attempt *a)
{
    with_mutex(a);
    a->grant = acquire(a->lock);
}

CALL(acquire_mutex, zkr_mutex_acquire(a->lock, DEADLINE_MS, &a->result))
CALL(try_mutex, zkr_mutex_acquire(a->lock, 0, &a->result))
CALL(release_grant, zkr_grant_release(a->grant))
CALL(verify, zkr_grant_verify(a->grant, DEADLINE_MS))

static void ignore(int error, zkr_grant *g, void *user)
{
    zkr_grant_free(g);
}

/* Makes all calls that promise not to wait, one after the other. */
static int nothing_that_waits(struct attempt *a)
{
    zkr_mutex *m = NULL;
    int rc = zkr_grant_check(a->grant); /* whatever it says */

    (void)zkr_grant_valid_until(a->grant);
    (void)zkr_session_state(a->session);
    rc = zkr_mutex_new(a->session, a->path, NULL, &m);
    if (rc == ZKR_OK)
        rc = zkr_mutex_acquire_async(m, -1, ignore, NULL, NULL);
    (void)zkr_lockable_cancel(m);
    zkr_mutex_free(m);
    if (rc == ZKR_OK)
        rc = zkr_grant_release_async(a->grant, NULL, NULL);
    zkr_grant_free(a->grant);
    a->grant = NULL;
    return rc;
}

/* -- other locks ---------------------------------------------------------- */

PREPARE(with_reentrant,
        a->lock = NEW(reentrant_mutex, a->session, a->path, NULL))

CALL(acquire_reentrant, zkr_reentrant_mutex_acquire(a->lock, DEADLINE_MS))

PREPARE(with_unfair, a->lock = NEW(unfair_mutex, a->session, a->path, NULL))

CALL(acquire_unfair, zkr_unfair_mutex_acquire(a->lock, DEADLINE_MS, &a->result))

PREPARE(with_rwlock, a->lock = NEW(rwlock, a->session, a->path, NULL))

static void with_write_grant(struct attempt *a)
{
    with_rwlock(a);
    ok(zkr_rwlock_acquire_write(a->lock, SOON_MS, &a->grant));
}

CALL(acquire_read, zkr_rwlock_acquire_read(a->lock, DEADLINE_MS, &a->result))
CALL(acquire_write, zkr_rwlock_acquire_write(a->lock, DEADLINE_MS, &a->result))
CALL(downgrade, zkr_rwlock_downgrade(a->lock, a->grant, &a->result))

/* -- looking on ----------------------------------------------------------- */

static int list(struct attempt *a)
{
    struct zkr_participants *list = NULL;

    int rc = zkr_participants_list(
        a->session, a->path, OPTS(participants, .timeout_ms = DEADLINE_MS),
        &list);
    zkr_participants_free(list);
    return rc;
}

CALL(revoke_it, zkr_participants_revoke(a->session, zkr_grant_node(a->grant)))
CALL(break_it, zkr_participants_break(a->session, zkr_grant_node(a->grant),
                                      zkr_grant_token(a->grant), DEADLINE_MS))

/* -- sessions ------------------------------------------------------------- */

PREPARE(with_nothing, (void)a)

PREPARE(with_session, a->own = calls_session(a->hosts))

CALL(open_it,
     zkr_session_open(a->hosts, OPTS(session, .connect_timeout_ms = CONNECT_MS),
                      &a->own))

static int close_it(struct attempt *a)
{
    zkr_session *s = a->own;

    a->own = NULL;
    return zkr_session_close(s);
}

const struct call calls[] = {
    { "acquire", DEADLINE_MS, false, with_mutex, acquire_mutex },
    { "acquire, waiting", DEADLINE_MS, true, with_grant, acquire_mutex },
    { "try", REPLY_MS, false, with_mutex, try_mutex },
    { "acquire, reentrant", DEADLINE_MS, false, with_reentrant,
      acquire_reentrant },
    { "acquire, unfair", DEADLINE_MS, false, with_unfair, acquire_unfair },
    { "acquire to read", DEADLINE_MS, false, with_rwlock, acquire_read },
    { "acquire to write", DEADLINE_MS, false, with_rwlock, acquire_write },
    { "acquire to write, waiting", DEADLINE_MS, true, with_write_grant,
      acquire_write },
    { "downgrade", 2 * REPLY_MS, false, with_write_grant, downgrade },
    { "release", REPLY_MS, false, with_grant, release_grant },
    { "verify", DEADLINE_MS, false, with_grant, verify },
    { "list participants", DEADLINE_MS, false, with_grant, list },
    { "revoke", REPLY_MS, false, with_grant, revoke_it },
    { "break", DEADLINE_MS, false, with_grant, break_it },
    { "what does not wait", 0, false, with_grant, nothing_that_waits },
    { "open a session", CONNECT_MS + 500, false, with_nothing, open_it },
    { "close a session", CLOSE_MS, false, with_session, close_it },
};

const size_t call_count = sizeof(calls) / sizeof(calls[0]);
