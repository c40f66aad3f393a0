/* Options of sessions and locks, drawn for each process and thread. */
#ifndef SIM_OPTIONS_H
#define SIM_OPTIONS_H

#include "world.h"

/* Once for each process. Where an oracle must know, it is in `p`. */
void options_draw(struct process *p);

/* Of a lock of world.recipe. */
uint32_t options_lock_flags(void);

#endif
