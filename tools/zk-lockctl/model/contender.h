/* SPDX-License-Identifier: Apache-2.0 */
/* Describes a contender: its node, its owner, whether it waits. Pure. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <zkrecipes/zkrecipes.h>

#include "protocol/dialect.h"
#include "protocol/owner.h"

/* There is more to know of a node than its name, or why not. */
bool node_is_read(const struct zkr_participant *node);
/* Copies the data, as much as the library keeps, in place of that before; the
 * node owns it. False: out of memory. */
bool node_set_data(struct zkr_participant *node, const char *data, size_t size);

/* One child of a lock; those that contend come first, in order. */
struct contender {
    const struct zkr_participant *node;
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

/* Its record says that it is of HOST, or of HOST:PID. */
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
/* Whom to stop so that its work under the lock ends: the shell, "nightly
 * (4711)", of an owner that keeps the lock for it; `else_word` for others.
 * Escaped. */
enum { STOP_MAX = 700 };
const char *contender_to_stop(const struct contender *c, const char *else_word,
                              char text[STOP_MAX]);
