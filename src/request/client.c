/* SPDX-License-Identifier: Apache-2.0 */
/* The session as a client: the program's own reads and writes. */
#include <zkrecipes/client.h>

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/opts.h"
#include "request/client.h"
#include "session/session.h"

struct query {
    struct zkr__request request;
    struct zkr__copy copy;
    zkr_reply_fn fn;
    void *user;
    bool wants_reply;
    struct zkr_reply *reply;
};

static struct query *of(const struct zkr__request *r)
{
    return ZKR__CONTAINER(r, struct query, request);
}

static bool keep(struct zkr__request *r, const struct zkr__zk_reply *reply)
{
    struct query *q = of(r);

    if (!q->wants_reply || reply->rc != ZKR_OK)
        return true;
    q->reply = zkr__reply_copy(reply, strlen(r->session->hosts.chroot));
    return q->reply != NULL;
}

static int explain(const struct zkr__request *r)
{
    const struct query *q = of(r);
    char reason[ZKR__REASON_MAX];

    return zkr__fail(r->rc, "%s '%.200s': %s",
                     zkr__copy_verb(q->copy.request.type), q->copy.path,
                     zkr__copy_reason(&q->copy, r->rc, r->why, reason));
}

static void tell(struct zkr__request *r)
{
    struct query *q = of(r);

    if (q->fn != NULL)
        q->fn(r->rc, q->reply, q->user);
}

static void clear(struct zkr__request *r)
{
    struct query *q = of(r);

    zkr__copy_done(&q->copy);
    zkr_reply_free(q->reply);
}

static const struct zkr__request_kind query_kind = { "request",
                                                     sizeof(struct query), keep,
                                                     explain, clear };

/* The caller waits, or is told: `tell_it` is tell(). */
static int submit(struct zkr_session *s, const struct zkr__zk_request *asked,
                  const struct zkr_create_opts *opts, int64_t deadline,
                  void (*tell_it)(struct zkr__request *r), zkr_reply_fn fn,
                  void *user, struct zkr_reply **ret_reply)
{
    struct query *q = zkr__request_new(&query_kind, s, NULL, deadline);

    if (q == NULL)
        return ZKR_ENOMEM;
    q->request.tell = tell_it;
    q->wants_reply = fn != NULL || ret_reply != NULL;
    q->fn = fn;
    q->user = user;
    int rc = zkr__copy_init(&q->copy, s, asked, opts);
    q->request.ask.op.request = q->copy.request;
    if (rc == ZKR_OK)
        rc = zkr__request_run(&q->request, zkr__request_send_locked);
    if (rc == ZKR_OK && ret_reply != NULL) {
        *ret_reply = q->reply;
        q->reply = NULL;
    }
    zkr__request_unref(&q->request);
    return rc;
}

int zkr__session_ask(struct zkr_session *s, const struct zkr__zk_request *asked,
                     const struct zkr_create_opts *opts, int64_t deadline,
                     struct zkr_reply **ret_reply)
{
    ZKR__OUTPUT_IF_ANY(ret_reply);
    return submit(s, asked, opts, deadline, NULL, NULL, NULL, ret_reply);
}

int zkr__session_catch_up(struct zkr_session *s, const char *noun,
                          const char *path, int64_t deadline)
{
    char detail[ZKR__DETAIL_MAX];
    int rc = zkr__session_ask(s, ZKR__SYNC("/"), NULL, deadline, NULL);

    if (rc == ZKR_OK)
        return ZKR_OK;
    (void)snprintf(detail, sizeof(detail), "%s '%.150s': %.300s", noun, path,
                   zkr_error_detail());
    zkr__error_set_detail(detail);
    return rc;
}

void zkr__session_pause(struct zkr_session *s, int64_t until)
{
    zkr__session_lock(s);
    while (s->over == 0 && zkr__cond_wait(&s->changed, &s->lock, until))
        continue;
    zkr__session_unlock(s);
}

/* -- in the background ----------------------------------------------------- */

struct zkr__request *zkr__discard_new(struct zkr_session *s, const char *path)
{
    static const struct zkr__request_kind kind = {
        .noun = "delete",
        .size = sizeof(struct zkr__request),
    };

    return zkr__request_new(&kind, s, path, ZKR__NEVER);
}

static void on_deleted(struct zkr__ask *ask, const struct zkr__zk_reply *reply)
{
    zkr__session_assert_locked(ask->request->session);
    zkr__request_end_locked(ask->request, reply->rc, "not deleted");
}

/* Nobody waits, and it may be called inside a callback. */
void zkr__discard_run(struct zkr__request *discard)
{
    zkr__session_lock(discard->session);
    discard->ended = false;
    zkr__ask_locked(&discard->ask, ZKR__ZK_DELETE, discard->full_path,
                    ZKR__RETRY_ALWAYS, on_deleted);
    zkr__session_unlock(discard->session);
    zkr__request_unref(discard);
}

