/* SPDX-License-Identifier: Apache-2.0 */
/* The log hook: formats a line only when a hook wants to read it. */
#pragma once

#include <stdbool.h>

#include <zkrecipes/session.h>

/* The hook of one session. */
struct zkr__log_hook {
    zkr_log_fn fn; /* NULL: it has none */
    void *user;
    int level;
};

/* The lines of this thread go to that hook from now on; NULL: to that of the
 * process. A thread uses the hook of a session while it has its lock. */
void zkr__log_use(const struct zkr__log_hook *hook);

/* The hook is not called any more. */
void zkr__log_hook_end(struct zkr__log_hook *hook);

bool zkr__log_wanted(enum zkr_log_level level);

/* For a line that may come again and again, `text` being what is the same each
 * time but for numbers of milliseconds; NULL, as a line of level DEBUG: it is
 * told. Returns 0 when the line is not to be told: the same line was told less
 * than a minute ago. Else for how many it stands, itself included. */
unsigned zkr__log_times(enum zkr_log_level level, const char *text);

void zkr__log_line(enum zkr_log_level level, const char *line);

void zkr__log(enum zkr_log_level level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
