/* SPDX-License-Identifier: Apache-2.0 */
/* A target: a contender that the user wants to act on, by the token that makes
 * it this one and no other, also when the lock has changed since it was
 * seen. */
#ifndef MODEL_TARGET_H
#define MODEL_TARGET_H

#include "common/lockctl.h"
#include "model/lock_state.h"

struct target {
    char path[ZKR_PATH_MAX + 1]; /* of the lock */
    char node[2 * ZKR_PATH_MAX]; /* the full path of its node */
    char who[WHO_MAX];           /* escaped */
    int64_t token;               /* 0: its node may not be read */
    bool is_asked;               /* it has been asked for the lock before */
    bool reads_reasons;          /* its client is zkrecipes */
    bool waits;                  /* it did not hold when it was seen */
    size_t position; /* of a waiter: where it was in the queue then */
};

/* False: the name of its node is too long. */
bool target_set(struct target *target, const struct lock *lock,
                const struct contender *c);
/* What came of acting on a target. */
struct outcome {
    int code;                 /* an exit code */
    int cause;                /* of the library, or ZKR_OK */
    char text[EXPLAINED_MAX]; /* a sentence, escaped */
};

/* Returns outcome->code. */
int outcome_set(struct outcome *outcome, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The error of the library that has just been returned. */
int outcome_fail(struct outcome *outcome, int rc);
/* Says it on stderr, and returns its code. */
int outcome_say(const struct outcome *outcome, const struct lockctl *ctl);

#endif
