/* SPDX-License-Identifier: Apache-2.0 */
/* RedLock: the same key on five independent servers, held by who has three.
 *
 * Source: redis.io, "Distributed Locks with Redis", "The Redlock Algorithm".
 * The requests go to all servers at once; a server has 50 ms to answer; what
 * is left of the time to live after the requests and a drift of 1 % and 2 ms
 * is the time for which a holder believes; a client that failed releases
 * everywhere and tries again after 200 to 250 ms (redlock-rb's retry_delay and
 * retry_jitter).
 */
#include "redis.h"

enum {
    SERVERS_MAX = 9,
    ANSWER_MS = 50,
    RETRY_MS = 200,
    JITTER_MS = 50,
};

struct client {
    struct rival_client base;
    struct redis servers[SERVERS_MAX];
    bool asked[SERVERS_MAX];
    int count;
};

static bool redlock_open(void *client)
{
    struct client *c = client;
    const char *rest = c->base.opts.servers;
    bool connected = true;
    char host[HOST_SIZE];
    int port;

    while (c->count < SERVERS_MAX &&
           (rest = next_server(rest, host, &port)) != NULL)
        redis_init(&c->servers[c->count++], host, port, ANSWER_MS);
    for (int i = 0; i < c->count && connected; i++)
        connected = redis_connect(&c->servers[i]);
    return connected;
}

/* Send one command to all servers, then read the answers: how many said yes. */
static int ask_all(struct client *c, int argc, const char **argv)
{
    int agreed = 0;

    for (int i = 0; i < c->count; i++) {
        struct redis *r = &c->servers[i];
        int sent = 0;

        c->asked[i] =
            redis_connect(r) &&
            redisAppendCommandArgv(r->ctx, argc, argv, NULL) == REDIS_OK;
        while (c->asked[i] && !sent)
            c->asked[i] = redisBufferWrite(r->ctx, &sent) == REDIS_OK;
    }
    for (int i = 0; i < c->count; i++) {
        struct redis *r = &c->servers[i];
        void *data = NULL;
        redisReply *reply;

        if (!c->asked[i] || redisGetReply(r->ctx, &data) != REDIS_OK) {
            redis_drop(r);
            continue;
        }
        reply = data;
        agreed += reply->type == REDIS_REPLY_STATUS ||
                  (reply->type == REDIS_REPLY_INTEGER && reply->integer == 1);
        freeReplyObject(reply);
    }
    return agreed;
}

static int release_all(struct client *c)
{
    struct redis_unset unset;

    redis_unset_make(&unset, c->base.opts.name, c->base.token);
    return ask_all(c, 5, unset.argv);
}

static bool redlock_attempt(void *client, int64_t deadline)
{
    struct client *c = client;
    struct rival_client *base = &c->base;
    struct redis_set set;

    (void)deadline;
    random_token(base->token);
    redis_set_make(&set, base->opts.name, base->token, base->opts.ttl_ms);
    base->valid_until_ms -= base->opts.ttl_ms / 100 + 2;
    if (ask_all(c, 6, set.argv) > c->count / 2 &&
        now_ms() < base->valid_until_ms)
        return true;
    (void)release_all(c);
    return false;
}

static enum rival_result redlock_release(void *client)
{
    struct client *c = client;

    return release_all(c) > c->count / 2 ? RIVAL_OK : RIVAL_LOST;
}

static void redlock_close(void *client)
{
    struct client *c = client;

    for (int i = 0; i < c->count; i++)
        redis_drop(&c->servers[i]);
}

extern const struct rival redis_redlock;

const struct rival redis_redlock = { .name = "redlock",
                                     .size = sizeof(struct client),
                                     .open = redlock_open,
                                     .attempt = redlock_attempt,
                                     .pause_ms = RETRY_MS,
                                     .jitter_ms = JITTER_MS,
                                     .release = redlock_release,
                                     .close = redlock_close };
