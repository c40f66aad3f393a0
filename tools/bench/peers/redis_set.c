/* SPDX-License-Identifier: Apache-2.0 */
/* Redis: SET key token NX PX ttl; a script compares the token and deletes.
 *
 * Source: redis.io, SET, "Patterns". The document asks a holder for no check,
 * so there are two of it: "redis-unchecked" believes until it has released;
 * "redis-set", in its favour, until the time to live has passed on its own
 * clock, counted from before the request.
 */
#include "redis.h"

#include <stdlib.h>
#include <string.h>

struct client {
    struct redis redis;
    const char *name;
    int64_t ttl_ms;
    char token[TOKEN_SIZE];
    int64_t valid_until_ms;
    bool held;
};

static enum rival_result set_open(const struct rival_opts *opts,
                                  void **ret_client)
{
    struct client *c = calloc(1, sizeof(*c));
    char host[HOST_SIZE];
    int port;

    if (c == NULL || next_server(opts->servers, host, &port) == NULL)
        abort();
    redis_init(&c->redis, host, port, opts->ttl_ms / 2);
    c->name = opts->name;
    c->ttl_ms = opts->ttl_ms;
    *ret_client = c;
    return redis_connect(&c->redis) ? RIVAL_OK : RIVAL_ERROR;
}

static enum rival_result set_acquire(void *client, int64_t timeout_ms)
{
    struct client *c = client;
    int64_t deadline = deadline_after(timeout_ms);
    struct redis_set set;

    random_token(c->token);
    redis_set_make(&set, c->name, c->token, c->ttl_ms);
    do {
        int64_t start = now_ms();
        redisReply *reply = redis_call(&c->redis, 6, set.argv);
        bool held = reply != NULL && reply->type == REDIS_REPLY_STATUS;

        freeReplyObject(reply);
        if (held) {
            c->valid_until_ms = start + c->ttl_ms;
            c->held = true;
            return RIVAL_OK;
        }
    } while (pause_until(POLL_MS, deadline));
    return RIVAL_TIMEOUT;
}

static bool set_holds(void *client)
{
    struct client *c = client;

    return now_ms() < c->valid_until_ms;
}

static bool unchecked_holds(void *client)
{
    struct client *c = client;

    return c->held;
}

static enum rival_result set_release(void *client)
{
    struct client *c = client;
    struct redis_unset unset;

    c->held = false;
    redis_unset_make(&unset, c->name, c->token);
    switch (redis_number(&c->redis, 5, unset.argv, -1)) {
    case 1:
        return RIVAL_OK;
    case 0:
        return RIVAL_LOST;
    default:
        return RIVAL_ERROR;
    }
}

static void set_close(void *client)
{
    struct client *c = client;

    redis_drop(&c->redis);
    free(c);
}

extern const struct rival redis_set, redis_unchecked;

const struct rival redis_set = { .name = "redis-set",
                                 .open = set_open,
                                 .acquire = set_acquire,
                                 .holds = set_holds,
                                 .release = set_release,
                                 .close = set_close };

const struct rival redis_unchecked = { .name = "redis-unchecked",
                                       .open = set_open,
                                       .acquire = set_acquire,
                                       .holds = unchecked_holds,
                                       .release = set_release,
                                       .close = set_close };
