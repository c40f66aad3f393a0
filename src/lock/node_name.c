/* Names of contender nodes, in every dialect: building and parsing. Pure. */
#include "lock/node_name.h"

#include <stdio.h>
#include <string.h>

void zkr__node_name_build(char name[ZKR__NAME_MAX], enum zkr__layout layout,
                          const char uuid[ZKR__UUID_LEN + 1],
                          const char *marker)
{
    char *p = name;

    if (layout == ZKR__LAYOUT_CURATOR) {
        (void)snprintf(name, ZKR__NAME_MAX, "_c_%s-%s", uuid, marker);
        return;
    }
    for (const char *u = uuid; *u != '\0'; u++) {
        if (*u != '-')
            *p++ = *u;
    }
    (void)snprintf(p, (size_t)(name + ZKR__NAME_MAX - p), "%s", marker);
}

size_t zkr__node_name_tag_len(enum zkr__layout layout)
{
    return layout == ZKR__LAYOUT_CURATOR ? strlen("_c_") + ZKR__UUID_LEN + 1
                                         : ZKR__UUID_LEN - 4;
}

static bool ends_with(const char *name, size_t len, const char *marker)
{
    size_t marker_len = strlen(marker);

    return len >= marker_len &&
           memcmp(name + len - marker_len, marker, marker_len) == 0;
}

static enum zkr__kind kind_of(const char *name, size_t len,
                              const struct zkr__markers *markers,
                              const char **ret_marker)
{
    for (const char *const *m = markers->exclusive; *m != NULL; m++) {
        *ret_marker = *m;
        if (ends_with(name, len, *m))
            return ZKR__EXCLUSIVE;
    }
    for (const char *const *m = markers->shared; *m != NULL; m++) {
        *ret_marker = *m;
        if (ends_with(name, len, *m))
            return ZKR__SHARED;
    }
    return ZKR__FOREIGN;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool read_number(const char *digits, int64_t *ret_value)
{
    int64_t value = 0;

    for (; *digits != '\0'; digits++) {
        int digit = *digits - '0';

        if (value > (INT64_MAX - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    *ret_value = value;
    return true;
}

static enum zkr__kind parse(const char *name,
                            const struct zkr__markers *markers,
                            const char **ret_marker, int64_t *ret_seq)
{
    size_t len = strlen(name);
    size_t start = len;
    enum zkr__kind kind;
    int64_t value;

    while (start > 0 && is_digit(name[start - 1]))
        start--;
    if (start == len || !read_number(name + start, &value))
        return ZKR__FOREIGN;

    /* A '-' before the digits is the end of a marker such as "lock-", or else
     * the sign of an overflown counter: "lock--2147483648". */
    kind = kind_of(name, start, markers, ret_marker);
    if (kind == ZKR__FOREIGN && start > 0 && name[start - 1] == '-') {
        kind = kind_of(name, start - 1, markers, ret_marker);
        value = -value;
    }
    if (kind != ZKR__FOREIGN)
        *ret_seq = value;
    return kind;
}

enum zkr__kind zkr__node_name_parse(const char *name,
                                    const struct zkr__markers *markers,
                                    int64_t *ret_seq)
{
    const char *marker;

    return parse(name, markers, &marker, ret_seq);
}

static const char *const known_exclusive[] = { "lock-", "__lock__", "__WRIT__",
                                               NULL };
static const char *const known_shared[] = { "__READ__", "__rlock__", NULL };

const struct zkr__markers zkr__known_markers = { known_exclusive,
                                                 known_shared };

const char *zkr__node_name_marker(const char *name,
                                  const struct zkr__markers *markers)
{
    const char *marker;
    int64_t seq;

    return parse(name, markers, &marker, &seq) == ZKR__FOREIGN ? NULL : marker;
}

/* Of "%010d", until the number has wrapped far around. */
#define DIGITS 10

bool zkr__node_name_is_numbered(const char *name)
{
    size_t len = strlen(name);
    size_t digits = 0;

    while (digits < len && is_digit(name[len - 1 - digits]))
        digits++;
    return digits == DIGITS;
}

static bool is_numbered_by(const char *name, size_t prefix)
{
    return strspn(name + prefix, "0123456789") == DIGITS &&
           name[prefix + DIGITS] == '\0';
}

/* A session, as the recipe in C writes it, or as the one in Java does. */
static size_t session_len(const char *text)
{
    size_t sign = text[0] == '-';
    size_t hex = strspn(text, "0123456789abcdef");
    size_t decimal = strspn(text + sign, "0123456789");

    if (hex >= 1 && hex <= 16)
        return hex;
    return decimal >= 1 && decimal <= 19 ? sign + decimal : 0;
}

/* "x-<session>-": its length, or 0. */
static size_t zookeeper_prefix(const char *name)
{
    size_t session = strncmp(name, "x-", 2) == 0 ? session_len(name + 2) : 0;

    return session > 0 && name[2 + session] == '-' ? 2 + session + 1 : 0;
}

enum zkr__kind zkr__node_name_other(const char *name, const char **ret_marker,
                                    int64_t *ret_seq)
{
    static const struct {
        const char *marker;
        enum zkr__kind kind;
    } ruby[] = { { "ex", ZKR__EXCLUSIVE }, { "sh", ZKR__SHARED } };
    size_t prefix = zookeeper_prefix(name);
    enum zkr__kind kind = ZKR__EXCLUSIVE;

    *ret_marker = "x-";
    for (size_t i = 0; i < 2 && prefix == 0; i++) {
        if (strncmp(name, ruby[i].marker, 2) != 0)
            continue;
        prefix = 2;
        *ret_marker = ruby[i].marker;
        kind = ruby[i].kind;
    }
    if (prefix == 0 || !is_numbered_by(name, prefix) ||
        !read_number(name + prefix, ret_seq))
        return ZKR__FOREIGN;
    return kind;
}
