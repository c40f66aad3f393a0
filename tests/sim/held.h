/* SPDX-License-Identifier: Apache-2.0 */
/* The oracle of claims: judges each grant at the moment when the library makes
 * it, before the user is told. */
#pragma once

#include "lock/claim.h"
#include "oracle.h"

/* A claim has moved to that state. */
void held_moved(const struct zkr__claim *c, int state);

/* Tells whether claims held both at some time, as far as the library knew. */
bool held_at_once(const struct node *a, const struct node *b);

/* Tells whether any claim holds the lock, by a node that is there. */
bool held_by_anybody(void);

/* Returns the node of a claim that holds the lock against the attempt, although
 * that one has a node: from now on no write of it must be made; or NULL. */
const struct node *held_against(const struct attempt *a);
