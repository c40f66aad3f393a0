/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of a file that a server may have compressed, from its beginning. */
#include "model/packed.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef LOCKCTL_ZLIB
#include <zlib.h>
#endif

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
    case PACKED_NO_ZLIB:
        return "compressed with gz, and this program was built without zlib";
    case PACKED_TOO_LARGE:
        return "more is compressed in it than a server ever has";
    case EBADMSG:
        return "damaged, or no snapshot";
    default:
        return strerror(error);
    }
}

/* --- gz --- */

#ifdef LOCKCTL_ZLIB
static bool open_zipped(struct packed *p, int fd, uint64_t size)
{
    p->left = size * RATIO_MAX + UNPACKED_MIN;
    p->zipped = gzdopen(fd, "r");
    p->error = p->zipped == NULL ? ENOMEM : 0;
    return p->zipped != NULL;
}

static bool read_zipped(struct packed *p, void *bytes, size_t size)
{
    int zip_error = Z_OK;

    if (size > p->left) {
        p->error = PACKED_TOO_LARGE;
        return false;
    }
    p->left -= size;
    if (gzfread(bytes, 1, size, p->zipped) == size)
        return true;
    (void)gzerror(p->zipped, &zip_error);
    p->error = zip_error == Z_ERRNO       ? EIO
               : zip_error == Z_MEM_ERROR ? ENOMEM
                                          : EBADMSG;
    return false;
}

static void close_zipped(struct packed *p)
{
    (void)gzclose(p->zipped);
}
#else
static bool open_zipped(struct packed *p, int fd, uint64_t size)
{
    (void)fd;
    (void)size;
    p->error = PACKED_NO_ZLIB;
    return false;
}

static bool read_zipped(struct packed *p, void *bytes, size_t size)
{
    (void)p;
    (void)bytes;
    (void)size;
    return false;
}

static void close_zipped(struct packed *p)
{
    (void)p;
}
#endif

/* --- all --- */

static bool open_plain(struct packed *p, int fd)
{
    p->plain = fdopen(fd, "r");
    p->error = p->plain == NULL ? errno : 0;
    return p->plain != NULL;
}

static bool open_as(struct packed *p, int fd, enum packing packing,
                    uint64_t size)
{
    switch (packing) {
    case PACKING_GZ:
        return open_zipped(p, fd, size);
    case PACKING_SNAPPY:
        p->error = PACKED_SNAPPY;
        return false;
    case PACKING_NONE:
        break;
    }
    return open_plain(p, fd);
}

bool packed_open(struct packed *p, const char *file)
{
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    char first[PACKING_BYTES];
    struct stat st;
    ssize_t n;

    *p = (struct packed){ .error = 0 };
    if (fd < 0) {
        p->error = errno;
        return false;
    }
    n = pread(fd, first, sizeof(first), 0);
    if (n < 0 || fstat(fd, &st) != 0)
        p->error = errno;
    else if (open_as(p, fd, packing_of(first, (size_t)n), (uint64_t)st.st_size))
        return true;
    (void)close(fd);
    return false;
}

void packed_close(struct packed *p)
{
    if (p->plain != NULL)
        (void)fclose(p->plain);
    if (p->zipped != NULL)
        close_zipped(p);
    *p = (struct packed){ .error = 0 };
}

bool packed_read(struct packed *p, void *bytes, size_t size)
{
    if (p->error != 0)
        return false;
    if (p->zipped != NULL)
        return read_zipped(p, bytes, size);
    if (fread(bytes, 1, size, p->plain) == size)
        return true;
    p->error = ferror(p->plain) != 0 ? EIO : EBADMSG;
    return false;
}
