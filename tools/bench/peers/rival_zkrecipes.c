/* SPDX-License-Identifier: Apache-2.0 */
/* Ours: zkr_mutex, and zkr_grant_check() before each write. */
#include "rival.h"

#include <stdio.h>

#include <zkrecipes/zkrecipes.h>

struct client {
    struct rival_client base;
    zkr_session *session;
    zkr_mutex *mutex;
    zkr_grant *grant;
};

static enum rival_result failed(const char *what)
{
    return rival_fail("%s: %s", what, zkr_error_detail());
}

static bool ours_open(void *client)
{
    struct client *c = client;
    struct zkr_session_opts session = ZKR_SESSION_OPTS_INIT;
    char path[256];

    session.session_timeout_ms = (uint32_t)c->base.opts.ttl_ms;
    (void)snprintf(path, sizeof(path), "/rivals/%s", c->base.opts.name);
    if (zkr_session_open(c->base.opts.servers, &session, &c->session) ==
            ZKR_OK &&
        zkr_mutex_new(c->session, path, NULL, &c->mutex) == ZKR_OK)
        return true;
    (void)failed("open");
    return false;
}

static enum rival_result ours_acquire(void *client, int64_t timeout_ms)
{
    struct client *c = client;

    switch ((int)zkr_mutex_acquire(c->mutex, timeout_ms, &c->grant)) {
    case ZKR_OK:
        return RIVAL_OK;
    case ZKR_ETIMEDOUT:
        return RIVAL_TIMEOUT;
    default:
        return failed("acquire");
    }
}

static bool ours_holds(void *client)
{
    struct client *c = client;

    return zkr_grant_check(c->grant) == ZKR_OK;
}

static int64_t ours_token(void *client)
{
    struct client *c = client;

    return zkr_grant_token(c->grant);
}

static enum rival_result ours_release(void *client)
{
    struct client *c = client;
    int rc = zkr_grant_release(c->grant);

    zkr_grant_free(c->grant);
    c->grant = NULL;
    if (rc == ZKR_OK || rc == ZKR_EPENDING)
        return RIVAL_OK;
    return rc == ZKR_ELOST ? RIVAL_LOST : failed("release");
}

static void ours_close(void *client)
{
    struct client *c = client;

    zkr_grant_free(c->grant);
    zkr_mutex_free(c->mutex);
    (void)zkr_session_close(c->session);
}

static const struct rival ours = { .name = "zkrecipes",
                                   .size = sizeof(struct client),
                                   .open = ours_open,
                                   .acquire = ours_acquire,
                                   .holds = ours_holds,
                                   .token = ours_token,
                                   .release = ours_release,
                                   .close = ours_close };

const struct rival *const rivals[] = { &ours, NULL };
