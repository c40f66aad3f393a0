/* SPDX-License-Identifier: Apache-2.0 */
/* A lock, and a contender of its queue, as the cells of a table: the words that
 * ls, show, watch and top have in common. NULL is an empty cell. */
#pragma once

#include "common/words.h"
#include "model/told.h"

/* "<=4m12s"; "?" for a time below zero, which is not known. */
const char *cell_at_most(int64_t ms, char word[WORD_MAX]);
/* "12", or "12+" when there are more. */
const char *cell_count(size_t count, bool more, char word[WORD_MAX]);

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

/* "exclusive"; NULL of one that does not contend. */
const char *cell_mode(const struct contender *c);
