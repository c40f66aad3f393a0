/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the answer to stdout: the envelope of JSON. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

#include "common/lockctl.h"

bool output_is_json(const struct lockctl *ctl);

/* The envelope; takes the items. With jsonl each item is a line. An exit
 * code. */
int output_json(const struct lockctl *ctl, const char *kind, int64_t at_ms,
                json_t *items, const struct notes *notes);

/* Writes one document; takes it. An exit code. */
int output_dump(json_t *value);

/* The reason why there is no answer, if there is none: the exit code, the error
 * of the library or ZKR_OK, and the sentence. */
void output_failure(const struct lockctl *ctl, int exit_code, int cause,
                    const char *message);

/* Text of others. Bytes that are not UTF-8 are escaped as escape_text() does
 * it. */
json_t *json_text(const char *bytes, size_t size);
