/* SPDX-License-Identifier: Apache-2.0 */
/* Node names: builds and parses the names of contenders. Pure. */
#include "protocol/node_name.h"

#include <stdio.h>
#include <string.h>

void zkr__node_name_build(char name[ZKR__NAME_MAX], enum zkr__layout layout,
                          const char uuid[ZKR__UUID_LEN + 1],
                          enum zkr__marker marker)
{
    const char *text = zkr__markers[marker].text;
    char *p = name;

    if (layout == ZKR__LAYOUT_CURATOR) {
        (void)snprintf(name, ZKR__NAME_MAX, "_c_%s-%s", uuid, text);
        return;
    }
    for (const char *u = uuid; *u != '\0'; u++) {
        if (*u != '-')
            *p++ = *u;
    }
    (void)snprintf(p, (size_t)(name + ZKR__NAME_MAX - p), "%s", text);
}

size_t zkr__node_name_tag_len(enum zkr__layout layout)
{
    return layout == ZKR__LAYOUT_CURATOR ? strlen("_c_") + ZKR__UUID_LEN + 1
                                         : ZKR__UUID_LEN - 4;
}

static size_t digits_at_end(const char *name, size_t len)
{
    size_t digits = 0;

    while (digits < len && name[len - 1 - digits] >= '0' &&
           name[len - 1 - digits] <= '9')
        digits++;
    return digits;
}

/* The digits of a number that the server writes with "%010d". A counter that
 * has wrapped around has them, too, while it is below -999999999. */
#define DIGITS 10

bool zkr__node_name_is_numbered(const char *name)
{
    return digits_at_end(name, strlen(name)) == DIGITS;
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

static bool ends_with(const char *name, size_t len, const char *marker)
{
    size_t marker_len = strlen(marker);

    return len >= marker_len &&
           memcmp(name + len - marker_len, marker, marker_len) == 0;
}

/* "<anything><marker><number>". A '-' before the digits is the end of a marker
 * such as "lock-", or else the sign of an overflown counter:
 * "lock--2147483648". */
static bool is_marked(const char *name, const char *marker, int64_t *ret_seq)
{
    size_t len = strlen(name);
    size_t start = len - digits_at_end(name, len);
    int64_t value;

    if (start == len || !read_number(name + start, &value))
        return false;
    if (ends_with(name, start, marker)) {
        *ret_seq = value;
        return true;
    }
    if (start == 0 || name[start - 1] != '-' ||
        !ends_with(name, start - 1, marker))
        return false;
    *ret_seq = -value;
    return true;
}

/* Returns the length of a session in hexadecimal, or in Java's decimal form, or
 * 0. */
static size_t session_len(const char *text)
{
    size_t sign = text[0] == '-';
    size_t hex = strspn(text, "0123456789abcdef");
    size_t decimal = strspn(text + sign, "0123456789");

    if (hex >= 1 && hex <= 16)
        return hex;
    return decimal >= 1 && decimal <= 19 ? sign + decimal : 0;
}

/* Returns the text after the prefix, or NULL. */
static const char *skip(const char *text, const char *prefix)
{
    size_t len = strlen(prefix);

    return strncmp(text, prefix, len) == 0 ? text + len : NULL;
}

/* "<marker><session>-": what is behind it, or NULL. */
static const char *skip_session(const char *name, const char *marker)
{
    const char *session = skip(name, marker);
    size_t len = session == NULL ? 0 : session_len(session);

    return len == 0 ? NULL : skip(session + len, "-");
}

static bool is_ten_digits(const char *text, int64_t *ret_seq)
{
    return text != NULL && strlen(text) == DIGITS &&
           digits_at_end(text, DIGITS) == DIGITS && read_number(text, ret_seq);
}

static bool is_of(const char *name, const struct zkr__marker_row *marker,
                  int64_t *ret_seq)
{
    switch (marker->layout) {
    case ZKR__LAYOUT_CURATOR:
    case ZKR__LAYOUT_KAZOO:
        return is_marked(name, marker->text, ret_seq);
    case ZKR__LAYOUT_C_RECIPE:
        return is_ten_digits(skip_session(name, marker->text), ret_seq);
    case ZKR__LAYOUT_ZK_RUBY:
        return is_ten_digits(skip(name, marker->text), ret_seq);
    case ZKR__LAYOUT_UNFAIR:
        *ret_seq = 0;
        return strcmp(name, marker->text) == 0;
    }
    return false;
}

const struct zkr__marker_row *
zkr__node_name_marker(const char *name, uint32_t markers, int64_t *ret_seq)
{
    int64_t seq;

    for (unsigned i = 0; i < ZKR__MARKER_COUNT; i++) {
        if ((markers & ZKR__MARKER_BIT(i)) == 0 ||
            !is_of(name, &zkr__markers[i], &seq))
            continue;
        *ret_seq = seq;
        return &zkr__markers[i];
    }
    return NULL;
}

bool zkr__node_name_contends(const char *name, uint32_t markers)
{
    int64_t seq;

    return zkr__node_name_marker(name, markers, &seq) != NULL;
}

enum zkr__kind zkr__node_name_parse(const char *name, uint32_t markers,
                                    int64_t *ret_seq)
{
    const struct zkr__marker_row *marker =
        zkr__node_name_marker(name, markers, ret_seq);

    return marker == NULL ? ZKR__FOREIGN : marker->kind;
}

const char *zkr__node_name_skip(const char *name, const char *form)
{
    for (; *form != '\0'; name++, form++) {
        if (*form != 'h'
                ? *name != *form
                : *name == '\0' || strchr("0123456789abcdef", *name) == NULL)
            return NULL;
    }
    return name;
}

bool zkr__node_name_is_uuid(const char *name)
{
    const char *rest = zkr__node_name_skip(name, ZKR__FORM_UUID);

    return rest != NULL && *rest == '\0';
}
