/* SPDX-License-Identifier: Apache-2.0 */
/* Makes text plain for a terminal that does not know UTF-8. */
#ifndef COMMON_PLAIN_H
#define COMMON_PLAIN_H

#include <stddef.h>

/* `text` itself where the locale has UTF-8; else a copy in `out`, in which each
 * byte above ASCII is \xNN: a terminal of one byte a character would take some
 * for commands. Cut at `size`. */
const char *plain_text(const char *text, char *out, size_t size);
/* The same, always into `out`. */
const char *plain_copy(const char *text, char *out, size_t size);
/* Text of others, escaped, for this terminal; cut at `size`. */
const char *plain_escape(const char *text, char *out, size_t size);

#endif
