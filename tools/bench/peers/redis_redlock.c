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

#include <stdlib.h>

enum {
    SERVERS_MAX = 9,
    ANSWER_MS = 50,
    RETRY_MS = 200,
    JITTER_MS = 50,
};

struct client {
    struct redis servers[SERVERS_MAX];
    bool asked[SERVERS_MAX];
    int count;
    const char *name;
    int64_t ttl_ms;
    char token[TOKEN_SIZE];
    int64_t valid_until_ms;
};

static enum rival_result redlock_open(const struct rival_opts *opts,
                                      void **ret_client)
{
    struct client *c = calloc(1, sizeof(*c));
    const char *rest = opts->servers;
    char host[HOST_SIZE];
    int port;

    if (c == NULL)
        abort();
    c->name = opts->name;
    c->ttl_ms = opts->ttl_ms;
    while (c->count < SERVERS_MAX &&
           (rest = next_server(rest, host, &port)) != NULL)
        redis_init(&c->servers[c->count++], host, port, ANSWER_MS);
    *ret_client = c;
    for (int i = 0; i < c->count; i++) {
        if (!redis_connect(&c->servers[i]))
            return RIVAL_ERROR;
    }
    return RIVAL_OK;
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

    redis_unset_make(&unset, c->name, c->token);
    return ask_all(c, 5, unset.argv);
}

static bool attempt(struct client *c)
{
    struct redis_set set;
    int64_t start = now_ms();

    random_token(c->token);
    redis_set_make(&set, c->name, c->token, c->ttl_ms);
    c->valid_until_ms = start + c->ttl_ms - c->ttl_ms / 100 - 2;
    if (ask_all(c, 6, set.argv) > c->count / 2 && now_ms() < c->valid_until_ms)
        return true;
    (void)release_all(c);
    return false;
}

static enum rival_result redlock_acquire(void *client, int64_t timeout_ms)
{
    int64_t deadline = deadline_after(timeout_ms);

    do {
        if (attempt(client))
            return RIVAL_OK;
    } while (pause_until(RETRY_MS + random_below(JITTER_MS), deadline));
    return RIVAL_TIMEOUT;
}

static bool redlock_holds(void *client)
{
    struct client *c = client;

    return now_ms() < c->valid_until_ms;
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
    free(c);
}

extern const struct rival redis_redlock;

const struct rival redis_redlock = { .name = "redlock",
                                     .open = redlock_open,
                                     .acquire = redlock_acquire,
                                     .holds = redlock_holds,
                                     .release = redlock_release,
                                     .close = redlock_close };
