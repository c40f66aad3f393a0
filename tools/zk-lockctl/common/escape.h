/* SPDX-License-Identifier: Apache-2.0 */
/* Escapes text that others wrote, so that a terminal can show it, and quotes it
 * as one word of a shell command. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Copy `len` bytes into `out` as one line of valid UTF-8 that moves no cursor
 * and turns no direction: a control character, a mark of direction, a line
 * separator and a byte that is not UTF-8 become \xNN, byte by byte, and a
 * backslash two. The text is cut between characters, with "..." at the end,
 * where it does not fit into `size` bytes with its NUL. `out` is always
 * terminated, unless `size` is 0. The length of what is in it. */
size_t escape_text(const char *bytes, size_t len, char *out, size_t size);

/* The same of a string; it returns `out`. */
const char *escape_string(const char *text, char *out, size_t size);
/* The same of a sentence of ours, in which text of others may be; backslashes
 * stay as they are, so it may be done twice. */
void escape_sentence(const char *text, char *out, size_t size);
/* The same of a label, which others will escape: a control character becomes a
 * blank, and what is no text, or may be in no label, a question mark. */
void escape_label(const char *text, char *out, size_t size);

/* False: from now on each byte above ASCII becomes \xNN. A terminal of one byte
 * a character would take some of them for commands. */
void escape_keep_utf8(bool keep);

/* Leaves a harmless path as it is, and writes another as $'...', in ASCII, as
 * bash, zsh and ksh read it. To be freed. */
char *shell_path(const char *path);

/* Writes any text as '...', as each shell reads it. To be freed. */
char *shell_quote(const char *text);
