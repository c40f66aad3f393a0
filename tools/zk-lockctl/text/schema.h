/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the JSON Schema of all that -o json writes, out of the fields. */
#pragma once

#include "text/fields.h"

/* Of all kinds that these verbs name; up to NULL. An exit code. */
int schema_print(const struct verb *const *verbs);
