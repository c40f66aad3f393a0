/* A file that its readers see whole, or not at all: written under another name
 * beside it, and renamed. What is no regular file, and what is open as our own
 * output ("/dev/stdout" of a redirection), is written to; links are followed.
 */
#ifndef COMMON_WHOLE_FILE_H
#define COMMON_WHOLE_FILE_H

#include <stddef.h>

/* Both: 0, or an errno. */
int whole_file_check(const char *file);
int whole_file_write(const char *file, const char *text, size_t size);

#endif
