/* SPDX-License-Identifier: Apache-2.0 */
/* Makes text plain for a terminal that does not know UTF-8. */
#include "common/plain.h"

#include <langinfo.h>
#include <stdio.h>
#include <string.h>

#include "common/escape.h"

const char *plain_text(const char *text, char *out, size_t size)
{
    size_t used = 0;

    if (strcmp(nl_langinfo(CODESET), "UTF-8") == 0)
        return text;
    for (; *text != '\0' && used + 5 <= size; text++) {
        unsigned char byte = (unsigned char)*text;

        if (byte < 0x80)
            out[used++] = *text;
        else
            used += (size_t)snprintf(out + used, size - used, "\\x%02X", byte);
    }
    out[used] = '\0';
    return out;
}

const char *plain_copy(const char *text, char *out, size_t size)
{
    if (plain_text(text, out, size) == text)
        (void)snprintf(out, size, "%s", text);
    return out;
}

const char *plain_escape(const char *text, char *out, size_t size)
{
    char escaped[4 * 1024 + 1];

    return plain_copy(escape_string(text, escaped, sizeof(escaped)), out, size);
}
