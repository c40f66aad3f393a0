/* What the user should know beside the answer: said on stderr, and part of what
 * is JSON. */
#ifndef COMMON_NOTES_H
#define COMMON_NOTES_H

#include <stddef.h>

struct lockctl;

struct notes {
    char **texts;
    size_t count;
};

/* Twice the same is once. What others wrote must have been escaped. */
void notes_add(struct notes *notes, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void notes_say(const struct notes *notes, const struct lockctl *ctl);
void notes_done(struct notes *notes);

#endif
