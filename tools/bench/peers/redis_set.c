/* SPDX-License-Identifier: Apache-2.0 */
/* Redis: SET key token NX PX ttl; a script compares the token and deletes.
 *
 * Source: redis.io, SET, "Patterns". The document asks a holder for no check,
 * so there are two of it: "redis-unchecked" believes until it has released;
 * "redis-set", in its favour, until the time to live has passed on its own
 * clock, counted from before the request.
 */
#include "redis.h"

static bool set_attempt(void *client, int64_t deadline)
{
    struct redis_client *c = client;
    struct redis_set set;
    redisReply *reply;

    (void)deadline;
    redis_set_make(&set, c->base.opts.name, c->base.token, c->base.opts.ttl_ms);
    reply = redis_call(&c->redis, 6, set.argv);
    bool held = reply != NULL && reply->type == REDIS_REPLY_STATUS;
    freeReplyObject(reply);
    return held;
}

static bool unchecked_attempt(void *client, int64_t deadline)
{
    ((struct rival_client *)client)->valid_until_ms = INT64_MAX;
    return set_attempt(client, deadline);
}

static enum rival_result set_release(void *client)
{
    struct redis_client *c = client;
    struct redis_unset unset;

    redis_unset_make(&unset, c->base.opts.name, c->base.token);
    switch (redis_number(&c->redis, 5, unset.argv, -1)) {
    case 1:
        return RIVAL_OK;
    case 0:
        return RIVAL_LOST;
    default:
        return RIVAL_ERROR;
    }
}

extern const struct rival redis_set, redis_unchecked;

const struct rival redis_set = { .name = "redis-set",
                                 .size = sizeof(struct redis_client),
                                 .open = redis_open,
                                 .attempt = set_attempt,
                                 .release = set_release,
                                 .close = redis_close };

const struct rival redis_unchecked = { .name = "redis-unchecked",
                                       .size = sizeof(struct redis_client),
                                       .open = redis_open,
                                       .attempt = unchecked_attempt,
                                       .release = set_release,
                                       .close = redis_close };
