/* SPDX-License-Identifier: Apache-2.0 */
#include "common/escape.h"
#include "common/grow.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char dots[] = "...";

/* One character after escaping: at most four bytes, each as \xNN. */
struct piece {
    char text[4 * 4 + 1];
    size_t len;
};

/* The length of the character at the start, and its code point; 0 where it is
 * not UTF-8 (RFC 3629: the shortest form, no surrogates, up to U+10FFFF). */
static size_t decode(const unsigned char *bytes, size_t len, uint32_t *ret_code)
{
    static const uint32_t lowest[] = { 0, 0, 0x80, 0x800, 0x10000 };
    size_t n = bytes[0] < 0x80               ? 1
               : (bytes[0] & 0xe0u) == 0xc0u ? 2
               : (bytes[0] & 0xf0u) == 0xe0u ? 3
               : (bytes[0] & 0xf8u) == 0xf0u ? 4
                                             : 0;
    uint32_t code = n == 1 ? bytes[0] : bytes[0] & (0x7fu >> n);

    if (n == 0 || n > len)
        return 0;
    for (size_t i = 1; i < n; i++) {
        if ((bytes[i] & 0xc0u) != 0x80u)
            return 0;
        code = code << 6 | (bytes[i] & 0x3fu);
    }
    if (code < lowest[n] || code > 0x10ffff ||
        (code >= 0xd800 && code <= 0xdfff))
        return 0;
    *ret_code = code;
    return n;
}

static bool keeps_utf8 = true;

void escape_keep_utf8(bool keep)
{
    keeps_utf8 = keep;
}

static bool is_harmless(uint32_t code)
{
    static const struct {
        uint32_t first, last;
    } harmful[] = {
        { 0x00, 0x1f },     /* C0, ESC among them */
        { 0x7f, 0x9f },     /* DEL, C1 */
        { 0xad, 0xad },     /* soft hyphen */
        { 0x61c, 0x61c },   /* Arabic letter mark */
        { 0x200b, 0x200f }, /* of no width; marks of direction */
        { 0x2028, 0x202e }, /* separators, embeddings, overrides */
        { 0x2060, 0x206f }, /* of no width; isolates */
        { 0xfeff, 0xfeff }, /* byte order mark */
    };

    for (size_t i = 0; i < sizeof(harmful) / sizeof(harmful[0]); i++) {
        if (code >= harmful[i].first && code <= harmful[i].last)
            return false;
    }
    return keeps_utf8 || code < 0x80;
}

static void keep(struct piece *piece, const void *bytes, size_t len)
{
    memcpy(piece->text, bytes, len);
    piece->len = len;
}

/* Takes the next character; how many bytes it was. */
typedef size_t take_fn(const unsigned char *bytes, size_t len,
                       struct piece *piece);

static size_t take_of_sentence(const unsigned char *bytes, size_t len,
                               struct piece *piece)
{
    uint32_t code = 0;
    size_t n = decode(bytes, len, &code);

    piece->len = 0;
    if (n > 0 && is_harmless(code)) {
        keep(piece, bytes, n);
        return n;
    }
    if (n == 0)
        n = 1;
    for (size_t i = 0; i < n; i++)
        piece->len +=
            (size_t)sprintf(piece->text + piece->len, "\\x%02X", bytes[i]);
    return n;
}

static size_t take_of_text(const unsigned char *bytes, size_t len,
                           struct piece *piece)
{
    if (bytes[0] != '\\')
        return take_of_sentence(bytes, len, piece);
    keep(piece, "\\\\", 2);
    return 1;
}

/* ZooKeeper refuses private use and the specials in names, and the library
 * refuses them in labels, too. */
static size_t take_of_label(const unsigned char *bytes, size_t len,
                            struct piece *piece)
{
    uint32_t c = 0;
    size_t n = decode(bytes, len, &c);

    if (n == 0 || (c >= 0xe000 && c <= 0xf8ff) || (c >= 0xfff0 && c <= 0xffff))
        keep(piece, "?", 1);
    else if (c < 0x20 || (c >= 0x7f && c <= 0x9f))
        keep(piece, " ", 1);
    else
        keep(piece, bytes, n);
    return n == 0 ? 1 : n;
}

/* `fits` is how much of it leaves room for the dots. */
static size_t cut(char *out, size_t fits, size_t size)
{
    size_t room = size - fits - 1;
    size_t n = room < strlen(dots) ? room : strlen(dots);

    memcpy(out + fits, dots, n);
    out[fits + n] = '\0';
    return fits + n;
}

static size_t escape(const char *bytes, size_t len, take_fn *take, char *out,
                     size_t size)
{
    const unsigned char *in = (const unsigned char *)bytes;
    size_t used = 0;
    size_t fits = 0;

    if (size == 0)
        return 0;
    for (size_t i = 0; i < len;) {
        struct piece piece;

        i += take(in + i, len - i, &piece);
        if (used + piece.len >= size)
            return cut(out, fits, size);
        memcpy(out + used, piece.text, piece.len);
        used += piece.len;
        if (used + strlen(dots) < size)
            fits = used;
    }
    out[used] = '\0';
    return used;
}

size_t escape_text(const char *bytes, size_t len, char *out, size_t size)
{
    return escape(bytes, len, take_of_text, out, size);
}

const char *escape_string(const char *text, char *out, size_t size)
{
    (void)escape_text(text, strlen(text), out, size);
    return out;
}

void escape_sentence(const char *text, char *out, size_t size)
{
    (void)escape(text, strlen(text), take_of_sentence, out, size);
}

void escape_label(const char *text, char *out, size_t size)
{
    (void)escape(text, strlen(text), take_of_label, out, size);
}

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || (c != '\0' && strchr("/_-.:@,=+", c));
}

static bool is_word(const char *text)
{
    while (is_plain(*text))
        text++;
    return *text == '\0';
}

char *shell_path(const char *path)
{
    size_t size = strlen(path) * 4 + 4;
    char *word = enough(malloc(size));

    if (is_word(path))
        return strcpy(word, path);
    size_t n = (size_t)snprintf(word, size, "$'");
    for (const char *p = path; *p != '\0'; p++)
        n +=
            (size_t)snprintf(word + n, size - n, is_plain(*p) ? "%c" : "\\%03o",
                             (unsigned char)*p);
    (void)snprintf(word + n, size - n, "'");
    return word;
}

char *shell_quote(const char *text)
{
    char *word = enough(malloc(strlen(text) * 4 + 3));
    size_t n = 0;

    word[n++] = '\'';
    for (const char *p = text; *p != '\0'; p++) {
        if (*p == '\'') {
            (void)memcpy(word + n, "'\\''", 4);
            n += 4;
        } else {
            word[n++] = *p;
        }
    }
    word[n++] = '\'';
    word[n] = '\0';
    return word;
}
