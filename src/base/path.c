/* SPDX-License-Identifier: Apache-2.0 */
/* Checks and joins ZooKeeper paths, and checks text for nodes. Pure. */
#include "base/path.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One UTF-8 character: its length, or 0 when the bytes are not UTF-8. */
static size_t decode(const unsigned char *s, uint32_t *ret_char)
{
    static const uint32_t smallest[] = { 0, 0, 0x80, 0x800, 0x10000 };
    size_t len = s[0] < 0x80             ? 1
                 : (s[0] & 0xe0) == 0xc0 ? 2
                 : (s[0] & 0xf0) == 0xe0 ? 3
                 : (s[0] & 0xf8) == 0xf0 ? 4
                                         : 0;

    if (len == 0)
        return 0;
    uint32_t c = len == 1 ? s[0] : s[0] & (0x7fu >> len);
    for (size_t i = 1; i < len; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (s[i] & 0x3f);
    }
    if (c < smallest[len] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
        return 0;
    *ret_char = c;
    return len;
}

const char *zkr__text_fault(const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    uint32_t c = 0;

    for (size_t len; *s != '\0'; s += len) {
        len = decode(s, &c);
        if (len == 0)
            return "is not valid UTF-8";
        if (c < 0x20 || (c >= 0x7f && c <= 0x9f))
            return "contains a control character";
        /* ZooKeeper refuses characters of the private use areas and the
         * specials. */
        if ((c >= 0xe000 && c <= 0xf8ff) || (c >= 0xfff0 && c <= 0xffff))
            return "contains a character that ZooKeeper refuses";
    }
    return NULL;
}

static bool is_component(const char *start, size_t len, const char *name)
{
    return strlen(name) == len && memcmp(start, name, len) == 0;
}

/* A character after U+FFFF, in valid UTF-8. */
static bool has_astral(const char *text)
{
    for (; *text != '\0'; text++) {
        if ((unsigned char)*text >= 0xf0)
            return true;
    }
    return false;
}

const char *zkr__path_fault(const char *path)
{
    if (path[0] == '\0')
        return "is empty";
    if (path[0] != '/')
        return "does not begin with '/'";
    const char *fault = zkr__text_fault(path);
    if (fault != NULL || path[1] == '\0')
        return fault;
    if (has_astral(path)) /* to the server these are surrogates */
        return "contains a character that ZooKeeper refuses";

    for (const char *p = path; *p == '/';) {
        const char *start = p + 1;

        p = start + strcspn(start, "/");
        if (p == start)
            return *p == '/' ? "contains '//'" : "ends with '/'";
        if (is_component(start, (size_t)(p - start), ".") ||
            is_component(start, (size_t)(p - start), ".."))
            return "contains a '.' or '..' component";
    }
    return NULL;
}

char *zkr__path_join(const char *parent, const char *child)
{
    size_t parent_len = strcmp(parent, "/") == 0 ? 0 : strlen(parent);
    size_t size = parent_len + 1 + strlen(child) + 1;
    char *path = malloc(size);

    if (path != NULL)
        (void)snprintf(path, size, "%.*s/%s", (int)parent_len, parent, child);
    return path;
}

bool zkr__path_is_child_name(const char *name)
{
    return name[0] != '\0' && strchr(name, '/') == NULL &&
           strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

bool zkr__path_is_within(const char *path, const char *root)
{
    const size_t len = strlen(root);

    return strncmp(path, root, len) == 0 &&
           (path[len] == '\0' || path[len] == '/' || root[len - 1] == '/');
}

const char *zkr__path_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash == NULL ? path : slash + 1;
}
