/* SPDX-License-Identifier: Apache-2.0 */
/* Notes: facts that the user should know beside the answer. They are said on
 * stderr, and are part of JSON. */
#pragma once

#include <stddef.h>

struct lockctl;

struct notes {
    char **texts;
    size_t count;
};

/* The same text is kept once. It is escaped as a sentence. */
void notes_add(struct notes *notes, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void notes_say(const struct notes *notes, const struct lockctl *ctl);
void notes_done(struct notes *notes);
