/* SPDX-License-Identifier: Apache-2.0 */
/* The operations of a lock of the comparison. One adapter for each lock; a
 * program has those that share a client library.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum rival_result {
    RIVAL_OK = 0,
    RIVAL_TIMEOUT, /* acquire: not held before the deadline */
    RIVAL_LOST,    /* release: it was not ours any more */
    RIVAL_ERROR,   /* see rival_error() */
};

enum { TOKEN_SIZE = 33, HOST_SIZE = 64 };

struct rival_opts {
    const char *servers; /* host:port,... */
    const char *name;    /* of the lock, the same for all clients of a run */
    int64_t ttl_ms;      /* when the lock of a dead holder goes to others */
};

/* What each client begins with; the members of its adapter follow. */
struct rival_client {
    struct rival_opts opts;
    char token[TOKEN_SIZE]; /* of its own, another one in each acquire */
    int64_t valid_until_ms; /* until then it holds, by its own clock */
};

struct rival {
    const char *name;
    size_t size; /* of a client */
    /* One client, with a connection of its own. */
    bool (*open)(void *client);
    /* Tries once to take the lock. Before it, valid_until_ms is set to a time
     * to live from now. */
    bool (*attempt)(void *client, int64_t deadline_ms);
    /* Instead of attempts with pauses; or NULL. It goes on through broken
     * connections, as an application has to. */
    enum rival_result (*acquire)(void *client, int64_t timeout_ms);
    int64_t pause_ms; /* between attempts; 0: POLL_MS */
    int64_t jitter_ms;
    bool (*holds)(
        void *client); /* as its documents say; NULL: by valid_until_ms */
    int64_t (*token)(void *client); /* for fencing; NULL: it has none */
    enum rival_result (*release)(void *client);
    void (*close)(void *client); /* its connections */
};

/* The locks of this program; ends with NULL. */
extern const struct rival *const rivals[];

/* Take a note of what failed, for rival_error(); returns RIVAL_ERROR. */
__attribute__((format(printf, 1, 2))) enum rival_result
rival_fail(const char *format, ...);
const char *rival_error(void);

/* For benches. */

enum rival_result rival_open(const struct rival *lock,
                             const struct rival_opts *opts, void **ret_client);
enum rival_result rival_acquire(const struct rival *lock, void *client,
                                int64_t timeout_ms);
bool rival_holds(const struct rival *lock, void *client);
void rival_close(const struct rival *lock, void *client);

/* For adapters. */

int64_t now_ns(void); /* CLOCK_MONOTONIC */
int64_t now_ms(void);

/* Sleep, but not beyond the deadline; false when it has come. */
bool pause_until(int64_t ms, int64_t deadline_ms);
int64_t deadline_after(int64_t timeout_ms);

/* How long a client waits that has to poll: what redis-py's Lock and Spring's
 * JdbcLockRegistry document (sleep=0.1, idleBetweenTries=100). */
enum { POLL_MS = 100 };

void random_token(char token[TOKEN_SIZE]);
uint32_t random_below(uint32_t limit);

/* The next of "host:port,..."; returns the rest, NULL if there was none. */
const char *next_server(const char *servers, char host[HOST_SIZE], int *port);
