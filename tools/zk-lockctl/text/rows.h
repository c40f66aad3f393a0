/* SPDX-License-Identifier: Apache-2.0 */
/* Prints locks as ls does: a lock is one row of a table, or an item of JSON. */
#ifndef TEXT_ROWS_H
#define TEXT_ROWS_H

#include "common/notes.h"
#include "model/lock_state.h"
#include "text/envelope.h"

/* Prints locks in the requested format, and then the notes. Returns an exit
 * code.
 */
int rows_print(const struct lockctl *ctl, const struct lock *locks,
               size_t count, int64_t at_ms, const struct notes *notes);

#endif
