/* SPDX-License-Identifier: Apache-2.0 */
#include "common/words.h"
#include "common/lockctl.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const char *word_age(int64_t ms, char word[WORD_MAX])
{
    long long s = ms < 0 ? 0 : ms / 1000;

    if (s < 60)
        (void)snprintf(word, WORD_MAX, "%lld.%ds", s,
                       ms < 0 ? 0 : (int)(ms % 1000 / 100));
    else if (s < 3600)
        (void)snprintf(word, WORD_MAX, "%lldm%02llds", s / 60, s % 60);
    else if (s < 86400)
        (void)snprintf(word, WORD_MAX, "%lldh%02lldm", s / 3600, s / 60 % 60);
    else
        (void)snprintf(word, WORD_MAX, "%lldd%02lldh", s / 86400,
                       s / 3600 % 24);
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

    word[0] = '\0';
    if (ms < 0 || gmtime_r(&seconds, &tm) == NULL || tm.tm_year > 9999 - 1900)
        return word;
    size_t len = strftime(word, WORD_MAX, "%Y-%m-%dT%H:%M:%S", &tm);
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
    const char *digits = text + (hex ? 2 : text[0] == '-');

    if (digits[0] == '\0' ||
        digits[strspn(digits, hex ? "0123456789abcdefABCDEF" : "0123456789")] !=
            '\0')
        return false;
    errno = 0;
    int64_t token =
        hex ? (int64_t)strtoull(digits, NULL, 16) : strtoll(text, NULL, 10);
    if (errno != 0)
        return false;
    *ret_token = token;
    return true;
}

/* A date and a time of day, as they were written. */
struct written {
    struct tm tm;
    int ms;
    bool has_date;
    bool has_zone;
    int offset_s; /* of the zone, east of Greenwich */
};

/* Takes what strptime() reads, if it looks like `shape`, where each 0 is a
 * digit. */
static bool take(const char **text, const char *shape, const char *format,
                 struct tm *tm)
{
    size_t len = strlen(shape);

    for (size_t i = 0; i < len; i++) {
        char c = (*text)[i];

        if (shape[i] == '0' ? !isdigit((unsigned char)c) : c != shape[i])
            return false;
    }
    if (strptime(*text, format, tm) != *text + len)
        return false;
    *text += len;
    return true;
}

static void take_fraction(const char **text, struct written *w)
{
    int unit = 100;

    if (**text != '.' || !isdigit((unsigned char)(*text)[1]))
        return;
    for (++*text; isdigit((unsigned char)**text); ++*text) {
        w->ms += (**text - '0') * unit;
        unit /= 10;
    }
}

static void take_zone(const char **text, struct written *w)
{
    struct tm tm = { 0 };
    bool east = take(text, "+00:00", "+%H:%M", &tm);

    w->has_zone = east || take(text, "-00:00", "-%H:%M", &tm) ||
                  take(text, "Z", "Z", &tm);
    w->offset_s = (east ? 60 : -60) * (tm.tm_hour * 60 + tm.tm_min);
}

static bool read_written(const char *text, struct written *w)
{
    w->has_date = take(&text, "0000-00-00", "%Y-%m-%d", &w->tm);
    if (w->has_date && w->tm.tm_year < 70)
        return false;
    if (w->has_date && *text == '\0')
        return true;
    if (w->has_date && *text != 'T' && *text != ' ')
        return false;
    text += w->has_date;
    if (!take(&text, "00:00", "%H:%M", &w->tm))
        return false;
    if (take(&text, ":00", ":%S", &w->tm))
        take_fraction(&text, w);
    take_zone(&text, w);
    return w->tm.tm_sec < 61 && *text == '\0';
}

static int64_t to_ms(const struct written *w)
{
    struct tm tm = w->tm;

    tm.tm_isdst = -1;
    time_t seconds = w->has_zone ? timegm(&tm) - w->offset_s : mktime(&tm);
    return (int64_t)seconds * 1000 + w->ms;
}

/* Today, in the zone that is meant, or yesterday. */
static int64_t to_last(struct written *w, int64_t now_ms)
{
    time_t now = (time_t)(now_ms / 1000) + (w->has_zone ? w->offset_s : 0);
    struct tm today = { 0 };

    (void)(w->has_zone ? gmtime_r(&now, &today) : localtime_r(&now, &today));
    w->tm.tm_year = today.tm_year;
    w->tm.tm_mon = today.tm_mon;
    w->tm.tm_mday = today.tm_mday;
    int64_t ms = to_ms(w);
    if (ms <= now_ms)
        return ms;
    w->tm.tm_mday--;
    return to_ms(w);
}

bool moment_read(const char *text, int64_t now_ms, int64_t *ret_ms)
{
    struct written w = { .ms = 0 };

    if (lockctl_parse_duration(text, ret_ms)) {
        *ret_ms = now_ms - *ret_ms;
        return true;
    }
    if (!read_written(text, &w))
        return false;
    *ret_ms = w.has_date ? to_ms(&w) : to_last(&w, now_ms);
    return true;
}
