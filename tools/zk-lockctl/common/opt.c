/* SPDX-License-Identifier: Apache-2.0 */
#include "common/opt.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/lockctl.h"
#include "common/words.h"

enum { LINE_WIDTH = 79, LEFT_WIDTH = 30, NEAR = 2, NAME_MOST = 40 };

/* --- values --- */

bool lockctl_parse_duration(const char *text, int64_t *ret_ms)
{
    static const struct {
        const char *unit;
        double ms;
    } units[] = {
        { "ms", 1 },      { "s", 1000 },      { "", 1000 },
        { "m", 60000.0 }, { "h", 3600000.0 },
    };
    char *end;
    double value = strtod(text, &end);

    if (end == text || !isfinite(value) || value < 0 ||
        strspn(text, "0123456789.") != (size_t)(end - text))
        return false;
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (strcmp(end, units[i].unit) != 0)
            continue;
        value *= units[i].ms;
        if (value > 1e12)
            return false;
        *ret_ms = (int64_t)llround(value);
        return true;
    }
    return false;
}

bool lockctl_parse_count(const char *text, int64_t *ret_count)
{
    size_t len = strspn(text, "0123456789");

    if (len == 0 || len > 10 || text[len] != '\0')
        return false;
    *ret_count = strtoll(text, NULL, 10);
    return *ret_count >= 1 && *ret_count <= INT32_MAX;
}

bool lockctl_parse_path(const char *text, char *path, size_t size)
{
    int len =
        snprintf(path, size, "%s%s", text[0] == '/' ? "" : "/locks/", text);

    if (text[0] != '\0' && len > 0 && (size_t)len < size) {
        if (len > 1 && path[len - 1] == '/') /* as shells complete paths */
            path[len - 1] = '\0';
        return true;
    }
    (void)lockctl_fail(EX_USAGE, text[0] == '\0' ? "the path is empty"
                                                 : "the path is too long");
    return false;
}

int opt_fail(const struct opt *opt, const char *value, const char *want)
{
    return lockctl_fail(EX_USAGE, "--%s: '%s' is not %s", opt->name, value,
                        want);
}

static int take_word(const struct opt *o, int *at, const char *value)
{
    char known[256];
    size_t used = 0;

    for (int i = 0; o->words[i] != NULL; i++) {
        if (strcasecmp(o->words[i], value) == 0) {
            *at = i;
            return 0;
        }
    }
    for (size_t i = 0; o->words[i] != NULL; i++)
        used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s",
                                 i == 0 ? "" : ", ", o->words[i]);
    return lockctl_fail(EX_USAGE, "--%s: '%s' is none of %s", o->name, value,
                        known);
}

static int take_ms(const struct opt *o, int64_t *ret_ms, const char *value)
{
    int64_t max = o->max == 0 ? INT32_MAX : o->max;
    char from[WORD_MAX], to[WORD_MAX];
    char want[2 * WORD_MAX + 40] = "a duration";

    if (lockctl_parse_duration(value, ret_ms) && *ret_ms >= o->min &&
        *ret_ms <= max)
        return 0;
    if (o->min > 0 && o->max > 0)
        (void)snprintf(want, sizeof(want), "a duration from %.30s to %.30s",
                       word_duration(o->min, from), word_duration(o->max, to));
    else if (o->min > 0)
        (void)snprintf(want, sizeof(want), "a duration from %.30s on",
                       word_duration(o->min, from));
    return opt_fail(o, value, want);
}

static int take_count(const struct opt *o, uint32_t *at, const char *value)
{
    int64_t max = o->max == 0 ? INT32_MAX : o->max;
    int64_t count;
    char want[64] = "a number from 1 on";

    if (lockctl_parse_count(value, &count) && count <= max) {
        *at = (uint32_t)count;
        return 0;
    }
    if (o->max != 0)
        (void)snprintf(want, sizeof(want), "a number from 1 to %lld",
                       (long long)o->max);
    return opt_fail(o, value, want);
}

int opt_take(const struct opt *o, void *to, const char *value)
{
    void *at = (char *)to + o->at;

    switch (o->type) {
    case OPT_ON:
    case OPT_OFF:
        *(bool *)at = o->type == OPT_ON;
        return 0;
    case OPT_INT:
        *(int *)at = (int)o->min;
        return 0;
    case OPT_TEXT:
        *(const char **)at = value;
        return 0;
    case OPT_WORD:
        return take_word(o, at, value);
    case OPT_MS:
        return take_ms(o, at, value);
    case OPT_COUNT:
        return take_count(o, at, value);
    case OPT_CALL:
        return o->take(o, at, value);
    case OPT_SETTING:
    case OPT_SECRET:
    case OPT_COMMON:
        break;
    }
    return EX_USAGE;
}

/* --- help --- */

/* Words as far as the line has room, below each other. */
static void print_text(const char *text)
{
    int at = LEFT_WIDTH;

    while (*text != '\0') {
        int len = (int)strcspn(text, " \n");

        if (at > LEFT_WIDTH && at + 1 + len > LINE_WIDTH) {
            (void)printf("\n%*s", LEFT_WIDTH, "");
            at = LEFT_WIDTH;
        }
        at += printf("%s%.*s", at > LEFT_WIDTH ? " " : "", len, text);
        text += len;
        if (*text == '\n') {
            (void)printf("\n%*s", LEFT_WIDTH, "");
            at = LEFT_WIDTH;
        }
        text += *text != '\0';
    }
    (void)putchar('\n');
}

/* "  -w, --wait DURATION", and the help beside it, or below what is longer. */
void opt_print(const struct opt *o)
{
    for (; o != NULL && o->name != NULL; o++) {
        char letter[] = "    ";

        if (o->letter != '\0')
            (void)sprintf(letter, "-%c, ", o->letter);
        int len =
            printf("  %s--%s%s%s", letter, o->name, o->value == NULL ? "" : " ",
                   o->value == NULL ? "" : o->value);
        if (len + 2 > LEFT_WIDTH)
            (void)printf("\n%*s", LEFT_WIDTH, "");
        else
            (void)printf("%*s", LEFT_WIDTH - len, "");
        print_text(o->help);
    }
}

/* --- names --- */

static size_t least(size_t a, size_t b, size_t c)
{
    a = a < b ? a : b;
    return a < c ? a : c;
}

/* How many letters must be changed, added or left out (Levenshtein). */
static size_t distance(const char *a, const char *b)
{
    size_t row[NAME_MOST + 1];
    size_t width = strlen(b);

    for (size_t k = 0; k <= width; k++)
        row[k] = k;
    for (size_t i = 0; a[i] != '\0'; i++) {
        size_t before = row[0];

        row[0] = i + 1;
        for (size_t k = 0; k < width; k++) {
            size_t above = row[k + 1];

            row[k + 1] = least(row[k] + 1, above + 1, before + (a[i] != b[k]));
            before = above;
        }
    }
    return row[width];
}

const char *opt_nearest(const char *word, const char *const *names)
{
    const char *nearest = NULL;
    size_t best = NEAR + 1;

    for (; *names != NULL; names++) {
        size_t far = strlen(*names) > NAME_MOST ? best : distance(word, *names);

        if (far < best && far < strlen(*names) / 2 + 1) {
            best = far;
            nearest = *names;
        }
    }
    return nearest;
}
