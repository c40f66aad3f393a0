/* SPDX-License-Identifier: Apache-2.0 */
/* The stage on which scripts are played: the simulated ensemble, or a real
 * server. */
#pragma once

#include <stdint.h>

/* Plays it to the end. Returns 77 where that is not possible. */
int stage_play(void (*script)(void));

/* Data that the client's threads and the script share; the end wakes who waits
 * for it. */
void stage_lock(void);
void stage_unlock(void);
/* Waits until that number is so high; a long time without it ends the play. */
void stage_wait(const int *number, int least);

const char *stage_hosts(void);
/* The server ends a session by itself. */
void stage_kill_session(int64_t id);
/* All connections break; sessions live on. */
void stage_restart(void);
/* The next number of a directory without children; `seed` is a name in it. All
 * connections break. */
void stage_set_number(const char *dir, const char *seed, int32_t number);
