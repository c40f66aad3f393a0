/* SPDX-License-Identifier: Apache-2.0 */
/* What the clients of all locks do alike: attempts with pauses, clocks, unique
 * tokens, lists of servers. */
#include "rival.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <sys/random.h>

static _Thread_local char error_text[512];

enum rival_result rival_fail(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)vsnprintf(error_text, sizeof(error_text), format, args);
    va_end(args);
    for (char *p = error_text; *p != '\0'; p++) {
        if (*p == '\n' || *p == '\r')
            *p = ' ';
    }
    return RIVAL_ERROR;
}

const char *rival_error(void)
{
    return error_text;
}

int64_t now_ns(void)
{
    struct timespec ts;

    (void)clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

int64_t now_ms(void)
{
    return now_ns() / 1000000;
}

int64_t deadline_after(int64_t timeout_ms)
{
    return timeout_ms < 0 ? INT64_MAX : now_ms() + timeout_ms;
}

bool pause_until(int64_t ms, int64_t deadline_ms)
{
    int64_t left = deadline_ms - now_ms();
    struct timespec ts;

    if (left <= 0)
        return false;
    if (ms > left)
        ms = left;
    ts.tv_sec = ms / 1000;
    ts.tv_nsec = ms % 1000 * 1000000;
    (void)nanosleep(&ts, NULL);
    return now_ms() < deadline_ms;
}

uint32_t random_below(uint32_t limit)
{
    uint32_t value = 0;

    (void)getrandom(&value, sizeof(value), 0);
    return value % limit;
}

void random_token(char token[TOKEN_SIZE])
{
    uint64_t half[2] = { 0, 0 };

    (void)getrandom(half, sizeof(half), 0);
    (void)snprintf(token, TOKEN_SIZE, "%016llx%016llx",
                   (unsigned long long)half[0], (unsigned long long)half[1]);
}

const char *next_server(const char *servers, char host[HOST_SIZE], int *port)
{
    size_t len = strcspn(servers, ",");
    const char *colon = memchr(servers, ':', len);

    if (colon == NULL || colon - servers >= HOST_SIZE)
        return NULL;
    memcpy(host, servers, (size_t)(colon - servers));
    host[colon - servers] = '\0';
    *port = (int)strtol(colon + 1, NULL, 10);
    return servers + len + (servers[len] == ',');
}

enum rival_result rival_open(const struct rival *lock,
                             const struct rival_opts *opts, void **ret_client)
{
    struct rival_client *c = calloc(1, lock->size);

    if (c == NULL)
        abort();
    c->opts = *opts;
    *ret_client = c;
    return lock->open(c) ? RIVAL_OK : RIVAL_ERROR;
}

enum rival_result rival_acquire(const struct rival *lock, void *client,
                                int64_t timeout_ms)
{
    struct rival_client *c = client;
    int64_t deadline = deadline_after(timeout_ms);
    int64_t pause_ms = lock->pause_ms != 0 ? lock->pause_ms : POLL_MS;

    random_token(c->token);
    if (lock->acquire != NULL)
        return lock->acquire(client, timeout_ms);
    do {
        c->valid_until_ms = now_ms() + c->opts.ttl_ms;
        if (lock->attempt(client, deadline))
            return RIVAL_OK;
        if (lock->jitter_ms != 0)
            pause_ms = lock->pause_ms + random_below((uint32_t)lock->jitter_ms);
    } while (pause_until(pause_ms, deadline));
    return RIVAL_TIMEOUT;
}

bool rival_holds(const struct rival *lock, void *client)
{
    const struct rival_client *c = client;

    return lock->holds != NULL ? lock->holds(client)
                               : now_ms() < c->valid_until_ms;
}

void rival_close(const struct rival *lock, void *client)
{
    lock->close(client);
    free(client);
}
