/* SPDX-License-Identifier: Apache-2.0 */
/* Holders of locks. */
#include "holder.h"

#define ACQUIRE_MS 10000

void holder_open(struct holder *h, const char *hosts, uint32_t timeout_ms,
                 const char *path)
{
    h->session =
        open_to(hosts, OPTS(session, .session_timeout_ms = timeout_ms,
                            .lease_hops = h->hops, .lease_beacon = h->beacon));
    h->mutex = new_mutex(h->session, path);
    AUTO(grant) first = GRANT(mutex_acquire, h->mutex, ACQUIRE_MS);
    ok(zkr_grant_release(first));
    h->session_id = zkr_session_id(h->session);
    h->epoch = zkr_session_epoch(h->session);
}

static void on_acquired(int error, zkr_grant *g, void *holder)
{
    if (error == ZKR_OK)
        atomic_store(&((struct holder *)holder)->grant, g);
}

void holder_acquire(struct holder *h)
{
    ok(zkr_mutex_acquire_async(h->mutex, -1, on_acquired, h, NULL));
}

void holder_await(struct holder *h)
{
    assert_true(COMES(h->grant != NULL, HEALTHY_MS));
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
