/* Quotes text of others as one word of a shell command. */
#ifndef COMMON_SHELL_H
#define COMMON_SHELL_H

/* As it is when it is harmless; otherwise as $'...', as bash, zsh and ksh read
 * it, in ASCII. To be freed; NULL: out of memory. */
char *shell_word(const char *text);

#endif
