/* SPDX-License-Identifier: Apache-2.0 */
/* Contenders: threads that acquire and release on command. */
#pragma once

#include "adapter.h"

/* A thread that acquires and releases on command. Commands are given, and
 * outcomes read, on the main thread. */
struct contender {
    const struct adapter *recipe;
    void *lock;

    zkr_grant *grant; /* of the last acquire, until it is forgotten */
    int rc;           /* of the last command, after contender_rc() */
    int64_t took_ms;  /* the same */
    char detail[256];

    pthread_t thread;
    int64_t timeout_ms; /* of the command, as the next */
    zkr_grant *target;
    struct recorder *commands;
    struct recorder *outcomes; /* of each; they hand over what is above */
};

struct contender *contender_start(const struct adapter *recipe, void *lock);
/* Forgets its grant, and frees the contender. */
void contender_stop(struct contender *c);

/* Begin; contender_rc() waits for the outcome. */
void contender_acquire(struct contender *c, int64_t timeout_ms);
/* Begin to release or free a grant, its own or that of another contender. */
void contender_release(struct contender *c, zkr_grant *grant);
void contender_forget(struct contender *c);

bool contender_is_busy(struct contender *c);
/* Wait for the outcome; fails the test when it does not come soon. */
int contender_rc(struct contender *c);

/* Returns the number of claims on that path that have set their watch and wait
 * for its event. */
size_t count_waiting(zkr_session *s, const char *path);
