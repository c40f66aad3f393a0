/* SPDX-License-Identifier: Apache-2.0 */
/* Quotes text as one word of a shell command. */
#pragma once

/* Leaves a harmless path as it is, and writes another as $'...', in ASCII, as
 * bash, zsh and ksh read it. To be freed; NULL: out of memory. */
char *shell_path(const char *path);

/* Writes any text as '...', as each shell reads it. To be freed; NULL: out of
 * memory. */
char *shell_quote(const char *text);
