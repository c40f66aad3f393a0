/* What the library has allocated, counted, and what it is refused. */
#ifndef SIM_HEAP_H
#define SIM_HEAP_H

#include <stdbool.h>
#include <stdint.h>

/* One request in so many gets nothing; 0: all get what they ask for. */
extern uint32_t heap_scarce;

/* That one, counted from now, gets nothing; 0: none. */
void heap_refuse(uint32_t nth);
/* That has happened. */
bool heap_has_refused(void);

/* Blocks that have not been freed. */
long heap_blocks(void);

#endif
