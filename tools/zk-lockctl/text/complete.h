/* SPDX-License-Identifier: Apache-2.0 */
/* Finds what may be typed next on a command line, but for the names of locks
 * and of contexts. Pure.
 *
 * The options are those of the help texts, so there is no second list of
 * them. */
#pragma once

#include "common/lockctl.h"

enum complete_kind {
    COMPLETE_NOTHING,
    COMPLETE_VERB,
    COMPLETE_OPTION,
    COMPLETE_VALUE, /* one of `values` */
    COMPLETE_LOCK,
    COMPLETE_CONTEXT, /* the name of one */
    COMPLETE_TOPIC,   /* of help: a verb, or one of `values` */
};

struct complete {
    enum complete_kind kind;
    const struct verb *verb;   /* NULL before it */
    const char *const *values; /* ends with NULL */
    size_t before; /* bytes of the last word, "--option=", before what is
                      completed */
    /* Options on the line that are needed to ask the ensemble: */
    const char *settings[SETTING_COUNT];
    const char *context;
};

/* `words` are those behind the name of the program; the last is the one being
 * typed, and may be "". */
struct complete complete_find(const struct verb *const *verbs, int count,
                              char *const *words);

/* Tells whether no part of a name has a meaning to a shell, anywhere in a
 * word. */
bool complete_is_plain(const char *name);
