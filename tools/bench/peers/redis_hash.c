/* SPDX-License-Identifier: Apache-2.0 */
/* Redis: a hash that counts the holder's entries, a watchdog, and a channel on
 * which a release is announced: Redisson's RLock.
 *
 * Source: Redisson, "Distributed locks": RLock, lockWatchdogTimeout. The lock
 * is a hash {owner: count} with a time to live; the watchdog renews it at a
 * third of that time; who finds it taken subscribes to the lock's channel and
 * waits for a message or the end of the time to live. A holder asks the server
 * (isHeldByCurrentThread). One server, as in Redisson's single server mode:
 * with replicas that it knows, Redisson also waits for them.
 */
#include "redis.h"
#include "watchdog.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

struct client {
    struct redis_client base;
    struct redis renewals; /* the watchdog's connection */
    struct redis messages; /* subscribed while we wait */
    char ttl[24];
    char channel[128];
    char owner[TOKEN_SIZE];
    struct watchdog dog;
};

/* Either 1 = entered, or the time to live of whoever holds it, negated. */
static const char *const enter =
    "if redis.call('exists', KEYS[1]) == 0"
    " or redis.call('hexists', KEYS[1], ARGV[2]) == 1 then"
    " redis.call('hincrby', KEYS[1], ARGV[2], 1)"
    " redis.call('pexpire', KEYS[1], ARGV[1])"
    " return 1 end "
    "return -redis.call('pttl', KEYS[1])";

static const char *const leave =
    "if redis.call('hexists', KEYS[1], ARGV[2]) == 0 then return -1 end "
    "if redis.call('hincrby', KEYS[1], ARGV[2], -1) > 0 then"
    " redis.call('pexpire', KEYS[1], ARGV[1])"
    " return 0 end "
    "redis.call('del', KEYS[1]) "
    "redis.call('publish', KEYS[2], 'free') "
    "return 1";

static const char *const renew =
    "if redis.call('hexists', KEYS[1], ARGV[2]) == 1 then"
    " return redis.call('pexpire', KEYS[1], ARGV[1]) end "
    "return 0";

enum { NO_ANSWER = -1000000000 };

static int64_t run(struct client *c, struct redis *redis, const char *script)
{
    const char *argv[] = { "EVAL",     script, "2",     c->base.base.opts.name,
                           c->channel, c->ttl, c->owner };

    return redis_number(redis, 7, argv, NO_ANSWER);
}

/* Without an answer the watchdog gives up, and the holder is not told. */
static bool on_period(void *user)
{
    struct client *c = user;

    return run(c, &c->renewals, renew) == 1;
}

static bool hash_open(void *client)
{
    struct client *c = client;
    const struct rival_opts *opts = &c->base.base.opts;
    bool connected = redis_open(client);

    c->renewals = c->messages = c->base.redis;
    c->renewals.ctx = c->messages.ctx = NULL;
    (void)snprintf(c->ttl, sizeof(c->ttl), "%lld", (long long)opts->ttl_ms);
    (void)snprintf(c->channel, sizeof(c->channel), "channel:{%s}", opts->name);
    random_token(c->owner);
    watchdog_start(&c->dog, opts->ttl_ms / 3, on_period, c);
    return connected;
}

static bool subscribe(struct client *c)
{
    const char *argv[] = { "SUBSCRIBE", c->channel };
    redisReply *reply = redis_call(&c->messages, 2, argv);
    bool done = reply != NULL;

    freeReplyObject(reply);
    return done;
}

/* Wait for a message, at most that long; false when the connection broke. */
static bool await_message(struct client *c, int64_t ms)
{
    struct pollfd p = { .fd = c->messages.ctx->fd, .events = POLLIN };
    void *reply = NULL;

    if (poll(&p, 1, (int)ms) <= 0)
        return true;
    if (redisGetReply(c->messages.ctx, &reply) != REDIS_OK)
        return false;
    freeReplyObject(reply);
    return true;
}

/* The server answered "taken". The subscription stands before we try again,
 * so that no release is missed. */
static enum rival_result wait_for_it(struct client *c, int64_t deadline)
{
    int64_t state = NO_ANSWER;

    while (state != 1 && now_ms() < deadline) {
        int64_t left = deadline - now_ms();

        if (c->messages.ctx == NULL && !subscribe(c)) {
            (void)pause_until(POLL_MS, deadline);
            continue;
        }
        state = run(c, &c->base.redis, enter);
        if (state == NO_ANSWER) {
            (void)pause_until(POLL_MS, deadline);
        } else if (state != 1) {
            int64_t ms = -state > 0 ? -state : POLL_MS;

            if (!await_message(c, ms < left ? ms : left))
                redis_drop(&c->messages);
        }
    }
    redis_drop(&c->messages);
    return state == 1 ? RIVAL_OK : RIVAL_TIMEOUT;
}

static enum rival_result hash_acquire(void *client, int64_t timeout_ms)
{
    struct client *c = client;
    enum rival_result result = RIVAL_OK;

    if (run(c, &c->base.redis, enter) != 1)
        result = wait_for_it(c, deadline_after(timeout_ms));
    if (result == RIVAL_OK)
        watchdog_hold(&c->dog, true);
    return result;
}

static bool hash_holds(void *client)
{
    struct client *c = client;
    const char *argv[] = { "HEXISTS", c->base.base.opts.name, c->owner };

    return redis_number(&c->base.redis, 3, argv, 0) == 1;
}

static enum rival_result hash_release(void *client)
{
    struct client *c = client;

    watchdog_hold(&c->dog, false);
    int64_t left = run(c, &c->base.redis, leave);
    if (left == NO_ANSWER)
        return RIVAL_ERROR;
    return left >= 0 ? RIVAL_OK : RIVAL_LOST;
}

static void hash_close(void *client)
{
    struct client *c = client;

    watchdog_end(&c->dog);
    redis_close(c);
    redis_drop(&c->renewals);
    redis_drop(&c->messages);
}

extern const struct rival redis_hash;

const struct rival redis_hash = { .name = "redis-hash",
                                  .size = sizeof(struct client),
                                  .open = hash_open,
                                  .acquire = hash_acquire,
                                  .holds = hash_holds,
                                  .release = hash_release,
                                  .close = hash_close };
