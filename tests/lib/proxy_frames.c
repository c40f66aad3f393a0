/* SPDX-License-Identifier: Apache-2.0 */
/* The proxy: queues of bytes, and the frames in them. */
#include "proxy_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *proxy_must(void *memory)
{
    if (memory == NULL) {
        fprintf(stderr, "proxy: out of memory\n");
        abort();
    }
    return memory;
}

unsigned char *bytes_at(const struct bytes *b)
{
    return b->data + b->begin;
}

void bytes_reserve(struct bytes *b, size_t size)
{
    if (b->begin + b->size + size <= b->capacity)
        return;
    if (b->begin > 0)
        memmove(b->data, bytes_at(b), b->size);
    b->begin = 0;
    if (b->size + size <= b->capacity)
        return;
    b->capacity = 2 * (b->size + size);
    b->data = proxy_must(realloc(b->data, b->capacity));
}

void bytes_add(struct bytes *b, const unsigned char *data, size_t size)
{
    bytes_reserve(b, size);
    memcpy(bytes_at(b) + b->size, data, size);
    b->size += size;
}

void bytes_skip(struct bytes *b, size_t size)
{
    b->size -= size;
    b->begin = b->size == 0 ? 0 : b->begin + size;
}

void bytes_clear(struct bytes *b)
{
    bytes_skip(b, b->size);
}

int frame_first(const struct bytes *b, size_t least, struct frame *ret)
{
    if (b->size < LENGTH_SIZE)
        return 0;
    int64_t length = get_number(bytes_at(b), LENGTH_SIZE);
    if (length < (int64_t)least - LENGTH_SIZE || length > FRAME_MAX)
        return -1;
    ret->size = LENGTH_SIZE + (size_t)length;
    ret->data = bytes_at(b);
    return b->size >= ret->size;
}
