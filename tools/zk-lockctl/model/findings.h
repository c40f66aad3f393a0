/* SPDX-License-Identifier: Apache-2.0 */
/* The list of what is wrong with locks, and the sentences for it. Pure. */
#pragma once

#include "model/lock_state.h"

struct finding {
    const char *check; /* "deaf-waiter" */
    char *path;        /* of the lock */
    char *node;        /* name of the child that it is about, or NULL */
    int64_t token;     /* of that child, or 0 */
    char *what;        /* escaped, as the next */
    char *cure;
};

struct findings {
    struct finding *items;
    size_t count;
    bool failed; /* out of memory: it is not all */
};

/* Add one on a lock, or on a child of it (`c` is not NULL). The list takes the
 * texts, which are NULL where there was no memory for them. */
void findings_add(struct findings *findings, const char *check,
                  const struct lock *lock, const struct contender *c,
                  char *what, char *cure);
/* Keep what was found before, too. */
void findings_keep(struct findings *findings, const struct findings *before);
void findings_done(struct findings *findings);

/* A text like that of printf(); NULL: out of memory. */
char *finding_text(const char *format, ...)
    __attribute__((format(printf, 1, 2)));
enum { FINDING_NAME_MAX = 300 }; /* of a node, escaped */
/* "zk-lockctl VERB LOCK", and "FIRST: zk-lockctl break --token TOKEN LOCK". */
char *cure_command(const char *verb, const struct lock *lock);
char *cure_break(const char *first, const struct lock *lock,
                 const struct contender *c);
