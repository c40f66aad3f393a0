/* Formatting for the log hook; nothing is formatted that nobody reads. */
#ifndef ZKR__LOG_H
#define ZKR__LOG_H

#include <stdbool.h>

#include <zkrecipes/log.h>

bool zkr__log_wanted(enum zkr_log_level level);

void zkr__log_line(enum zkr_log_level level, const char *line);

void zkr__log(enum zkr_log_level level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
