/* SPDX-License-Identifier: Apache-2.0 */
/* Writes numbers and times as words for people and for machines. Pure. */
#include "common/words.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const char *word_age(int64_t ms, char word[WORD_MAX])
{
    static const struct {
        int64_t below; /* seconds */
        int64_t unit;
        const char *first;
        const char *second;
        int64_t part;
    } forms[] = {
        { 3600, 60, "m", "s", 1 },
        { 86400, 3600, "h", "m", 60 },
        { INT64_MAX, 86400, "d", "h", 3600 },
    };
    int64_t s = ms < 0 ? 0 : ms / 1000;
    size_t i = 0;

    if (s < 60) {
        (void)snprintf(word, WORD_MAX, "%" PRId64 ".%ds", s,
                       ms < 0 ? 0 : (int)(ms % 1000 / 100));
        return word;
    }
    while (s >= forms[i].below)
        i++;
    (void)snprintf(word, WORD_MAX, "%" PRId64 "%s%02" PRId64 "%s",
                   s / forms[i].unit, forms[i].first,
                   s % forms[i].unit / forms[i].part, forms[i].second);
    return word;
}

const char *word_duration(int64_t ms, char word[WORD_MAX])
{
    if (ms < 1000)
        (void)snprintf(word, WORD_MAX, "%dms", (int)ms);
    else if (ms < 60000)
        (void)snprintf(word, WORD_MAX, "%.3gs", (double)ms / 1000);
    else
        (void)snprintf(word, WORD_MAX, "%.3gm", (double)ms / 60000);
    return word;
}

const char *word_plural(size_t count)
{
    return count == 1 ? "" : "s";
}

const char *word_time(int64_t ms, char word[WORD_MAX])
{
    time_t seconds = (time_t)(ms / 1000);
    struct tm tm;
    size_t len;

    word[0] = '\0';
    if (ms < 0 || gmtime_r(&seconds, &tm) == NULL || tm.tm_year > 9999 - 1900)
        return word;
    len = strftime(word, WORD_MAX, "%Y-%m-%dT%H:%M:%S", &tm);
    (void)snprintf(word + len, WORD_MAX - len, ".%03dZ", (int)(ms % 1000));
    return word;
}

const char *word_clock(int64_t ms, char word[WORD_MAX])
{
    char time[WORD_MAX];

    (void)word_time(ms, time);
    (void)snprintf(word, WORD_MAX, "%.8sZ",
                   strlen(time) > 19 ? time + 11 : "--:--:--");
    return word;
}

const char *word_id(int64_t id, char word[WORD_MAX])
{
    (void)snprintf(word, WORD_MAX, "0x%" PRIx64, (uint64_t)id);
    return word;
}

const char *word_token(int64_t token, char word[WORD_MAX])
{
    (void)snprintf(word, WORD_MAX, "%" PRId64, token);
    return word;
}

bool word_read_token(const char *text, int64_t *ret_token)
{
    bool hex = strncmp(text, "0x", 2) == 0;
    bool negative = text[0] == '-';
    const char *digits = hex ? text + 2 : text + negative;
    char *end;
    unsigned long long value;

    if (digits[0] == '\0' ||
        digits[strspn(digits, hex ? "0123456789abcdefABCDEF" : "0123456789")] !=
            '\0')
        return false;
    errno = 0;
    value = strtoull(digits, &end, hex ? 16 : 10);
    if (errno != 0)
        return false;
    if (!hex && value > (uint64_t)INT64_MAX + negative)
        return false;
    *ret_token = (int64_t)(negative ? 0 - value : value);
    return true;
}
