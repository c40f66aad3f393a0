/* What the library has allocated, counted. */
#ifndef SIM_HEAP_H
#define SIM_HEAP_H

/* Blocks that have not been freed. */
long heap_blocks(void);

#endif
