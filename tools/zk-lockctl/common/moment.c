/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the moments that people and programs write. Pure, except for the time
 * zone of the process. */
#include "common/moment.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "common/lockctl.h"

/* A date and a time of day, as they were written. */
struct written {
    struct tm tm;
    int ms;
    bool has_date;
    bool has_zone;
    int offset_s; /* of the zone, east of Greenwich */
};

/* So many digits, and then `after` ('\0': anything). */
static bool take_number(const char **text, int digits, char after, int *ret)
{
    int value = 0;

    for (int i = 0; i < digits; i++) {
        if (!isdigit((unsigned char)(*text)[i]))
            return false;
        value = value * 10 + ((*text)[i] - '0');
    }
    if (after != '\0' && (*text)[digits] != after)
        return false;
    *text += digits + (after != '\0');
    *ret = value;
    return true;
}

static bool take_date(const char **text, struct written *w)
{
    if (!take_number(text, 4, '-', &w->tm.tm_year) ||
        !take_number(text, 2, '-', &w->tm.tm_mon) ||
        !take_number(text, 2, '\0', &w->tm.tm_mday) || w->tm.tm_year < 1970 ||
        w->tm.tm_mon < 1 || w->tm.tm_mon > 12 || w->tm.tm_mday < 1 ||
        w->tm.tm_mday > 31)
        return false;
    w->tm.tm_year -= 1900;
    w->tm.tm_mon -= 1;
    w->has_date = true;
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

static bool take_time(const char **text, struct written *w)
{
    if (!take_number(text, 2, ':', &w->tm.tm_hour) ||
        !take_number(text, 2, '\0', &w->tm.tm_min))
        return false;
    if (**text == ':') {
        ++*text;
        if (!take_number(text, 2, '\0', &w->tm.tm_sec))
            return false;
        take_fraction(text, w);
    }
    return w->tm.tm_hour < 24 && w->tm.tm_min < 60 && w->tm.tm_sec < 61;
}

static bool take_zone(const char **text, struct written *w)
{
    bool west = **text == '-';
    int hours;
    int minutes;

    if (**text == 'Z') {
        ++*text;
        w->has_zone = true;
    } else if (**text == '+' || west) {
        ++*text;
        if (!take_number(text, 2, ':', &hours) ||
            !take_number(text, 2, '\0', &minutes))
            return false;
        w->has_zone = true;
        w->offset_s = (west ? -60 : 60) * (hours * 60 + minutes);
    }
    return true;
}

static bool read_written(const char *text, struct written *w)
{
    const char *time = text;

    if (take_date(&time, w)) {
        if (*time == '\0')
            return true;
        if (*time != 'T' && *time != ' ')
            return false;
        text = time + 1;
    }
    return take_time(&text, w) && take_zone(&text, w) && *text == '\0';
}

static int64_t to_ms(const struct written *w)
{
    struct tm tm = w->tm;
    time_t seconds;

    tm.tm_isdst = -1;
    seconds = w->has_zone ? timegm(&tm) - w->offset_s : mktime(&tm);
    return (int64_t)seconds * 1000 + w->ms;
}

/* Today, in the zone that is meant, or yesterday. */
static int64_t to_last(struct written *w, int64_t now_ms)
{
    time_t now = (time_t)(now_ms / 1000) + (w->has_zone ? w->offset_s : 0);
    struct tm today = { 0 };
    int64_t ms;

    (void)(w->has_zone ? gmtime_r(&now, &today) : localtime_r(&now, &today));
    w->tm.tm_year = today.tm_year;
    w->tm.tm_mon = today.tm_mon;
    w->tm.tm_mday = today.tm_mday;
    ms = to_ms(w);
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
