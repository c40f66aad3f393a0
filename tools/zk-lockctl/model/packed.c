/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of a file that a server may have compressed, from its beginning. */
#include "model/packed.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { UNPACKED_MIN = 64 << 20, RATIO_MAX = 200 };

/* What snappy-java and gzip begin with. */
enum packing packing_of(const void *bytes, size_t size)
{
    static const char snappy[] = "\x82SNAPPY";
    static const char gz[] = "\x1f\x8b";

    if (size >= strlen(gz) && memcmp(bytes, gz, strlen(gz)) == 0)
        return PACKING_GZ;
    if (size >= strlen(snappy) && memcmp(bytes, snappy, strlen(snappy)) == 0)
        return PACKING_SNAPPY;
    return PACKING_NONE;
}

const char *packed_reason(int error)
{
    switch (error) {
    case PACKED_SNAPPY:
        return "compressed with snappy, which is not read; servers can write "
               "gz (snapshot.compression.method)";
    case PACKED_TOO_LARGE:
        return "more is compressed in it than a server ever has";
    case EBADMSG:
        return "damaged, or no snapshot";
    default:
        return strerror(error);
    }
}

/* zlib passes bytes through that gzip has not packed. */
bool packed_open(struct packed *p, const char *file)
{
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    char first[PACKING_BYTES];
    struct stat st;
    ssize_t n = fd < 0 ? -1 : pread(fd, first, sizeof(first), 0);

    *p = (struct packed){ .error = 0 };
    if (n < 0 || fstat(fd, &st) != 0)
        p->error = errno;
    else if (packing_of(first, (size_t)n) == PACKING_SNAPPY)
        p->error = PACKED_SNAPPY;
    else if ((p->file = gzdopen(fd, "r")) == NULL)
        p->error = ENOMEM;
    if (p->error == 0)
        p->left = (uint64_t)st.st_size * RATIO_MAX + UNPACKED_MIN;
    else if (fd >= 0)
        (void)close(fd);
    return p->error == 0;
}

void packed_close(struct packed *p)
{
    (void)gzclose(p->file);
    *p = (struct packed){ .error = 0 };
}

bool packed_read(struct packed *p, void *bytes, size_t size)
{
    int zip_error = Z_OK;

    if (p->error == 0 && size > p->left)
        p->error = PACKED_TOO_LARGE;
    if (p->error != 0)
        return false;
    p->left -= size;
    if (gzfread(bytes, 1, size, p->file) == size)
        return true;
    (void)gzerror(p->file, &zip_error);
    p->error = zip_error == Z_ERRNO       ? EIO
               : zip_error == Z_MEM_ERROR ? ENOMEM
                                          : EBADMSG;
    return false;
}
