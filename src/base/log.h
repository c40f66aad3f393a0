/* The log hook: formats a line only when a hook wants to read it. */
#ifndef ZKR__LOG_H
#define ZKR__LOG_H

#include <stdbool.h>

#include <zkrecipes/log.h>

#define ZKR__LOG_NOTHING (-1)

/* Returns the level that the hook wants: an enum zkr_log_level, or
 * ZKR__LOG_NOTHING. */
int zkr__log_level(void);

/* Calls `fn` now, and whenever that level has changed. There is one follower:
 * the seam, whose client has a level of its own. */
void zkr__log_follow(void (*fn)(void));

bool zkr__log_wanted(enum zkr_log_level level);

void zkr__log_line(enum zkr_log_level level, const char *line);

void zkr__log(enum zkr_log_level level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
