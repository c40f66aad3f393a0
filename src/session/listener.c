/* SPDX-License-Identifier: Apache-2.0 */
/* Listeners: callbacks of the user for every change of the session's state. */
#include <stdlib.h>

#include "base/error.h"
#include "base/opts.h"
#include "base/ring.h"
#include "session/session.h"

struct zkr_listener {
    struct zkr_session *session;
    struct zkr__ref ref; /* the user's, and one while it runs */
    struct zkr__list link;
    struct zkr__notice notice;
    struct zkr__ring latest;
    struct zkr_session_event events[ZKR__RING_MAX];
    zkr_session_fn fn;
    void *user;
};

static void tell_locked(struct zkr_listener *l) ZKR__LOCKED
{
    struct zkr_session *s = l->session;

    l->events[zkr__ring_push(&l->latest)] = (struct zkr_session_event){
        .state = (enum zkr_session_state_kind)s->sm.state,
        .epoch = s->epoch,
        .session_id = s->id,
        .cause = zkr__reason_of_state_locked(s),
    };
    zkr__dispatch_post_locked(s, &l->notice);
}

void zkr__listeners_tell_locked(struct zkr_session *s)
{
    for (struct zkr__list *l = s->listeners.next; l != &s->listeners;
         l = l->next)
        tell_locked(ZKR__CONTAINER(l, struct zkr_listener, link));
}

static void free_listener(struct zkr__ref *ref)
{
    struct zkr_listener *l = ZKR__CONTAINER(ref, struct zkr_listener, ref);
    struct zkr_session *s = l->session;

    free(l);
    zkr__session_unref(s);
}

static void run_listener(struct zkr__notice *notice)
{
    struct zkr_listener *l =
        ZKR__CONTAINER(notice, struct zkr_listener, notice);
    struct zkr_session *s = l->session;
    struct zkr_session_event event = { 0 };
    unsigned slot;

    zkr__session_lock(s);
    zkr__ref_take(&l->ref); /* the callback may free it */
    if (zkr__ring_pop(&l->latest, &slot))
        event = l->events[slot];
    if (l->latest.count > 0)
        zkr__dispatch_post_locked(s, &l->notice);
    zkr__session_unlock(s);
    if (l->fn != NULL)
        l->fn(s, &event, l->user);
    zkr__ref_drop(&l->ref);
}

int zkr_session_listen(zkr_session *s, zkr_session_fn fn, void *user,
                       zkr_listener **ret_listener)
{
    int rc = ZKR__OUTPUT(ret_listener);

    if (rc == ZKR_OK)
        rc = zkr__session_check(s, "session");
    if (rc != ZKR_OK)
        return rc;
    struct zkr_listener *l = calloc(1, sizeof(*l));
    if (l == NULL)
        return zkr__no_memory("listener", NULL);
    zkr__session_ref(s);
    l->session = s;
    zkr__ref_init(&l->ref, free_listener);
    l->fn = fn;
    l->user = user;
    zkr__notice_init(&l->notice, run_listener);
    zkr__session_lock(s);
    zkr__list_append(&s->listeners, &l->link);
    *ret_listener = l;
    tell_locked(l);
    zkr__session_unlock(s);
    return ZKR_OK;
}

void zkr_listener_free(zkr_listener *l)
{
    if (l == NULL || zkr__session_check(l->session, "listener") != ZKR_OK)
        return;
    struct zkr_session *s = l->session;
    zkr__session_lock(s);
    zkr__list_remove(&l->link);
    (void)zkr__dispatch_withdraw_unlocks(s, &l->notice);
    zkr__session_unlock(s);
    zkr__ref_drop(&l->ref);
}
