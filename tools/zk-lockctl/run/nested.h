/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the runs around ours: in "zk-lockctl run A zk-lockctl run B COMMAND"
 * the inner run has the sessions of all outer ones in its environment. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <zkrecipes/participants.h>

#include "run/claiming.h"

#define NESTED_VARIABLE "ZKLOCK_SESSIONS"

enum { NESTED_MAX = 32, NESTED_TEXT_MAX = (NESTED_MAX + 1) * 20 };

/* The outermost run is first. Of more than NESTED_MAX runs, these are the
 * innermost. */
struct nested {
    int64_t sessions[NESTED_MAX];
    size_t count;
};

/* Of the value of the variable; NULL, and what is not such a list, is none. */
void nested_read(struct nested *n, const char *text);

/* It is over. */
void nested_remove(struct nested *n, int64_t session);

/* The value for the command of a run inside all of them. */
void nested_write(const struct nested *n, int64_t session,
                  char text[NESTED_TEXT_MAX]);

/* Returns the session of the run right around us, or 0. */
int64_t nested_innermost(const struct nested *n);

/* The node of a run around us that such a claim would wait for now, although
 * that run waits for our end. Of a semaphore: when runs around us have as many
 * leases as there are slots. NULL: none. */
const struct zkr_participant *
nested_waits_for(const struct nested *n, const struct zkr_participants *list,
                 const struct wanted *wanted);
