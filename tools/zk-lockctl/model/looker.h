/* SPDX-License-Identifier: Apache-2.0 */
/* Takes the state of all locks again and again. Nobody waits for the servers:
 * these are asked for what changes, and for nothing else: mirror.h. */
#pragma once

#include "common/lockctl.h"
#include "model/scan.h"

struct mirror;

/* Of zeros, but for the first three; these outlive it. The user closes its
 * mirror. */
struct looker {
    struct lockctl *ctl;
    const char *root;
    int64_t interval_ms;
    struct mirror *mirror; /* NULL: the session was not connected yet */
    int64_t due_ms;        /* of the next look, by clock_now_ms() */
    int64_t began_ms;      /* of the look that waits for the servers; 0: none
                              does */
};

/* One look. */
struct look_result {
    int error; /* ZKR_OK: then there is */
    struct scan scan;
    char detail[SCAN_DETAIL_MAX]; /* of the error, not escaped */
    int64_t took_ms;
};

/* How long there is no need to look for the next one. */
int64_t looker_wait_ms(const struct looker *looker);
/* Looks, if it is time and all locks are known; the caller owns the look from
 * then on. Returns false when there is none yet. */
bool looker_take(struct looker *looker, struct look_result *ret);

/* The next look need not wait for its time, and has all that has happened
 * before: the mirror lists what has changed a moment after it has. */
void looker_now(struct looker *looker);
