/* Prints locks as ls does: a lock is one row of a table, or an item of JSON. */
#ifndef TEXT_ROWS_H
#define TEXT_ROWS_H

#include "model/scan.h"
#include "text/output.h"

/* Print locks in the format that was asked for, and say the notes. Exit code.
 */
int rows_print(const struct lockctl *ctl, const struct lock *locks,
               size_t count, int64_t at_ms, const struct notes *notes);

#endif
