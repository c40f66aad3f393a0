/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of a file that a server may have compressed, from its beginning.
 *
 * Its first bytes say whether it is. A small file can say that it is a huge
 * one: after the first 64 MiB no more is unpacked than 200 times its size,
 * which is far more than what the nodes of a server shrink by. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gzFile_s;

enum packing { PACKING_NONE, PACKING_GZ, PACKING_SNAPPY };

/* Of a file with these first bytes. */
enum packing packing_of(const void *bytes, size_t size);
enum { PACKING_BYTES = 8 }; /* that it looks at */

struct packed {
    struct gzFile_s *file;
    uint64_t left; /* so many bytes may be read */
    int error;     /* 0, an errno, or one of these: */
};
enum {
    PACKED_SNAPPY = -1,   /* it is compressed with snappy, which is not read */
    PACKED_TOO_LARGE = -2 /* more is in it than may be */
};

/* False: packed->error says why. */
bool packed_open(struct packed *packed, const char *file);
void packed_close(struct packed *packed);

/* False: there are fewer bytes, and the error says why; EBADMSG: the file is
 * damaged, or ends here. */
bool packed_read(struct packed *packed, void *bytes, size_t size);

/* The reason, for people. */
const char *packed_reason(int error);
