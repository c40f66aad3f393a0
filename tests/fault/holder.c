/* SPDX-License-Identifier: Apache-2.0 */
/* Holders of locks. */
#include "holder.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "scope.h"

#define ACQUIRE_MS 10000

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
