/* SPDX-License-Identifier: Apache-2.0 */
/* memcached: add with an expiry; gets, and cas with an expiry in the past where
 * the value is still ours, since delete compares nothing.
 *
 * Source: memcached's protocol.txt: "add", "cas", "Expiration times". Expiry
 * is in seconds, and "roughly +/- 1s": a holder believes until a second before
 * it, on its own clock, counted from before the request. A waiter polls.
 */
#include "wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GRAIN_MS = 1000 };

struct client {
    struct rival_client base;
    struct wire wire;
};

static bool memcached_open(void *client)
{
    struct client *c = client;
    char host[HOST_SIZE];
    int port;

    if (next_server(c->base.opts.servers, host, &port) == NULL)
        abort();
    wire_init(&c->wire, host, port);
    return wire_connect(&c->wire, now_ms() + c->base.opts.ttl_ms);
}

/* Send a command and read the first line of its answer; NULL: none. */
static const char *ask(struct client *c, const char *command)
{
    int64_t deadline = now_ms() + c->base.opts.ttl_ms / 2;

    if (!wire_send(&c->wire, command, strlen(command), deadline))
        return NULL;
    return wire_line(&c->wire, deadline);
}

static bool memcached_attempt(void *client, int64_t deadline)
{
    struct client *c = client;
    char command[256];

    (void)deadline;
    (void)snprintf(command, sizeof(command), "add %s 0 %lld %d\r\n%s\r\n",
                   c->base.opts.name, (long long)(c->base.opts.ttl_ms / 1000),
                   TOKEN_SIZE - 1, c->base.token);
    c->base.valid_until_ms -= GRAIN_MS;
    const char *answer = ask(c, command);
    return answer != NULL && strcmp(answer, "STORED") == 0;
}

/* 1: the value is ours, and this is its number. 0: it is not. -1: no answer. */
static int look(struct client *c, unsigned long long *ret_cas)
{
    char command[256];
    int64_t deadline = now_ms() + c->base.opts.ttl_ms / 2;

    (void)snprintf(command, sizeof(command), "gets %s\r\n", c->base.opts.name);
    const char *line = ask(c, command);
    if (line == NULL)
        return -1;
    if (sscanf(line, "VALUE %*s %*s %*s %llu", ret_cas) != 1)
        return 0;
    line = wire_line(&c->wire, deadline);
    bool ours = line != NULL && strcmp(line, c->base.token) == 0;
    if (line == NULL || wire_line(&c->wire, deadline) == NULL) /* END */
        return -1;
    return ours;
}

static enum rival_result memcached_release(void *client)
{
    struct client *c = client;
    char command[256];
    unsigned long long cas;

    switch (look(c, &cas)) {
    case 1:
        break;
    case 0:
        return RIVAL_LOST;
    default:
        return RIVAL_ERROR;
    }
    (void)snprintf(command, sizeof(command), "cas %s 0 -1 0 %llu\r\n\r\n",
                   c->base.opts.name, cas);
    const char *answer = ask(c, command);
    if (answer == NULL)
        return RIVAL_ERROR;
    return strcmp(answer, "STORED") == 0 ? RIVAL_OK : RIVAL_LOST;
}

static void memcached_close(void *client)
{
    wire_drop(&((struct client *)client)->wire);
}

static const struct rival memcached = { .name = "memcached",
                                        .size = sizeof(struct client),
                                        .open = memcached_open,
                                        .attempt = memcached_attempt,
                                        .release = memcached_release,
                                        .close = memcached_close };

const struct rival *const rivals[] = { &memcached, NULL };
