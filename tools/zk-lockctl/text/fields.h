/* SPDX-License-Identifier: Apache-2.0 */
/* The fields of a kind of row. Each is a column of a table, a member of JSON,
 * or both: tables, --columns, JSON, its lines and its schema come from one
 * array of these. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "common/lockctl.h"

/* What is at `at`. A time of 0, a duration below 0, an id of 0 and a text of ""
 * or NULL are nothing: an empty cell, and null. */
enum field_type {
    FIELD_TEXT,    /* const char *: of others, so tables have it escaped */
    FIELD_CHARS,   /* char[]: likewise */
    FIELD_PATH,    /* const char *: likewise, the path of a node */
    FIELD_WORD,    /* const char *: ours */
    FIELD_ERROR,   /* int: of the library; ZKR_OK is nothing. Numbers follow */
    FIELD_BOOL,    /* bool */
    FIELD_COUNT,   /* size_t */
    FIELD_NUMBER,  /* int64_t */
    FIELD_MS,      /* int64_t: a duration, or a number that JSON alone shows */
    FIELD_TIME,    /* int64_t: since 1970 */
    FIELD_TOKEN,   /* int64_t */
    FIELD_SESSION, /* int64_t */
    FIELD_OBJECT,  /* what is there itself: an object of `kind`, or null */
    FIELD_LIST,    /* made by `json`: an array of these */
};

/* Room for any text, escaped. */
enum { FIELD_ROOM = ZKR_PATH_MAX * 4 + 1 };

/* One row of a table, and one member of JSON. An array of them ends with a row
 * of zeros. */
struct field {
    const char *column; /* "HOLDER"; NULL: of JSON only */
    const char *key;    /* "held_ms"; NULL: of tables only */
    enum field_type type;
    size_t at; /* a member of the item, or of what it points to: */
    /* A pointer in the item, which is not its first member (0: none). NULL for
     * an item that has no such thing: its cell is empty, and null; or JSON
     * leaves the member out, if `lacking`, as without an error. */
    size_t in;
    /* In place of the member: the word of FIELD_WORD, the text of the cell
     * (escaped; NULL: none), the value in JSON. They are given the item. */
    const char *(*word)(const void *item);
    const char *(*text)(const void *item, char room[FIELD_ROOM]);
    json_t *(*json)(const void *item);
    /* Of OBJECT and LIST; without a key: JSON has all members of it. */
    const struct kind *kind;
    const char *words; /* that a FIELD_WORD may be, for the schema: "a b" */
    bool lacking;
    bool wide;  /* of -o wide and of --columns only */
    bool right; /* a number */
    /* Where a terminal has no room for all columns: */
    int rank;   /* the highest is given up first; from 0 on, each once */
    int narrow; /* it may be cut to that width; 0: shown whole or not at all */
    bool tail;  /* its end says more than its beginning */
};

/* A kind of item: its name in the schema, and that of an answer with such
 * items, of which each is a line of -o jsonl; NULL: it is a part of others. */
struct kind {
    const char *name;           /* "lock" */
    const char *list;           /* "LockList"; "": a line only */
    const struct field *fields; /* an array */
};

/* All that a verb prints. */
struct rows {
    const struct kind *kind;
    const struct field *columns; /* of a table; NULL: those of the kind */
    const void
        *of; /* an array of items, each of `size`, or what item() takes */
    size_t size;
    const void *(*item)(const void *of, size_t i);
    size_t count;
    void (*head)(const void *of); /* prints what is above a table */
    int64_t at_ms;                /* of the look */
    const struct notes *notes;    /* NULL: none */
};

/* Prints them in the format that was asked for. An exit code. On a terminal,
 * and unless columns were asked for, no line of a table is longer than a line
 * of the terminal; which columns are missing for that is said. */
int rows_print(const struct lockctl *ctl, const struct rows *rows);

/* One item as JSON. An item of NULL is null. */
json_t *fields_json(const struct field *fields, const void *item);
/* So many items, an array, of that size. */
json_t *fields_list(const struct field *fields, const void *items, size_t count,
                    size_t size);
/* The text of a cell, escaped; "" where it is empty. */
const char *field_text(const struct field *field, const void *item,
                       char room[FIELD_ROOM]);
/* The columns of one item in a line, each with its name before its text. */
void fields_print_line(const struct lockctl *ctl, const struct field *fields,
                       const void *item);

/* What a field of a number is for an item; INT64_MIN: nothing. */
int64_t field_number(const struct field *field, const void *item);

/* For a sort by a column: texts as they are, the most of a number first. */
int field_compare(const struct field *field, const void *a, const void *b);

bool field_is_end(const struct field *field);

/* schema.c: prints the JSON Schema of all that -o json writes. Of all kinds
 * that these verbs name; up to NULL. An exit code. */
int schema_print(const struct verb *const *verbs);
