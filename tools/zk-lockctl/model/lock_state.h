/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of a lock: its queue, who contends, who holds, who waits.
 * Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <zkrecipes/zkrecipes.h>

#include "protocol/dialect.h"
#include "protocol/owner.h"

/* There is more to know of a node than its name, or why not. */
bool node_is_read(const struct zkr_participant *node);
/* Copies the data, as much as the library keeps, in place of that before; the
 * node owns it. */
void node_set_data(struct zkr_participant *node, const char *data, size_t size);

struct client;

/* One child of a lock; those that contend come first, in order. */
struct contender {
    const char *path; /* of the lock, which has it, and all nodes */
    const struct zkr_participant *node;
    const struct zkr_participant *blocker; /* that it waits for; NULL: none in
                                              the list */
    const struct client *client; /* NULL: the servers were not asked */
    size_t place;                /* in the list */
    bool is_member;              /* of a barrier */
    enum zkr__dialect dialect;
    struct zkr__known_owner owner;
    int64_t age_ms; /* of the node, by our clock; -1: unknown */
};

/* The program of a record whose label ends with the process id of a shell: the
 * process that keeps a lock for it. */
#define OWNER_HOLD "zk-lockctl hold"

/* For a line of a table: "host:pid/tid program", or the data of others, also
 * that which the request has replaced; escaped, cut with "...". "" when nothing
 * is said. */
void owner_word(const struct zkr__known_owner *owner, const char *data,
                size_t size, char *word, size_t word_size);

/* Its record says that it is of HOST, or of HOST:PID; NULL: of anybody. */
bool contender_is_by(const struct contender *c, const char *process);
bool contender_waits(const struct contender *c);
/* A lease without a permit: its owner waits with another node, which is the
 * first in the queue. */
bool contender_is_promised(const struct contender *c);
/* Returns the thread of its session that its record names, or 0. */
int64_t contender_thread(const struct contender *c);

/* The owner by its record, its data, or its session. Escaped. */
enum { WHO_MAX = 100 };
const char *contender_who(const struct contender *c, char who[WHO_MAX]);
/* The same with the label behind it, in parentheses, if there is one. */
enum { NAMED_MAX = 600 };
const char *contender_named(const struct contender *c, char who[NAMED_MAX]);
/* Whom to stop so that its work under the lock ends: the shell, "nightly
 * (4711)", of an owner that keeps the lock for it; `else_word` for others.
 * Escaped. */
enum { STOP_MAX = 700 };
const char *contender_to_stop(const struct contender *c, const char *else_word,
                              char text[STOP_MAX]);

enum lock_state {
    LOCK_FREE,
    LOCK_HELD,
    LOCK_SHARED,
    LOCK_ENTERING, /* a barrier: its members wait for more of them */
    LOCK_READY,    /* a barrier: its members may go */
    LOCK_UNKNOWN,  /* may not be read */
};

struct lock {
    char *path;
    int error; /* ZKR_OK, or why the rest is not known */
    struct zkr_participants *list;
    struct contender *items; /* as list->items */
    size_t count;            /* contenders */
    size_t listed;  /* contenders, and the foreign children behind them */
    size_t foreign; /* those */
    size_t read;    /* so many of the first were read as well */
    size_t total;   /* children on the server */
    bool cut;       /* not all of them are listed */
    size_t holders; /* of a semaphore: leases with a permit */
    size_t waiters;
    size_t members; /* of a barrier; they are among the foreign children */
    size_t pool;    /* nodes of a pool of kazoo; they are, too */
    enum zkr__lock_kind kind;
    enum zkr__dialect dialect;
    enum lock_state state;
    const struct contender *holder;       /* the first; NULL when it is free */
    const struct zkr_participant *node;   /* of the only holder; NULL: none, */
    const struct zkr__known_owner *owner; /* or several, as of its owner */
    int64_t
        held_ms; /* the age of the first holder's node; -1: unknown, or none */
    int64_t longest_hold_ms; /* 0 without holders */
    int64_t longest_wait_ms; /* -1 without waiters */
    int64_t at_ms;           /* when it was listed, since 1970 */
};

/* Understands a list of its participants, which is the lock's from then on. The
 * caller sets error. NULL: it has none. */
struct lock lock_of(const char *path, struct zkr_participants *list,
                    int64_t at_ms);

void lock_done(struct lock *lock);

/* A contender holds that is by such a process, and may have held so long. */
bool lock_is_held_by(const struct lock *lock, const char *process,
                     int64_t older_ms);

/* The contenders of a lock by their names, to be freed. */
const struct contender **lock_names(const struct lock *lock);
/* The one of so many that has that name; NULL. */
const struct contender *names_find(const struct contender *const *names,
                                   size_t count, const char *name);
/* For qsort() and bsearch() of locks. */
int lock_by_path(const void *a, const void *b);

/* The next that holds, or does not, with that token, after `last` (NULL: the
 * first); NULL. Nodes that were made in one transaction have the same. */
const struct contender *lock_find(const struct lock *lock, int64_t token,
                                  bool holds, const struct contender *last);
const char *lock_state_name(enum lock_state state);
