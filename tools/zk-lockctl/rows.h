/* A lock as one row of a table, as ls shows it. */
#ifndef ROWS_H
#define ROWS_H

#include "output.h"
#include "scan.h"

/* Print locks in the format that was asked for, and say the notes. Exit code.
 */
int rows_print(const struct lockctl *ctl, const struct lock *locks,
               size_t count, int64_t at_ms, const struct notes *notes);

/* Who it is: by its record, its data, or its session. Escaped. */
enum { WHO_MAX = 100 };
const char *rows_who(const struct contender *c, char who[WHO_MAX]);

#endif
