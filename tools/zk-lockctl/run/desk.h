/* SPDX-License-Identifier: Apache-2.0 */
/* The holds of a shell: "eval "$(zk-lockctl hold LOCK)"" leaves the id of each
 * in its environment. The process that keeps the lock has a desk: what it says
 * of the lock lies there, in memory that others of the same user map through
 * /proc. So nobody has to be asked. */
#pragma once

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/lockctl.h"
#include "run/claiming.h"

/* The runs and holds around a command, the outermost first, as its environment
 * has them: "0x10000a1b2c30001", the session of a run, and "0xSESSION-PID-FD"
 * of a hold, whose desk is that descriptor of that process. */
#define AROUND_VARIABLE "ZKLOCK_SESSIONS"

struct around_item {
    int64_t session;
    uint32_t pid, fd; /* of a hold; 0: it is a run */
};

enum { AROUND_MAX = 32, AROUND_TEXT_MAX = AROUND_MAX * 40 };

/* Of more than AROUND_MAX these are the last. */
struct around {
    struct around_item items[AROUND_MAX];
    size_t count;
};

/* Of the value of the variable; NULL, and what around_write() has not written,
 * is none. */
void around_read(struct around *a, const char *text);
void around_write(const struct around *a, char text[AROUND_TEXT_MAX]);

bool around_has(const struct around *a, int64_t session);
void around_add(struct around *a, struct around_item item);
void around_remove(struct around *a, size_t i);

/* It tells the keeper to give the lock back, and to end. */
#define DESK_RELEASE SIGRTMIN

struct desk {
    struct around_item self;        /* the keeper, and its descriptor of this */
    struct wanted wanted;           /* the locks that are held */
    _Atomic int64_t valid_until_ms; /* of CLOCK_BOOTTIME: what lies there is
                                       true until then, unless the keeper writes
                                       a later instant before */
    atomic_int check;   /* the exit code of "hold --check": 0, it is held */
    atomic_int release; /* that of "release"; DESK_KEPT: not given back */
    char text[4096];    /* the sentence with a code that is not 0 */
};

enum { DESK_KEPT = -1 };

/* A desk of the caller for a lock that it keeps through that session. NULL,
 * with errno, on failure. */
struct desk *desk_new(int64_t session, const struct wanted *wanted);
/* That of a hold; NULL: its keeper has ended, or is another user's, or it is no
 * hold. */
struct desk *desk_open(const struct around_item *hold);
void desk_close(struct desk *desk);

/* "hold --check", or "release", of one lock, or of the only one for a path of
 * "", without options for servers. The exit code; an error was said unless it
 * is 0. */
int desk_ask(const struct lockctl *ctl, bool release, int locks,
             const char *path);
