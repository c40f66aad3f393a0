/* SPDX-License-Identifier: Apache-2.0 */
/* The dispatcher: runs the callbacks of the user, one at a time, unlocked. */
#include "session/dispatch.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/opts.h"
#include "base/thread.h"
#include "session/session.h"

int zkr__dispatch_init(struct zkr__dispatch *d, bool own_loop)
{
    zkr__list_init(&d->due);
    d->fd = -1;
    if (!own_loop)
        return ZKR_OK;
    d->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (d->fd < 0)
        return zkr__fail(ZKR_ESYSTEM, "cannot make an eventfd: %s",
                         strerror(errno));
    return ZKR_OK;
}

void zkr__dispatch_done(struct zkr__dispatch *d)
{
    ZKR__NOT_CANCELLED;

    if (d->fd >= 0)
        (void)close(d->fd);
}

void zkr__notice_init(struct zkr__notice *n, void (*run)(struct zkr__notice *))
{
    zkr__list_init(&n->link);
    n->run = run;
}

/* The descriptor is readable exactly while something is due. */
static void show_due(struct zkr__dispatch *d, bool due)
{
    uint64_t value = 1;

    if (d->fd < 0)
        return;
    if (due)
        (void)!write(d->fd, &value, sizeof(value)); /* full: readable anyway */
    else
        (void)!read(d->fd, &value, sizeof(value)); /* empty: as wanted */
}

void zkr__dispatch_post_locked(struct zkr_session *s, struct zkr__notice *n)
{
    struct zkr__dispatch *d = &s->dispatch;

    assert(zkr__mtx_mine(&s->lock));
    if (zkr__notice_is_due(n))
        return;
    if (zkr__list_empty(&d->due))
        show_due(d, true);
    zkr__list_append(&d->due, &n->link);
    zkr__cond_wake(&d->changed);
}

static struct zkr__notice *take_locked(struct zkr__dispatch *d) ZKR__LOCKED
{
    struct zkr__list *link = zkr__list_pop(&d->due);

    if (link == NULL)
        return NULL;
    if (zkr__list_empty(&d->due))
        show_due(d, false);
    return ZKR__CONTAINER(link, struct zkr__notice, link);
}

static void run_due_unlocks(struct zkr_session *s) ZKR__UNLOCKS
{
    struct zkr__dispatch *d = &s->dispatch;
    struct zkr__notice *n;

    d->busy = true;
    d->runner = pthread_self();
    while ((n = take_locked(d)) != NULL) {
        d->running = n;
        zkr__session_unlock(s);
        n->run(n);
        zkr__session_lock(s);
        d->running = NULL;
        zkr__cond_wake(&d->changed);
    }
    d->busy = false;
}

static bool runs_callbacks(const struct zkr__dispatch *d)
{
    return d->busy && pthread_equal(d->runner, pthread_self());
}

static _Thread_local struct zkr__visit *visits; /* the innermost first */

void zkr__dispatch_enter(struct zkr_session *s, struct zkr__visit *visit)
{
    *visit = (struct zkr__visit){ s, visits };
    visits = visit;
}

void zkr__dispatch_leave(struct zkr__visit *visit)
{
    visits = visit->outer;
}

bool zkr__dispatch_inside_locked(const struct zkr_session *s)
{
    const struct zkr__visit *v = visits;

    while (v != NULL && v->session != s)
        v = v->outer;
    return v != NULL || runs_callbacks(&s->dispatch);
}

bool zkr__dispatch_withdraw_unlocks(struct zkr_session *s,
                                    struct zkr__notice *n)
{
    struct zkr__dispatch *d = &s->dispatch;

    assert(zkr__mtx_mine(&s->lock));
    /* This comes first, because a notice that runs may post itself again. */
    while (d->running == n && !runs_callbacks(d))
        (void)zkr__cond_wait(&d->changed, &s->lock, ZKR__NEVER);
    bool due = zkr__notice_is_due(n);
    if (due) {
        zkr__list_remove(&n->link);
        if (zkr__list_empty(&d->due))
            show_due(d, false);
    }
    return due;
}

static void *dispatch_main(void *arg)
{
    struct zkr_session *s = arg;
    struct zkr__dispatch *d = &s->dispatch;

    zkr__session_lock(s);
    for (;;) {
        run_due_unlocks(s);
        if (d->stop)
            break;
        (void)zkr__cond_wait(&d->changed, &s->lock, ZKR__NEVER);
    }
    zkr__session_unlock(s);
    return NULL;
}

int zkr__dispatch_start(struct zkr_session *s)
{
    if (s->dispatch.fd >= 0)
        return ZKR_OK;
    return zkr__thread_start(&s->dispatch.thread, "zkr-dispatch", dispatch_main,
                             s);
}

void zkr__dispatch_stop(struct zkr_session *s)
{
    struct zkr__dispatch *d = &s->dispatch;

    zkr__session_lock(s);
    d->stop = true;
    zkr__cond_wake(&d->changed);
    if (d->fd >= 0) {
        while (d->running != NULL)
            (void)zkr__cond_wait(&d->changed, &s->lock, ZKR__NEVER);
        run_due_unlocks(s);
    }
    zkr__session_unlock(s);
    if (d->fd < 0)
        (void)pthread_join(d->thread, NULL);
}

int zkr_session_fd(zkr_session *s, int *ret_fd)
{
    int rc = ZKR__OUTPUT(ret_fd);

    if (rc != ZKR_OK)
        return rc;
    *ret_fd = -1; /* no descriptor; 0 is one */
    rc = zkr__session_check(s, "session");
    if (rc != ZKR_OK)
        return rc;
    if (s->dispatch.fd < 0)
        return zkr__fail(ZKR_EINVAL, "the session has its own dispatcher "
                                     "thread: open it with "
                                     "ZKR_SESSION_OWN_LOOP");
    *ret_fd = s->dispatch.fd;
    return ZKR_OK;
}

/* A thread that is cancelled in a callback would never return from it, and a
 * close would wait for it for ever. */
int zkr_session_dispatch(zkr_session *s)
{
    int fd;
    ZKR__NOT_CANCELLED;
    int rc = zkr_session_fd(s, &fd);

    if (rc != ZKR_OK)
        return rc;
    zkr__session_lock(s);
    if (s->dispatch.busy)
        rc = runs_callbacks(&s->dispatch)
                 ? zkr__fail(ZKR_EDEADLK, "dispatch inside a callback")
                 : zkr__fail(ZKR_EBUSY, "another thread is dispatching");
    else
        run_due_unlocks(s);
    zkr__session_unlock(s);
    return rc;
}
