/* SPDX-License-Identifier: Apache-2.0 */
/* Writes numbers and times as words for people and for machines, and reads the
 * moments that they write. Pure, except for the time zone of the process. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WORD_MAX = 40 };

/* "0.4s", "48.2s", "4m12s", "2h05m", "3d04h"; below zero counts as zero. */
const char *word_age(int64_t ms, char word[WORD_MAX]);

/* "250ms", "2s", "1.5m". */
const char *word_duration(int64_t ms, char word[WORD_MAX]);

/* "01:29:58Z", of a day that is known. */
const char *word_clock(int64_t ms_since_1970, char word[WORD_MAX]);

/* "1 lock", "2 locks": what stands behind the noun. */
const char *word_plural(size_t count);

/* "2026-11-21T01:29:58.767Z". "" for a time that no calendar has. */
const char *word_time(int64_t ms_since_1970, char word[WORD_MAX]);

/* "0x100000006": a session, as servers write it. */
const char *word_id(int64_t id, char word[WORD_MAX]);

/* "4294967302": a token. It is a number that is compared, so it is the same
 * everywhere: in tables, JSON, the environment, and what people type. */
const char *word_token(int64_t token, char word[WORD_MAX]);

/* A token, decimal, or hexadecimal with 0x, as ZooKeeper writes a zxid. */
bool word_read_token(const char *text, int64_t *ret_token);

/* "1h": so long ago; "02:55" or "02:55:10": the last time that it was so late;
 * "2026-11-23", "2026-11-23 02:55", "2026-11-23T02:55:10.5": local time, or
 * with "Z" or "+01:00" behind it that of the zone. False: none of these. */
bool moment_read(const char *text, int64_t now_ms, int64_t *ret_ms);
