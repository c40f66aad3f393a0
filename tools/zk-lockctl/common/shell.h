/* SPDX-License-Identifier: Apache-2.0 */
/* Quotes text as one word of a shell command. */
#pragma once

/* Leaves harmless text as it is, and writes other text as $'...', in ASCII, as
 * bash, zsh and ksh read it. To be freed; NULL: out of memory. */
char *shell_word(const char *text);

/* Writes any text as '...', as each shell reads it. To be freed; NULL: out of
 * memory. */
char *shell_quote(const char *text);
