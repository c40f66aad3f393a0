/* SPDX-License-Identifier: Apache-2.0 */
/* Quotes text as one word of a shell command. */
#include "common/shell.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    char *word = malloc(size);
    size_t n;

    if (word == NULL)
        return NULL;
    if (is_word(path))
        return strcpy(word, path);
    n = (size_t)snprintf(word, size, "$'");
    for (const char *p = path; *p != '\0'; p++)
        n +=
            (size_t)snprintf(word + n, size - n, is_plain(*p) ? "%c" : "\\%03o",
                             (unsigned char)*p);
    (void)snprintf(word + n, size - n, "'");
    return word;
}

char *shell_quote(const char *text)
{
    char *word = malloc(strlen(text) * 4 + 3);
    size_t n = 0;

    if (word == NULL)
        return NULL;
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
