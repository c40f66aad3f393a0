/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the JSON Schema of all that -o json writes, out of the fields. */
#ifndef TEXT_SCHEMA_H
#define TEXT_SCHEMA_H

#include "text/fields.h"

/* The fields of one kind of item; a caller lists all that there are. */
struct definition {
    const char *name; /* "lock" */
    const struct field *fields;
    const char *kind; /* "LockList": of answers; NULL: of none */
    bool line;        /* it is a line of -o jsonl */
};

/* An exit code. `all` ends with a row of zeros. */
int schema_print(const struct definition *all);

#endif
