/* SPDX-License-Identifier: Apache-2.0 */
/* Holders of locks, whose grants are checked every millisecond. */
#include "holder.h"

#include <stdatomic.h>
#include <stdlib.h>

#include <pthread.h>

#include "scope.h"
#include "session/session.h"
#include "wait.h"

#define MS         1000000
#define ACQUIRE_MS 10000

struct asking {
    struct holder *holders;
    int count;
    pthread_t thread;
    atomic_bool stop;
    atomic_long unsure;
};

int holder_open(struct holder *h, const char *hosts, uint32_t timeout_ms,
                const char *path)
{
    zkr_grant *first = NULL;
    int rc =
        zkr_session_open(hosts,
                         OPTS(session, .session_timeout_ms = timeout_ms,
                              .lease_hops = h->hops, .lease_beacon = h->beacon),
                         &h->session);

    if (rc == ZKR_OK)
        rc = zkr_mutex_new(h->session, path, NULL, &h->mutex);
    if (rc == ZKR_OK)
        rc = zkr_mutex_acquire(h->mutex, ACQUIRE_MS, &first);
    if (rc == ZKR_OK)
        rc = zkr_grant_release(first);
    zkr_grant_free(first);
    if (rc != ZKR_OK)
        return rc;
    h->session_id = zkr_session_id(h->session);
    h->epoch = zkr_session_epoch(h->session);
    return ZKR_OK;
}

static void on_acquired(int error, zkr_grant *g, void *holder)
{
    struct holder *h = holder;

    if (error == ZKR_OK)
        atomic_store(&h->grant, g);
}

void holder_acquire(struct holder *h)
{
    if (zkr_mutex_acquire_async(h->mutex, -1, on_acquired, h, NULL) != ZKR_OK)
        abort();
}

bool holder_has_grant(void *holder)
{
    return atomic_load(&((struct holder *)holder)->grant) != NULL;
}

/* The session is closed first, because the close delivers the last
 * callbacks. */
void holder_close(struct holder *h)
{
    (void)zkr_session_close(h->session);
    zkr_mutex_free(h->mutex);
    zkr_grant_free(atomic_load(&h->grant));
    atomic_store(&h->grant, NULL);
    h->belief = (struct belief){ 0 };
}

static int64_t max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* The negative control, which believes the last answer, as other clients do. */
static int64_t naive_until(const struct holder *h)
{
    zkr_session *s = h->session;
    int64_t until = 0;

    zkr__session_lock(s);
    if (s->epoch == h->epoch && s->lease.last_committed != 0)
        until = s->lease.last_committed + s->lease.timeout;
    zkr__session_unlock(s);
    return until;
}

int64_t holder_proven_until(const struct holder *h)
{
    zkr_session *s = h->session;
    int64_t until = 0;

    zkr__session_lock(s);
    if (s->epoch == h->epoch)
        until = zkr__lease_until(&s->lease);
    zkr__session_unlock(s);
    return until;
}

static bool is_connected(const struct holder *h)
{
    enum zkr_session_state_kind state = zkr_session_state(h->session);

    return zkr_session_epoch(h->session) == h->epoch &&
           (state == ZKR_SESSION_CONNECTED || state == ZKR_SESSION_RECONNECTED);
}

/* The clock is read before each question: what it is about may change between
 * the answer and any later reading. */
static void ask_grant(struct asking *a, struct belief *b, zkr_grant *g)
{
    int64_t now = boot_ns();

    if (zkr_grant_check(g) == ZKR_OK) {
        b->last_ok = now;
    } else {
        b->unsure++;
        atomic_fetch_add(&a->unsure, 1);
    }
    int64_t until = zkr_grant_valid_until(g);
    if (until != 0)
        b->valid_until = max(b->valid_until, (until + 1) * MS);
}

static void ask(struct asking *a, struct holder *h)
{
    zkr_grant *g = atomic_load(&h->grant);
    struct belief *b = &h->belief;
    int64_t now = boot_ns();

    if (is_connected(h))
        b->connected = now;
    b->naive_until = max(b->naive_until, naive_until(h));
    if (g != NULL)
        ask_grant(a, b, g);
    if (g != NULL && h->hops != 0)
        b->valid_until = max(b->valid_until, holder_proven_until(h));
}

static void *ask_all(void *arg)
{
    struct asking *a = arg;

    while (!atomic_load(&a->stop)) {
        for (int i = 0; i < a->count; i++)
            ask(a, &a->holders[i]);
        sleep_ms(1);
    }
    return NULL;
}

struct asking *asking_start(struct holder *holders, int count)
{
    struct asking *a = calloc(1, sizeof(*a));

    if (a == NULL)
        abort();
    a->holders = holders;
    a->count = count;
    if (pthread_create(&a->thread, NULL, ask_all, a) != 0)
        abort();
    return a;
}

long asking_unsure(struct asking *a)
{
    return atomic_load(&a->unsure);
}

void asking_stop(struct asking *a)
{
    atomic_store(&a->stop, true);
    (void)pthread_join(a->thread, NULL);
    free(a);
}
