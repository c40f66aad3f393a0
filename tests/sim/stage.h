/* Where scripts are played: on the simulated ensemble, or on a real server. */
#ifndef SIM_STAGE_H
#define SIM_STAGE_H

#include <stdbool.h>
#include <stdint.h>

/* Play it to the end. 77 where that is not possible. */
int stage_play(void (*script)(void));

/* What the client's threads and the script share. */
void stage_lock(void);
void stage_unlock(void);
/* Until it is true; a while without that ends the play. */
void stage_wait(bool (*done)(void));
void stage_wake(void);

const char *stage_hosts(void);
/* The server ends a session by itself. */
void stage_kill_session(int64_t id);
/* All connections break; sessions live on. */
void stage_restart(void);
/* The next number of a directory without children; `seed` is a name in it. All
 * connections break. */
void stage_set_number(const char *dir, const char *seed, int32_t number);

#endif
