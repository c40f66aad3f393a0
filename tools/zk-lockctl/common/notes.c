/* SPDX-License-Identifier: Apache-2.0 */
#include "common/notes.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/escape.h"
#include "common/grow.h"
#include "common/lockctl.h"

static bool has(const struct notes *notes, const char *text)
{
    for (size_t i = 0; i < notes->count; i++) {
        if (strcmp(notes->texts[i], text) == 0)
            return true;
    }
    return false;
}

void notes_add(struct notes *notes, const char *format, ...)
{
    char raw[2048];
    char text[sizeof(raw)];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(raw, sizeof(raw), format, args);
    va_end(args);
    escape_sentence(raw, text, sizeof(text));
    if (!has(notes, text))
        *(char **)grow_array(&notes->texts, &notes->count, sizeof(char *)) =
            enough(strdup(text));
}

void notes_say(const struct notes *notes, const struct lockctl *ctl)
{
    for (size_t i = 0; i < notes->count; i++)
        lockctl_say(ctl, "note: %s", notes->texts[i]);
}

void notes_done(struct notes *notes)
{
    for (size_t i = 0; i < notes->count; i++)
        free(notes->texts[i]);
    free(notes->texts);
    *notes = (struct notes){ NULL, 0 };
}
