/* What check, wait, revoke and break share: one lock, told in a line. */
#ifndef GUARD_H
#define GUARD_H

#include "lockctl.h"
#include "scan.h"

/* "held by hostA:123 (kazoo), token 0x5, for <=4m12s, 2 wait" on stderr. */
void guard_say(const struct lockctl *ctl, const struct lock *lock);

/* Print the lock as ls does, in a format for machines; nothing in a table. An
 * exit code. */
int guard_print(const struct lockctl *ctl, const struct lock *lock);

/* How many nodes of a lock must be read, where `reads` are enough for a line:
 * the formats for machines have all of them. */
uint32_t guard_reads(const struct lockctl *ctl, uint32_t reads);

/* The full path of a contender of that lock. False, and said: too long, or
 * a server calls something a child that is none. */
bool guard_node(const struct lock *lock, const struct contender *c, char *node,
                size_t size);

/* Milliseconds of CLOCK_MONOTONIC, and sleeping until then at most `ms`. */
int64_t guard_now_ms(void);
void guard_sleep_ms(int64_t ms);

#endif
