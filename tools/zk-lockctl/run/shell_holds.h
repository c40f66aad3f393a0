/* SPDX-License-Identifier: Apache-2.0 */
/* The holds of a shell: "eval "$(zk-lockctl hold LOCK)"" leaves the id of each
 * in its environment. The process that keeps the lock has a desk: what it says
 * of the lock lies there, in memory that others of the same user map through
 * /proc. So nobody has to be asked. */
#pragma once

#include <signal.h>
#include <stdatomic.h>

#include "common/lockctl.h"
#include "run/claiming.h"

#define HOLDS_VARIABLE "ZKLOCK_HOLDS"

enum {
    HOLDS_MAX = 32,
    HOLD_TEXT_MAX = 56, /* with its end, or the blank before the next */
    HOLDS_TEXT_MAX = HOLDS_MAX * HOLD_TEXT_MAX,
};

/* "0xSESSION-PID-FD-NUMBER", as "0x10000a1b2c30001-7d2-5-51c0ffee51c0ffee". */
struct hold {
    uint64_t session; /* through which it holds */
    uint32_t pid;     /* of its keeper */
    uint32_t fd;      /* of the keeper, where its desk is */
    uint64_t number;  /* random: the process of that pid is its keeper */
};

/* The oldest is first. Of more than HOLDS_MAX these are the newest. */
struct holds {
    struct hold items[HOLDS_MAX];
    size_t count;
};

/* Of the value of the variable; NULL, and what is not such a list, is none. */
void holds_read(struct holds *h, const char *text);
void holds_write(const struct holds *h, char text[HOLDS_TEXT_MAX]);

bool hold_is(const struct hold *a, const struct hold *b);
bool holds_have(const struct holds *h, const struct hold *hold);
void holds_add(struct holds *h, const struct hold *hold);
void holds_remove(struct holds *h, size_t i);

/* -- desks ---------------------------------------------------------------- */

/* It tells the keeper to give the lock back, and to end. */
#define DESK_RELEASE SIGRTMIN

struct desk {
    struct hold id;
    size_t count; /* the locks that are held: */
    char paths[GRANTS_MAX][ZKR_PATH_MAX + 1];
    _Atomic int64_t valid_until_ms; /* of CLOCK_BOOTTIME: what lies there is
                                       true until then, unless the keeper writes
                                       a later instant before */
    atomic_int check;      /* the exit code of "hold --check": 0, it is held */
    atomic_int release;    /* that of "release"; DESK_KEPT: not given back */
    char text[4096];       /* the sentence with a code that is not 0 */
    struct holds released; /* newer ones of the same shell, as they tell */
};

enum { DESK_KEPT = -1 };

/* A desk of the caller for a lock that it keeps through that session. NULL,
 * with errno, on failure. */
struct desk *desk_new(int64_t session, const struct wanted *wanted);
/* That of another process; NULL: the keeper has ended, or is another user's. */
struct desk *desk_open(const struct hold *hold);
void desk_close(struct desk *desk);

/* ask_holds.c: [LOCK], without options for servers: "hold --check", or
 * "release". The newest hold comes first. The exit code; an error was said
 * unless it is 0. */
int ask_holds(const struct lockctl *ctl, bool release, int argc, char **argv);
