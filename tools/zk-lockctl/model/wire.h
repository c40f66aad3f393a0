/* SPDX-License-Identifier: Apache-2.0 */
/* Takes numbers and texts off the front of bytes that a ZooKeeper server has
 * written (jute). Nothing is read behind the end: what is missing is zero or
 * empty, and `failed` says so. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bytes {
    const char *at;
    size_t size;
};

struct wire {
    const unsigned char *at;
    size_t left;
    bool failed;
};

static inline struct wire wire_of(struct bytes bytes)
{
    return (struct wire){ (const unsigned char *)bytes.at, bytes.size, false };
}

/* Big-endian, of so many bytes, with its sign. */
static inline int64_t wire_number(struct wire *w, size_t width)
{
    uint64_t value = 0;

    if (w->left < width) {
        w->failed = true;
        return 0;
    }
    if ((w->at[0] & 0x80) != 0)
        value = UINT64_MAX;
    for (size_t i = 0; i < width; i++)
        value = value << 8 | w->at[i];
    w->at += width;
    w->left -= width;
    return (int64_t)value;
}

/* A size below zero fails. */
static inline void wire_skip(struct wire *w, int64_t size)
{
    if ((uint64_t)size > w->left) {
        w->failed = true;
        return;
    }
    w->at += size;
    w->left -= (size_t)size;
}

static inline int32_t wire_int(struct wire *w)
{
    return (int32_t)wire_number(w, 4);
}

static inline int64_t wire_long(struct wire *w)
{
    return wire_number(w, 8);
}

/* A length, and as many bytes; a length of -1 is no text. */
static inline struct bytes wire_bytes(struct wire *w)
{
    int32_t length = wire_int(w);
    struct bytes bytes = { (const char *)w->at, 0 };

    if (w->failed || length == -1)
        return bytes;
    wire_skip(w, length);
    if (!w->failed)
        bytes.size = (size_t)length;
    return bytes;
}

/* A list of ACLs has permissions, a scheme and an id for each entry. */
static inline void wire_skip_acls(struct wire *w)
{
    for (int32_t n = wire_int(w); n > 0 && !w->failed; n--) {
        (void)wire_int(w);
        (void)wire_bytes(w);
        (void)wire_bytes(w);
    }
}
