/* SPDX-License-Identifier: Apache-2.0 */
/* Users who make mistakes: each wrong call is refused at once, and changes
 * nothing. */
#include <string.h>

#include "base/error.h"
#include "child.h"
#include "users.h"

static char too_long[ZKR_PATH_MAX + 2];

static void expect(const char *what, int rc, int expected)
{
    if (rc != expected)
        world_fail("%s: %d instead of %d", what, rc, expected);
}

static void nothing_told(int rc, zkr_grant *grant, void *user)
{
    (void)grant;
    (void)user;
    world_fail("what was refused is told: %d", rc);
}

static void mistake_locks(zkr_session *s)
{
    struct zkr_lockable_opts opts = ZKR_LOCKABLE_OPTS_INIT;
    zkr_reentrant_mutex *reentrant;
    zkr_unfair_mutex *unfair;
    zkr_mutex *mutex;
    zkr_rwlock *rw;

    expect("no path", zkr_mutex_new(s, NULL, NULL, &mutex), ZKR_EINVAL);
    expect("the root", zkr_mutex_new(s, "/", NULL, &mutex), ZKR_EPATH);
    expect("no slash", zkr_rwlock_new(s, "a", NULL, &rw), ZKR_EPATH);
    expect("a long path", zkr_mutex_new(s, too_long, NULL, &mutex),
           ZKR_ETOOLONG);
    expect("no pointer", zkr_mutex_new(s, "/a", NULL, NULL), ZKR_EINVAL);
    expect("no pointer", zkr_rwlock_new(s, "/a", NULL, NULL), ZKR_EINVAL);
    expect("no pointer", zkr_unfair_mutex_new(s, "/a", NULL, NULL), ZKR_EINVAL);
    expect("no pointer", zkr_reentrant_mutex_new(s, "/a", NULL, NULL),
           ZKR_EINVAL);
    expect("no path", zkr_reentrant_mutex_new(s, NULL, NULL, &reentrant),
           ZKR_EINVAL);
    opts.flags = ZKR_KAZOO_LAYOUT;
    expect("kazoo", zkr_unfair_mutex_new(s, "/a", &opts, &unfair), ZKR_EINVAL);
    opts.flags = 0;
    opts.reserved = 1;
    expect("reserved", zkr_mutex_new(s, "/a", &opts, &mutex), ZKR_EINVAL);
    opts.reserved = 0;
    opts.label = too_long;
    expect("a long label", zkr_mutex_new(s, "/a", &opts, &mutex), ZKR_ETOOLONG);
    opts.label = "\n";
    expect("a bad label", zkr_mutex_new(s, "/a", &opts, &mutex), ZKR_EINVAL);
    opts.size = 0;
    expect("no size", zkr_mutex_new(s, "/a", &opts, &mutex), ZKR_EINVAL);
}

static void mistake_null(void)
{
    zkr_grant *grant;

    expect("no mutex", zkr_mutex_acquire(NULL, 0, &grant), ZKR_EINVAL);
    expect("no mutex",
           zkr_mutex_acquire_async(NULL, 0, nothing_told, NULL, NULL),
           ZKR_EINVAL);
    expect("no mutex", zkr_lockable_cancel(NULL), ZKR_EINVAL);
    expect("no lock", zkr_lockable_cancel(NULL), ZKR_EINVAL);
    expect("no mutex", zkr_lockable_cancel(NULL), ZKR_EINVAL);
    expect("no mutex", zkr_lockable_cancel(NULL), ZKR_EINVAL);
    expect("no mutex", zkr_reentrant_mutex_release(NULL), ZKR_EINVAL);
    expect("no request", zkr_request_cancel(NULL), ZKR_EINVAL);
    if (zkr_lockable_path(NULL) != NULL || zkr_lockable_path(NULL) != NULL ||
        zkr_lockable_path(NULL) != NULL || zkr_lockable_path(NULL) != NULL)
        world_fail("no lock has a path");
    zkr_mutex_free(NULL);
    zkr_rwlock_free(NULL);
    zkr_unfair_mutex_free(NULL);
    zkr_reentrant_mutex_free(NULL);
    zkr_request_free(NULL);
    zkr_grant_free(NULL);
    zkr_participants_free(NULL);
    expect("no grant", zkr_grant_check(NULL), ZKR_EINVAL);
    expect("no grant", zkr_grant_release(NULL), ZKR_EINVAL);
    expect("no session", zkr_session_close(NULL), ZKR_OK);
    if (zkr_grant_token(NULL) != 0 || zkr_grant_node(NULL) != NULL ||
        zkr_session_state(NULL) != ZKR_SESSION_CLOSED ||
        strcmp(zkr_grant_state_name((enum zkr_grant_state_kind)0), "UNKNOWN") !=
            0)
        world_fail("what is not there has a token, a node or a state");
}

