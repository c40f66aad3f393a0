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
    struct wire wire;
    const char *name;
    int64_t ttl_ms;
    char token[TOKEN_SIZE];
    int64_t valid_until_ms;
};

static enum rival_result memcached_open(const struct rival_opts *opts,
                                        void **ret_client)
{
    struct client *c = calloc(1, sizeof(*c));
    char host[HOST_SIZE];
    int port;

    if (c == NULL || next_server(opts->servers, host, &port) == NULL)
        abort();
    wire_init(&c->wire, host, port);
    c->name = opts->name;
    c->ttl_ms = opts->ttl_ms;
    *ret_client = c;
    return wire_connect(&c->wire, now_ms() + c->ttl_ms) ? RIVAL_OK
                                                        : RIVAL_ERROR;
}

/* Send a command and read the first line of its answer; NULL: none. */
static const char *ask(struct client *c, const char *command)
{
    int64_t deadline = now_ms() + c->ttl_ms / 2;

    if (!wire_send(&c->wire, command, strlen(command), deadline))
        return NULL;
    return wire_line(&c->wire, deadline);
}

static enum rival_result memcached_acquire(void *client, int64_t timeout_ms)
{
    struct client *c = client;
    int64_t deadline = deadline_after(timeout_ms);
    char command[256];

    random_token(c->token);
    (void)snprintf(command, sizeof(command), "add %s 0 %lld %d\r\n%s\r\n",
                   c->name, (long long)(c->ttl_ms / 1000), TOKEN_SIZE - 1,
                   c->token);
    do {
        int64_t start = now_ms();
        const char *answer = ask(c, command);

        if (answer != NULL && strcmp(answer, "STORED") == 0) {
            c->valid_until_ms = start + c->ttl_ms - GRAIN_MS;
            return RIVAL_OK;
        }
    } while (pause_until(POLL_MS, deadline));
    return RIVAL_TIMEOUT;
}

static bool memcached_holds(void *client)
{
    struct client *c = client;

    return now_ms() < c->valid_until_ms;
}

/* 1: the value is ours, and this is its number. 0: it is not. -1: no answer. */
static int look(struct client *c, unsigned long long *ret_cas)
{
    char command[256];
    int64_t deadline = now_ms() + c->ttl_ms / 2;
    const char *line;
    bool ours;

    (void)snprintf(command, sizeof(command), "gets %s\r\n", c->name);
    line = ask(c, command);
    if (line == NULL)
        return -1;
    if (sscanf(line, "VALUE %*s %*s %*s %llu", ret_cas) != 1)
        return 0;
    line = wire_line(&c->wire, deadline);
    ours = line != NULL && strcmp(line, c->token) == 0;
    if (line == NULL || wire_line(&c->wire, deadline) == NULL) /* END */
        return -1;
    return ours;
}

static enum rival_result memcached_release(void *client)
{
    struct client *c = client;
    char command[256];
    const char *answer;
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
                   c->name, cas);
    answer = ask(c, command);
    if (answer == NULL)
        return RIVAL_ERROR;
    return strcmp(answer, "STORED") == 0 ? RIVAL_OK : RIVAL_LOST;
}

static void memcached_close(void *client)
{
    struct client *c = client;

    wire_drop(&c->wire);
    free(c);
}

static const struct rival memcached = { .name = "memcached",
                                        .open = memcached_open,
                                        .acquire = memcached_acquire,
                                        .holds = memcached_holds,
                                        .release = memcached_release,
                                        .close = memcached_close };

const struct rival *const rivals[] = { &memcached, NULL };
