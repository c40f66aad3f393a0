/* SPDX-License-Identifier: Apache-2.0 */
/* A thread that renews a lock at an interval while it is held. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <pthread.h>

struct watchdog {
    int64_t period_ms;
    bool (*renew)(void *user); /* false: there is nothing left to renew */
    void *user;
    pthread_mutex_t mutex; /* held while renew() runs */
    pthread_cond_t ended;
    bool held;
    bool ending;
    pthread_t thread;
};

void watchdog_start(struct watchdog *dog, int64_t period_ms,
                    bool (*renew)(void *user), void *user);
void watchdog_hold(struct watchdog *dog, bool held);
void watchdog_end(struct watchdog *dog);
