/* SPDX-License-Identifier: Apache-2.0 */
/* Texts in tests: a part that is in one, or is not, and printing into a
 * buffer. */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

/* A call that returns 0, or ZOK. */
#define assert_ok(call) assert_int_equal(call, 0)

#define PRINT(buffer, ...) (void)snprintf(buffer, sizeof(buffer), __VA_ARGS__)

static inline void text_has(const char *text, const char *part, int wanted,
                            const char *file, int line)
{
    if (text != NULL && (strstr(text, part) != NULL) == wanted)
        return;
    print_error("%s'%s' in: %.9000s\n", wanted ? "no " : "", part,
                text == NULL ? "(no text)" : text);
    _fail(file, line);
}

#define assert_has(text, part)   text_has(text, part, 1, __FILE__, __LINE__)
#define assert_lacks(text, part) text_has(text, part, 0, __FILE__, __LINE__)
