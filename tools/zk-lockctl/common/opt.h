/* SPDX-License-Identifier: Apache-2.0 */
/* Options as tables: an option of a verb is one row. Parsing, --help and
 * completion come from it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lockctl;
struct verb;

/* What an option stores at `at`, an offset into what lockctl_parse() is
 * given. */
enum opt_type {
    OPT_ON,      /* bool: true; it has no value */
    OPT_OFF,     /* bool: false, likewise */
    OPT_INT,     /* int: `min`, likewise */
    OPT_TEXT,    /* const char *: its value, which lives as long as argv */
    OPT_WORD,    /* int: the index of its value in `words` */
    OPT_MS,      /* int64_t: a duration */
    OPT_COUNT,   /* uint32_t: a number from 1 on */
    OPT_CALL,    /* what `take` stores */
    OPT_SETTING, /* of lockctl.settings: `at` is where the options of a session
                    have it; 0: nowhere */
    OPT_SECRET,  /* the same of the first line of the file that it names */
    OPT_COMMON,  /* of all verbs; options.c knows what it means */
};

/* Where a table finds a member of a struct. */
#define AT(type, member) offsetof(struct type, member)

struct opt {
    const char *name;  /* "limit"; NULL ends a table */
    char letter;       /* 0: none */
    const char *value; /* "N"; NULL: it has none */
    const char *help;  /* a sentence; "\n" begins a line */
    enum opt_type type;
    size_t at;
    int64_t min, max; /* of MS and COUNT; max 0: no more than INT32_MAX */
    const char *const *words; /* values, up to NULL: all of WORD, and some of
                                 others, to be completed */
    /* The exit code; an error was said unless it is 0. */
    int (*take)(const struct opt *opt, void *at, const char *value);
};

/* The options that every verb has, and the settings among them. */
extern const struct opt common_options[];
extern const struct opt setting_options[];

/* Reads the options of a verb and of all verbs, and moves argv to the first
 * argument behind them. `to` is what the rows of the verb store into. 0, or an
 * exit code after an error was said. */
int lockctl_parse(struct lockctl *ctl, const struct verb *verb, int *argc,
                  char ***argv, void *to);

/* Stores a value where the row says. The exit code. */
int opt_take(const struct opt *opt, void *to, const char *value);

/* What --help prints, and the part of it on the options of every verb. */
void lockctl_print_help(const struct verb *verb);
void lockctl_print_common(void);
/* A table of it; NULL: none. */
void opt_print(const struct opt *options);

/* The name in `names`, up to NULL, that the user may have meant; NULL. */
const char *opt_nearest(const char *word, const char *const *names);

/* Fails for a value: "--limit: '-1' is not WANT". */
int opt_fail(const struct opt *opt, const char *value, const char *want);
