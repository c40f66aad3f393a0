/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a file so that its readers see all of it, or nothing: under another
 * name beside it, which is then renamed. A file that is not regular, or that is
 * open as our own output ("/dev/stdout" of a redirection), is written in place.
 * Links are followed. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Tells whether all of it is written; or sets errno. */
bool write_all(int fd, const char *text, size_t size);

/* Both: 0, or an errno. */
int whole_file_check(const char *file);
int whole_file_write(const char *file, const char *text, size_t size);
