/* SPDX-License-Identifier: Apache-2.0 */
/* Ghosts: nodes that the server shows, and the ensemble does not have. */
#pragma once

#include <stdbool.h>

#include "session/locked.h"

struct zkr__claim;
struct zkr__queue;

/* The ghosts of one claim; NULL until it waits for a node. */
struct zkr__ghosts;

void zkr__ghosts_free(struct zkr__ghosts *g);

/* Our node is another from now on, so earlier answers count no more. */
void zkr__ghosts_forget(struct zkr__ghosts *g);

/* Called when the claim waits for the node `name`, again or as before. Returns
 * false when there is no memory for it: then the claim would never ask. */
bool zkr__ghosts_suspect_locked(struct zkr__claim *c,
                                const char *name) ZKR__LOCKED;

/* Called when the claim does not wait now: it does not ask. */
void zkr__ghosts_rest_locked(struct zkr__claim *c) ZKR__LOCKED;

/* Leaves known ghosts out of a list that shows them, or takes them in again.
 * Returns true when some are known, in this list or not. */
bool zkr__ghosts_leave_out_locked(struct zkr__claim *c,
                                  struct zkr__queue *queue,
                                  bool out) ZKR__LOCKED;
