/* SPDX-License-Identifier: Apache-2.0 */
/* The oracle of watches that last: what each has told must be so in the end. */
#pragma once

#include "world.h"

/* A user watches something, or stops to watch something. */
void user_follows(struct process *p);

/* Tells whether what all watches have told last is what their servers show. */
bool follows_agree(void);

/* Says which does not, and fails. */
void follows_fail(void);

/* Frees the watches of a process. */
void follows_end(const struct process *p);
