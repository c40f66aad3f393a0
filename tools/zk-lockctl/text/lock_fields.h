/* SPDX-License-Identifier: Apache-2.0 */
/* The fields of a lock, and of a contender. */
#pragma once

#include <stdio.h>

#include "common/words.h"
#include "model/cons.h"
#include "model/scan.h"
#include "text/fields.h"

/* --- cells: the words that ls, show, watch and top have in common --- */

/* "<=4m12s"; "?" for a time below zero, which is not known. */
const char *cell_at_most(int64_t ms, char word[WORD_MAX]);
/* A path, escaped: it is shown whole, whatever it is made of. */
enum { PATH_TEXT_MAX = ZKR_PATH_MAX * 4 + 1 };
const char *cell_path(const char *path, char text[PATH_TEXT_MAX]);

/* The holder of the lock, or how many there are, or how many members of a
 * barrier; "" without one. Escaped. */
const char *cell_holder(const struct lock *lock, char who[WHO_MAX]);

/* "2 in the queue"; "3 of 5 leases, 1 waiting" of a semaphore, "4 members" of a
 * barrier. */
enum { QUEUE_MAX = 160 };
const char *cell_queue(const struct lock *lock, bool more,
                       char word[QUEUE_MAX]);

/* --- fields --- */

extern const struct field owner_fields[];     /* of a struct zkr__known_owner */
extern const struct field contender_fields[]; /* of a struct contender */
extern const struct field lock_fields[];      /* of a struct lock */
extern const struct kind owner_kind, contender_kind, lock_kind;

/* Of what begins with a contender. */
const char *contender_owner_text(const void *item, char room[FIELD_ROOM]);
const char *contender_mode(const void *item);
const char *contender_dialect(const void *item);

/* Locks as ls prints them. An exit code. */
int locks_print(const struct lockctl *ctl, const struct lock *locks,
                size_t count, int64_t at_ms, const struct notes *notes);

/* metrics.c: writes locks in the text format of Prometheus. `scan` is one look
 * at the servers, and how long it took; NULL: they could not be reached. Locks
 * that may not be read are left out. Then the faults of the connection, which
 * `session` has counted; NULL: there is no session. Pure. */
void metrics_write(FILE *out, const struct scan *scan, int64_t took_ms,
                   const struct zkr_counters *session);

/* --- the one lock that check, wait, revoke or break is about --- */

/* "/a is held by hostA:123 (kazoo), "nightly", token 5, for <=4m12s": a holder,
 * as a part of a sentence. */
enum { HELD_BY_MAX = ZKR_PATH_MAX + 1024 };
const char *held_by_word(const struct lock *lock,
                         const struct contender *holder,
                         char text[HELD_BY_MAX]);
/* The same on stderr, and how many wait. */
void one_lock_say(const struct lockctl *ctl, const struct lock *lock);

/* Print the lock as ls does, in a format for machines; nothing in a table. An
 * exit code. */
int one_lock_print(const struct lockctl *ctl, const struct lock *lock);

/* How many nodes of a lock must be read, where `reads` are enough for a line:
 * the formats for machines have the longest wait, too. */
uint32_t one_lock_reads(const struct lockctl *ctl, uint32_t reads);
