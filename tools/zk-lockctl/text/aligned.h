/* SPDX-License-Identifier: Apache-2.0 */
/* Prints tables for people, as wide as the terminal. */
#ifndef TEXT_ALIGNED_H
#define TEXT_ALIGNED_H

#include <stdbool.h>
#include <stddef.h>

#include "common/lockctl.h"

struct column {
    const char *name; /* "HOLDER" */
    bool wide;        /* of -o wide and of --columns only */
    bool right;       /* a number */
    /* Where a terminal has no room for all columns: */
    int rank;   /* the highest is given up first; from 0 on, each once */
    int narrow; /* it may be cut to that width; 0: shown whole or not at all */
    bool tail;  /* ... its end says more than its beginning */
};

enum style {
    STYLE_PLAIN,
    STYLE_DIM,
    STYLE_GOOD,
    STYLE_BAD,
};

struct table;

/* The columns that --output and --columns ask for. 0, or an exit code after an
 * error was said. */
int table_new(const struct lockctl *ctl, const struct column *columns,
              size_t count, struct table **ret_table);
/* One text for each of `columns`, escaped before; NULL and "": nothing. They
 * are copied. False: out of memory. */
bool table_row(struct table *table, const char *const *cells, enum style style);
/* Row `i` of what `of` is; it may be several. False: out of memory. */
typedef bool table_row_fn(struct table *table, const void *of, size_t i);
/* All rows up to `count`. An exit code. */
int table_rows(struct table *table, table_row_fn *row, const void *of,
               size_t count);
/* Print it, and free it. An exit code. On a terminal, and unless columns were
 * asked for, no line is longer than a line of the terminal; which columns are
 * missing for that is said. */
int table_end(struct table *table);

/* All of these: a table with so many rows. An exit code. */
int table_print(const struct lockctl *ctl, const struct column *columns,
                size_t column_count, table_row_fn *row, const void *of,
                size_t count);

#endif
