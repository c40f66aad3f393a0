/* SPDX-License-Identifier: Apache-2.0 */
/* Options of sessions and locks, drawn for each process and thread. */
#pragma once

#include "world.h"

/* Called once for each process. Options that an oracle must know are in `p`. */
void options_draw(struct process *p);

/* Options of a lock of world.recipe. */
uint32_t options_lock_flags(void);

/* Called once for each process, maybe: its threads share a lock that stays. */
void options_draw_stays(struct process *p);
