/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the values of options: durations, counts, paths. */
#include "common/lockctl.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
