/* SPDX-License-Identifier: Apache-2.0 */
/* Redis: the connection, and the programs' list of locks. */
#include "redis.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void redis_init(struct redis *redis, const char *host, int port,
                int64_t timeout_ms)
{
    *redis = (struct redis){ .port = port, .timeout_ms = timeout_ms };
    (void)snprintf(redis->host, sizeof(redis->host), "%s", host);
}

void redis_drop(struct redis *redis)
{
    if (redis->ctx != NULL)
        redisFree(redis->ctx);
    redis->ctx = NULL;
}

bool redis_connect(struct redis *redis)
{
    struct timeval limit = { .tv_sec = redis->timeout_ms / 1000,
                             .tv_usec = redis->timeout_ms % 1000 * 1000 };

    if (redis->ctx != NULL)
        return true;
    redis->ctx = redisConnectWithTimeout(redis->host, redis->port, limit);
    if (redis->ctx != NULL && redis->ctx->err == 0 &&
        redisSetTimeout(redis->ctx, limit) == REDIS_OK)
        return true;
    (void)rival_fail("redis %s:%d: %s", redis->host, redis->port,
                     redis->ctx != NULL ? redis->ctx->errstr : "no memory");
    redis_drop(redis);
    return false;
}

bool redis_open(void *client)
{
    struct redis_client *c = client;
    char host[HOST_SIZE];
    int port;

    if (next_server(c->base.opts.servers, host, &port) == NULL)
        abort();
    redis_init(&c->redis, host, port, c->base.opts.ttl_ms / 2);
    return redis_connect(&c->redis);
}

void redis_close(void *client)
{
    redis_drop(&((struct redis_client *)client)->redis);
}

redisReply *redis_call(struct redis *redis, int argc, const char **argv)
{
    redisReply *reply;

    if (!redis_connect(redis))
        return NULL;
    reply = redisCommandArgv(redis->ctx, argc, argv, NULL);
    if (reply == NULL) {
        (void)rival_fail("redis: %s: %s", argv[0], redis->ctx->errstr);
        redis_drop(redis);
    } else if (reply->type == REDIS_REPLY_ERROR) {
        (void)rival_fail("redis: %s: %s", argv[0], reply->str);
        freeReplyObject(reply);
        reply = NULL;
    }
    return reply;
}

int64_t redis_number(struct redis *redis, int argc, const char **argv,
                     int64_t otherwise)
{
    redisReply *reply = redis_call(redis, argc, argv);
    int64_t number = otherwise;

    if (reply != NULL && reply->type == REDIS_REPLY_INTEGER)
        number = reply->integer;
    freeReplyObject(reply);
    return number;
}

void redis_set_make(struct redis_set *set, const char *key, const char *token,
                    int64_t ttl_ms)
{
    const char *argv[] = { "SET", key, token, "NX", "PX", set->ttl };

    (void)snprintf(set->ttl, sizeof(set->ttl), "%lld", (long long)ttl_ms);
    memcpy(set->argv, argv, sizeof(argv));
}

void redis_unset_make(struct redis_unset *unset, const char *key,
                      const char *token)
{
    static const char *script =
        "if redis.call('get', KEYS[1]) == ARGV[1] then"
        " return redis.call('del', KEYS[1]) end return 0";
    const char *argv[] = { "EVAL", script, "1", key, token };

    memcpy(unset->argv, argv, sizeof(argv));
}

extern const struct rival redis_set, redis_unchecked, redis_getset, redis_hash,
    redis_redlock;

const struct rival *const rivals[] = { &redis_set,     &redis_unchecked,
                                       &redis_getset,  &redis_hash,
                                       &redis_redlock, NULL };
