/* SPDX-License-Identifier: Apache-2.0 */
/* Redis: SETNX with the time of expiry as the value; GETSET takes over a lock
 * whose time has passed.
 *
 * Source: redis.io, SETNX, "Design pattern: Locking with SETNX", which calls
 * itself obsolete. All clients compare wall clocks. A holder checks its time
 * before it deletes the key.
 */
#include "redis.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct client {
    struct redis_client base;
    int64_t expires_ms; /* of the wall clock, as our value says */
};

static int64_t wall_ms(void)
{
    struct timespec ts;

    (void)clock_gettime(CLOCK_REALTIME, &ts);
    return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* A command whose answer is a time; false when there is none. */
static bool time_of(struct client *c, int argc, const char **argv,
                    int64_t *ret_ms)
{
    redisReply *reply = redis_call(&c->base.redis, argc, argv);
    bool found = reply != NULL && reply->type == REDIS_REPLY_STRING;

    if (found)
        *ret_ms = strtoll(reply->str, NULL, 10);
    freeReplyObject(reply);
    return found;
}

static void expire_from_now(struct client *c, char value[24])
{
    c->expires_ms = wall_ms() + c->base.base.opts.ttl_ms + 1;
    (void)snprintf(value, 24, "%lld", (long long)c->expires_ms);
}

static bool getset_attempt(void *client, int64_t deadline)
{
    struct client *c = client;
    const char *name = c->base.base.opts.name;
    char value[24];
    const char *setnx[] = { "SETNX", name, value };
    const char *get[] = { "GET", name };
    const char *getset[] = { "GETSET", name, value };
    int64_t old_ms;

    (void)deadline;
    expire_from_now(c, value);
    if (redis_number(&c->base.redis, 3, setnx, 0) == 1)
        return true;
    if (!time_of(c, 2, get, &old_ms) || old_ms > wall_ms())
        return false;
    expire_from_now(c, value);
    return time_of(c, 3, getset, &old_ms) && old_ms <= wall_ms();
}

static bool getset_holds(void *client)
{
    struct client *c = client;

    return wall_ms() < c->expires_ms;
}

static enum rival_result getset_release(void *client)
{
    struct client *c = client;
    const char *del[] = { "DEL", c->base.base.opts.name };

    if (!getset_holds(c))
        return RIVAL_LOST;
    return redis_number(&c->base.redis, 2, del, -1) >= 0 ? RIVAL_OK
                                                         : RIVAL_ERROR;
}

extern const struct rival redis_getset;

const struct rival redis_getset = { .name = "redis-getset",
                                    .size = sizeof(struct client),
                                    .open = redis_open,
                                    .attempt = getset_attempt,
                                    .holds = getset_holds,
                                    .release = getset_release,
                                    .close = redis_close };
