/* SPDX-License-Identifier: Apache-2.0 */
/* Watches locks, and compares each change with what was there before. */
#ifndef MODEL_LOOKS_H
#define MODEL_LOOKS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/notes.h"
#include "model/events.h"

struct looks {
    struct lockctl *ctl;
    const char *const *paths; /* the locks; NULL: all that exist */
    size_t path_count;
    int64_t pause_ms; /* as in mirror.h */
    bool initial;     /* the present state at the start is told, too */
    event_fn *tell;   /* what has changed */
    void *user;
    struct mirror *mirror; /* the rest is of looks.c */
    void *views;           /* of the locks in use, by path */
    bool begun;            /* the first look was taken */
    struct notes notes;
};

/* From then on `wake` is called on another thread when there may be news. 0, or
 * an exit code after an error was printed. */
int looks_start(struct looks *looks, void (*wake)(void *user));

/* Tells what has changed; as soon as all is known, that it begins. Returns 0,
 * or an exit code after an error was printed. */
int looks_next(struct looks *looks);

/* After the session was closed. */
void looks_done(struct looks *looks);

#endif