/* -- for the program ------------------------------------------------------- */

static int ask(zkr_session *s, const struct zkr__zk_request *asked,
               const struct zkr_create_opts *opts, int64_t timeout_ms,
               struct zkr_reply **ret_reply)
{
    int rc = zkr__session_check(s, "session");

    ZKR__OUTPUT_IF_ANY(ret_reply);
    return rc == ZKR_OK ? zkr__session_ask(s, asked, opts,
                                           zkr__session_deadline(s, timeout_ms),
                                           ret_reply)
                        : rc;
}

static int ask_async(zkr_session *s, const struct zkr__zk_request *asked,
                     const struct zkr_create_opts *opts, int64_t timeout_ms,
                     zkr_reply_fn fn, void *user)
{
    int rc = zkr__session_check(s, "session");

    return rc == ZKR_OK
               ? submit(s, asked, opts, zkr__session_deadline(s, timeout_ms),
                        tell, fn, user, NULL)
               : rc;
}

/* -- the requests ---------------------------------------------------------- */

/* A sync has no path: the servers look at none, but some refuse that of a
 * missing node. */

int zkr_session_get(zkr_session *s, const char *path, int64_t timeout_ms,
                    struct zkr_reply **ret_reply)
{
    return ask(s, ZKR__GET(path), NULL, timeout_ms, ret_reply);
}

int zkr_session_exists(zkr_session *s, const char *path, int64_t timeout_ms,
                       struct zkr_reply **ret_reply)
{
    return ask(s, ZKR__EXISTS(path), NULL, timeout_ms, ret_reply);
}

int zkr_session_children(zkr_session *s, const char *path, int64_t timeout_ms,
                         struct zkr_reply **ret_reply)
{
    return ask(s, ZKR__CHILDREN(path), NULL, timeout_ms, ret_reply);
}

int zkr_session_sync(zkr_session *s, int64_t timeout_ms)
{
    return ask(s, ZKR__SYNC("/"), NULL, timeout_ms, NULL);
}

int zkr_session_create(zkr_session *s, const char *path, const void *data,
                       size_t len, const struct zkr_create_opts *opts,
                       int64_t timeout_ms, struct zkr_reply **ret_reply)
{
    return ask(s, ZKR__CREATE(path, data, len), opts, timeout_ms, ret_reply);
}

int zkr_session_set(zkr_session *s, const char *path, const void *data,
                    size_t len, int32_t version, int64_t timeout_ms,
                    struct zkr_reply **ret_reply)
{
    return ask(s, ZKR__SET(path, data, len, version), NULL, timeout_ms,
               ret_reply);
}

int zkr_session_delete(zkr_session *s, const char *path, int32_t version,
                       int64_t timeout_ms)
{
    return ask(s, ZKR__DELETE(path, version), NULL, timeout_ms, NULL);
}

int zkr_session_get_async(zkr_session *s, const char *path, int64_t timeout_ms,
                          zkr_reply_fn fn, void *user)
{
    return ask_async(s, ZKR__GET(path), NULL, timeout_ms, fn, user);
}

int zkr_session_exists_async(zkr_session *s, const char *path,
                             int64_t timeout_ms, zkr_reply_fn fn, void *user)
{
    return ask_async(s, ZKR__EXISTS(path), NULL, timeout_ms, fn, user);
}

int zkr_session_children_async(zkr_session *s, const char *path,
                               int64_t timeout_ms, zkr_reply_fn fn, void *user)
{
    return ask_async(s, ZKR__CHILDREN(path), NULL, timeout_ms, fn, user);
}

int zkr_session_sync_async(zkr_session *s, int64_t timeout_ms, zkr_reply_fn fn,
                           void *user)
{
    return ask_async(s, ZKR__SYNC("/"), NULL, timeout_ms, fn, user);
}

int zkr_session_create_async(zkr_session *s, const char *path, const void *data,
                             size_t len, const struct zkr_create_opts *opts,
                             int64_t timeout_ms, zkr_reply_fn fn, void *user)
{
    return ask_async(s, ZKR__CREATE(path, data, len), opts, timeout_ms, fn,
                     user);
}

int zkr_session_set_async(zkr_session *s, const char *path, const void *data,
                          size_t len, int32_t version, int64_t timeout_ms,
                          zkr_reply_fn fn, void *user)
{
    return ask_async(s, ZKR__SET(path, data, len, version), NULL, timeout_ms,
                     fn, user);
}

int zkr_session_delete_async(zkr_session *s, const char *path, int32_t version,
                             int64_t timeout_ms, zkr_reply_fn fn, void *user)
{
    return ask_async(s, ZKR__DELETE(path, version), NULL, timeout_ms, fn, user);
}
