/* SPDX-License-Identifier: Apache-2.0 */
/* etcd: its lock service, by the JSON gateway.
 *
 * Source: etcd, "gRPC gateway" and the API reference of Lock and Lease; the
 * Go client's concurrency.Session. A client has one lease and keeps it alive at
 * a third of its time to live; the lock is a key under that lease, and the
 * server keeps the queue. A holder believes while the lease has been kept
 * alive: until the time to live has passed on its own clock, counted from
 * before the last keepalive that was answered. The revision at which the lock
 * was taken can fence.
 */
#include "http.h"
#include "watchdog.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct client {
    struct rival_client base;
    struct wire wire;       /* lock and unlock */
    struct wire keepalives; /* the watchdog's */
    char name[128];         /* in base64 */
    atomic_llong lease;     /* 0: none */
    atomic_llong alive_until_ms;
    struct watchdog dog;
    char key[192]; /* in base64, as the server gave it */
    int64_t revision;
};

static void encode_base64(const char *text, char *out)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                 "abcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t len = strlen(text);

    for (size_t i = 0; i < len; i += 3) {
        uint32_t bits = 0;

        for (size_t j = 0; j < 3; j++)
            bits = bits << 8 | (i + j < len ? (unsigned char)text[i + j] : 0);
        *out++ = digits[bits >> 18];
        *out++ = digits[bits >> 12 & 63];
        *out++ = i + 1 < len ? digits[bits >> 6 & 63] : '=';
        *out++ = i + 2 < len ? digits[bits & 63] : '=';
    }
    *out = '\0';
}

/* The value of a member that is a string; members have unique names here. */
static bool member(const char *json, const char *name, char *out, size_t size)
{
    char start[32];

    (void)snprintf(start, sizeof(start), "\"%s\":\"", name);
    const char *value = strstr(json, start);
    if (value == NULL)
        return false;
    value += strlen(start);
    size_t len = strcspn(value, "\"");
    if (len >= size)
        return false;
    memcpy(out, value, len);
    out[len] = '\0';
    return true;
}

static int64_t number(const char *json, const char *name)
{
    char digits[24];

    return member(json, name, digits, sizeof(digits))
               ? strtoll(digits, NULL, 10)
               : 0;
}

/* After a connection has broken: another server. */
static void next_of(struct client *c, struct wire *wire)
{
    const char *rest = c->base.opts.servers;
    char host[HOST_SIZE];
    int port;
    bool found = false;

    while (!found && (rest = next_server(rest, host, &port)) != NULL)
        found = port == wire->port;
    if (rest == NULL || next_server(rest, host, &port) == NULL)
        (void)next_server(c->base.opts.servers, host, &port);
    wire_drop(wire);
    wire_init(wire, host, port);
}

static int post(struct client *c, struct wire *wire, const char *path,
                const char *json, char *body, int64_t deadline)
{
    int status = http_post(wire, path, json, body, deadline);

    if (status == 0 && now_ms() < deadline)
        next_of(c, wire);
    if (status != 0 && status != 200)
        (void)rival_fail("etcd: %s: %.200s", path, body);
    return status;
}

static bool grant_lease(struct client *c)
{
    char json[64];
    char body[HTTP_BODY_SIZE];
    int64_t start = now_ms();

    if (c->lease != 0)
        return true;
    (void)snprintf(json, sizeof(json), "{\"TTL\":%" PRId64 "}",
                   c->base.opts.ttl_ms / 1000);
    if (post(c, &c->wire, "/v3/lease/grant", json, body,
             start + c->base.opts.ttl_ms / 2) != 200)
        return false;
    c->alive_until_ms = start + c->base.opts.ttl_ms;
    c->lease = number(body, "ID");
    watchdog_hold(&c->dog, true);
    return true;
}

/* An answer without a time to live: the lease has expired. Without an answer it
 * is asked again in the next period. */
static bool keep_alive(void *user)
{
    struct client *c = user;
    char json[64];
    char body[HTTP_BODY_SIZE];
    int64_t start = now_ms();

    (void)snprintf(json, sizeof(json), "{\"ID\":%lld}", (long long)c->lease);
    if (post(c, &c->keepalives, "/v3/lease/keepalive", json, body,
             start + c->base.opts.ttl_ms / 3) != 200)
        return true;
    if (number(body, "TTL") == 0) {
        c->lease = 0;
        return false;
    }
    c->alive_until_ms = start + c->base.opts.ttl_ms;
    return true;
}

static bool etcd_open(void *client)
{
    struct client *c = client;
    char host[HOST_SIZE];
    int port;

    if (next_server(c->base.opts.servers, host, &port) == NULL ||
        strlen(c->base.opts.name) > 90)
        abort();
    wire_init(&c->wire, host, port);
    wire_init(&c->keepalives, host, port);
    encode_base64(c->base.opts.name, c->name);
    watchdog_start(&c->dog, c->base.opts.ttl_ms / 3, keep_alive, c);
    return grant_lease(c);
}

/* The server answers when the lock is ours. Where the connection breaks, the
 * same request under the same lease continues the same claim. */
static bool etcd_attempt(void *client, int64_t deadline)
{
    struct client *c = client;
    char json[256];
    char body[HTTP_BODY_SIZE];

    if (!grant_lease(c))
        return false;
    (void)snprintf(json, sizeof(json), "{\"name\":\"%s\",\"lease\":\"%lld\"}",
                   c->name, (long long)c->lease);
    int status = post(c, &c->wire, "/v3/lock/lock", json, body, deadline);
    if (status != 0 && status != 200 && strstr(body, "lease not found") != NULL)
        c->lease = 0;
    c->revision = status == 200 ? number(body, "revision") : 0;
    return status == 200 && member(body, "key", c->key, sizeof(c->key));
}

static bool etcd_holds(void *client)
{
    struct client *c = client;

    return c->lease != 0 && now_ms() < c->alive_until_ms;
}

static int64_t etcd_token(void *client)
{
    struct client *c = client;

    return c->revision;
}

/* The server answers the same whether the key was there or not. */
static enum rival_result etcd_release(void *client)
{
    struct client *c = client;
    char json[256];
    char body[HTTP_BODY_SIZE];
    bool held = etcd_holds(c);

    (void)snprintf(json, sizeof(json), "{\"key\":\"%s\"}", c->key);
    if (post(c, &c->wire, "/v3/lock/unlock", json, body,
             now_ms() + c->base.opts.ttl_ms / 2) != 200)
        return RIVAL_ERROR;
    return held ? RIVAL_OK : RIVAL_LOST;
}

static void etcd_close(void *client)
{
    struct client *c = client;

    watchdog_end(&c->dog);
    wire_drop(&c->wire);
    wire_drop(&c->keepalives);
}

static const struct rival etcd = { .name = "etcd",
                                   .size = sizeof(struct client),
                                   .open = etcd_open,
                                   .attempt = etcd_attempt,
                                   .holds = etcd_holds,
                                   .token = etcd_token,
                                   .release = etcd_release,
                                   .close = etcd_close };

const struct rival *const rivals[] = { &etcd, NULL };
