/* Writing the answer to stdout: tables, CSV, and the envelope of JSON. */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

#include "lockctl.h"
#include "notes.h"

struct column {
    const char *name; /* "HOLDER" */
    bool wide;        /* of -o wide and of --columns only */
    bool right;       /* a number */
    bool cuttable;    /* may be cut to the width of a terminal */
};

enum look {
    LOOK_PLAIN,
    LOOK_DIM,
    LOOK_GOOD,
    LOOK_BAD,
};

struct table;

/* The columns that --output and --columns ask for. 0, or an exit code after an
 * error was said. */
int table_new(const struct lockctl *ctl, const struct column *columns,
              size_t count, struct table **ret_table);
/* One text for each of `columns`, escaped before; NULL and "": nothing. They
 * are copied. False: out of memory. */
bool table_row(struct table *table, const char *const *cells, enum look look);
/* Print it, and free it. An exit code. */
int table_end(struct table *table);

bool output_wants_color(const struct lockctl *ctl);
bool output_is_json(const struct lockctl *ctl);

/* The envelope; takes the items. With jsonl each item is a line. An exit
 * code. */
int output_json(const struct lockctl *ctl, const char *kind, int64_t at_ms,
                json_t *items, const struct notes *notes);

/* Text of others. What is not UTF-8 is escaped as escape_text() does it. */
json_t *json_text(const char *bytes, size_t size);
/* A time, an id of 64 bits; json_null() where there is none. */
json_t *json_time(int64_t ms_since_1970);
json_t *json_token(int64_t token);
json_t *json_session(int64_t session_id);

#endif
