/* SPDX-License-Identifier: Apache-2.0 */
/* One connection to a Redis server, made again when it has broken. */
#pragma once

#include "rival.h"

#include <hiredis/hiredis.h>

struct redis {
    char host[HOST_SIZE];
    int port;
    int64_t timeout_ms; /* of a command */
    redisContext *ctx;  /* NULL: not connected */
};

void redis_init(struct redis *redis, const char *host, int port,
                int64_t timeout_ms);
void redis_drop(struct redis *redis);
bool redis_connect(struct redis *redis);

/* A client with a connection to the first server. */
struct redis_client {
    struct rival_client base;
    struct redis redis;
};
bool redis_open(void *client);
void redis_close(void *client);

/* NULL: no answer, or an error is the answer; see rival_error(). */
redisReply *redis_call(struct redis *redis, int argc, const char **argv);

/* The answer as a number; @p otherwise when there is none. */
int64_t redis_number(struct redis *redis, int argc, const char **argv,
                     int64_t otherwise);

/* "SET key token NX PX ttl". */
struct redis_set {
    const char *argv[6];
    char ttl[24];
};
void redis_set_make(struct redis_set *set, const char *key, const char *token,
                    int64_t ttl_ms);

/* "EVAL script 1 key token": delete the key if it has the token. */
struct redis_unset {
    const char *argv[5];
};
void redis_unset_make(struct redis_unset *unset, const char *key,
                      const char *token);
