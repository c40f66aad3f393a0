/* Numbers and times as words for people and for machines. Pure. */
#ifndef WORDS_H
#define WORDS_H

#include <stddef.h>
#include <stdint.h>

enum { WORD_MAX = 40 };

/* "0.4s", "48.2s", "4m12s", "2h05m", "3d04h"; below zero counts as zero. */
const char *word_age(int64_t ms, char word[WORD_MAX]);

/* "2026-11-21T01:29:58.767Z". "" for a time that no calendar has. */
const char *word_time(int64_t ms_since_1970, char word[WORD_MAX]);

/* "0x100000006": of a token, a session. */
const char *word_id(int64_t id, char word[WORD_MAX]);

/* Such an id, hexadecimal with 0x, or decimal. */
_Bool word_read_id(const char *text, int64_t *ret_id);

#endif