static void mistake_looks(zkr_session *s)
{
    struct zkr_participants_opts list_opts = ZKR_PARTICIPANTS_OPTS_INIT;
    struct zkr_participants *list;

    expect("no pointer", zkr_participants_list(s, "/a", NULL, NULL),
           ZKR_EINVAL);
    expect("the root", zkr_participants_list(s, "/", NULL, &list), ZKR_EPATH);
    list_opts.flags = 0x80;
    expect("flags", zkr_participants_list(s, "/a", &list_opts, &list),
           ZKR_EINVAL);
    list_opts.size = 1;
    expect("no size", zkr_participants_list(s, "/a", &list_opts, &list),
           ZKR_EINVAL);
    expect("no node", zkr_participants_revoke(s, NULL), ZKR_EINVAL);
    expect("no slash", zkr_participants_revoke(s, "a"), ZKR_EPATH);
    expect("no node", zkr_participants_break(s, NULL, 1, 0), ZKR_EINVAL);
    expect("no token", zkr_participants_break(s, "/a/holder", 0, 0),
           ZKR_EINVAL);
}

/* The calling thread does not hold it. */
static void mistake_reentrant(zkr_reentrant_mutex *m)
{
    expect("not held", zkr_reentrant_mutex_release(m), ZKR_ENOTHELD);
    if (zkr_reentrant_mutex_depth(m) != 0 ||
        zkr_reentrant_mutex_grant(m) != NULL)
        world_fail("what nobody has acquired is held");
}

void user_makes_mistakes(const struct thread *t)
{
    if (t->process->closed)
        return;
    memset(too_long, 'a', sizeof(too_long) - 1);
    too_long[0] = '/';
    mistake_locks(t->process->session);
    mistake_null();
    mistake_looks(t->process->session);
    if (world.recipe == REENTRANT && !user_shares_lock(t))
        mistake_reentrant(t->lock);
}

static int write_to(zkr_grant *grant, const char *path)
{
    return zkr_grant_guarded_create(grant, path, "", 0, 0);
}

/* The transaction of a write is made before its mistake is found. */
static void refused(const char *what, int rc, int expected)
{
    if (rc != ZKR_ENOMEM)
        expect(what, rc, expected);
}

static void mistake_writes(zkr_grant *g)
{
    if (world.recipe == UNFAIR) /* it guards nothing */
        return;
    refused("no path", write_to(g, NULL), ZKR_EINVAL);
    refused("no slash", write_to(g, "a"), ZKR_EPATH);
    refused("a long path", write_to(g, too_long), ZKR_ETOOLONG);
    refused("no data", zkr_grant_guarded_create(g, "/a", NULL, 1, 0),
            ZKR_EINVAL);
    refused("too much", zkr_grant_guarded_create(g, "/a", "", 1u << 30, 0),
            ZKR_ETOOLONG);
    expect("no grant", write_to(NULL, "/a"), ZKR_EINVAL);
}

/* In a child no call sends, frees or ends anything. */
static void in_a_child(struct thread *t, zkr_grant *g)
{
    zkr_session *s = t->process->session;
    zkr_grant *grant;

    child_pretend(true);
    expect("a child", zkr_session_close(s), ZKR_EFORKED);
    expect("a child", zkr_grant_check(g), ZKR_EFORKED);
    expect("a child", zkr_grant_verify(g, -1), ZKR_EFORKED);
    expect("a child", zkr_grant_release(g), ZKR_EFORKED);
    expect("a child", zkr_grant_release_async(g, NULL, NULL), ZKR_EFORKED);
    expect("a child", zkr_grant_listen(g, NULL, NULL), ZKR_EFORKED);
    expect("a child", write_to(g, "/a"), ZKR_EFORKED);
    expect("a child", zkr_participants_revoke(s, "/a/holder"), ZKR_EFORKED);
    expect("a child", user_acquire(t, false, -1, &grant), ZKR_EFORKED);
    zkr_grant_free(g);
    if (zkr_grant_valid_until(g) != 0 || zkr_grant_depth(g) != 0 ||
        zkr_grant_state(g) != ZKR_GRANT_LOST || zkr_session_id(s) != 0 ||
        zkr_session_epoch(s) != 0 || zkr_session_timeout_ms(s) != 0)
        world_fail("a child knows of what is its parent's");
    child_pretend(false);
}

void user_mistakes_grant(struct thread *t, zkr_grant *grant)
{
    if (t->process->closed)
        return;
    memset(too_long, 'a', sizeof(too_long) - 1);
    too_long[0] = '/';
    mistake_writes(grant);
    in_a_child(t, grant);
}
