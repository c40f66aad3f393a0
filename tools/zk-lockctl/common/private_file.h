/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a file that tells the tool what to do, or a secret: one that no other
 * user can have written, or read. */
#pragma once

#include <stddef.h>

enum private_from {
    PRIVATE_WRITE, /* no other user may write it */
    PRIVATE_READ,  /* no other user may write or read it */
};

/* The whole file as a string in `text`; or a pipe, such as "/dev/fd/3". NULL,
 * or why it cannot be used; then `text` is wiped. */
const char *private_file_read(const char *path, enum private_from from,
                              char *text, size_t size);
